"""From the results of a run to its totals, one result at a time, in constant memory.

All that is kept are whole numbers, so that the totals of parts merge, in any order, into exactly
those of the whole.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import Any, Final, Literal, Self, get_args

from judge.records import (
    CitationStatus,
    Correctness,
    CorrectnessStatus,
    CorrectnessTotals,
    FlagName,
    QuadrantCount,
    QuadrantTable,
    RepeatTotals,
    SampleResult,
    SentenceKind,
    Status,
    Summary,
    Support,
    UnscoredReason,
    Verdict,
)
from judge.records.quadrant import Half, QuadrantWord
from judge.records.summary import ABSTAINING, COMPARED, HALLUCINATING, OVERALL
from judge.scores.answer import Counts, Rate, share
from judge.scores.contribution import (
    CLAIMING,
    FALLBACK,
    answerable,
    claimed,
    conflicting,
    of_claims,
    of_reference,
)
from judge.scores.correctness import f1
from judge.scores.quadrants import row_of, table
from judge.scores.relevance import QuestionTotals
from judge.scores.support import SUPPORTING, citation_support
from judge.scores.tally import Tally, is_untrusted

MAX_UNSCORED: Final = 0.05
"""Over this share of unscored claims a run is not to be trusted."""

_QIDS: Final = 20
"""So many are named, of each quadrant and of those whose gold contradicts itself."""
_TICKS: Final = 2**64
"""Of a second, or of a weight: all longer than 2⁻¹² are whole numbers of them."""

_REPEATED: Final = "|repeat:"
"""Part of the signature of a judge that asks again."""
_REPEATS: Final = ("asked_again", "compared", "flipped", "changed")
_BOUNDED: Final = (
    "faithfulness",
    "faithfulness_strict",
    *HALLUCINATING,
    "contradiction_rate",
    "citation_recall",
    "citation_validity",
)


def summarize(results: Iterable[SampleResult], *, max_unscored: float = MAX_UNSCORED) -> Summary:
    """Corpus totals of `results`, streamed: macro and micro means, bounds, intervals, counts.

    Args:
        results: in any order; each qid once.
        max_unscored: share of unscored claims, 0 to 1, over which the run is untrusted.
    """
    totals = Totals(max_unscored=max_unscored)
    for result in results:
        totals.add(result)
    return totals.summary()


class Totals:
    """Adds results up; `summary` may be asked at any time. Arguments as in `summarize`.

    Where it is `limited` by a budget, what is unscored for that makes no run untrusted.
    """

    def __init__(self, *, max_unscored: float = MAX_UNSCORED, limited: bool = False) -> None:
        self._max_unscored = max_unscored
        self._limited = limited
        self._tally = Tally((*CLAIMING, *HALLUCINATING, *ABSTAINING), _BOUNDED)
        self._outcomes = Counts()
        self._correctness = _CorrectnessTotals()
        self._relevance = QuestionTotals()
        self._quadrants = _QuadrantTotals()
        self._support = _SupportTotals()

    def add(self, result: SampleResult, position: int | None = None) -> None:
        """Take in one answer.

        Args:
            result: the answer's.
            position: where it stands in the input, for the qids that are named first; as many as
                came before it where left out.
        """
        found = self._tally.counted
        position = found["statuses"].total() if position is None else position
        outcomes = Counts.of(result.sentences, result.citations)
        self._outcomes.merge(outcomes)
        found["signatures"][result.signature] += 1
        found["statuses"][result.status] += 1
        found["kinds"].update(sentence.kind for sentence in result.sentences)
        found["flags"].update(flag.name for flag in result.flags)
        if _REPEATED in result.signature:
            _add_repeats(result, found["repeats"], found["repeats.failed"])
        self._tally.add(*of_claims(result, outcomes))
        self._correctness.add(result.correctness)
        self._relevance.add(result.answer_relevance, answerable=answerable(result))
        self._quadrants.add(result, position)
        self._support.add(result)
        spent = found["spent"]
        for call in result.calls:
            if call.model:
                found["models"][call.model] += 1
            if call.cached:
                spent["cache_hits"] += 1
                continue
            spent["calls"] += 1
            spent["retries"] += call.retries
            spent["prompt_tokens"] += call.prompt_tokens
            spent["reply_tokens"] += call.reply_tokens
            spent["ticks"] += round(call.seconds * _TICKS)

    def merge(self, other: Self) -> None:
        """Take in what another has taken in, of other answers.

        Where both were given the positions of their answers, the summary is that of all of them
        taken in by one, in whatever order parts are merged.

        Raises:
            ValueError: the limits differ.
        """
        if other._max_unscored != self._max_unscored:
            raise ValueError("only totals of equal max_unscored merge")
        self._tally.merge(other._tally)
        self._outcomes.merge(other._outcomes)
        self._correctness.merge(other._correctness)
        self._relevance.merge(other._relevance)
        self._quadrants.merge(other._quadrants)
        self._support.merge(other._support)

    def summary(self) -> Summary:
        """The totals of what was added so far."""
        outcomes, found = self._outcomes, self._tally.counted
        answers, spent = found["statuses"].total(), found["spent"]
        return Summary(
            signatures=dict(found["signatures"]),
            answers=answers,
            statuses={status: found["statuses"][status] for status in Status},
            abstention_rate=share(found["statuses"][Status.ABSTAINED], answers),
            kinds={kind: found["kinds"][kind] for kind in SentenceKind},
            claims=outcomes.claims,
            judged=outcomes.judged,
            supports={support: outcomes.own[support] for support in Support},
            sources=dict(outcomes.sources),
            unscored=dict(outcomes.unscored),
            unscored_share=outcomes.unscored_share,
            fallen_back=outcomes.fallen_back.total(),
            untrusted=_untrusted(outcomes, self._max_unscored, self._limited),
            correctness=self._correctness.totals(self._max_unscored, limited=self._limited),
            answer_relevance=self._relevance.totals(self._max_unscored, limited=self._limited),
            repeats=self._repeats(),
            breakdown=self._quadrants.totals(),
            citations={status: outcomes.citations[status] for status in CitationStatus},
            flags={name: found["flags"][name] for name in FlagName},
            models=dict(found["models"]),
            calls=spent["calls"],
            retries=spent["retries"],
            cache_hits=spent["cache_hits"],
            prompt_tokens=spent["prompt_tokens"],
            reply_tokens=spent["reply_tokens"],
            seconds=spent["ticks"] / _TICKS,
            **self._support.totals(),
            **self._tally.bounds(),
            **self._tally.scores(outcomes.rates()),
            **self._tally.shares((*HALLUCINATING, *ABSTAINING)),
        )

    def _repeats(self) -> RepeatTotals | None:
        found = self._tally.counted
        if not any(_REPEATED in made for made in found["signatures"]):
            return None
        counts = {name: found["repeats"][name] for name in _REPEATS}
        rate = share(counts["flipped"], counts["compared"])
        failed = {UnscoredReason(each): n for each, n in found["repeats.failed"].items()}
        return RepeatTotals(**counts, flip_rate=rate, failed=failed)


def _add_repeats(result: SampleResult, counts: Counter[str], failed: Counter[str]) -> None:
    """Count the sentences of an answer that were asked again, and what came of it."""
    for outcome in (sentence.outcome for sentence in result.sentences):
        if isinstance(outcome, Verdict) and outcome.askings:
            said = [each for each in outcome.askings if isinstance(each, Support)]
            failed.update(each for each in outcome.askings if isinstance(each, UnscoredReason))
            told = (True, len(said) > 1, len(set(said)) > 1, outcome.support is not said[0])
            counts.update(dict(zip(_REPEATS, told, strict=True)))


def _untrusted(outcomes: Counts, max_unscored: float, limited: bool) -> bool:  # noqa: FBT001
    unasked = outcomes.unscored[UnscoredReason.BUDGET] if limited else 0
    return is_untrusted(outcomes.failed - unasked, outcomes.claims - unasked, max_unscored)


class _SupportTotals:
    """How far the citations of a run support what cites them."""

    def __init__(self) -> None:
        self._tally = Tally(SUPPORTING, SUPPORTING)

    def add(self, result: SampleResult) -> None:
        found = self._tally.counted
        if not result.citations:  # as most have none
            found["silent"]["sentences"] += len(result.sentences)
            self._tally.add_zero()
            return
        found["citing"]["answers"] += 1
        measured = citation_support(result.sentences, result.citations)
        self._tally.add(
            {name: each.value for name, each in measured.items()},
            {name: each.limits for name, each in measured.items()},
        )
        for name, each in measured.items():
            found["weights"][name] += round(each.weight * _TICKS)
            found["items"][name] += each.items

    def merge(self, other: Self) -> None:
        self._tally.merge(other._tally)

    def totals(self) -> dict[str, Any]:
        """The fields of the summary; empty where no answer cites."""
        found = self._tally.counted
        if not found["citing"].total():
            return {}
        silent = found["silent"]["sentences"]
        items = {name: found["items"][name] + silent * ("recall" in name) for name in SUPPORTING}
        pooled: dict[str, Rate] = {
            name: (share(found["weights"][name] / _TICKS, many), many)
            for name, many in items.items()
        }
        scores, bounds = self._tally.scores(pooled), self._tally.bounds()
        pairs = {name: bounds[f"{name}_bounds"] for name in SUPPORTING}
        return {
            "citation_support": {name: each for name, each in scores.items() if each},
            "citation_support_bounds": {name: each for name, each in pairs.items() if each},
        }


class _CorrectnessTotals:
    """How the answers of a run agree with their references."""

    def __init__(self) -> None:
        bounded = (*COMPARED, *OVERALL)
        self._tally = Tally((*bounded, FALLBACK), bounded)
        self._answers, self._references = Counts(), Counts()
        self._pools = {name: (Counts(), Counts()) for name in ("f1", "f1_overall", FALLBACK)}
        """Claims of the answers, and of their references, that each F1 is over."""

    def add(self, compared: Correctness | None) -> None:
        """Take in one answer, where it was compared or found to have nothing to compare with."""
        if compared is None:
            return
        found = self._tally.counted
        found["signatures"][compared.signature] += 1
        found["statuses"][compared.status] += 1
        flags = chain(compared.answer_flags, compared.reference_flags)
        found["flags"].update(flag.name for flag in flags)
        values, limits = of_reference(compared)
        self._tally.add(values, limits)
        answer, reference = Counts.of(compared.answer), Counts.of(compared.reference)
        self._answers.merge(answer)
        self._references.merge(reference)
        if compared.status is CorrectnessStatus.ABSTAINED:
            reference = Counts(own=Counter({Support.NONE: claimed(compared)}))
        for name, pool in self._pools.items():
            if values.get(name) is not None:
                pool[0].merge(answer)
                pool[1].merge(reference)

    def merge(self, other: Self) -> None:
        self._tally.merge(other._tally)
        self._answers.merge(other._answers)
        self._references.merge(other._references)
        for name, pool in self._pools.items():
            for own, others in zip(pool, other._pools[name], strict=True):
                own.merge(others)

    def totals(self, max_unscored: float, *, limited: bool) -> CorrectnessTotals | None:
        """The totals of what was added so far; None where correctness was not asked for."""
        found = self._tally.counted
        if not found["statuses"]:
            return None
        answers, references, both = self._answers, self._references, Counts()
        both.merge(answers)
        both.merge(references)
        pooled: dict[str, Rate] = {FALLBACK: (None, 0)}
        for name, recall in (("f1", "recall"), OVERALL):
            said, wanted = self._pools[name]
            # Where no answer claims anything, nothing of the references is said.
            micro = f1(said.mean if said.judged else 0.0, wanted.mean)
            pooled[name] = (micro, said.judged + wanted.judged)
            pooled[recall] = (wanted.mean, wanted.judged)
        said, _ = self._pools["f1"]
        pooled["precision"] = (said.mean, said.judged)
        if both.fallen_back:
            said, wanted = self._pools[FALLBACK]
            micro = f1(said.mean_with_fallback, wanted.mean_with_fallback)
            pooled[FALLBACK] = (micro, said.judged_by_any + wanted.judged_by_any)
        return CorrectnessTotals(
            signatures=dict(found["signatures"]),
            statuses={status: found["statuses"][status] for status in CorrectnessStatus},
            answer_supports={support: answers.own[support] for support in Support},
            reference_supports={support: references.own[support] for support in Support},
            flags={name: found["flags"][name] for name in FlagName},
            claims=both.claims,
            sources=dict(both.sources),
            unscored=dict(both.unscored),
            unscored_share=both.unscored_share,
            fallen_back=both.fallen_back.total(),
            untrusted=_untrusted(both, max_unscored, limited),
            **self._tally.bounds(),
            **self._tally.scores(pooled),
        )


_Key = tuple[QuadrantWord, ...] | Literal["conflicting", "without_gold"]
"""The words of a quadrant, or why an answer stands in none."""


class _QuadrantTotals:
    """The answers of each quadrant, in memory that does not grow with them."""

    def __init__(self) -> None:
        self._answers: Counter[_Key] = Counter()
        self._partly: Counter[_Key] = Counter()
        self._signatures: Counter[str] = Counter()
        self._first: defaultdict[_Key, list[tuple[int, str]]] = defaultdict(list)
        """Positions and qids of those that stand first in the input, 20 at most."""

    def add(self, result: SampleResult, position: int) -> None:
        key: _Key = "without_gold"
        if result.cell is not None:
            key = result.cell.words
            self._partly[key] += result.cell.partly
            self._signatures[result.cell.signature] += 1
        elif conflicting(result):
            key = "conflicting"
        self._answers[key] += 1
        self._name(key, [(position, result.qid)])

    def merge(self, other: Self) -> None:
        self._answers.update(other._answers)
        self._partly.update(other._partly)
        self._signatures.update(other._signatures)
        for key, first in other._first.items():
            self._name(key, first)

    def _name(self, key: _Key, more: list[tuple[int, str]]) -> None:
        self._first[key] = sorted((*self._first[key], *more))[:_QIDS]

    def _qids(self, key: _Key) -> tuple[str, ...]:
        return tuple(qid for _, qid in self._first.get(key, ()))

    def totals(self) -> QuadrantTable | None:
        """The table of what was added so far; None where no answer has gold evidence."""
        rows = {words: row_of(words) for words in self._answers if not isinstance(words, str)}
        if not rows and not self._answers["conflicting"]:
            return None
        halves: dict[Half, int] = dict.fromkeys(get_args(Half), 0)
        cells = []
        for words in sorted(rows, key=lambda words: (table().index(rows[words]), words)):
            half, answers = rows[words].half, self._answers[words]
            halves[half] += answers
            cells.append(
                QuadrantCount(
                    words=words,
                    half=half,
                    answers=answers,
                    partly=self._partly[words],
                    qids=self._qids(words),
                )
            )
        return QuadrantTable(
            cells=tuple(cells),
            halves=halves,
            counted=self._signatures.total(),
            without_gold=self._answers["without_gold"],
            conflicting=self._answers["conflicting"],
            conflicting_qids=self._qids("conflicting"),
            signatures=dict(self._signatures),
        )
