"""Every quality figure of the offline judge and the splitter, beside its target.

    python tests/bench/quality.py [--only SET,SET] [--json FILE] [--against FILE]

Intervals are 95 %, by resampling groups 1 000 times (seed 0). `--json` keeps the figures, and
`--against` prints how far they lie from those that another checkout kept. The data stand at
../shared/data; a set that is absent is named and skipped.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge.answer.sentences import split
from judge.compose import offline
from judge.config import Config
from judge.judges.undecided import LEAST_DOUBT
from judge.pipeline import evaluate_sample
from judge.records import Rules, Support, Verdict
from judge.scores.intervals import wilson
from tests.bench import splitting
from tests.bench.figures import (
    Bools,
    Resamples,
    Sheet,
    Target,
    moved,
    reliability,
    terciles,
)
from tests.bench.labelled import Row, apart, available, request, rows, sample

TRAINED: Final = ("factscore", "wice_dev", "factcheckgpt")
SENTENCES: Final = (
    "ragtruth_qa_dev", "qags", "wice_test", "cnli_zh", *TRAINED, "attributionbench_dev",
)  # fmt: skip
ANSWERS: Final = ("ragtruth_answers", "clapnq", "rgb_zh_en")
PRIOR: Final = 0.9
"""The share of supported sentences that the judge's scores presume unless told otherwise."""
ENTITIES: Final = ("Intrinsic Entity", "Extrinsic Entity")
CIRCUMSTANCES: Final = ("Intrinsic Circumstance", "Extrinsic Circumstance")
"""Where numbers, dates and places are."""
FAMILIES: Final = {
    "entities": ENTITIES,
    "circumstances": CIRCUMSTANCES,
    "entities and circumstances": ENTITIES + CIRCUMSTANCES,
    "predicates": ("Intrinsic Predicate", "Extrinsic Predicate"),
}
TARGETS: Final = {
    ("ragtruth_qa_dev", "AUROC"): Target(least=0.89),
    ("ragtruth_qa_dev", "ECE at declared prior"): Target(most=0.05),
    ("ragtruth_answers", "balanced accuracy"): Target(least=0.77),
    ("qags", "AUROC"): Target(least=0.82),
    ("wice_test", "AUROC"): Target(least=0.80),
    ("attributionbench_dev", "AUROC"): Target(least=0.90),
    ("cnli_zh", "AUROC"): Target(least=0.80),
    ("clapnq", "false alarms, sentences"): Target(most=0.15),
    ("splitter", "F1, ewt_en_dev"): Target(least=0.88),
    ("splitter", "F1, gum_en_dev"): Target(least=0.96),
    ("splitter", "F1, gsd_zh_dev"): Target(least=0.99),
    ("splitter", "golden rules met"): Target(least=47),
}


Table = Any
"""A numpy record array: each column is an attribute, and a mask of rows an index."""


async def sentences(data: Iterable[Row]) -> Table:
    """The labelled sentences of some rows, and what the judge says of them.

    `claims`: whether `classify` takes it for one; `lengths`: characters of its answer.
    """
    judge = offline(Config())
    told: list[tuple[str, bool, bool, str, int, float, bool, bool]] = []
    for row in data:
        asked, supported = request(row)
        if not supported:
            continue
        claimed = set(request(row, claims=True)[0].ask)
        outcomes = (await judge.judge(asked)).outcomes
        group, source, length = str(row["group"]), source_of(row), len(row["answer"])
        for index, label in zip(asked.ask, supported, strict=True):
            (found,) = verdicts([outcomes[index]])
            score = found.score or 0.0
            against = found.support is Support.CONTRADICTED
            told.append(
                (group, label, index in claimed, source, length, score, full(found), against)
            )
    return table(told, "groups,labels,claims,sources,lengths,scores,full,contradicted")


