"""Compares an answer and its chunks with gold: the reference, and the ids of relevant chunks."""

import tomllib
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from judge.records import (
    SUPPORTED,
    ComparedClaims,
    ComparedSentence,
    ContextScores,
    ContextStatus,
    Correctness,
    CorrectnessStatus,
    Judgment,
    Quadrant,
    Record,
    Rules,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Status,
    Support,
    Verdict,
)
from judge.records.result import Half, QuadrantWord
from judge.records.sentence import ClaimCounts
from judge.scores.answer import Counts, Limits, with_outcomes
from judge.signature import Signature
from judge.text.fold import CJK_CHAR

_UNKNOWN: Final = (0.0, 1.0)
"""The bounds of a score that is unknown, or for which there is nothing to measure."""


def f1(precision: float | None, recall: float | None) -> float | None:
    """Return the harmonic mean 2 p r ÷ (p + r) of two shares, 0 to 1.

    It is 0 if both are 0, and None if one is None. Source: van Rijsbergen 1979, "Information
    Retrieval", chapter 7, with equal weights.

    >>> round(f1(0.5, 1.0), 6), f1(0.0, 0.0), f1(None, 1.0)
    (0.666667, 0.0, None)
    """
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def correctness(
    sentences: Sequence[Sentence],
    reference: Sequence[Sentence],
    forth: Judgment,
    back: Judgment,
    *,
    signature: str,
) -> Correctness:
    """Return the comparison of one answer with its reference.

    `forth` has the verdicts on the answer's claims by the reference, `back` those the other way.
    """
    claims = tuple(ComparedSentence(index=i, outcome=o) for i, o in sorted(forth.outcomes.items()))
    references = with_outcomes(reference, back.outcomes)
    of_answer, of_reference = Counts.of(claims), Counts.of(references)
    precision, recall = of_answer.mean(), of_reference.mean()
    low, high = _limits(precision.limits or _UNKNOWN, recall.limits or _UNKNOWN)
    value, limits = f1(precision.value, recall.value), None
    if value is None and low == high:  # whatever the unknown one is, F1 has this value
        value = low
    if None not in (precision.limits, recall.limits) or value is not None:
        limits = (low, high)
    with_fallback = None
    if of_answer.fallen_back or of_reference.fallen_back:
        both = [counts.mean(with_fallback=True).value for counts in (of_answer, of_reference)]
        with_fallback = f1(*both)
    return Correctness(
        status=_status(sentences, reference, of_answer, of_reference),
        precision=precision.value,
        precision_bounds=precision.limits,
        recall=recall.value,
        recall_bounds=recall.limits,
        f1=value,
        f1_bounds=limits,
        f1_with_fallback=with_fallback,
        of_answer=_claims(of_answer),
        of_reference=_claims(of_reference),
        answer=claims,
        reference=references,
        answer_flags=forth.flags,
        reference_flags=back.flags,
        signature=signature,
    )


def _limits(precision: Limits, recall: Limits) -> Limits:
    # F1 rises with both, so that its limits are those of precision and recall.
    low, high = (f1(p, r) or 0.0 for p, r in zip(precision, recall, strict=True))
    return low, high


def _status(
    sentences: Sequence[Sentence], reference: Sequence[Sentence], precision: Counts, recall: Counts
) -> CorrectnessStatus:
    kinds = {sentence.kind for sentence in sentences}
    if not reference:
        return CorrectnessStatus.NO_REFERENCE
    if SentenceKind.CLAIM not in kinds and SentenceKind.ABSTENTION in kinds:
        return CorrectnessStatus.ABSTAINED
    if precision.judged or recall.judged:
        return CorrectnessStatus.SCORED
    if precision.failed or recall.failed:
        return CorrectnessStatus.UNSCORED
    return CorrectnessStatus.NO_CLAIMS


def _claims(counts: Counts) -> ComparedClaims:
    return ComparedClaims(**counts.claim_counts(), contradicted=counts.own[Support.CONTRADICTED])


def context_precision(relevant: Sequence[bool]) -> float:
    """Return the average precision of chunks, given in ranked order whether each is relevant.

    Formula: Σ precision@k over the ranks k of relevant chunks ÷ number of relevant chunks, where
    precision@k is the share of relevant chunks among the first k. It is 0 without a relevant chunk.
    Range: 0 to 1. Source: Ragas, `LLMContextPrecisionWithReference`.

    >>> round(context_precision([True, False, True]), 3), context_precision([True, True, False])
    (0.833, 1.0)
    """
    found, total = 0, 0.0
    for rank, is_relevant in enumerate(relevant, 1):
        if is_relevant:
            found += 1
            total += found / rank
    return total / found if found else 0.0


