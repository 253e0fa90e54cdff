import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.commands import judge

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "judge" / "retrieval" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path


@pytest.mark.no_cover
@pytest.mark.usefixtures("root")
def test_every_command_of_the_guide_runs() -> None:
    # One test, because some commands use the files of others.
    commands = [
        line for kind, block in BLOCKS if kind == "bash" for line in block.splitlines() if line
    ]
    for command in commands:
        called, *arguments = shlex.split(command, comments=True)
        assert called == "judge"
        ran = judge(*arguments)
        assert ran.code == ("# exits 1" in command), (command, ran.err)


@pytest.mark.usefixtures("root")
def test_every_python_example_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = [block for kind, block in BLOCKS if kind == "python"]
    exec(compile(block, "README.md", "exec"), {"__name__": "guide"})  # noqa: S102  our own text
    assert "sparse" in capsys.readouterr().out
