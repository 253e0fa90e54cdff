"""Answers with known faithfulness, for the evaluators of other tools."""

import re
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from judge import Evaluator
from judge.backends.fake import FakeJudge
from judge.records import JudgeOutcome, Support, Unscored, UnscoredReason, Verdict

TEXT: Final = "一线城市住宿每晚不超过600元。"
_TRUE, _FALSE, _UNASKED = "一线城市每晚600元。", "Each day pays 900 yuan.", "别的东西是红色的。"
_OPEN: Final = "Bears are often brown."
_NAME_A_MODEL: Final = "words alone cannot tell; name a language model (JUDGE_MODEL)"


class KnownScore(NamedTuple):
    answer: str
    score: float | None
    says: str
    passing: bool | None = None

    @property
    def is_open(self) -> bool:
        """Whether a claim has no verdict."""
        return "no verdict" in self.says or "undecided" in self.says


RATED: Final = {
    "supported": KnownScore(_TRUE, 1.0, "", passing=True),
    "half": KnownScore(
        f"{_TRUE}{_FALSE}", 0.5, f"1 of 2 claims is not supported: {_FALSE}", passing=False
    ),
    "unscored": KnownScore(_UNASKED, None, f"1 of 1 claim has no verdict: {_UNASKED}"),
    "partly": KnownScore(f"{_TRUE}{_UNASKED}", 1.0, f"1 of 2 claims has no verdict: {_UNASKED}"),
    "abstained": KnownScore("文档中没有提到。", None, "nothing to measure: abstained"),
    "empty": KnownScore("", None, "nothing to measure: no claims"),
    "open": KnownScore(
        f"{_TRUE}{_OPEN}",
        1.0,
        f"1 of 2 claims is undecided and not counted: {_NAME_A_MODEL}",
        passing=True,
    ),
    "undecided": KnownScore(_OPEN, None, f"no score: 1 of 1 claim is undecided: {_NAME_A_MODEL}"),
}


def rater() -> Evaluator:
    """Return an evaluator that gives these scores."""
    labels = {_TRUE: Support.FULL, _FALSE: Support.NONE}
    outcomes: dict[str, JudgeOutcome] = {
        text: Verdict(support=each, source="llm", signature="fake") for text, each in labels.items()
    }
    outcomes[_OPEN] = Unscored(reason=UnscoredReason.UNDECIDED, detail="half of it is there")
    return Evaluator(judge=FakeJudge(outcomes))


def recipe(module: str) -> dict[str, Any]:
    """Run the guide's example of an integration, and return its variables."""
    guide = Path(__file__).parents[1] / "judge" / "integrations" / "README.md"
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", guide.read_text("utf-8"))
    (block,) = (text for text in blocks if f"judge.integrations.{module} " in text)
    names: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), names)  # noqa: S102  our own text
    return names


def tool(name: str) -> Callable[[], Any]:
    """Return a function that imports a module of an optional package; skip without it.

    The import takes a second, so that collecting tests must not do it.
    """
    package = name.partition(".")[0]
    if find_spec(package) is None:
        pytest.skip(f"no {package}", allow_module_level=True)

    def module() -> Any:  # noqa: ANN401  of a package that may be missing
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(name)

    return module
