import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from judge.cli.terminal import output, say, say_json, wrap
from tests.commands import line, write

SCORE = "from judge.cli.app import main; main()"
SEVERAL = """
import sys
from judge.cli.app import main
codes = []
for words in sys.argv[1:]:
    try:
        main(words.split())
    except SystemExit as ended:
        codes.append(ended.code)
assert codes[:-1] == [0] * len(codes[:-1])
sys.exit(codes[-1])
"""
"""Commands one after another: all but the last exit 0."""


def test_a_terminal_without_a_size_is_given_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    with output() as page:
        assert page.console.width == 80


def buffered() -> dict[str, str]:
    """As at a user's: a stream that is not buffered has nothing left to fail on at the end."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    answer = "The canteen opens at seven. It has a pool."
    return write(tmp_path / "in.jsonl", [line("q", answer) | {"gold_answer": "It opens at seven."}])


# Processes of their own, for what is at stake is the file behind standard output; about a second.
def score(source: Path, stdout: int, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-c", SCORE, "score", str(source)]
    command += ["-o", str(source.with_name("run")), *options]
    done = subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, env=buffered()
    )
    return done.returncode, done.stderr


def test_a_reader_that_goes_does_not_change_the_exit_code(source: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        words = ("--judge", "similarity", "--fail-under", "faithfulness=1")
        assert score(source, writing, *words) == (1, "")
    finally:
        os.close(writing)
    assert (source.with_name("run") / "summary.json").exists()


def test_standard_output_that_is_closed(source: Path, tmp_path: Path) -> None:
    code, err = redirected(f"score {source} -o {tmp_path / 'run'} >&-")
    assert (code, err.count("\n")) == (2, 1)
    assert "standard output: cannot be written" in err
    assert (tmp_path / "run" / "summary.json").exists()


def redirected(words: str, code: str = SCORE) -> tuple[int, str]:
    """The code and the errors of a command as a shell starts it."""
    command = ["/bin/sh", "-c", f"exec {sys.executable} -c '{code}' {words}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=buffered())
    return done.returncode, done.stderr


def test_standard_error_that_cannot_be_written_changes_nothing(
    source: Path, tmp_path: Path
) -> None:
    """A process of its own for each of two: seconds."""
    source.write_text(f"bad\n{source.read_text('utf-8')}", "utf-8")
    for number, where in enumerate(("2>&-", "2>/dev/full")):
        run = tmp_path / str(number)
        told = f"score {source} -o {run} --skip-bad-lines --fail-under faithfulness=0.1"
        commands = f"'{told}' 'overlap {source} --skip-bad-lines' 'score nowhere.jsonl' {where}"
        assert redirected(commands, SEVERAL) == (2, "")
        assert (run / "summary.json").exists()


def test_help_that_cannot_be_printed() -> None:
    for words in ("--help", "--version", "score --help"):
        code, err = redirected(f"{words} >/dev/full")
        assert (code, err.count("\n")) == (2, 1)
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", SCORE, "--version"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_lines_are_printed_whole_and_steer_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    say("一" * 300, "a\x1b[31mb [x]")
    assert capsys.readouterr().out == f"{'一' * 300}\na␛[31mb [x]\n"


def test_json_is_one_line_however_wide_and_gives_every_character_back(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    said = {"qid": "[bold]一" * 300, "query": 'a\x1b[31m"b"\u202ec\u2028d\x7f\x9b\ufffd'}
    say_json(json.dumps(said, ensure_ascii=False))
    out = capsys.readouterr().out
    assert json.loads(out) == said
    assert (out.count("\n"), len(out.splitlines())) == (1, 1)
    assert "[bold]一" in out
    assert not set("\x1b\u202e\u2028\x7f\x9b") & set(out)


def test_a_command_that_only_prints_is_one_line_on_a_full_disk() -> None:
    command = [sys.executable, "-c", SCORE, "prompts", "show", "faithfulness"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=buffered()
        )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "standard output: cannot be written" in done.stderr


def test_a_table_is_as_wide_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    table = Table(box=None)
    for header in ("measure", "mean", "limits"):
        table.add_column(header)
    table.add_row("差旅住宿标准怎么规定", "0.123", "0.111–0.999")
    table.add_row("x", "", "")
    with output() as page:
        page.table(table)
    lines = capsys.readouterr().out.splitlines()
    assert any("差旅住宿标准怎么规定" in line and "0.111–0.999" in line for line in lines)
    assert all(line == line.rstrip() for line in lines)


WORDS = st.text(st.sampled_from("ab 中文，。（）「」é1.\n"), max_size=80)


def lines(text: str, width: int, indent: int = 0) -> list[str]:
    return wrap(Text(text), width, indent).plain.split("\n")


def test_chinese_breaks_anywhere_but_before_a_stop() -> None:
    assert lines("差旅住宿每晚不超过，六百元。", 19) == ["差旅住宿每晚不超", "过，六百元。"]


def test_english_breaks_at_spaces() -> None:
    assert lines("one two three four", 13) == ["one two three", "four"]


def test_an_indent_and_the_text_s_own_breaks() -> None:
    assert lines("a\n\nb", 20, 2) == ["  a", "", "  b"]


def test_a_long_word_is_cut() -> None:
    assert lines("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_styles_survive() -> None:
    text = Text("中文" * 10)
    text.stylize("red", 0, 40)
    assert all(str(span.style) == "red" for span in wrap(text, 12).spans)


@given(WORDS, st.integers(10, 30))
def test_no_line_is_too_wide_and_no_character_is_lost(text: str, width: int) -> None:
    found = lines(text, width)
    assert all(cell_len(line) <= width for line in found)
    assert "".join("".join(found).split()) == "".join(text.split())
