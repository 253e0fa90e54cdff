from pathlib import Path

import pytest

from judge.files.runs import read_record
from judge.prompt import load_prompt
from judge.text.fold import estimate_tokens
from tests.commands import judge, line, write
from tests.server import JudgeServer

OLD, NEW = (load_prompt("faithfulness", version) for version in ("v1", "v2"))
RELEASED = (load_prompt("correctness", "v1"), OLD, NEW, load_prompt("relevance", "v1"))
FILES = ", ".join(f"{each.name}/{each.version}.toml" for each in RELEASED)


def said(*words: str, code: int = 0) -> str:
    ran = judge("prompts", *words)
    assert ran.code == code, ran
    return ran.out + ran.err


def test_the_prompts_are_listed_as_signatures_name_them() -> None:
    assert said("list").splitlines() == [each.reference for each in RELEASED]


def test_the_prompts_are_verified() -> None:
    assert said("verify").startswith("4 prompts have the pinned bytes")


def test_a_prompt_is_shown_whole() -> None:
    words: tuple[str, ...]
    for prompt, words in ((NEW, ()), (NEW, ("v2",)), (OLD, ("v1",))):
        text = said("show", "faithfulness", *words)
        assert prompt.reference in text
        for part in (prompt.system, prompt.user.template, prompt.again.template):
            assert part in text


def test_two_versions_are_set_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    text = said("diff", "v1", "v2")
    lines = text.splitlines()
    assert said("diff", "faithfulness", "v1", "v2") == text
    # Either text can be put together from the lines.
    for sign, prompt in (("-", OLD), ("+", NEW)):
        tokens = estimate_tokens(prompt.system)
        assert f"{sign * 3} {prompt.reference} system, about {tokens} tokens" in lines
        whole = lines[2 : lines.index(f"--- {OLD.reference} user, about 42 tokens")]
        kept = [each[1:] for each in whole if each[:1] in {" ", sign}]
        assert "\n".join(kept) == prompt.system
    assert lines.count("(the same)") == 2
    assert said("diff", "v1", "v1").count("(the same)") == 3
    assert "\x1b" not in text
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[4;31m about itself\x1b[0m" in said("diff", "v1", "v2")


def test_two_versions_that_there_are_are_needed() -> None:
    for words in (["v1"], ["faithfulness", "v1", "v2", "v3"], ["a", "v1", "v2"], ["v1", "v9"]):
        assert said("diff", *words, code=2)
    assert f"there are: {FILES}" in said("diff", "relevance", "v1", "v2", code=2)


def test_an_unknown_prompt_is_one_line() -> None:
    assert said("show", "faith", code=2).startswith("judge: no prompt is called")
    assert f"there are: {FILES}" in said("show", "faithfulness", "v9", code=2)


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
    explain = ("cache", "explain", samples, "q1", *server.words)
    assert f"  prompt: kept {OLD.reference}, now {NEW.reference}\n" in judge(*explain).out
    assert "1 claim, 1 kept" in judge(*explain, "--prompt", "v1").out
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
