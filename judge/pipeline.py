"""The main path: one sample in, one result out."""

import hashlib
from collections.abc import Mapping, Sequence

from judge.protocols import Judge
from judge.records import (
    Citation,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Rules,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.steps.aggregate import aggregate
from judge.steps.audit import audit
from judge.steps.citations import find, positions
from judge.steps.evidence import verify
from judge.steps.flags import raise_flags
from judge.steps.kinds import classify
from judge.steps.mismatch import mismatches
from judge.steps.split import split
from judge.text.signature import as_served


async def evaluate_sample(sample: Sample, judge: Judge, rules: Rules) -> SampleResult:
    """Take one answer through the whole path.

    Raises:
        JudgeUnavailable: from the judge; the world's other failures are outcomes.
    """
    sentences = classify(split(sample.answer))
    citations = find(sample, sentences, rules)
    asked = request(sample, sentences, citations)
    judgment = await judge.judge(asked) if asked.ask else Judgment()
    outcomes = verify(_complete(asked, judgment), sample.chunks, rules)
    return aggregate(
        sample,
        sentences,
        outcomes,
        audit(citations, outcomes),
        flags=(
            *raise_flags(sample, outcomes),
            *mismatches(asked, outcomes),
            *judgment.flags,
        ),
        calls=judgment.calls,
        signature=_signed(judge, rules, outcomes),
    )


def _complete(asked: JudgeRequest, judgment: Judgment) -> dict[int, JudgeOutcome]:
    """One outcome per asked sentence, whatever came back: a gap would leave the denominator."""
    missing = Unscored(reason=UnscoredReason.MISSING, detail="the judge gave no outcome")
    return {index: judgment.outcomes.get(index, missing) for index in asked.ask}


def request(
    sample: Sample, sentences: Sequence[Sentence], citations: Sequence[Citation]
) -> JudgeRequest:
    """What a judge is asked about one sample: its claims."""
    return JudgeRequest(
        query=sample.query,
        answer=sample.answer,
        sentences=tuple(sentences),
        ask=tuple(s.index for s in sentences if s.kind is SentenceKind.CLAIM),
        chunks=sample.chunks,
        cites=positions(citations, sample.chunks),
        markers=tuple(sorted({(citation.start, citation.end) for citation in citations})),
    )


def asked(sample: Sample, rules: Rules) -> JudgeRequest:
    """What a judge would be asked about one sample, without asking it."""
    sentences = classify(split(sample.answer))
    return request(sample, sentences, find(sample, sentences, rules))


def _signed(judge: Judge, rules: Rules, outcomes: Mapping[int, JudgeOutcome]) -> str:
    """The judge's signature, with the model that gave the verdicts, kept ones too."""
    verdicts = (each for each in outcomes.values() if isinstance(each, Verdict))
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
