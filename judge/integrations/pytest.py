"""Tests of a RAG system's answers with pytest: `assert_faithful` and `judge_evaluator`.

Pytest loads this plugin when it starts, so heavy modules are imported within functions.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from judge.evaluator import Evaluator
    from judge.records import Chunk


@pytest.fixture(scope="session")
def judge_evaluator() -> "Evaluator":
    """Return an evaluator with the settings of the environment and judge.toml.

    A fixture of this name in a conftest.py replaces it.
    """
    from judge.config import load_config  # noqa: PLC0415
    from judge.evaluator import Evaluator  # noqa: PLC0415  heavy

    return Evaluator(load_config({}))


def assert_faithful(
    answer: str,
    chunks: "Sequence[str | Mapping[str, Any] | Chunk]",
    *,
    at_least: float = 1.0,
    query: str = "",
    evaluator: "Evaluator | None" = None,
) -> None:
    """Assert that chunks support an answer; the message lists the unsupported sentences.

    Undecided claims do not count: without a language model, words alone cannot tell.

    Args:
        answer: the RAG's answer.
        chunks: its passages, as texts, or as objects of `chunk_id` and `text` if the answer cites.
        at_least: the lowest faithfulness that passes, above 0, up to 1.
        query: the question.
        evaluator: by default one with the settings of the environment and judge.toml.

    Raises:
        AssertionError: the answer is less faithful, even if each failed claim counts 1.
        pytest.fail.Exception: failed claims decide, or there is no score. A test that expects an
            AssertionError does not pass by it.
    """
    __tracebackhide__ = True
    from judge.config import load_config  # noqa: PLC0415
    from judge.evaluator import Evaluator  # noqa: PLC0415  heavy
    from judge.jobs.results import evaluate  # noqa: PLC0415
    from judge.records import Sample  # noqa: PLC0415
    from judge.reports.cases import case_of  # noqa: PLC0415

    if not 0 < at_least <= 1:
        raise ValueError(f"at_least is above 0, and 1 at most, got {at_least!r}")
    sample = Sample.of({"qid": "answer", "query": query, "answer": answer, "chunks": chunks})
    (result,) = evaluate([sample], evaluator=evaluator or Evaluator(load_config({})))
    case = case_of(result, at_least)
    if case.kind == "passed":
        return
    score = result.scores.faithfulness
    head = case.message if score is None else f"faithfulness {score:.3f}, {case.message}"
    bound = f"at least {at_least:g} is asked for, judged by {result.signature}"
    message = "\n".join((head, *(f"  {line}" for line in case.lines), bound))
    if case.kind == "failure":
        raise AssertionError(message)
    pytest.fail(message, pytrace=False)
