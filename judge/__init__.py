"""Which sentences of a RAG answer its chunks support, and how far to trust that verdict."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.config import Config
    from judge.errors import (
        ConfigError,
        InputError,
        JudgeError,
        JudgeUnavailable,
        PromptMismatch,
        RunError,
        UsageError,
    )
    from judge.evaluator import (
        Evaluator,
        evaluate,
    )
    from judge.records import (
        SUPPORT_WEIGHT,
        Call,
        ChatReply,
        ChatRequest,
        Chunk,
        Citation,
        CitationStatus,
        CorpusBounds,
        CorpusScore,
        Evidence,
        Excluded,
        Flag,
        FlagName,
        Interval,
        JudgeOutcome,
        JudgeRequest,
        Judgment,
        Label,
        Outcome,
        Rules,
        Sample,
        SampleResult,
        Scores,
        Sentence,
        SentenceKind,
        SentenceResult,
        Status,
        Summary,
        Support,
        Unscored,
        UnscoredReason,
        Verdict,
    )
    from judge.reports.rows import to_rows
    from judge.samples import read_samples
    from judge.steps.totals import summarize

__all__ = [
    "SUPPORT_WEIGHT",
    "Call",
    "ChatReply",
    "ChatRequest",
    "Chunk",
    "Citation",
    "CitationStatus",
    "Config",
    "ConfigError",
    "CorpusBounds",
    "CorpusScore",
    "Evaluator",
    "Evidence",
    "Excluded",
    "Flag",
    "FlagName",
    "InputError",
    "Interval",
    "JudgeError",
    "JudgeOutcome",
    "JudgeRequest",
    "JudgeUnavailable",
    "Judgment",
    "Label",
    "Outcome",
    "PromptMismatch",
    "Rules",
    "RunError",
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
    "UsageError",
    "Verdict",
    "evaluate",
    "read_samples",
    "summarize",
    "to_rows",
]

_HOMES = {
    "judge.config": ("Config",),
    "judge.errors": (
        "ConfigError",
        "InputError",
        "JudgeError",
        "JudgeUnavailable",
        "PromptMismatch",
        "RunError",
        "UsageError",
    ),
    "judge.evaluator": ("Evaluator", "evaluate"),
    "judge.records": (
        "Call",
        "ChatReply",
        "ChatRequest",
        "Chunk",
        "Citation",
        "CitationStatus",
        "CorpusBounds",
        "CorpusScore",
        "Evidence",
        "Excluded",
        "Flag",
        "FlagName",
        "Interval",
        "JudgeOutcome",
        "JudgeRequest",
        "Judgment",
        "Label",
        "Outcome",
        "Rules",
        "SUPPORT_WEIGHT",
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
    ),
    "judge.reports.rows": ("to_rows",),
    "judge.samples": ("read_samples",),
    "judge.steps.totals": ("summarize",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: `import judge` alone stays light."""
    if name not in _HOME:
        raise AttributeError(f"module 'judge' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
