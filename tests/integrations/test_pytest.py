import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from judge import Chunk, Evaluator
from judge.integrations.pytest import assert_faithful
from tests.known_scores import RATED, TEXT, rater, recipe

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import sys
from judge.integrations.pytest import assert_faithful

def test_nothing_is_imported_yet():
    assert "judge.evaluator" not in sys.modules and "pydantic" not in sys.modules

def test_good():
    assert_faithful("The notice is four weeks.", ["Either side gives four weeks' notice."])

def test_bad(judge_evaluator):
    text = "Either side gives four weeks' notice. Bears dance at night."
    assert_faithful(text, ["Either side gives four weeks' notice."], evaluator=judge_evaluator)

def test_nothing():
    assert_faithful("I cannot answer that.", ["Either side gives four weeks' notice."])

def test_undecided():
    chunks = ["The canteen opens at seven and closes at three, all year round."]
    assert_faithful("The canteen opens at seven. It has a pool.", chunks)
    assert_faithful("It has a pool.", chunks)
"""


def test_a_run_of_pytest_names_what_is_unsupported(tmp_path: Path) -> None:
    # One run, in a process of xdist: it takes a second or two to start them.
    (tmp_path / "test_rag.py").write_text(TESTS)
    options = "-p judge.integrations.pytest -p xdist -n1 --dist=loadfile -p no:cacheprovider"
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options.split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout
    for said in (
        "3 failed, 2 passed",
        "faithfulness 0.500, 1 of 2 claims is not supported: Bears dance at night.",
        "none, sentence 2: Bears dance at night.",
        "not in the passage: “Bears dance at night”",
        "at least 1 is asked for, judged by similarity:",
        "nothing to measure: abstained",
        "no score: 1 of 1 claim is undecided: words alone cannot tell; name a language model",
    ):
        assert said in ran.stdout, ran.stdout
    assert "judge/integrations/pytest.py" not in ran.stdout  # the traceback ends in the test


def test_pytest_finds_the_plugin_by_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"judge": "judge.integrations.pytest"}


@pytest.mark.parametrize("name", RATED)
async def test_nothing_but_a_verdict_on_each_claim_passes(name: str) -> None:
    """In a running loop, too."""
    rated, chunk = RATED[name], Chunk(chunk_id="hr#1", text=TEXT)
    if rated.passing:
        assert_faithful(rated.answer, [chunk], evaluator=rater())
        return
    error = pytest.fail.Exception if rated.passing is None else AssertionError
    with pytest.raises(error, match=re.escape(rated.says)):
        assert_faithful(rated.answer, [chunk], evaluator=rater())
    if rated.passing is False:
        assert_faithful(rated.answer, [chunk], at_least=0.5, evaluator=rater())


def test_the_recipe_of_the_guide() -> None:
    recipe("pytest")["test_probation"](Evaluator())
