"""What to look at first: findings, the worst sentences, and an example of each failure."""

from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from judge.records import (
    Citation,
    CitationStatus,
    Flag,
    Outcome,
    SampleResult,
    SentenceResult,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
    failure_of,
)

FindingName = Literal["invented", "contradicted", "partial", "citations"]
"""Problems of claims and of citations."""

_ORDER: Final = {Support.CONTRADICTED: 0, Support.NONE: 1, Support.PARTIAL: 2}
_FLAGGED: Final = 3
"""Only its quote is in doubt, or another chunk says otherwise: nothing speaks against the label."""
_STAND_IN: Final = 4
_UNJUDGED: Final = 10
_SHARE: Final = 3
_NAMED: Final[dict[Support, FindingName]] = {
    Support.CONTRADICTED: "contradicted",
    Support.NONE: "invented",
    Support.PARTIAL: "partial",
}
_BAD: Final = (CitationStatus.DANGLING, CitationStatus.UNSUPPORTED)
"""Worst first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence of a list, with the qid of its answer, its flags and its citations."""

    qid: str
    sentence: SentenceResult
    flags: tuple[Flag, ...] = ()
    citations: tuple[Citation, ...] = ()

    @property
    def score(self) -> float:
        """P(supported); 0 where a judge states none."""
        outcome = self.sentence.outcome
        return (outcome.score or 0.0) if isinstance(outcome, Verdict) else 0.0


def entries(result: SampleResult) -> list[Entry]:
    """An entry for each sentence of an answer."""
    flags = _flags(result)
    citations: defaultdict[int, list[Citation]] = defaultdict(list)
    for citation in result.citations:
        citations[citation.sentence].append(citation)
    return [
        Entry(result.qid, each, tuple(flags.get(i, ())), tuple(citations.get(i, ())))
        for i, each in enumerate(result.sentences)
    ]


_Ranked = tuple[int, float, int, Entry]
"""Rank, score and position in the stream, so that two sentences themselves are never compared."""


class Worst:
    """Keeps the `size` worst sentences of a stream, in memory that does not grow with it.

    The run's own verdicts before those of a fallback; contradicted, then none, partial, flagged;
    among equals the least probable, then the first. Where there is enough else, supported sentences
    that are flagged get a third of the places: a flag is seen soon, and hides nothing that is
    worse.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._unsupported: list[_Ranked] = []
        self._flagged: list[_Ranked] = []
        self._seen = 0

    def add(self, result: SampleResult, meant: Collection[int] | None = None) -> None:
        """Take in one answer: of its sentences those meant, or the unsupported and the flagged."""
        unsupported = frozenset(result.scores.unsupported)
        for entry in entries(result):
            among = entry.sentence.index in unsupported
            judged = isinstance(entry.sentence.outcome, Verdict)
            bad = judged and (among or entry.flags)
            if not (bad if meant is None else entry.sentence.index in meant):
                continue
            self._seen += 1
            kept = self._unsupported if among else self._flagged
            insort(kept, (_rank(entry), entry.score, self._seen, entry))
            del kept[self._size :]

    def sentences(self) -> list[Entry]:
        """The worst, worst first."""
        flagged = self._flagged[: max(self._size - len(self._unsupported), self._size // _SHARE)]
        kept = [*self._unsupported[: self._size - len(flagged)], *flagged]
        return [worst for *_, worst in sorted(kept)]


def _rank(entry: Entry) -> int:
    outcome = entry.sentence.outcome
    if not isinstance(outcome, Verdict):
        return _UNJUDGED
    rank = _ORDER.get(outcome.support, _FLAGGED)
    return rank + (_STAND_IN if outcome.fallback_from else 0)


@dataclass(slots=True)
class Finding:
    """How often something is wrong, and the worst example of it."""

    count: int = 0
    """Claims, or citations."""
    answers: int = 0
    """The number of answers with any of them."""
    example: Entry | None = None
    """The least probable, then the first; among citations one to a missing chunk."""
    least: float = field(default=0.0, repr=False)


class Findings:
    """Counts the problems in a stream of answers, by the verdicts of the run's own judge."""

    def __init__(self) -> None:
        self.found: dict[FindingName, Finding] = {name: Finding() for name in get_args(FindingName)}
        """By name, in the order to tell them."""

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        seen = set()
        for entry in entries(result):
            for name, count, badness in _findings(entry):
                found = self.found[name]
                found.count += count
                found.answers += name not in seen
                seen.add(name)
                if found.example is None or badness < found.least:
                    found.example, found.least = entry, badness


def _findings(entry: Entry) -> Iterator[tuple[FindingName, int, float]]:
    """Yield the problems of a sentence: name, count, and badness, the least first."""
    outcome = entry.sentence.outcome
    own = outcome if isinstance(outcome, Verdict) and outcome.fallback_from is None else None
    if own and (name := _NAMED.get(own.support)):
        yield name, 1, entry.score
    if bad := [_BAD.index(each.status) for each in entry.citations if each.status in _BAD]:
        yield "citations", len(bad), min(bad)


def badness(result: SampleResult) -> tuple[int, float, int, int]:
    """Return the sort key of an answer, the worst first.

    The lowest faithfulness comes first, and among equals the most unsupported or flagged sentences.
    Answers without a verdict follow, the most failures first, because a failure does not make an
    answer bad. Answers without claims come last.
    """
    scores = result.scores
    rank = 2 if not scores.claims else 1 if scores.faithfulness is None else 0
    doubtful = len({*scores.unsupported, *_flags(result)})
    return rank, scores.faithfulness or 0.0, -doubtful, -scores.unscored


def worst_answer(results: Iterable[SampleResult]) -> SampleResult | None:
    """The worst by `badness`, the first of equals; None where no answer claims anything."""
    return min((result for result in results if result.scores.claims), key=badness, default=None)


def _flags(result: SampleResult) -> dict[int, list[Flag]]:
    flags: defaultdict[int, list[Flag]] = defaultdict(list)
    for flag in result.flags:
        if flag.sentence is not None:
            flags[flag.sentence].append(flag)
    return flags


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence that the run's own judge gave no verdict on."""

    qid: str
    failure: Unscored


class Failures:
    """Keeps the first failure of each reason in a stream of results."""

    def __init__(self) -> None:
        self.first: dict[UnscoredReason, Example] = {}
        """By reason, in the order they were first met."""

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        for failure in failures(result):
            self.first.setdefault(failure.reason, Example(result.qid, failure))


def failures(result: SampleResult) -> Iterator[Unscored]:
    """Yield the failures of the run's own judge: on sentences, on references, on the question."""
    judged: list[Outcome] = [sentence.outcome for sentence in result.sentences]
    if found := result.correctness:
        judged += [compared.outcome for compared in found.answer]
        judged += [compared.outcome for compared in found.reference]
    if related := result.answer_relevance:
        judged += related.failures
    for outcome in judged:
        if failure := failure_of(outcome):
            yield failure
