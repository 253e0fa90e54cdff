"""`judge doctor` over real HTTP: each check passes, or says what to do."""

import json
import re
from pathlib import Path

import pytest

from tests.chat_call import ChatCall
from tests.commands import judge
from tests.replies import Answer, Says, Script, Status, right
from tests.server import JudgeServer, refused_url

_THOUGHTS = 1_000
_WORDS = re.compile(r"(?:first|last) word to remember is (\w+)")
SHORT = ("--max-evidence-tokens", "2000")


def well(asked: ChatCall) -> Answer:
    """A model that reads to the end."""
    return remembering(slice(None))(asked)


def remembering(part: slice) -> Script:
    """A model that repeats some of the words of a long prompt."""

    def script(asked: ChatCall) -> Answer:
        words = _WORDS.findall(asked.user)
        return Says(" ".join(words[part])) if words else right(asked)

    return script


def long(answer: Answer | Script) -> Script:
    """Return a script of a good model that gives this answer to the long prompt."""

    def script(asked: ChatCall) -> Answer:
        if "word to remember" not in asked.user:
            return well(asked)
        return answer(asked) if callable(answer) else answer

    return script


def thinking(asked: ChatCall) -> Answer:
    """A model whose thoughts take more than a reply."""
    enough = json.loads(asked.raw)["max_tokens"] > _THOUGHTS
    return well(asked) if enough else Says("<think>well", finish="length")


def states(out: str) -> dict[str, str]:
    """Return the state of each check by its name."""
    found = re.findall(r"^[✓✗–] (.*?), (passed|failed|skipped):", out, flags=re.MULTILINE)
    return dict(found)


CASES: dict[str, tuple[Script, dict[str, str]]] = {
    "a prompt cut": (long(remembering(slice(1, None))), {"context length": "failed"}),
    "a prompt unread": (long(Says("{}")), {"context length": "failed"}),
    "a prompt refused": (
        long(Status(400, {"error": {"message": "maximum context length is 4096 tokens"}})),
        {"context length": "failed"},
    ),
    "thoughts": (long(thinking), {"context length": "passed"}),
    "a wrong key": (
        lambda _: Status(401, {"error": {"message": "Incorrect API key provided"}}),
        {"server and model": "failed"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_check_passes_or_fails_by_itself(case: str, place: Path) -> None:
    script, expected = CASES[case]
    with JudgeServer(script) as server:
        ran = judge("doctor", *server.words, *SHORT, "--cache-dir", place / "none" / "yet")
    found = states(ran.out)
    assert {name: found[name] for name in expected} == expected, ran.out
    failed = [name for name, state in found.items() if state == "failed"]
    assert failed == [name for name, state in expected.items() if state == "failed"]
    assert ran.code == (2 if failed else 0)


@pytest.mark.usefixtures("place")
def test_what_is_well_passes_and_nothing_is_kept() -> None:
    with JudgeServer(well) as server:
        for _ in range(2):  # nothing is remembered that a second look would not ask again
            ran = judge("doctor", *server.words)
            assert (ran.code, [*states(ran.out).values()]) == (0, ["passed"] * 4), ran.out
        assert server.probes == 2 * 2, "options, which are not kept, and a long prompt"
        assert max(asked.prompt_tokens for asked in server.requests) >= 23_000


def test_a_server_that_is_gone_and_a_cache_that_cannot_be(place: Path) -> None:
    (place / "file").write_text("not a folder", "utf-8")
    words = ("--model", "tiny", "--base-url", refused_url(), "--timeout", "1")
    ran = judge("doctor", *words, "--cache-dir", place / "file")
    failed = [name for name, state in states(ran.out).items() if state == "failed"]
    assert (ran.code, failed) == (2, ["cache", "server and model"])


@pytest.mark.usefixtures("place")
def test_without_a_model_the_judge_is_named() -> None:
    ran = judge("doctor")
    assert (ran.code, states(ran.out)["judge"]) == (0, "passed")
