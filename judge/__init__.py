"""Which sentences of a RAG answer its chunks support, and how far to trust that verdict."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.advice.recommend import recommend_measures as recommend_measures
    from judge.config import Config as Config
    from judge.errors import *  # noqa: F403  its __all__ is what is meant
    from judge.evaluator import Evaluator as Evaluator
    from judge.evaluator import evaluate as evaluate
    from judge.files.samples import read_samples as read_samples
    from judge.overlap import measure_overlap as measure_overlap
    from judge.records import *  # noqa: F403  likewise
    from judge.reports.rows import to_rows as to_rows
    from judge.retrieval import measure_retrieval as measure_retrieval
    from judge.retrieval import measure_run as measure_run
    from judge.scores.totals import summarize as summarize

_HOMES = {
    "Config": "judge.config",
    "Evaluator": "judge.evaluator",
    "evaluate": "judge.evaluator",
    "measure_overlap": "judge.overlap",
    "measure_retrieval": "judge.retrieval",
    "measure_run": "judge.retrieval",
    "read_samples": "judge.files.samples",
    "recommend_measures": "judge.advice.recommend",
    "summarize": "judge.scores.totals",
    "to_rows": "judge.reports.rows",
}
# All that these two export is public here as well.
_WHOLE = (
    "judge.errors",
    "judge.records",
    "judge.advice.records",
    "judge.overlap.records",
    "judge.retrieval.records",
    "judge.review.records",
)


if not TYPE_CHECKING:  # a type checker that saw `__getattr__` would let any name pass

    def __getattr__(name: str) -> object:
        """Load a public name when it is first used: `import judge` alone stays light."""
        if name == "__all__":
            return __dir__()
        if not name.startswith("_"):
            homes = (_HOMES[name],) if name in _HOMES else _WHOLE
            for module in map(import_module, homes):
                if name in _HOMES or name in module.__all__:
                    value: object = getattr(module, name)
                    globals()[name] = value
                    return value
        raise AttributeError(f"module 'judge' has no attribute {name!r}")

    def __dir__() -> list[str]:
        exported = [name for home in _WHOLE for name in import_module(home).__all__]
        return sorted([*_HOMES, *exported])
