"""What the quality benchmark measures, set by set."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from judge.answer.sentences import split
from judge.pipeline import asked
from judge.records import JudgeRequest, Rules
from judge.scores.intervals import wilson
from tests.bench import answers, bump, sentences, splitting
from tests.bench.answers import Alarms, Answers
from tests.bench.baseline import scoring
from tests.bench.bump import Pairs
from tests.bench.figures import Resamples
from tests.bench.labelled import apart, request, rows
from tests.bench.scorer import Reply, replies
from tests.bench.sentences import Said, Sentences
from tests.bench.sheet import Sheet
from tests.bench.workload import Writer

TRAINED: Final = ("factscore", "wice_dev", "factcheckgpt")
SPEED: Final = "speed"
SPLITTER: Final = "splitter"
SPED: Final = (200, 3)
"""Answers and chunks."""
ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class Part:
    """Something to measure."""

    name: str
    about: str
    requests: Sequence[JudgeRequest]
    """What another revision is asked for the sake of a paired gain."""
    show: Callable[[Sheet, list[Reply] | None], Awaitable[None]]
    """Measures the code as it stands, and its gain over the replies of the other revision."""


def labelled_sentences(name: str) -> Part:
    """A set of labelled sentences."""
    data = Sentences(rows(name))

    async def show(sheet: Sheet, old: list[Reply] | None) -> None:
        now = Said.of(await replies(data.requests))
        first = None if old is None else Said.of(old)
        sentences.measure(sheet, data.groups, data.labels, now, first)
        if name == "ragtruth_qa_dev":
            sentences.by_length(sheet, data, (now, first))
            sentences.bins(sheet, data, now)
            only_claims(sheet, data, now, first)
        if name == "attributionbench_dev":
            for source in np.unique(data.sources):
                sentences.part(sheet, source, data, (now, first), data.sources == source)

    about = f"{len(data.labels)} labelled sentences in {len(set(data.groups))} groups"
    return Part(name, about + " (trained on)" * (name in TRAINED), data.requests, show)


def only_claims(sheet: Sheet, data: Sentences, now: Said, first: Said | None) -> None:
    """Of whole answers, without headings, pleasantries and the like."""
    these = data.claims
    groups, old = np.asarray(data.groups)[these].tolist(), first and first.at(these)
    sheet.begin("ragtruth_qa_dev_claims", "those of them that `classify` takes for claims")
    sentences.measure(sheet, groups, data.labels[these], now.at(these), old)


def single_chunks() -> Part:
    """Claims against one chunk each: what citation validity rests on."""
    data = Sentences(piece for row in rows("factcheckgpt") for piece in apart(row))

    async def show(sheet: Sheet, old: list[Reply] | None) -> None:
        now = Said.of(await replies(data.requests))
        first = None if old is None else Said.of(old)
        sentences.measure(sheet, data.groups, data.labels, now, first)
        await supporting(sheet)

    about = f"{len(data.labels)} pairs of claim and chunk, supported where the chunk says all of it"
    return Part("factcheckgpt_chunks", about + " (trained on)", data.requests, show)


async def supporting(sheet: Sheet) -> None:
    """Of the chunks of each stance, how many the judge lists as supporting when it sees all."""
    data = list(rows("factcheckgpt"))
    said = await replies(request(row)[0] for row in data)
    told = [
        (row["group"], stance, name in set(reply.supporting[0]))
        for row, reply in zip(data, said, strict=True)
        for name, stance in row["labels"]["chunk_stance"].items()
    ]
    groups, stances = (
        Resamples([group for group, _, _ in told]),
        np.asarray([s for _, s, _ in told]),
    )
    listed = [hit for _, _, hit in told]
    for stance in np.unique(stances):
        these = stances == stance
        sheet.add(f"listed as supporting, {stance}", groups.share(listed, these), int(these.sum()))


def whole_answers(name: str) -> Part:
    """A set of answers, through the whole path."""
    file = "ragtruth_qa_dev" if name == "ragtruth_answers" else name
    data = Answers(rows(file))

    async def show(sheet: Sheet, old: list[Reply] | None) -> None:
        now = await data.now()
        first = None if old is None else Alarms.of(old)
        if name == "clapnq":
            answers.false_alarms(sheet, data, now, first)
        else:
            answers.labelled(sheet, data, now, first)
        if name == "ragtruth_answers":
            answers.lengths(sheet, data, now, first)
        if name == "rgb_zh_en":
            zh = np.char.startswith(data.sources, "zh")
            for title, these in (("zh", zh), ("en", ~zh)):
                answers.rank(sheet, f"AUROC, {title}", data, (now, first), these)
            for source in np.unique(data.sources):
                answers.rank(sheet, f"AUROC, {source}", data, (now, first), data.sources == source)

    about = f"{len(data.rows)} answers in {len(set(data.groups))} groups"
    return Part(name, about, data.requests, show)


def human_errors() -> Part:
    """Summaries into each of which a person put one error, and the same without it."""
    after = Answers(rows("bump"))
    before = Answers(row | {"answer": row["meta"]["reference_summary"]} for row in after.rows)
    n = len(after.rows)

    async def show(sheet: Sheet, old: list[Reply] | None) -> None:
        now = Pairs(await after.now(), await before.now())
        first = None if old is None else Pairs(Alarms.of(old[:n]), Alarms.of(old[n:]))
        bump.caught(sheet, after, now, first)
        bump.told_apart(sheet, after, now, first)
        bump.flagged(sheet, after, now)

    about = f"{n} pairs of an answer with one error and without, in {len(set(after.groups))} groups"
    return Part("bump", about, [*after.requests, *before.requests], show)


def splitter() -> Part:
    """Sentence splitting, as tests/bench/splitting.py has it, with intervals over texts."""

    async def show(sheet: Sheet, _: list[Reply] | None) -> None:
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

    return Part(SPLITTER, "F1 of sentences whose both ends agree", [], show)


def speed(against: str | None) -> Part:
    """Sentences a second of the judge alone, in a process with one thread."""
    writer = Writer()
    size, chunks = SPED
    samples = [writer.sample(number) for number in range(size)]
    requests = [asked(s.model_copy(update={"chunks": s.chunks[:chunks]}), Rules()) for s in samples]
    count = sum(len(each.ask) for each in requests)

    async def show(sheet: Sheet, _: list[Reply] | None) -> None:
        revisions = [None] if against is None else [None, against]
        for revision in revisions:
            with scoring(revision, {f"{SPEED}{at}": requests for at in range(ROUNDS)}) as work:
                rounds = [work.replies(f"{SPEED}{at}") for at in range(ROUNDS)]
            seconds = min(sum(each.seconds for each in one) for one in rounds)
            sheet.put(f"sentences a second, {revision or 'as it stands'}", count / seconds, n=count)

    return Part(SPEED, f"the judge alone, {chunks} chunks of 120 words, one thread", [], show)