def precision_bounds(relevant: Sequence[bool]) -> Limits:
    """Return the least and the most context precision, if other chunks may be relevant, too.

    The most is 1: all chunks may be relevant. The least has the last few ranks relevant, because
    each relevant chunk adds less, the lower its rank.

    >>> low, high = precision_bounds([True, False, False])
    >>> round(low, 3), high
    (0.833, 1.0)
    """
    found, total, firsts = 0, 0.0, [(0, 0.0)]
    for rank, is_relevant in enumerate(relevant, 1):
        found += is_relevant
        total += found / rank if is_relevant else 0.0
        firsts.append((found, total))
    size, inverses, least = len(relevant), 0.0, context_precision(relevant)
    for first in reversed(range(size)):
        # All ranks k after `first` are relevant: their precision is (found + k - first) ÷ k.
        found, total = firsts[first]
        inverses += 1 / (first + 1)
        others = size - first
        least = min(least, (total + others + (found - first) * inverses) / (found + others))
    return least, float(size > 0)


def context_scores(sample: Sample, found: SampleResult) -> ContextScores:
    """Return the context scores of a sample; `found` has its reference judged as an answer."""
    scores, outcomes = found.scores, [each.outcome for each in found.sentences]
    own = [each for each in outcomes if isinstance(each, Verdict) and not each.fallback_from]
    supporting = {name for each in own if each.support in SUPPORTED for name in each.supporting}
    relevant = [sample.chunks[place].chunk_id in supporting for place in _ranking(sample)]
    status = Status.NO_CLAIMS if found.status is Status.ABSTAINED else found.status
    limits = None
    if scores.faithfulness_bounds is not None:
        precision = context_precision(relevant)
        limits = precision_bounds(relevant) if scores.unscored else (precision, precision)
    return ContextScores(
        status=ContextStatus(status.value) if found.sentences else ContextStatus.NO_REFERENCE,
        recall=scores.faithfulness,
        recall_bounds=scores.faithfulness_bounds,
        precision=None if scores.faithfulness is None else context_precision(relevant),
        precision_bounds=limits,
        of_reference=ClaimCounts(
            **{name: getattr(scores, name) for name in ClaimCounts.model_fields}
        ),
        reference=found.sentences,
        # Flags of the whole sample are those of the answer's result.
        flags=tuple(flag for flag in found.flags if flag.sentence is not None),
        signature=found.signature,
    )


def _ranking(sample: Sample) -> list[int]:
    """Return the positions of the chunks in the order of `retrieved`, if that has all of them."""
    ids = seen_ids(sample)
    ranks = {name: rank for rank, name in reversed([*enumerate(sample.retrieved or ())])}
    places = list(range(len(sample.chunks)))
    return sorted(places, key=lambda place: ranks[ids[place]]) if ranks.keys() >= {*ids} else places


BY_CONTEXT: Final = "context_recall"
"""The part `gold` of a signature where context recall takes the place of gold evidence."""
_EDITION: Final = "cells:4"
"""The version of the rules for quadrants, which is in their signatures."""


def quadrant(
    sample: Sample, result: SampleResult, reference: Sequence[Sentence], rules: Rules
) -> Quadrant | None:
    """Return the quadrant of an answer; None without gold evidence or if gold contradicts itself.

    Where the sample has no gold evidence, context recall takes its place, if it was measured:
    evidence was retrieved if the chunks support the share `correct_from` of the reference or more.
    There is no quadrant if a failure could change that.

    A question is unanswerable if gold names no chunk or the reference abstains. Gold contradicts
    itself if it names no chunk but the reference claims something. A contradicted claim makes an
    answer unfaithful or wrong whatever its score. A failure leaves the answer open only where it
    could change the quadrant. An answer is correct by its recall of the reference, because an
    answer that says more than a short reference is not wrong.
    """
    kinds = {sentence.kind for sentence in reference}
    claims = SentenceKind.CLAIM in kinds
    abstains = not claims and SentenceKind.ABSTENTION in kinds
    gold: str = rules.gold_match
    if sample.has_gold:
        retrieved, missed = map(bool, look_up(sample, rules.gold_match))
        answerable = (retrieved or missed) and not abstains
        if claims and not answerable:
            return None
    elif result.context is None or not (claims or abstains):
        return None
    else:
        gold, answerable = BY_CONTEXT, claims
        least, most = result.context.recall_bounds or (0.0, 1.0)
        retrieved = least >= rules.correct_from
        if claims and not retrieved and most >= rules.correct_from:
            return None
    # Code is not judged, but an answer of code is an answer.
    code = any(sentence.kind is SentenceKind.CODE for sentence in result.sentences)
    empty = result.status is Status.NO_CLAIMS and not code
    abstained = empty or result.status is Status.ABSTAINED
    limits = f"faithful:{rules.faithful_from}", f"correct:{rules.correct_from}", f"gold:{gold}"
    return Quadrant(
        answerable=answerable,
        retrieved=retrieved if answerable else None,
        abstained=abstained,
        faithful=None if abstained else _faithful(result, rules),
        correct=_correct(result, rules) if answerable and not abstained else None,
        signature=str(Signature(_EDITION, limits)),
    )


