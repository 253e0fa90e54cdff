"""`judge doctor` over real HTTP: each check passes, or says what to do."""

import json
import re
import shlex
import time
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.config import Config
from judge.doctor import recipe_for, recipes
from tests.asked import Asked
from tests.commands import judge
from tests.doors import GEMINI_KEY, Anthropic, Gemini
from tests.replies import Answer, Body, Says, Script, Status, right, verdicts
from tests.server import JudgeServer, refused_url

_THOUGHTS = 1_000
_WORDS = re.compile(r"(?:first|last) word to remember is (\w+)")


def well(asked: Asked) -> Answer:
    """A model that reads to the end, and judges the trial right."""
    if not asked.is_probe:
        return Says(verdicts(asked, s2="contradicted"))
    return remembering(slice(None))(asked)


def remembering(part: slice) -> Script:
    """A model that repeats some of the words of a long prompt."""

    def script(asked: Asked) -> Answer:
        words = _WORDS.findall(asked.user)
        return Says(" ".join(words[part])) if words else right(asked)

    return script


def long(answer: Answer | Script) -> Script:
    """Well, but for what is said of the long prompt."""

    def script(asked: Asked) -> Answer:
        if "word to remember" not in asked.user:
            return well(asked)
        return answer(asked) if callable(answer) else answer

    return script


def dated(date: str) -> Script:
    """Well, and by a clock of its own."""

    def script(asked: Asked) -> Answer:
        if not asked.is_probe or _WORDS.search(asked.user):
            return well(asked)
        message: dict[str, JsonValue] = {"role": "assistant", "content": "{}"}
        choice: dict[str, JsonValue] = {"index": 0, "message": message, "finish_reason": "stop"}
        return Status(200, {"choices": [choice]}, {"Date": date})

    return script


def thinking(asked: Asked) -> Answer:
    """A model whose thoughts take more than a reply."""
    return (
        well(asked)
        if json.loads(asked.raw)["max_tokens"] > _THOUGHTS
        else Says("<think>well", finish="length")
    )


def trial(answer: Callable[[Asked], Answer]) -> Script:
    """Well, but for what is said of the trial."""
    return lambda asked: well(asked) if asked.is_probe else answer(asked)


ILL = {
    "cut": (long(remembering(slice(1, None))), "context length, failed: .* raise its context"),
    "unread": (long(Says("{}")), "context length, failed: the model repeated neither"),
    "refused": (
        long(Status(400, {"error": {"message": "maximum context length is 4096 tokens"}})),
        "context length, failed: .* lower --max-evidence-tokens",
    ),
    "cut off": (
        long(Says("<think>well", finish="length")),
        "context length, failed: .* cut at 16384 tokens; see --max-reply-tokens",
    ),
    "clock": (
        dated("Thu, 01 Jan 2015 00:00:00 GMT"),
        r"clock, failed: \d+ s apart .* set the clock",
    ),
    "key": (
        lambda _: Status(401, {"error": {"message": "Incorrect API key provided"}}),
        "server and model, failed: .*OPENAI_API_KEY.* – a trial, skipped",
    ),
    "model": (
        lambda _: Status(404, {"error": {"message": "The model `tiny` does not exist"}}),
        "server and model, failed: .*--model",
    ),
    "wrong": (trial(right), "a trial, failed: 2 of 4 .* another model"),
    "malformed": (trial(lambda _: Body("<html>")), "a trial, failed: 0 of 4 .* server's log"),
}


@pytest.mark.usefixtures("place")
def test_what_is_well_passes_and_nothing_is_kept() -> None:
    with JudgeServer(well) as server:
        for _ in range(2):  # nothing is remembered that a second look would not ask again
            ran = judge("doctor", *server.words)
            assert (ran.code, ran.out.count("✓"), ran.out.count("✗")) == (0, 8, 0), ran.out
        assert server.probes == 2 * 3, "options twice, for they are not kept, and a long prompt"
        longest = max(asked.prompt_tokens for asked in server.requests)
        assert longest >= 23_000
        ran = judge("doctor", *server.words, "--no-long-prompt", "--lang", "zh")
    assert ran.code == 0
    assert "– 上下文长度（跳过）：没有发送长提示词" in ran.out
    assert ran.out.rstrip().endswith("一切正常：可以开始运行。")


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("case", ILL)
def test_what_is_ill_is_named_with_what_to_do(case: str) -> None:
    script, says = ILL[case]
    words = ("doctor", "--max-evidence-tokens", "2000")
    with JudgeServer(script) as server:
        ran = judge(*words, *server.words)
    assert ran.code == 2
    assert re.search(says, " ".join(ran.out.split())), ran.out


