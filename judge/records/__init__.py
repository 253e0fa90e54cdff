"""Frozen records, in the order they are made."""

from judge.records.correctness import (
    ComparedClaims,
    ComparedSentence,
    Correctness,
    CorrectnessStatus,
)
from judge.records.exchange import (
    Call,
    ChatFailure,
    ChatReply,
    ChatRequest,
    JudgeRequest,
    Judgment,
    Relation,
    Reply,
)
from judge.records.quadrant import Quadrant, QuadrantCount, QuadrantTable
from judge.records.result import SampleResult, Scores, Status
from judge.records.run import Rules, RunInput, RunRecord
from judge.records.sample import Chunk, Sample
from judge.records.sentence import Citation, CitationStatus, Flag, FlagName, Sentence, SentenceKind
from judge.records.summary import CorpusBounds, CorpusScore, CorrectnessTotals, Interval, Summary
from judge.records.verdict import (
    SUPPORT_WEIGHT,
    SUPPORTED,
    Evidence,
    Excluded,
    JudgeOutcome,
    Outcome,
    SentenceResult,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

__all__ = [
    "SUPPORTED",
    "SUPPORT_WEIGHT",
    "Call",
    "ChatFailure",
    "ChatReply",
    "ChatRequest",
    "Chunk",
    "Citation",
    "CitationStatus",
    "ComparedClaims",
    "ComparedSentence",
    "CorpusBounds",
    "CorpusScore",
    "Correctness",
    "CorrectnessStatus",
    "CorrectnessTotals",
    "Evidence",
    "Excluded",
    "Flag",
    "FlagName",
    "Interval",
    "JudgeOutcome",
    "JudgeRequest",
    "Judgment",
    "Outcome",
    "Quadrant",
    "QuadrantCount",
    "QuadrantTable",
    "Relation",
    "Reply",
    "Rules",
    "RunInput",
    "RunRecord",
    "Sample",
    "SampleResult",
    "Scores",
    "Sentence",
    "SentenceKind",
    "SentenceResult",
    "Status",
    "Summary",
    "Support",
    "Unscored",
    "UnscoredReason",
    "Verdict",
]
