"""Frozen records, in the order they are made."""

from judge.records.agreement import (
    Agreement,
    CorrectedScore,
    Disagreement,
    LabelAccuracy,
    LabelledStratum,
    Share,
)
from judge.records.chat import ChatFailure, ChatReply, ChatRequest
from judge.records.citation import Citation, CitationStatus
from judge.records.flag import Flag, FlagName
from judge.records.golden import Drift, Flip, GoldenLabel, LostSentence
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
    SentenceResult,
    Status,
)
from judge.records.review import Draw, DrawnSentence, Stratum, StratumName, Weighing
from judge.records.rules import Rules
from judge.records.run import RunInput, RunRecord
from judge.records.sample import Chunk, Sample
from judge.records.sentence import Sentence, SentenceKind
from judge.records.summary import CorpusBounds, CorpusScore, Interval, Summary
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
    "Agreement",
    "AnswerOverlap",
    "Call",
    "ChatFailure",
    "ChatReply",
    "ChatRequest",
    "Chunk",
    "Citation",
    "CitationStatus",
    "CorpusBounds",
    "CorpusScore",
    "CorrectedScore",
    "Disagreement",
    "Draw",
    "DrawnSentence",
    "Drift",
    "Evidence",
    "Excluded",
    "Flag",
    "FlagName",
    "Flip",
    "GoldenLabel",
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
    "Unscored",
    "UnscoredReason",
    "Verdict",
    "Weighing",
]