async def answers(data: Iterable[Row]) -> Table:
    """The answers of some rows, and what the whole offline path says of their claims.

    `kinds`: of the error that a person put in; `lowest`: the lowest score of a claim, 1 without
    claims; `alarmed`: how many claims are not full, and `raised` whether any is.
    """
    judge = offline(Config())
    told = []
    for row in data:
        result = await evaluate_sample(sample(row), judge, Rules())
        found = verdicts(each.outcome for each in result.sentences)
        alarmed = sum(not full(each) for each in found)
        told.append(
            (
                str(row["group"]),
                bool(row["labels"]["answer_supported"]),
                source_of(row),
                str(row["labels"].get("kind")),
                len(row["answer"]),
                min((each.score or 0.0 for each in found), default=1.0),
                len(found),
                alarmed,
                alarmed > 0,
            )
        )
    names = "groups,labels,sources,kinds,lengths,lowest,claims,alarmed,raised"
    return table(told, names)


def table(told: Sequence[tuple[object, ...]], names: str) -> Table:
    columns = [np.asarray(column) for column in zip(*told, strict=True)]
    kinds = zip(names.split(","), (each.dtype for each in columns), strict=True)
    return np.rec.fromarrays(columns, dtype=list(kinds))


def source_of(row: Row) -> str:
    return str(row["source"]).rpartition("/")[2]


def verdicts(outcomes: Iterable[object]) -> list[Verdict]:
    return [each for each in outcomes if isinstance(each, Verdict)]


def full(verdict: Verdict) -> bool:
    return verdict.support is Support.FULL


def measure(sheet: Sheet, said: Table) -> None:
    """All figures of some sentences."""
    drawn, labels, n = Resamples(said.groups.tolist()), said.labels, len(said.labels)
    sheet.put("share supported", float(labels.mean()), n=n)
    sheet.add("AUROC", drawn.auroc(said.scores, labels), n)
    sheet.add("recall of supported", drawn.share(said.full, labels), int(labels.sum()))
    sheet.add("recall of unsupported", drawn.share(~said.full, ~labels), int((~labels).sum()))
    sheet.add("balanced accuracy", drawn.balanced(said.full, labels), n)
    alarms = said.contradicted | (~said.full & (said.scores < LEAST_DOUBT))
    sheet.add("right of none and contradicted", drawn.share(~labels, alarms), int(alarms.sum()))
    sheet.add("share decided", drawn.share(said.full | alarms), n)
    sheet.add("wrong among full", drawn.share(~labels, said.full), int(said.full.sum()))
    wrong = int((said.contradicted & labels).sum())
    sheet.put("contradicted though supported", wrong, n=int(said.contradicted.sum()))
    # How far scores are probabilities: at the declared prior, and at the set's own.
    own = float(labels.mean())
    for title, prior in (("declared prior", PRIOR), ("own prior", own)):
        scores = said.scores if prior == PRIOR else moved(said.scores, PRIOR, own)
        error = drawn.calibration_error(scores, labels)
        sheet.add(f"ECE at {title}", error, n, f"prior {prior:.3f}")
        sheet.add(f"Brier at {title}", drawn.brier(scores, labels), n)


def part(sheet: Sheet, title: str, said: Table) -> None:
    """Rank and balanced accuracy of some of the sentences."""
    drawn, n = Resamples(said.groups.tolist()), len(said.labels)
    sheet.add(f"AUROC, {title}", drawn.auroc(said.scores, said.labels), n)
    sheet.add(f"balanced accuracy, {title}", drawn.balanced(said.full, said.labels), n)


def thirds(
    lengths: npt.NDArray[np.int64], bounds: tuple[float, float]
) -> Sequence[tuple[str, Bools]]:
    """Which are of short, middling and long answers, with a title for each."""
    low, high = bounds
    return (
        (f"answers <= {low:.0f} characters", lengths <= low),
        (f"{low:.0f} < answers <= {high:.0f}", (lengths > low) & (lengths <= high)),
        (f"answers > {high:.0f}", lengths > high),
    )


