"""The README of the room: its commands and its Python run as printed, one after the other."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from judge.cli.app import main
from judge.review.sheet import COLUMNS, GRADED, READ, READ_GRADES, read_sheet, write_sheet

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "judge" / "review" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def fill_in(sheet: Path) -> None:
    """Fill in a sheet as a person does between two commands."""
    gold = sheet.name.startswith("gold")
    read, columns = (READ_GRADES, GRADED) if gold else (READ, COLUMNS)
    said = {"human_grade": "3"} if gold else {"human_support": "full"}
    rows = [row.cells | said for row in read_sheet(sheet, read)]
    write_sheet(sheet, rows, columns)


@pytest.mark.no_cover
def test_every_command_and_the_python_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "fixtures" / "quickstart.jsonl", tmp_path / "samples.jsonl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "README.md", "exec"), {"__name__": "readme"})  # noqa: S102
            continue
        for command in block.splitlines():
            words = shlex.split(command)
            assert words[0] == "judge"
            with pytest.raises(SystemExit) as stopped:
                main(words[1:])
            assert not stopped.value.code, (command, capsys.readouterr().err)
            if words[2:3] == ["draw"]:
                fill_in(tmp_path / words[words.index("-o") + 1])
    assert (tmp_path / "again.csv").exists()
    assert {language for language, _ in BLOCKS} == {"bash", "python"}
