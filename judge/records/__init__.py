"""Frozen records, in the order they are made."""

from judge.records.cell import Breakdown, Cell, CellCount
from judge.records.chat import ChatFailure, ChatReply, ChatRequest
from judge.records.citation import Citation, CitationStatus
from judge.records.corpus import CorpusBounds, CorpusScore, Interval
from judge.records.correctness import (
    ComparedClaims,
    ComparedSentence,
    Correctness,
    CorrectnessStatus,
    CorrectnessTotals,
)
from judge.records.flag import Flag, FlagName
from judge.records.judged import SentenceResult
from judge.records.relation import Relation
from judge.records.request import JudgeRequest
from judge.records.result import (
    SampleResult,
    Scores,
    Status,
)
from judge.records.rules import Rules
from judge.records.run import RunInput, RunRecord
from judge.records.sample import Chunk, Sample
from judge.records.sentence import Sentence, SentenceKind
from judge.records.summary import Summary
from judge.records.verdict import (
    SUPPORT_WEIGHT,
    SUPPORTED,
    Call,
    Evidence,
    Excluded,
    JudgeOutcome,
    Judgment,
    Outcome,
    Reply,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

__all__ = [
    "SUPPORTED",
    "SUPPORT_WEIGHT",
    "Breakdown",
    "Call",
    "Cell",
    "CellCount",
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
