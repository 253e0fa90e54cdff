import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from judge.cli.terminal import output, say, say_json, wrap


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


@pytest.mark.parametrize(
    ("text", "width", "indent", "found"),
    [
        ("差旅住宿每晚不超过，六百元。", 19, 0, ["差旅住宿每晚不超", "过，六百元。"]),
        ("one two three four", 13, 0, ["one two three", "four"]),
        ("a\n\nb", 20, 2, ["  a", "", "  b"]),
        ("x" * 25, 10, 0, ["x" * 10, "x" * 10, "x" * 5]),
    ],
)
def test_where_lines_break(text: str, width: int, indent: int, found: list[str]) -> None:
    assert lines(text, width, indent) == found


def test_styles_survive() -> None:
    text = Text("中文" * 10)
    text.stylize("red", 0, 40)
    assert all(str(span.style) == "red" for span in wrap(text, 12).spans)


@given(WORDS, st.integers(10, 30))
def test_no_line_is_too_wide_and_no_character_is_lost(text: str, width: int) -> None:
    found = lines(text, width)
    assert all(cell_len(line) <= width for line in found)
    assert "".join("".join(found).split()) == "".join(text.split())