async def labelled_sentences(sheet: Sheet, name: str) -> None:
    """A set of labelled sentences."""
    said = await sentences(rows(name))
    about = f"{len(said.labels)} labelled sentences in {len(set(said.groups.tolist()))} groups"
    sheet.begin(name, about + " (trained on)" * (name in TRAINED))
    measure(sheet, said)
    if name == "ragtruth_qa_dev":
        alone = Resamples(said.groups.tolist()).auroc(-said.lengths, said.labels)
        sheet.add("AUROC of the answer's length alone", alone, len(said.labels))
        bounds = terciles([len(row["answer"]) for row in rows(name) if request(row)[1]])
        for title, these in thirds(said.lengths, bounds):
            part(sheet, title, said[these])
        print("  reliability at the declared prior: score, n, mean score, supported")
        for at, (n, mean, share) in enumerate(reliability(said.scores, said.labels)):
            print(f"    {at / 10:.1f}-{at / 10 + 0.1:.1f}{n:8}{mean or 0:8.3f}{share or 0:8.3f}")
        sheet.begin(f"{name}_claims", "those of them that `classify` takes for claims")
        measure(sheet, said[said.claims])
    if name == "attributionbench_dev":
        for source in np.unique(said.sources):
            part(sheet, source, said[said.sources == source])


async def single_chunks(sheet: Sheet) -> None:
    """Claims against one chunk each: what citation validity rests on."""
    said = await sentences(piece for row in rows("factcheckgpt") for piece in apart(row))
    about = f"{len(said.labels)} pairs of claim and chunk, supported where the chunk says all of it"
    sheet.begin("factcheckgpt_chunks", about + " (trained on)")
    measure(sheet, said)
    # Of the chunks of each stance, how many the judge lists as supporting when it sees all.
    judge = offline(Config())
    told: list[tuple[str, str, bool]] = []
    for row in rows("factcheckgpt"):
        asked, _ = request(row)
        (found,) = verdicts((await judge.judge(asked)).outcomes.values())
        stances = row["labels"]["chunk_stance"]
        told += [(str(row["group"]), s, name in found.supporting) for name, s in stances.items()]
    names, stances, listed = (np.asarray(column) for column in zip(*told, strict=True))
    drawn = Resamples(names.tolist())
    for stance in np.unique(stances):
        these = stances == stance
        sheet.add(f"listed as supporting, {stance}", drawn.share(listed, these), int(these.sum()))


async def whole_answers(sheet: Sheet, name: str) -> None:
    """A set of answers, through the whole path."""
    said = await answers(rows("ragtruth_qa_dev" if name == "ragtruth_answers" else name))
    drawn, labels, n = Resamples(said.groups.tolist()), said.labels, len(said.labels)
    sheet.begin(name, f"{n} answers in {len(set(said.groups.tolist()))} groups")
    if name == "clapnq":
        total = int(said.claims.sum())
        sheet.add("false alarms, sentences", drawn.ratio(said.alarmed, said.claims), total)
        sheet.add("false alarms, answers", drawn.share(said.raised), n)
        return
    silent = int((said.claims == 0).sum())
    sheet.put("share supported", float(labels.mean()), n=n, note=f"{silent} without claims")
    sheet.add("balanced accuracy", drawn.balanced(~said.raised, labels), n)
    caught = drawn.share(said.raised, ~labels)
    sheet.add("sensitivity (unsupported caught)", caught, int((~labels).sum()))
    sheet.add(
        "specificity (supported passed)", drawn.share(~said.raised, labels), int(labels.sum())
    )

    def rank(title: str, these: Bools) -> None:
        groups = Resamples(said.groups[these].tolist())
        sheet.add(title, groups.auroc(said.lowest[these], labels[these]), int(these.sum()))

    rank("AUROC of the lowest score", np.ones(n, np.bool_))
    if name == "ragtruth_answers":
        sheet.add("AUROC of length alone (characters)", drawn.auroc(-said.lengths, labels), n)
        for title, these in thirds(said.lengths, terciles(said.lengths)):
            rank(f"AUROC, {title}", these)
    else:
        zh = np.char.startswith(said.sources, "zh")
        parts = [(source, said.sources == source) for source in np.unique(said.sources)]
        for title, these in (("zh", zh), ("en", ~zh), *parts):
            rank(f"AUROC, {title}", these)


