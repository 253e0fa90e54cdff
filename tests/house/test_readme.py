import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

from judge import Evaluator
from judge.cli import app as cli
from judge.config import Config
from tests.commands import judge
from tests.review_runs import fill
from tests.server import JudgeServer

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDES = ["README.md", *(f"judge/{room}/README.md" for room in ("judges", "review", "retrieval"))]
"""Other tests run the other guides."""
_ADDRESS = re.compile(r"https?://\S+/v1")


def blocks(text: str, *kinds: str) -> list[tuple[str, str]]:
    """Return the language and the text of each block of code in these languages."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [(kind, block) for kind, block in found if kind in kinds]


# The first two set everything up; .ci/run takes them from here and runs them as printed.
INSTALL = [block for _, block in blocks(README, "bash")[:2]]


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


def test_the_two_install_commands_come_first() -> None:
    first, second = INSTALL
    assert "judge score fixtures/quickstart.jsonl" in first
    assert "tests/check.py" in second


@pytest.fixture
def files(place: Path) -> None:
    """The files of a reader: the fixtures, and samples of the reader's own."""
    shutil.copytree(ROOT / "fixtures", place / "fixtures")
    shutil.copy(place / "fixtures" / "quickstart.jsonl", place / "samples.jsonl")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("guide", GUIDES)
def test_every_command_and_python_example_runs(
    guide: str, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One test runs a whole guide because its blocks need the files of those before them.
    monkeypatch.setenv("OPENAI_API_KEY", "sk-readme")
    text = (ROOT / guide).read_text(encoding="utf-8").rpartition(INSTALL[1])[2]
    found = blocks(text, "bash", "python")
    assert found
    for kind, block in found:
        if kind == "python":
            exec(compile(block, guide, "exec"), {"__name__": "readme"})  # noqa: S102  our own text
            continue
        for command in filter(str.strip, block.splitlines()):
            line, _, comment = command.partition("  # ")
            words = shlex.split(_ADDRESS.sub(server.base_url, line))
            assert words[0] == "judge", f"{guide} runs {command!r}; only judge commands are tested"
            # Where a command names a model and no address, OpenAI's is meant.
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url if "--model" in words else "")
            ran = judge(*words[1:])
            expected = re.search(r"exits (\d+)", comment)
            assert ran.code == (int(expected[1]) if expected else 0), (command, ran.err)
            if words[2:3] == ["draw"]:
                sheet = Path(words[words.index("-o") + 1])
                fill(sheet, "full" if words[1] == "review" else "3")


def test_every_command_and_option_is_documented() -> None:
    names: list[str] = []
    for name in cli.COMMANDS:
        commands = cli.app_of(name).registered_commands
        found = [each.name or each.callback.__name__ for each in commands if each.callback]
        names += [name] if found == [name] else [f"{name} {each}" for each in found]
    assert {"score", "cache stats", "prompts list", "review import"} <= set(names)
    guides = [path.read_text(encoding="utf-8") for path in (ROOT / "judge").rglob("README.md")]
    text = "\n".join((README, *guides))
    assert [name for name in names if f"judge {name}" not in text] == []


def test_the_settings_file_shown_is_one() -> None:
    texts = [(ROOT / guide).read_text(encoding="utf-8") for guide in GUIDES]
    shown = [each for text in texts for each in blocks(text, "toml")]
    assert shown
    for _, block in shown:
        assert Config.model_validate(tomllib.loads(block)).asks_model


def test_the_signature_shown_is_the_one_that_ships() -> None:
    assert f"`{Evaluator().signature}`" in README


def test_every_named_script_exists() -> None:
    # Benchmarks take minutes and are run by hand.
    table = (ROOT / "tests" / "bench" / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`python\s+(\S+\.py)", table)
    assert named
    for path in named:
        assert (ROOT / path).is_file(), path