def test_a_server_that_is_gone_and_a_cache_that_cannot_be(place: Path) -> None:
    (place / "file").write_text("not a folder", "utf-8")
    words = ("--model", "tiny", "--base-url", refused_url(), "--timeout", "1")
    ran = judge("doctor", *words, "--cache-dir", place / "file")
    said = " ".join(ran.out.split())
    assert ran.code == 2
    assert re.search("cache, failed: .*/file", said)
    assert re.search("server and model, failed: .* is the server running", said)
    assert said.endswith("2 checks failed: mend those first.")


@pytest.mark.usefixtures("place")
def test_without_a_model_similarity_is_tried() -> None:
    ran = judge("doctor")
    assert ran.code == 0, ran.out
    assert "similarity, for no language model is named: --model" in ran.out
    assert "4 of 4" in ran.out


def test_odd_dates_and_models_that_think_are_no_fault(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        now = formatdate(localtime=False).removesuffix("-0000").strip()
        cases = {
            "passed: . s apart": dated(f"{now} -0000"),
            "passed: 1?. s apart": dated(now),
            "skipped: the server tells no time": dated("Mon, 01 Jan 2024 00:00:00 +99999999999"),
            "skipped: the server tells": dated("soon"),
            "context length, passed": long(thinking),
        }
        for says, script in cases.items():
            with JudgeServer(script) as server:
                args = (*server.words, "--max-evidence-tokens", "2000", "--max-tokens", "5")
                ran = judge("doctor", *args, "--cache-dir", place / "none" / "yet")
            assert ran.code == 0, ran
            assert re.search(says, " ".join(ran.out.split())), ran.out
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


DOORS: dict[str, Script] = {
    "OpenAI": well,
    "OpenAI /responses": well,
    "vLLM": well,
    "Ollama": well,
    "Anthropic": Anthropic(well),
    "Gemini": Gemini(well),
}


@pytest.mark.usefixtures("place")
def test_the_command_of_each_recipe_finds_all_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", GEMINI_KEY)
    assert [each.name for each in recipes()] == [*DOORS]
    for recipe in recipes():
        with JudgeServer(DOORS[recipe.name]) as server:
            _, *words = shlex.split(re.sub(r"https?://\S+", server.base_url, recipe.command))
            ran = judge(*words, "--base-url", server.base_url, "--max-evidence-tokens", 2_000)
        assert (ran.code, ran.out.count("✓")) == (0, 8), (recipe.name, ran.out)
        there = "input" in server.requests[0].body
        assert there == (recipe.endpoint == "responses"), recipe.name


def test_recipes_are_told_in_both_languages_and_nobody_is_asked() -> None:
    for lang, title in (("en", "Whatdiffers:"), ("zh", "不同之处：")):
        ran = judge("doctor", "--recipes", "--lang", lang)
        told = ("".join(ran.out.split()).count(title), ran.err)  # lines end where they are full
        assert (ran.code, *told) == (0, len(DOORS), ""), ran
        for recipe in recipes():
            assert recipe.command in ran.out
            assert recipe.read in ran.out


ADDRESSES = [
    (None, "chat", "OpenAI"),
    ("https://eu.api.openai.com/v1", "responses", "OpenAI /responses"),
    ("http://gpu-7:8000/v1", "responses", "vLLM"),
    ("http://[::1]:11434/v1", "chat", "Ollama"),
    ("https://API.anthropic.com/v1/", "chat", "Anthropic"),
    ("https://generativelanguage.googleapis.com/v1beta/openai/", "chat", "Gemini"),
    # What is known of these two is known of their chat completions.
    ("https://api.anthropic.com/v1", "responses", None),
    ("https://generativelanguage.googleapis.com/v1beta/openai", "responses", None),
    ("https://example.org:18000/v1", "chat", None),
    ("https://api.openai.com.example.org/v1", "chat", None),
    ("https://not-api.openai.com/v1", "chat", None),
]


def test_a_server_is_known_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for url, endpoint, name in ADDRESSES:
        settings = {"model": "m", "base_url": url, "endpoint": endpoint}
        found = recipe_for(Config.model_validate(settings))
        assert (found and found.name) == name, url


@pytest.mark.usefixtures("place")
def test_the_recipe_of_a_known_server_stands_first() -> None:
    words = ("--model", "m", "--base-url", "http://127.0.0.1:11434/v1", "--timeout", "0.1")
    ran = judge("doctor", *words, "--no-cache", "--lang", "zh")
    assert ran.out.startswith("Ollama：用 OLLAMA_CONTEXT_LENGTH=64000 ollama serve 启动")
