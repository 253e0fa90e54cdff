from pathlib import Path

import pytest

from judge.files.runs import read_record
from judge.prompt import load_prompt
from tests.commands import judge, line, write
from tests.server import JudgeServer

OLD, NEW = (load_prompt("faithfulness", version) for version in ("v1", "v2"))


def test_a_prompt_is_shown_whole() -> None:
    words: tuple[str, ...]
    for prompt, words in ((NEW, ()), (NEW, ("v2",)), (OLD, ("v1",))):
        text = judge("prompts", "show", "faithfulness", *words).out
        assert prompt.reference in text
        for part in (prompt.system, prompt.user.template, prompt.again.template):
            assert part in text


def test_an_unknown_prompt_is_one_line() -> None:
    for words in (("faith",), ("faithfulness", "v9")):
        ran = judge("prompts", "show", *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_a_run_may_keep_to_an_older_prompt(
    place: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = write(place / "samples.jsonl", [line("q1", "The canteen opens at seven.")])

    def score(run: str, *words: str) -> str:
        ran = judge("score", samples, "-o", run, *server.words, *words)
        assert ran.code == 0, ran
        return read_record(place / run).signature

    def instructions() -> str:
        return server.requests[-1].messages[0][1]

    assert f"|prompt:{OLD.reference}|" in score("old", "--prompt", "v1")
    assert instructions() == OLD.system
    score("again", "--prompt", "v1")
    assert server.calls == 1, "its verdict was kept"
    assert f"|prompt:{NEW.reference}|" in score("new")
    assert (server.calls, instructions()) == (2, NEW.system)
    monkeypatch.setenv("JUDGE_PROMPT", "v1")
    assert f"|prompt:{OLD.reference}|" in score("pinned")
    assert f"|prompt:{NEW.reference}|" in score("option", "--prompt", "v2")
    assert server.calls == 2, "both were kept"


def test_an_unknown_version_is_refused_whoever_judges(
    place: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = write(place / "samples.jsonl", [line("q1", "The canteen opens at seven.")])
    problem = "setting prompt = 'v9': no version of faithfulness; there are: v1, v2\n"
    for words in ((), server.words):
        ran = judge("score", samples, "-o", "run", "--prompt", "v9", *words)
        assert (ran.code, ran.err) == (2, f"judge: {problem}")
    monkeypatch.setenv("JUDGE_PROMPT", "v9")
    ran = judge("doctor")
    assert (ran.code, ran.err) == (2, f"judge: environment: {problem}")
    assert server.requests == []
