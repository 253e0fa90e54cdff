"""Frozen records, in the order they are made."""

from judge.records.advice import (
    Advice,
    AdvisedMeasure,
    AvoidedMeasure,
    FamilyAdvice,
    FiredRule,
    Profile,
    Wishes,
)
from judge.records.agreement import (
    Agreement,
    CorrectedScore,
    Disagreement,
    LabelAccuracy,
    LabelledStratum,
    Share,
)
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
from judge.records.diagnosis import (
    Band,
    Bands,
    Diagnoses,
    Diagnosis,
    Figure,
    Ground,
    ProductionBand,
    Target,
    Targets,
    Unjudged,
    Wording,
)
from judge.records.flag import Flag, FlagName
from judge.records.golden import Drift, Flip, GoldenLabel, LostSentence
from judge.records.judged import SentenceResult
from judge.records.label import Label
from judge.records.overlap import (
    AnswerOverlap,
    LanguageBleu,
    LowOverlap,
    OverlapCounts,
    OverlapReport,
)
from judge.records.ranking import (
    IrrelevantTop,
    MissedGold,
    PairedChunks,
    PairKind,
    QueryRanks,
    QueryStatus,
    RankingReport,
    RankRules,
)
from judge.records.relation import Relation
from judge.records.request import JudgeRequest
from judge.records.result import (
    SampleResult,
    Scores,
    Status,
)
from judge.records.review import Draw, DrawnSentence, Stratum, StratumName, Weighing
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
    "Advice",
    "AdvisedMeasure",
    "Agreement",
    "AnswerOverlap",
    "AvoidedMeasure",
    "Band",
    "Bands",
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
    "CorrectedScore",
    "Correctness",
    "CorrectnessStatus",
    "CorrectnessTotals",
    "Diagnoses",
    "Diagnosis",
    "Disagreement",
    "Draw",
    "DrawnSentence",
    "Drift",
    "Evidence",
    "Excluded",
    "FamilyAdvice",
    "Figure",
    "FiredRule",
    "Flag",
    "FlagName",
    "Flip",
    "GoldenLabel",
    "Ground",
    "Interval",
    "IrrelevantTop",
    "JudgeOutcome",
    "JudgeRequest",
    "Judgment",
    "Label",
    "LabelAccuracy",
    "LabelledStratum",
    "LanguageBleu",
    "LostSentence",
    "LowOverlap",
    "MissedGold",
    "Outcome",
    "OverlapCounts",
    "OverlapReport",
    "PairKind",
    "PairedChunks",
    "ProductionBand",
    "Profile",
    "QueryRanks",
    "QueryStatus",
    "RankRules",
    "RankingReport",
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
    "Share",
    "Status",
    "Stratum",
    "StratumName",
    "Summary",
    "Support",
    "Target",
    "Targets",
    "Unjudged",
    "Unscored",
    "UnscoredReason",
    "Verdict",
    "Weighing",
    "Wishes",
    "Wording",
]