def differs(sample: Sample) -> bool:
    """Return whether `gold_evidence` and `relevance` above 0 name different chunks."""
    graded = set(_graded(sample))
    return bool(sample.gold_evidence and graded) and graded != set(sample.gold_evidence or ())


def _graded(sample: Sample) -> list[str]:
    return [name for name, grade in (sample.relevance or {}).items() if grade > 0]


def look_up(
    sample: Sample, match: Literal["exact", "prefix"]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the chunks that gold names: those that the generator saw, and those that it did not.

    Gold is `gold_evidence`, or else the chunks with a `relevance` above 0.
    """
    gold = tuple(dict.fromkeys(sample.gold_evidence or _graded(sample)))
    seen = set(seen_ids(sample))
    if match == "prefix":
        # A document graded 0 may have a longer name than a relevant one, and has its own chunks.
        documents = Documents((*gold, *(sample.relevance or ())))
        seen = {documents.of(name) for name in seen}
    found = tuple(name for name in gold if name in seen)
    return found, tuple(name for name in gold if name not in seen)


def seen_ids(sample: Sample) -> tuple[str, ...]:
    """Return the ids of the chunks in their order, as gold names them.

    Chunks without ids have the ids of the first entries of `retrieved`. Chunks count as having no
    ids if `retrieved` holds none of their ids, or if these are 1, 2, 3 … and `retrieved` begins
    with others.
    """
    ids = tuple(chunk.chunk_id for chunk in sample.chunks)
    if sample.retrieved is None:
        return ids
    first = sample.retrieved[: len(ids)]
    # The ids of a corpus may be numbers too, and then some of them are in the ranking by accident.
    counted = is_counted(ids) and set(first) != set(ids)
    return first if counted or set(ids).isdisjoint(sample.retrieved) else ids


def is_counted(ids: Sequence[str]) -> bool:
    """Return whether ids are 1, 2, 3 …, as those of chunks that came without ids."""
    return list(ids) == [str(number) for number in range(1, len(ids) + 1)]


def _faithful(result: SampleResult, rules: Rules) -> bool | None:
    scores = result.scores
    if scores.contradiction_rate:
        return False
    return _reaches(scores.faithfulness_bounds, rules.faithful_from, scores.unscored)


def _correct(result: SampleResult, rules: Rules) -> bool | None:
    """Return whether an answer that does not abstain is correct; None where that is unknown."""
    if (compared := result.correctness) is None:
        return None
    sides = compared.of_answer, compared.of_reference
    if any(side.contradicted for side in sides):
        return False
    failed = sum(side.unscored for side in sides)
    return _reaches(compared.recall_bounds, rules.correct_from, failed)


def _reaches(bounds: tuple[float, float] | None, least: float, failed: int) -> bool | None:
    """Return whether a score reaches `least`; None if failures leave it open or hide everything."""
    if bounds is None:
        return None
    if bounds[1] < least:
        return False
    # Whatever the lower bound, each failure may hide a contradiction.
    return None if failed else True


class QuadrantRow(Record):
    """The meaning of all quadrants with some words."""

    when: frozenset[QuadrantWord]
    """The words that all these quadrants have."""
    half: Half
    """The half of the pipeline that failed."""
    en: str
    """The meaning, in English."""
    zh: str
    """The meaning, in Chinese."""


@cache
def table() -> tuple[QuadrantRow, ...]:
    """Return the rows of `judge/data/quadrants.toml`; a quadrant's row is the first that fits."""
    raw = files("judge").joinpath("data", "quadrants.toml").read_text("utf-8")
    return tuple(map(QuadrantRow.model_validate, tomllib.loads(raw)["row"]))


def row_of(words: Collection[QuadrantWord]) -> QuadrantRow:
    """Return the row of a quadrant, whose words are those of `Quadrant.words`."""
    for row in table():
        if row.when.issubset(words):
            return row
    raise ValueError(f"no row of judge/data/quadrants.toml holds for {sorted(words)}")


class Documents:
    """Documents that gold names, and the chunks that belong to them.

    A chunk belongs to a document if its id is the document's id, or begins with it and the next
    character begins another word: `docA#sec3` and `docA第3章` belong to `docA`, and `docAB` does
    not. Where several documents fit, the chunk belongs to the one with the longest id.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(filter(None, names))
        # There may be many names; of lengths there are few.
        self._lengths = sorted(set(map(len, self._names)), reverse=True)

    def of(self, chunk_id: str) -> str:
        """Return the document that a chunk belongs to, or else the chunk's own id.

        >>> Documents(["docA", "docA-2"]).of("docA-2#1")
        'docA-2'
        """
        for length in self._lengths:
            name = chunk_id[:length]
            if name in self._names and not _in_word(name[-1], chunk_id[length : length + 1]):
                return name
        return chunk_id


def _in_word(last: str, following: str) -> bool:
    """Return whether two neighbouring characters belong to one word."""
    is_word = last.isalnum() and following.isalnum()
    return is_word and bool(CJK_CHAR.match(last)) is bool(CJK_CHAR.match(following))
