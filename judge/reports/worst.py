"""The sentences and answers of a run to look at: findings, the worst, failures, filters."""

from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from judge.records import (
    Citation,
    CitationStatus,
    Flag,
    FlagName,
    Outcome,
    SampleResult,
    SentenceResult,
    Status,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
    failure_of,
)
from judge.records.result import QuadrantWord
from judge.scores.answer import is_undecided, support_of

FindingName = Literal["contradicted", "unsupported", "partial", "citations"]
"""Problems of claims and of citations."""

BAD_CITATIONS: Final = (CitationStatus.DANGLING, CitationStatus.UNSUPPORTED)
"""The statuses of wrong citations, worst first."""
SUPPORTS: Final = (*(each.value for each in Support), "undecided", "unscored")
"""The labels of claims, as `support_of` returns them."""
STATUSES: Final = (*(each.value for each in Status), *(each.value for each in CitationStatus))
"""The statuses of answers and of citations; no name is both."""
FLAGS: Final = tuple(each.value for each in FlagName)

_RANKS: Final = {Support.CONTRADICTED: 0, Support.NONE: 1, Support.PARTIAL: 2}
_UNDECIDED_RANK: Final = 3
_FLAGGED_RANK: Final = 4
_FALLBACK_RANK: Final = 5
"""Added to the rank of a verdict that a fallback gave."""
_UNJUDGED_RANK: Final = 10
_FINDINGS: Final[dict[Support, FindingName]] = {
    Support.CONTRADICTED: "contradicted",
    Support.NONE: "unsupported",
    Support.PARTIAL: "partial",
}


class Entry(NamedTuple):
    """A sentence of a list, with the qid of its answer, its flags and its citations."""

    qid: str
    sentence: SentenceResult
    flags: tuple[Flag, ...] = ()
    citations: tuple[Citation, ...] = ()

    @property
    def score(self) -> float:
        """P(supported); 0 if the judge states none."""
        return getattr(self.sentence.outcome, "score", None) or 0.0


def entries(result: SampleResult) -> list[Entry]:
    """Return an entry for each sentence of an answer."""
    flags = defaultdict[int | None, list[Flag]](list)
    for flag in result.flags:
        flags[flag.sentence].append(flag)
    citations = defaultdict[int, list[Citation]](list)
    for citation in result.citations:
        citations[citation.sentence].append(citation)
    return [
        Entry(result.qid, each, tuple(flags[i]), tuple(citations[i]))
        for i, each in enumerate(result.sentences)
    ]


_Ranked = tuple[int, float, int, Entry]
"""Rank, score, position in the stream, and the sentence, which is never compared."""


class WorstSentences:
    """Keeps the `size` worst sentences of a stream, in memory that does not grow with it.

    The run's own verdicts come before those of a fallback, and `contradicted` before `none`,
    `partial`, undecided, and flagged or badly cited; then the least probable, then the first.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._worst: list[_Ranked] = []
        self._seen = 0

    def add(self, result: SampleResult, indexes: Collection[int] | None = None) -> None:
        """Add sentences of an answer; by default undecided ones, findings and flagged verdicts."""
        unsupported = frozenset(result.scores.unsupported)
        for entry in entries(result):
            outcome, index = entry.sentence.outcome, entry.sentence.index
            is_bad = isinstance(outcome, Verdict) and (index in unsupported or entry.flags)
            is_bad = is_bad or is_undecided(outcome) or any(_findings(entry))
            if not (is_bad if indexes is None else index in indexes):
                continue
            self._seen += 1
            insort(self._worst, (_rank(outcome), entry.score, self._seen, entry))
            del self._worst[self._size :]

    def sentences(self) -> list[Entry]:
        """Return the worst sentences, worst first."""
        return [entry for *_, entry in self._worst]


def _rank(outcome: Outcome) -> int:
    if is_undecided(outcome):
        return _UNDECIDED_RANK
    if not isinstance(outcome, Verdict):
        return _UNJUDGED_RANK
    rank = _RANKS.get(outcome.support, _FLAGGED_RANK)
    return rank + (_FALLBACK_RANK if outcome.fallback_from else 0)


@dataclass(slots=True)
class Finding:
    """How often something is wrong, and the worst example of it."""

    count: int = 0
    """Claims, or citations."""
    answers: int = 0
    """The number of answers with any of them."""
    example: Entry | None = None
    """The least probable claim, or a citation of a missing chunk if there is one."""
    least: float = 0.0
    """The badness of the example."""


class Example(NamedTuple):
    """A failure of the run's own judge, and the answer that it is about."""

    qid: str
    failure: Unscored


