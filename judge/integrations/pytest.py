"""For pytest: `assert_faithful`, and the fixture `judge_evaluator`; installing judge brings both.

    from judge.integrations.pytest import assert_faithful

    def test_notice(rag, judge_evaluator):
        answer, chunks = rag.ask("试用期多长？")
        assert_faithful(answer, chunks, at_least=0.9, evaluator=judge_evaluator)

A claim without a verdict, and an answer without a claim, neither pass nor fail the assertion: the
test fails by `pytest.fail`, and says why. The fixture reads the environment and judge.toml; a
fixture of that name in a conftest.py takes its place.
"""

from judge.testing import assert_faithful, judge_evaluator

__all__ = ["assert_faithful", "judge_evaluator"]
