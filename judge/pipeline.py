"""The main path: one sample in, one result out."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from judge.answer.citations import audit, find, positions
from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.checks.guarded import guarded
from judge.checks.injection import flag_orders
from judge.checks.mismatch import mismatches
from judge.checks.quotes import flag_quotes, verify
from judge.protocols import Judge
from judge.records import (
    Chunk,
    Citation,
    Flag,
    FlagName,
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
from judge.scores.answer import aggregate
from judge.scores.correctness import correctness
from judge.scores.quadrants import has_gold, quadrant
from judge.signature import Signature
from judge.text.words import blank

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
    flags = (
        *flag_orders(sample),
        *flag_quotes(outcomes),
        *mismatches(asked, outcomes),
        *judgment.flags,
    )
    result = aggregate(
        sample,
        sentences,
        outcomes,
        audit(citations, outcomes),
        flags=flags,
        calls=judgment.calls,
        signature=_signed(judge, rules, outcomes.values()),
    )
    if comparing is None and not has_gold(sample):
        return result
    return await _with_gold(result, sample, asked, comparing, rules)


async def _with_gold(
    result: SampleResult,
    sample: Sample,
    asked: JudgeRequest,
    comparing: Judge | None,
    rules: Rules,
) -> SampleResult:
    """The result, compared, and with its cell, or a flag where gold leaves none to stand in."""
    reference = classify(split(sample.gold_answer or ""))
    if comparing is not None:
        result = await _compare(result, sample, asked, reference, comparing, rules)
    found = quadrant(sample, result, reference, rules)
    if found is None and has_gold(sample):
        flags = (*result.flags, Flag(name=FlagName.CONFLICTING_GOLD))
        return result.model_copy(update={"flags": flags})
    return result.model_copy(update={"cell": found})


async def _compare(
    result: SampleResult,
    sample: Sample,
    asked: JudgeRequest,
    reference: Sequence[Sentence],
    judge: Judge,
    rules: Rules,
) -> SampleResult:
    """Hold the answer against its reference, and the reference against the answer."""
    forth = back = asked.model_copy(update={"ask": ()})
    if result.status is not Status.ABSTAINED and _claims(reference):
        forth, back = _swapped(sample, asked, reference, rules)
    first, second = await _held(judge, forth, rules), await _held(judge, back, rules)
    outcomes = (*first.outcomes.values(), *second.outcomes.values())
    found = correctness(
        result.sentences,
        reference,
        first,
        second,
        signature=_signed(judge, rules, outcomes),
    )
    calls = (*result.calls, *first.calls, *second.calls)
    return result.model_copy(update={"correctness": found, "calls": calls})


async def _held(judge: Judge, asked: JudgeRequest, rules: Rules) -> Judgment:
    """One text held against the other: what became of its claims, and what to look at."""
    judgment = await _judged(judge, asked)
    verified = verify(judgment.outcomes, asked.chunks, rules)
    outcomes, lacking = guarded(asked, verified, mismatches(asked, verified))
    flags = (*flag_quotes(outcomes), *lacking, *judgment.flags)
    return judgment.model_copy(update={"outcomes": outcomes, "flags": flags})


def _swapped(
    sample: Sample, asked: JudgeRequest, reference: Sequence[Sentence], rules: Rules
) -> tuple[JudgeRequest, JudgeRequest]:
    """What is asked of the answer's claims, and of the reference's: each by the other text.

    Whatever either cites are chunks, which nobody is shown: markers are no part of a claim, and
    blank where they stand in evidence, for `[3]` is no figure.
    """
    gold = sample.gold_answer or ""
    swapped = sample.model_copy(update={"answer": gold})
    back = request(swapped, reference, find(swapped, reference, rules), asked.deadline)

    def shown(name: str, text: str, markers: Sequence[tuple[int, int]]) -> dict[str, object]:
        return {"chunks": (Chunk(chunk_id=name, text=blank(text, markers)),), "cites": {}}

    return (
        asked.model_copy(update=shown(GOLD, gold, back.markers)),
        back.model_copy(update=shown(ANSWER, sample.answer, asked.markers)),
    )


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
    signature = Signature.parse(sign(judge, rules))
    if len(made) == 1:
        signature = signature.served_by(Signature.parse(made.pop()))
    return str(signature)


def sign(judge: Judge, rules: Rules) -> str:
    """The judge's signature, and those rules that are not the usual ones."""
    parts = []
    if rules.prose_citations:
        parts.append("cites:prose")
    if rules.citation_pattern is not None:
        digest = hashlib.sha256(rules.citation_pattern.encode()).hexdigest()
        parts.append(f"cites:{digest[:8]}")
    if rules.require_quotes:
        parts.append("quotes:required")
    return str(Signature.parse(judge.signature).having(*parts))
