"""The plugin has tests of its own; this is its place among the integrations."""

import re
from pathlib import Path

import judge.testing
from judge import Evaluator
from judge.integrations import pytest as plugin


def test_it_is_the_plugin() -> None:
    assert plugin.assert_faithful is judge.testing.assert_faithful
    assert plugin.judge_evaluator is judge.testing.judge_evaluator


def test_the_recipe() -> None:
    guide = Path(__file__).parents[2] / "judge" / "integrations" / "README.md"
    blocks = re.findall(
        r"^```python\n(.*?)^```$", guide.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    (block,) = (text for text in blocks if "integrations.pytest" in text)
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)  # noqa: S102  our own text
    names["test_probation"](Evaluator())  # type: ignore[operator]
