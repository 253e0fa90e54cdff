"""For tests of a RAG's answers with pytest: `assert_faithful`, and the fixture `judge_evaluator`.

    from judge.integrations.pytest import assert_faithful

    def test_notice(rag):
        answer, chunks = rag.ask("How long is the notice?")
        assert_faithful(answer, chunks, at_least=0.9)

Pytest loads this file as it starts: what it takes is imported when it is first used.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from judge.evaluator import Evaluator
    from judge.records import Chunk


@pytest.fixture(scope="session")
def judge_evaluator() -> "Evaluator":
    """The judge of these tests, by the settings in the environment and judge.toml.

    Define a fixture of this name in a conftest.py to have another.
    """
    from judge.config import load_config  # noqa: PLC0415
    from judge.evaluator import Evaluator  # noqa: PLC0415  heavy, and pytest starts without it

    return Evaluator(load_config({}))


def assert_faithful(
    answer: str,
    chunks: "Sequence[str | Mapping[str, Any] | Chunk]",
    *,
    at_least: float = 1.0,
    query: str = "",
    evaluator: "Evaluator | None" = None,
) -> None:
    """Assert that chunks support an answer; the message names the sentences that they do not.

    Args:
        answer: what the RAG said.
        chunks: what it was given, as texts, or with `chunk_id` and `text` where the answer cites.
        at_least: the least faithfulness, above 0, to 1: by default each claim is supported fully.
        query: what it was asked.
        evaluator: what judges, such as the fixture `judge_evaluator`; else what the environment and
            judge.toml say, and similarity where they name no model.

    Raises:
        AssertionError: the answer is less faithful than that, whatever unjudged claims are worth.
        pytest.fail.Exception: nobody can tell: a claim has no verdict, or there is no claim. That
            is no AssertionError, so that a test which expects one does not pass by it.
        ValueError, TypeError: `at_least` or `chunks` cannot be meant.
        ConfigError, JudgeUnavailable: as of `judge.evaluate`.
    """
    __tracebackhide__ = True
    from judge.config import load_config  # noqa: PLC0415
    from judge.evaluator import Evaluator, evaluate  # noqa: PLC0415  heavy, likewise
    from judge.records import Chunk, Sample  # noqa: PLC0415
    from judge.reports.cases import case_of  # noqa: PLC0415

    if not 0 < at_least <= 1:
        raise ValueError(f"at_least is above 0, and 1 at most, got {at_least!r}")
    if isinstance(chunks, str | Mapping):
        raise TypeError("chunks is a list of texts, or of objects with chunk_id and text")
    given = [
        Chunk(chunk_id=str(number), text=each) if isinstance(each, str) else each
        for number, each in enumerate(chunks, start=1)
    ]
    sample = Sample.model_validate(
        {"qid": "answer", "query": query, "answer": answer, "chunks": given}
    )
    (result,) = evaluate([sample], evaluator=evaluator or Evaluator(load_config({})))
    case = case_of(result, at_least)
    if case.kind == "passed":
        return
    score = result.scores.faithfulness
    head = case.message if score is None else f"faithfulness {score:.3f}, {case.message}"
    bound = f"at least {at_least:g} is asked for, judged by {result.signature}"
    told = "\n".join((head, *(f"  {line}" for line in case.lines), bound))
    if case.kind == "failure":
        raise AssertionError(told)
    pytest.fail(told, pytrace=False)
