"""Which sentences of a RAG answer its chunks support, and how far to trust that verdict."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from judge import exam as exam
    from judge import review as review
    from judge.advice.recommend import recommend_measures as recommend_measures
    from judge.config import Config as Config
    from judge.errors import ConfigError as ConfigError
    from judge.errors import InputError as InputError
    from judge.errors import JudgeError as JudgeError
    from judge.errors import JudgeUnavailable as JudgeUnavailable
    from judge.errors import JudgeUnhealthy as JudgeUnhealthy
    from judge.errors import PromptMismatch as PromptMismatch
    from judge.errors import RunError as RunError
    from judge.errors import UsageError as UsageError
    from judge.errors import WorkerLost as WorkerLost
    from judge.evaluator import Evaluator as Evaluator
    from judge.inputs.samples import read_samples as read_samples
    from judge.jobs.results import Results as Results
    from judge.jobs.results import evaluate as evaluate
    from judge.overlap import measure_overlap as measure_overlap
    from judge.pages.notebook import Run as Run
    from judge.pages.notebook import read_run as read_run
    from judge.protocols import Embedder as Embedder
    from judge.protocols import Judge as Judge
    from judge.protocols import ReviewHook as ReviewHook
    from judge.records import AnswerRelevance as AnswerRelevance
    from judge.records import Chunk as Chunk
    from judge.records import Citation as Citation
    from judge.records import CitationStatus as CitationStatus
    from judge.records import ContextScores as ContextScores
    from judge.records import ContextStatus as ContextStatus
    from judge.records import Correctness as Correctness
    from judge.records import CorrectnessStatus as CorrectnessStatus
    from judge.records import Evidence as Evidence
    from judge.records import Excluded as Excluded
    from judge.records import Flag as Flag
    from judge.records import FlagName as FlagName
    from judge.records import JudgeRequest as JudgeRequest
    from judge.records import Judgment as Judgment
    from judge.records import Outcome as Outcome
    from judge.records import RelevanceStatus as RelevanceStatus
    from judge.records import Rules as Rules
    from judge.records import Sample as Sample
    from judge.records import SampleResult as SampleResult
    from judge.records import Sentence as Sentence
    from judge.records import SentenceKind as SentenceKind
    from judge.records import SentenceResult as SentenceResult
    from judge.records import Status as Status
    from judge.records import Summary as Summary
    from judge.records import Support as Support
    from judge.records import Unscored as Unscored
    from judge.records import UnscoredReason as UnscoredReason
    from judge.records import Verdict as Verdict
    from judge.reports.rows import to_rows as to_rows
    from judge.retrieval import measure_retrieval as measure_retrieval
    from judge.retrieval import measure_run as measure_run
    from judge.retrieval.records import RankRules as RankRules
    from judge.scores.totals import summarize as summarize

_MODULES = {
    "judge.advice.recommend": "recommend_measures",
    "judge.config": "Config",
    "judge.errors": "ConfigError InputError JudgeError JudgeUnavailable JudgeUnhealthy"
    " PromptMismatch RunError UsageError WorkerLost",
    "judge.evaluator": "Evaluator",
    "judge.inputs.samples": "read_samples",
    "judge.jobs.results": "Results evaluate",
    "judge.overlap": "measure_overlap",
    "judge.protocols": "Embedder Judge ReviewHook",
    "judge.records": "AnswerRelevance Chunk Citation CitationStatus ContextScores ContextStatus"
    " Correctness CorrectnessStatus Evidence Excluded Flag FlagName JudgeRequest Judgment Outcome"
    " RelevanceStatus Rules Sample SampleResult Sentence SentenceKind SentenceResult Status Summary"
    " Support Unscored UnscoredReason Verdict",
    "judge.reports.rows": "to_rows",
    "judge.retrieval": "measure_retrieval measure_run",
    "judge.retrieval.records": "RankRules",
    "judge.pages.notebook": "Run read_run",
    "judge.scores.totals": "summarize",
}
_ROOMS = ("exam", "review")
"""Modules that are public as a whole."""
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

if not TYPE_CHECKING:  # a type checker that saw `__getattr__` would let any name pass

    def __getattr__(name: str) -> object:
        """Load a public name when it is first used: `import judge` alone stays light."""
        if name == "__all__":
            return __dir__()
        if name in _ROOMS:
            return import_module(f"judge.{name}")
        if name in _HOMES:
            value = globals()[name] = getattr(import_module(_HOMES[name]), name)
            return value
        raise AttributeError(f"module 'judge' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted((*_ROOMS, *_HOMES))
