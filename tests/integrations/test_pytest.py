import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from judge import Chunk, ConfigError, Evaluator
from judge.integrations.pytest import assert_faithful
from tests.chat_call import ChatCall
from tests.known_scores import recipe
from tests.replies import Answer, Says, Status, right, verdicts
from tests.server import JudgeServer

ROOT = Path(__file__).resolve().parents[2]
CHUNKS = ["Either side gives four weeks' notice.", "员工每年有15天年假。"]
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
    options = (
        "-p",
        "judge.integrations.pytest",
        "-p",
        "xdist",
        "-n1",
        "--dist=loadfile",
        "-p",
        "no:cacheprovider",
    )
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options],
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


def answered(asked: ChatCall) -> Answer:
    """Each sentence has the label that it names; the server fails at those that name none."""
    if asked.is_probe:
        return right(asked)
    labels = {name: text.split()[0].casefold() for name, text in asked.sentences.items()}
    if "broken" in labels.values():
        return Status(500, "")
    return Says(verdicts(asked, **labels))


async def test_nothing_but_a_verdict_on_each_claim_passes() -> None:
    """In a running loop, too."""
    unknown = pytest.fail.Exception
    table: list[tuple[str, float, type[BaseException] | None, str]] = [
        ("Full one. Full two.", 1, None, ""),
        ("Full one. None of two.", 0.5, None, ""),
        ("Full one. None of two.", 0.51, AssertionError, "1 of 2 claims is not supported: None of"),
        ("Partial as such.", 1, AssertionError, "faithfulness 0.500"),
        ("Contradicted by all.", 0.01, AssertionError, "contradicted, sentence 1"),
        ("Broken line here.", 0.01, unknown, "1 of 1 claim has no verdict"),
        ("", 1, unknown, "nothing to measure: no claims"),
    ]
    with JudgeServer(answered) as server:
        evaluator = Evaluator(server.config())
        for answer, least, error, message in table:
            if error is None:
                assert_faithful(answer, CHUNKS, at_least=least, evaluator=evaluator)
            else:
                with pytest.raises(error, match=message):
                    assert_faithful(answer, CHUNKS, at_least=least, evaluator=evaluator)


def test_the_environment_says_what_judges(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGE_CACHE", "false")
    chunks: list[dict[str, str] | Chunk] = [
        {"chunk_id": "hr#1", "text": CHUNKS[0]},
        Chunk(chunk_id="hr#2", text=CHUNKS[1]),
    ]
    assert_faithful("员工每年有15天年假[hr#2]。", chunks, query="年假多少天？")
    with JudgeServer() as server:
        monkeypatch.setenv("JUDGE_MODEL", "tiny")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert_faithful("Bears dance at night.", CHUNKS)  # that server calls all supported
        assert server.calls
    monkeypatch.setenv("JUDGE_CONCURRENCY", "none")
    with pytest.raises(ConfigError, match="environment"):
        assert_faithful("Bears dance at night.", CHUNKS)


def test_what_cannot_be_meant_is_refused() -> None:
    for least in (0, 1.1, -1, float("nan")):
        with pytest.raises(ValueError, match="at_least"):
            assert_faithful("One.", CHUNKS, at_least=least)
    with pytest.raises(TypeError, match="list of texts"):
        assert_faithful("One.", CHUNKS[0])


def test_the_recipe_of_the_guide() -> None:
    recipe("pytest")["test_probation"](Evaluator())
