"""Runs through other providers' OpenAI-compatible doors: every verdict comes, or says why not."""

import re
import shlex
from pathlib import Path

import pytest

import judge.backends.openai as guided
from judge.inputs.runs import read_record
from judge.records import Unscored
from tests.commands import Ran, judge, line, results, write
from tests.provider_quirks import GEMINI_KEY, Anthropic, Gemini
from tests.replies import Script
from tests.server import JudgeServer

CANTEEN = [
    line(qid="one", answer="The canteen opens at seven. It closes at three."),
    line(qid="two", answer="食堂早上七点开门。"),
    line(qid="three", answer="It is open all year round."),
]


GUIDE = Path(guided.__file__).with_name("README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def samples(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", GEMINI_KEY)
    return write(place / "samples.jsonl", CANTEEN)


def score(server: JudgeServer, *words: object) -> Ran:
    command = ("score", "samples.jsonl", "-o", "run", "--no-fallback", "--force", "--no-cache")
    return judge(*command, *server.words, "--concurrency", 1, *words)


DOORS: dict[str, tuple[Script, str]] = {
    "Anthropic": (Anthropic(), "json_schema|t:default|seed:7|max_tokens"),
    "Gemini": (Gemini(), "json_object|t:0|seed:none|max_tokens"),
}


@pytest.mark.parametrize("door", DOORS)
def test_all_verdicts_come_through(door: str) -> None:
    script, settled = DOORS[door]
    with JudgeServer(script) as server:
        ran = score(server)
    assert ran.code == 0, ran
    listed = [each for result in results(Path("run")) for each in result.sentences]
    assert [each.outcome.type for each in listed] == ["verdict"] * 4
    assert f"|{settled}|" in read_record(Path("run")).signature


def test_the_commands_of_the_guide_work() -> None:
    commands = [line for block in BLOCKS for line in block.splitlines()]
    assert commands
    for command in commands:
        with JudgeServer() as server:
            _, *words = shlex.split(re.sub(r"https://\S+", server.base_url, command))
            ran = judge(*words, "--base-url", server.base_url)
        assert ran.code == 0, ran


def test_what_google_withholds_is_said_to_be_withheld() -> None:
    write(Path("samples.jsonl"), [*CANTEEN, line(qid="rose", answer="The poem names a rose.")])
    with JudgeServer(Gemini()) as server:
        ran = score(server, "--max-unscored", 1)
    assert ran.code == 0, ran
    *_, last = results(Path("run"))
    (withheld,) = (each.outcome for each in last.sentences)
    assert isinstance(withheld, Unscored)
    assert withheld.reason == "content_filter"