async def human_errors(sheet: Sheet) -> None:
    """Summaries into each of which a person put one error, and the same without it: BUMP.

    Told apart: the error lowers the lowest score of a claim, ties half. A model that cannot see
    the error has 0.5, however often it raises an alarm.
    """
    data = list(rows("bump"))
    after = await answers(data)
    unharmed = (row | {"answer": row["meta"]["reference_summary"]} for row in data)
    before = await answers(unharmed)
    drawn, n = Resamples(after.groups.tolist()), len(data)
    about = f"{n} pairs of an answer with one error and without"
    sheet.begin("bump", f"{about}, in {len(set(after.groups.tolist()))} groups")
    lowered, lifted = after.lowest < before.lowest, after.lowest > before.lowest
    told = (1.0 + lowered - lifted) / 2
    sheet.add("caught", drawn.share(after.raised), n)
    sheet.add("called unsupported before the error", drawn.share(before.raised), n)
    sheet.add("net caught", drawn.share(after.raised.astype(float) - before.raised), n)
    sheet.add("mean of the lowest score", drawn.share(after.lowest), n)
    parts = {
        "": np.ones(n, np.bool_),
        **{f", {family}": np.isin(after.kinds, kinds) for family, kinds in FAMILIES.items()},
        **{f", {kind}": after.kinds == kind for kind in np.unique(after.kinds)},
    }
    for title, these in parts.items():
        ties = f"ties {(~(lowered | lifted))[these].mean():.3f}"
        many = int(these.sum())
        sheet.add(f"told apart{title}", drawn.share(told, these), many, ties)
        sheet.add(f"caught{title or ' (all)'}", drawn.share(after.raised, these), many)


async def splitter(sheet: Sheet) -> None:
    """Sentence splitting, as tests/bench/splitting.py has it, with intervals over texts."""
    sheet.begin("splitter", "F1 of sentences whose both ends agree")
    for name in splitting.TREEBANKS:
        counts = []
        for text, wanted in splitting.rows(name):
            gold = splitting.gold_spans(text, wanted)
            found = {(s.start, s.end) for s in split(text)}
            counts.append((2 * len(gold & found), len(gold) + len(found)))
        right, both = zip(*counts, strict=True)
        groups = Resamples([str(at) for at in range(len(counts))])
        sheet.add(f"F1, {name}", groups.ratio(right, both), len(counts), "texts")
    rules = list(splitting.rows("golden_rules"))
    met = sum([s.text for s in split(text)] == wanted for text, wanted in rules)
    low, high = wilson(met / len(rules), len(rules))
    limits = (low * len(rules), high * len(rules))
    sheet.put("golden rules met", met, limits, n=len(rules), note="Wilson")


def parts(only: Sequence[str]) -> Iterator[Callable[[Sheet], Awaitable[None]]]:
    """Those that are asked for and whose data are there, the others named."""
    makers: dict[str, tuple[bool, Callable[[Sheet], Awaitable[None]]]] = {
        **{n: (available(n), partial(labelled_sentences, name=n)) for n in SENTENCES},
        "factcheckgpt_chunks": (available("factcheckgpt"), single_chunks),
        **{
            n: (available(n.replace("_answers", "_qa_dev")), partial(whole_answers, name=n))
            for n in ANSWERS
        },
        "bump": (available("bump"), human_errors),
        "splitter": (splitting.DATA.is_dir(), splitter),
    }
    if unknown := set(only) - set(makers):
        raise SystemExit(f"no set {sorted(unknown)!r}; there are {', '.join(makers)}")
    for name, (there, make) in makers.items():
        if only and name not in only:
            continue
        if there:
            yield make
        else:
            print(f"{name}: no data, skipped")


async def run(sheet: Sheet, only: Sequence[str]) -> None:
    for make in parts(only):
        await make(sheet)


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
    asyncio.run(run(sheet, [name for name in options.only.split(",") if name]))
    sheet.verdict()
    print(f"took {time.perf_counter() - begun:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(sheet.figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
