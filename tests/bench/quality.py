"""Every quality figure of the offline judge and the splitter, beside its target.

    python tests/bench/quality.py [--only SET,SET] [--json FILE] [--against FILE]

Intervals are 95 %, by resampling groups 1 000 times (seed 0). `--json` keeps the figures, and
`--against` prints how far they lie from those that another checkout kept. The data are in
../shared/data; a set that is absent is skipped.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

# A script finds only the modules beside it: add the root folder of the project.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge.answer.sentences import split
from judge.compose import offline
from judge.config import Config
from judge.judges.fallback import LEAST_DOUBT
from judge.pipeline import evaluate_sample
from judge.records import Rules, Support, Verdict
from judge.scores.intervals import wilson
from tests.bench.figures import Bools, Resamples, Sheet, Target
from tests.bench.labelled import FAITHFULNESS, Row, available, request, rows, sample

TRAINED: Final = ("factscore", "wice_dev", "factcheckgpt")
SENTENCES: Final = (
    "ragtruth_qa_dev", "qags", "wice_test", "cnli_zh", *TRAINED, "attributionbench_dev",
)  # fmt: skip
ANSWERS: Final = ("ragtruth_answers", "clapnq", "rgb_zh_en")
TREEBANKS: Final = ("ewt_en_dev", "gum_en_dev", "gsd_zh_dev")
SPLIT_TEXTS: Final = FAITHFULNESS.parent / "sentences"
TARGETS: Final[dict[tuple[str, str], Target]] = {
    ("ragtruth_qa_dev", "AUROC"): (">=", 0.89),
    ("ragtruth_qa_dev", "ECE at declared prior"): ("<=", 0.05),
    ("ragtruth_answers", "balanced accuracy"): (">=", 0.77),
    ("qags", "AUROC"): (">=", 0.82),
    ("wice_test", "AUROC"): (">=", 0.80),
    ("attributionbench_dev", "AUROC"): (">=", 0.90),
    ("cnli_zh", "AUROC"): (">=", 0.80),
    ("clapnq", "false alarms, sentences"): ("<=", 0.15),
    ("splitter", "F1, ewt_en_dev"): (">=", 0.88),
    ("splitter", "F1, gum_en_dev"): (">=", 0.96),
    ("splitter", "F1, gsd_zh_dev"): (">=", 0.99),
    ("splitter", "golden rules met"): (">=", 47),
}


Table = Any
"""A numpy record array: each column is an attribute, and a mask of rows an index."""


def sentences(data: Iterable[Row]) -> Table:
    """Return the labelled sentences of some rows with the judge's verdicts.

    `claims`: whether `classify` takes the sentence for a claim.
    """
    judge = offline(Config())
    judged: list[tuple[str, bool, bool, float, bool, bool]] = []
    for row in data:
        asked, supported = request(row)
        if not supported:
            continue
        claimed = set(request(row, claims=True)[0].ask)
        outcomes = asyncio.run(judge.judge(asked)).outcomes
        group = str(row["group"])
        for index, label in zip(asked.ask, supported, strict=True):
            (found,) = verdicts([outcomes[index]])
            score = found.score or 0.0
            against = found.support is Support.CONTRADICTED
            judged.append((group, label, index in claimed, score, full(found), against))
    return as_table(judged, "groups,labels,claims,scores,full,contradicted")


def answers(data: Iterable[Row]) -> Table:
    """Return the answers of some rows with what the whole offline path found in them.

    `lowest`: the lowest score of a claim, 1 without claims; `alarmed`: the number of claims that
    are not full, and `raised` whether there is any.
    """
    judge = offline(Config())
    judged = []
    for row in data:
        result = asyncio.run(evaluate_sample(sample(row), judge, Rules()))
        found = verdicts(each.outcome for each in result.sentences)
        alarmed = sum(not full(each) for each in found)
        judged.append(
            (
                str(row["group"]),
                bool(row["labels"]["answer_supported"]),
                source_of(row),
                min((each.score or 0.0 for each in found), default=1.0),
                len(found),
                alarmed,
                alarmed > 0,
            )
        )
    return as_table(judged, "groups,labels,sources,lowest,claims,alarmed,raised")


def as_table(records: Sequence[tuple[object, ...]], names: str) -> Table:
    columns = [np.asarray(column) for column in zip(*records, strict=True)]
    kinds = zip(names.split(","), (each.dtype for each in columns), strict=True)
    return np.rec.fromarrays(columns, dtype=list(kinds))


def source_of(row: Row) -> str:
    return str(row["source"]).rpartition("/")[2]


def verdicts(outcomes: Iterable[object]) -> list[Verdict]:
    return [each for each in outcomes if isinstance(each, Verdict)]


def full(verdict: Verdict) -> bool:
    return verdict.support is Support.FULL


def measure(sheet: Sheet, table: Table) -> None:
    """All figures of some sentences."""
    resamples, labels, n = Resamples(table.groups.tolist()), table.labels, len(table.labels)
    sheet.put("share supported", float(labels.mean()), n=n)
    sheet.add("AUROC", resamples.auroc(table.scores, labels), n)
    sheet.add("recall of supported", resamples.share(table.full, labels), int(labels.sum()))
    sheet.add("recall of unsupported", resamples.share(~table.full, ~labels), int((~labels).sum()))
    sheet.add("balanced accuracy", resamples.balanced(table.full, labels), n)
    alarms = table.contradicted | (~table.full & (table.scores < LEAST_DOUBT))
    sheet.add("right of none and contradicted", resamples.share(~labels, alarms), int(alarms.sum()))
    sheet.add("share decided", resamples.share(table.full | alarms), n)
    sheet.add("wrong among full", resamples.share(~labels, table.full), int(table.full.sum()))
    wrong = int((table.contradicted & labels).sum())
    sheet.put("contradicted though supported", wrong, n=int(table.contradicted.sum()))
    error = resamples.calibration_error(table.scores, labels)
    sheet.add("ECE at declared prior", error, n)


def labelled_sentences(sheet: Sheet, name: str) -> None:
    """A set of labelled sentences."""
    table = sentences(rows(name))
    about = f"{len(table.labels)} labelled sentences in {len(set(table.groups.tolist()))} groups"
    sheet.begin(name, about + " (trained on)" * (name in TRAINED))
    measure(sheet, table)
    if name == "ragtruth_qa_dev":
        sheet.begin(f"{name}_claims", "those of them that `classify` takes for claims")
        measure(sheet, table[table.claims])


def whole_answers(sheet: Sheet, name: str) -> None:
    """A set of answers, through the whole path."""
    table = answers(rows("ragtruth_qa_dev" if name == "ragtruth_answers" else name))
    resamples, labels, n = Resamples(table.groups.tolist()), table.labels, len(table.labels)
    sheet.begin(name, f"{n} answers in {len(set(table.groups.tolist()))} groups")
    if name == "clapnq":
        total = int(table.claims.sum())
        sheet.add("false alarms, sentences", resamples.ratio(table.alarmed, table.claims), total)
        sheet.add("false alarms, answers", resamples.share(table.raised), n)
        return
    silent = int((table.claims == 0).sum())
    sheet.put("share supported", float(labels.mean()), n=n, note=f"{silent} without claims")
    sheet.add("balanced accuracy", resamples.balanced(~table.raised, labels), n)
    caught = resamples.share(table.raised, ~labels)
    sheet.add("sensitivity (unsupported caught)", caught, int((~labels).sum()))
    sheet.add(
        "specificity (supported passed)", resamples.share(~table.raised, labels), int(labels.sum())
    )

    def rank(title: str, these: Bools) -> None:
        groups = Resamples(table.groups[these].tolist())
        sheet.add(title, groups.auroc(table.lowest[these], labels[these]), int(these.sum()))

    rank("AUROC of the lowest score", np.ones(n, np.bool_))
    if name == "rgb_zh_en":
        zh = np.char.startswith(table.sources, "zh")
        for title, these in (("zh", zh), ("en", ~zh)):
            rank(f"AUROC, {title}", these)


def human_errors(sheet: Sheet) -> None:
    """Measure summaries with one error that a person put in, and without it: BUMP."""
    data = list(rows("bump"))
    after = answers(data)
    unharmed = (row | {"answer": row["meta"]["reference_summary"]} for row in data)
    before = answers(unharmed)
    resamples, n = Resamples(after.groups.tolist()), len(data)
    about = f"{n} pairs of an answer with one error and without"
    sheet.begin("bump", f"{about}, in {len(set(after.groups.tolist()))} groups")
    sheet.add("caught", resamples.share(after.raised), n)
    sheet.add("called unsupported before the error", resamples.share(before.raised), n)
    sheet.add("net caught", resamples.share(after.raised.astype(float) - before.raised), n)


def split_texts(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the text and the gold sentences of each row of a file."""
    for line in (SPLIT_TEXTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["text"], row["sentences"]


def gold_spans(text: str, sentences: Sequence[str]) -> set[tuple[int, int]]:
    """Return the offsets of the gold sentences in a text, whose white space may differ."""
    solid = [place for place, char in enumerate(text) if not char.isspace()]
    spans, done = set(), 0
    for sentence in sentences:
        size = sum(not char.isspace() for char in sentence)
        spans.add((solid[done], solid[done + size - 1] + 1))
        done += size
    return spans


def splitter(sheet: Sheet) -> None:
    """Measure sentence splitting; a sentence is right if both its ends agree with a gold one."""
    sheet.begin("splitter", "F1 of sentences whose both ends agree")
    for name in TREEBANKS:
        counts = []
        for text, wanted in split_texts(name):
            gold = gold_spans(text, wanted)
            found = {(s.start, s.end) for s in split(text)}
            counts.append((2 * len(gold & found), len(gold) + len(found)))
        right, both = zip(*counts, strict=True)
        groups = Resamples([str(at) for at in range(len(counts))])
        sheet.add(f"F1, {name}", groups.ratio(right, both), len(counts), "texts")
    rules = list(split_texts("golden_rules"))
    met = sum([s.text for s in split(text)] == wanted for text, wanted in rules)
    low, high = wilson(met / len(rules), len(rules))
    limits = (low * len(rules), high * len(rules))
    sheet.put("golden rules met", met, limits, n=len(rules), note="Wilson")


def measurements() -> dict[str, tuple[bool, Callable[[Sheet], None]]]:
    """Return for each set whether its data are there, and how it is measured."""
    return {
        **{n: (available(n), partial(labelled_sentences, name=n)) for n in SENTENCES},
        **{
            n: (available(n.replace("_answers", "_qa_dev")), partial(whole_answers, name=n))
            for n in ANSWERS
        },
        "bump": (available("bump"), human_errors),
        "splitter": (SPLIT_TEXTS.is_dir(), splitter),
    }


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="sets to measure, with commas between them")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--against", type=Path, help="such a file of another run")
    options = parser.parse_args()
    before = json.loads(options.against.read_text("utf-8")) if options.against else {}
    sheet = Sheet(TARGETS, before)
    begun = time.perf_counter()
    print(offline(Config()).signature)
    only = [name for name in options.only.split(",") if name]
    for name, (there, measured) in measurements().items():
        if there and (not only or name in only):
            measured(sheet)
        elif not there:
            print(f"{name}: no data, skipped")
    print(f"\ntargets met: {sum(sheet.met.values())} of {len(sheet.met)}")
    print(f"took {time.perf_counter() - begun:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(sheet.figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
