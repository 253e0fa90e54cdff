"""From the outcomes of one answer to its numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence

from judge.records import (
    SUPPORT_WEIGHT,
    Call,
    Citation,
    CitationStatus,
    Excluded,
    Flag,
    JudgeOutcome,
    Sample,
    SampleResult,
    Scores,
    Sentence,
    SentenceKind,
    SentenceResult,
    Status,
    Support,
    Verdict,
)

_UNSUPPORTED = frozenset({Support.NONE, Support.CONTRADICTED, Support.PARTIAL})


def aggregate(
    sample: Sample,
    sentences: Sequence[Sentence],
    outcomes: Mapping[int, JudgeOutcome],
    citations: Sequence[Citation],
    *,
    flags: Sequence[Flag] = (),
    calls: Sequence[Call] = (),
    signature: str,
) -> SampleResult:
    """Put one answer's result together.

    `outcomes` holds one outcome per claim, by sentence index; `citations` are audited.
    """
    scores = _scores(outcomes, citations)
    return SampleResult(
        qid=sample.qid,
        status=_status(scores, sentences),
        scores=scores,
        sentences=tuple(
            SentenceResult(
                index=sentence.index,
                start=sentence.start,
                end=sentence.end,
                text=sentence.text,
                kind=sentence.kind,
                outcome=outcomes.get(sentence.index, Excluded()),
            )
            for sentence in sentences
        ),
        citations=tuple(citations),
        flags=tuple(flags),
        calls=tuple(calls),
        signature=signature,
        metadata=sample.metadata,
    )


def _status(scores: Scores, sentences: Sequence[Sentence]) -> Status:
    if scores.claims == 0:
        abstains = any(sentence.kind is SentenceKind.ABSTENTION for sentence in sentences)
        return Status.ABSTAINED if abstains else Status.NO_CLAIMS
    if scores.judged:
        return Status.SCORED
    return Status.NO_CLAIMS if scores.no_claim and not scores.unscored else Status.UNSCORED


def _scores(outcomes: Mapping[int, JudgeOutcome], citations: Sequence[Citation]) -> Scores:
    verdicts = {i: outcome for i, outcome in outcomes.items() if isinstance(outcome, Verdict)}
    own = {i: verdict for i, verdict in verdicts.items() if verdict.fallback_from is None}
    judged = [verdict for verdict in own.values() if verdict.support is not Support.NO_CLAIM]
    silent = {i for i, verdict in own.items() if verdict.support is Support.NO_CLAIM}
    unscored = len(outcomes) - len(own)
    weight = sum(SUPPORT_WEIGHT[verdict.support] for verdict in judged)
    resolving = {c.sentence for c in citations if c.chunk_id is not None} & outcomes.keys()
    status = Counter(citation.status for citation in citations)
    valid = status[CitationStatus.VALID]
    settled = valid + status[CitationStatus.UNSUPPORTED] + status[CitationStatus.DANGLING]
    return Scores(
        claims=len(outcomes),
        judged=len(judged),
        unscored=unscored,
        no_claim=len(silent),
        faithfulness=_share(weight, len(judged)),
        faithfulness_strict=_share(_count(judged, Support.FULL), len(judged)),
        faithfulness_bounds=_bounds(weight, len(judged), unscored),
        faithfulness_with_fallback=_with_fallback(verdicts),
        contradiction_rate=_share(_count(judged, Support.CONTRADICTED), len(judged)),
        coverage=_share(len(resolving - silent), len(outcomes) - len(silent)),
        citation_validity=_share(valid, settled),
        citation_validity_bounds=_bounds(valid, settled, status[CitationStatus.UNJUDGED]),
        citation_recall=_share(sum(v.cited_support is Support.FULL for v in judged), len(judged)),
        unsupported=tuple(sorted(i for i, v in verdicts.items() if v.support in _UNSUPPORTED)),
    )


def _with_fallback(verdicts: Mapping[int, Verdict]) -> float | None:
    if all(verdict.fallback_from is None for verdict in verdicts.values()):
        return None
    labels = [v.support for v in verdicts.values() if v.support is not Support.NO_CLAIM]
    return _share(sum(SUPPORT_WEIGHT[label] for label in labels), len(labels))


def _count(verdicts: Sequence[Verdict], support: Support) -> int:
    return sum(verdict.support is support for verdict in verdicts)


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _bounds(total: float, settled: int, open_: int) -> tuple[float, float] | None:
    """The share with everything open counted 0, then 1; None where there is nothing at all."""
    whole = settled + open_
    return (total / whole, (total + open_) / whole) if whole else None
