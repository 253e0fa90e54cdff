"""The main path: one sample in, one result out."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from judge.protocols import Judge
from judge.records import (
    Call,
    Chunk,
    Citation,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Rules,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Status,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.steps.aggregate import aggregate, correctness
from judge.steps.audit import audit
from judge.steps.cell import cell
from judge.steps.citations import find, positions
from judge.steps.evidence import verify
from judge.steps.flags import raise_flags
from judge.steps.guarded import guarded
from judge.steps.kinds import classify
from judge.steps.mismatch import mismatches
from judge.steps.split import split
from judge.text.signature import as_served

GOLD: Final = "gold_answer"
"""What evidence out of the reference is said to stand in."""
ANSWER: Final = "answer"
"""What evidence out of the answer is said to stand in."""


async def evaluate_sample(
    sample: Sample,
    judge: Judge,
    rules: Rules,
    *,
    comparing: Judge | None = None,
    deadline: float | None = None,
) -> SampleResult:
    """Take one answer through the whole path.

    Args:
        sample: what is judged.
        judge: says which claims the chunks support.
        rules: how its verdicts are read.
        comparing: holds answer and reference against each other; None leaves correctness out.
        deadline: when no more is asked, on the event loop's clock; None means never.

    Raises:
        JudgeUnavailable: from a judge; the world's other failures are outcomes.
    """
    sentences = classify(split(sample.answer))
    citations = find(sample, sentences, rules)
    asked = request(sample, sentences, citations, deadline)
    judgment = await _judged(judge, asked)
    outcomes = verify(judgment.outcomes, sample.chunks, rules)
    flags = (*raise_flags(sample, outcomes), *mismatches(asked, outcomes), *judgment.flags)
    result = aggregate(
        sample,
        sentences,
        outcomes,
        audit(citations, outcomes),
        flags=flags,
        calls=judgment.calls,
        signature=_signed(judge, rules, outcomes.values()),
    )
    reference = classify(split(sample.gold_answer or ""))
    if comparing is not None:
        result = await _compare(result, sample, asked, reference, comparing, rules)
    return result.model_copy(update={"cell": cell(sample, result, reference, rules)})


async def _compare(
    result: SampleResult,
    sample: Sample,
    asked: JudgeRequest,
    reference: Sequence[Sentence],
    judge: Judge,
    rules: Rules,
) -> SampleResult:
    """Hold the answer against its reference, and the reference against the answer."""
    gold = sample.gold_answer or ""
    forth = back = asked.model_copy(update={"ask": ()})
    if result.status is not Status.ABSTAINED and _claims(reference) and sample.answer.strip():
        forth = asked.model_copy(update={"chunks": (Chunk(chunk_id=GOLD, text=gold),), "cites": {}})
        back = _swapped(sample, gold, reference, rules, asked.deadline)
    first, outcomes = await _held(judge, forth, rules)
    second, covered = await _held(judge, back, rules)
    found = correctness(
        result.sentences,
        reference,
        outcomes,
        covered,
        signature=_signed(judge, rules, (*outcomes.values(), *covered.values())),
    )
    return result.model_copy(
        update={"correctness": found, "calls": (*result.calls, *first, *second)}
    )


async def _held(
    judge: Judge, asked: JudgeRequest, rules: Rules
) -> tuple[Sequence[Call], Mapping[int, JudgeOutcome]]:
    """One text held against the other: what it took, and what came of it."""
    judgment = await _judged(judge, asked)
    outcomes = verify(judgment.outcomes, asked.chunks, rules)
    return judgment.calls, guarded(outcomes, mismatches(asked, outcomes))


def _swapped(
    sample: Sample, gold: str, reference: Sequence[Sentence], rules: Rules, deadline: float | None
) -> JudgeRequest:
    """The reference in the answer's place, and the answer in the evidence's."""
    chunk = Chunk(chunk_id=ANSWER, text=sample.answer)
    swapped = Sample(qid=sample.qid, query=sample.query, answer=gold, chunks=(chunk,))
    asked = request(swapped, reference, find(swapped, reference, rules), deadline)
    # A number in brackets cites what the reference was made from, which nobody has.
    return asked.model_copy(update={"cites": {}})


async def _judged(judge: Judge, asked: JudgeRequest) -> Judgment:
    """One outcome per asked sentence, whatever came back: a gap would leave the denominator."""
    if not asked.ask:
        return Judgment()
    judgment = await judge.judge(asked)
    missing = Unscored(reason=UnscoredReason.MISSING, detail="the judge gave no outcome")
    whole = {index: judgment.outcomes.get(index, missing) for index in asked.ask}
    return judgment.model_copy(update={"outcomes": whole})


def request(
    sample: Sample,
    sentences: Sequence[Sentence],
    citations: Sequence[Citation],
    deadline: float | None = None,
) -> JudgeRequest:
    """What a judge is asked about one sample: its claims."""
    return JudgeRequest(
        query=sample.query,
        answer=sample.answer,
        sentences=tuple(sentences),
        ask=_claims(sentences),
        chunks=sample.chunks,
        cites=positions(citations, sample.chunks),
        markers=tuple(sorted({(citation.start, citation.end) for citation in citations})),
        deadline=deadline,
    )


def _claims(sentences: Sequence[Sentence]) -> tuple[int, ...]:
    return tuple(s.index for s in sentences if s.kind is SentenceKind.CLAIM)


def asked(sample: Sample, rules: Rules) -> JudgeRequest:
    """What a judge would be asked about one sample, without asking it."""
    sentences = classify(split(sample.answer))
    return request(sample, sentences, find(sample, sentences, rules))


def _signed(judge: Judge, rules: Rules, outcomes: Iterable[JudgeOutcome]) -> str:
    """The judge's signature, with the model that gave the verdicts, kept ones too."""
    verdicts = (each for each in outcomes if isinstance(each, Verdict))
    made = {verdict.signature for verdict in verdicts if verdict.fallback_from is None}
    signature = sign(judge, rules)
    return as_served(signature, made.pop()) if len(made) == 1 else signature


def sign(judge: Judge, rules: Rules) -> str:
    """The judge's signature, and those rules that are not the usual ones."""
    parts = [judge.signature]
    if rules.prose_citations:
        parts.append("cites:prose")
    if rules.citation_pattern is not None:
        digest = hashlib.sha256(rules.citation_pattern.encode()).hexdigest()
        parts.append(f"cites:{digest[:8]}")
    if rules.require_quotes:
        parts.append("quotes:required")
    return "|".join(parts)
