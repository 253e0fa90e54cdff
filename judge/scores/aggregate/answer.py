"""The result of one answer."""

from collections import Counter
from collections.abc import Mapping, Sequence

from judge.records import (
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
from judge.scores.aggregate.tally import Tally, bounds
from judge.scores.shares import share

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
    tally = Tally(outcomes.values())
    verdicts = {i: outcome for i, outcome in outcomes.items() if isinstance(outcome, Verdict)}
    silent = {
        i
        for i, verdict in verdicts.items()
        if verdict.support is Support.NO_CLAIM and verdict.fallback_from is None
    }
    resolving = {c.sentence for c in citations if c.chunk_id is not None} & outcomes.keys()
    status = Counter(citation.status for citation in citations)
    valid = status[CitationStatus.VALID]
    settled = valid + status[CitationStatus.UNSUPPORTED] + status[CitationStatus.DANGLING]
    cited = sum(verdict.cited_support is Support.FULL for verdict in tally.judged)
    return Scores(
        claims=tally.claims,
        judged=len(tally.judged),
        unscored=tally.unscored,
        no_claim=tally.no_claim,
        faithfulness=tally.mean,
        faithfulness_strict=tally.share(Support.FULL),
        faithfulness_bounds=tally.bounds,
        faithfulness_with_fallback=tally.mean_with_fallback if tally.fell_back else None,
        contradiction_rate=tally.share(Support.CONTRADICTED),
        coverage=share(len(resolving - silent), len(outcomes) - len(silent)),
        citation_validity=share(valid, settled),
        citation_validity_bounds=bounds(valid, settled, status[CitationStatus.UNJUDGED]),
        citation_recall=share(cited, len(tally.judged)),
        unsupported=tuple(sorted(i for i, v in verdicts.items() if v.support in _UNSUPPORTED)),
    )