class Highlights:
    """The problems in a stream of answers by the run's own judge, and `most` undecided claims."""

    def __init__(self, most: int = 3) -> None:
        self._most = most
        self.findings: dict[FindingName, Finding] = {n: Finding() for n in get_args(FindingName)}
        """The findings in the order in which they are printed."""
        self.failures: dict[UnscoredReason, Example] = {}
        """The first failure of each reason."""
        self.doubtful: list[Entry] = []
        """The undecided sentences that are least probably supported, the least probable first."""
        self.undecided_answers = 0
        """The number of answers with an undecided sentence."""
        self.marker = ""
        """The first marker that matches no chunk; empty without one."""

    def add(self, result: SampleResult) -> None:
        """Add one answer."""
        found, seen = entries(result), set[FindingName]()
        for entry in found:
            for name, count, badness in _findings(entry):
                finding = self.findings[name]
                finding.count += count
                finding.answers += name not in seen
                seen.add(name)
                if finding.example is None or badness < finding.least:
                    finding.example, finding.least = entry, badness
        for failure in failures(result):
            self.failures.setdefault(failure.reason, Example(result.qid, failure))
        undecided = [each for each in found if is_undecided(each.sentence.outcome)]
        self.undecided_answers += bool(undecided)
        self.doubtful = sorted([*self.doubtful, *undecided], key=lambda each: each.score)
        del self.doubtful[self._most :]
        unmatched = (f.detail for f in result.flags if f.name is FlagName.UNMATCHED_MARKER)
        self.marker = self.marker or next(unmatched, "")


def _findings(entry: Entry) -> Iterator[tuple[FindingName, int, float]]:
    """Yield the problems of a sentence: name, count, and badness, the least first."""
    outcome = entry.sentence.outcome
    own = outcome if isinstance(outcome, Verdict) and outcome.fallback_from is None else None
    if own and (name := _FINDINGS.get(own.support)):
        yield name, 1, entry.score
    if bad := [
        BAD_CITATIONS.index(each.status) for each in entry.citations if each.status in BAD_CITATIONS
    ]:
        yield "citations", len(bad), min(bad)


def badness(result: SampleResult) -> tuple[int, float, int, int]:
    """Return the sort key of an answer: the lowest faithfulness first, then most doubtful claims.

    Answers without a verdict follow, the most failures first, then those without claims.
    """
    scores = result.scores
    rank = 2 if not scores.claims else 1 if scores.faithfulness is None else 0
    flagged = {flag.sentence for flag in result.flags if flag.sentence is not None}
    doubtful = len(flagged.union(scores.unsupported))
    return rank, scores.faithfulness or 0.0, -doubtful, -scores.unscored


def worst_answer(results: Iterable[SampleResult]) -> SampleResult | None:
    """Return the worst answer by `badness`, the first of equals; None if no answer has claims."""
    return min((result for result in results if result.scores.claims), key=badness, default=None)


def outcomes(result: SampleResult) -> Iterator[Outcome]:
    """Yield the outcomes of an answer's sentences, of its reference's, and of its question's."""
    yield from (sentence.outcome for sentence in result.sentences)
    if found := result.correctness:
        yield from (compared.outcome for compared in found.answer)
        yield from (compared.outcome for compared in found.reference)
    yield from (claim.outcome for claim in (result.context.reference if result.context else ()))
    if related := result.answer_relevance:
        yield from (part.outcome for part in related.parts)
        if related.failure:
            yield related.failure


def failures(result: SampleResult) -> Iterator[Unscored]:
    """Yield the failures of the run's own judge: on sentences, on references, on the question."""
    yield from (failure for failure in map(failure_of, outcomes(result)) if failure)


class Filter(NamedTuple):
    """The filters of a list; all of them must hold."""

    support: str | None = None
    """One of `SUPPORTS`; `unscored` finds undecided sentences too."""
    flag: str | None = None
    """One of `FLAGS`."""
    status: str | None = None
    """One of `STATUSES`."""
    cell: Collection[QuadrantWord] = ()
    """Words of the answer's quadrant."""

    @property
    def cited(self) -> Collection[CitationStatus]:
        """The wanted status of citations, if one is wanted."""
        return [each for each in CitationStatus if each.value == self.status]

    def indexes(self, result: SampleResult) -> list[int] | None:
        """Return the indexes of the sentences that pass; None if the answer as a whole passes."""
        cell = result.cell.words if result.cell else ()
        of_answer = self.status is not None and not self.cited
        if (of_answer and result.status != self.status) or not set(self.cell).issubset(cell):
            return []
        passing: list[set[int]] = []
        if self.support is not None:
            passing.append(
                {
                    each.index
                    for each in result.sentences
                    if self.support == support_of(each)
                    or (self.support == "unscored" and is_undecided(each.outcome))
                }
            )
        if self.flag is not None:
            flagged = {flag.sentence for flag in result.flags if flag.name == self.flag}
            if None not in flagged:  # a flag on the whole answer is about each sentence
                passing.append({index for index in flagged if index is not None})
        if self.cited:
            passing.append({c.sentence for c in result.citations if c.status in self.cited})
        return sorted(set.intersection(*passing)) if passing else None
