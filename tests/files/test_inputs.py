import io
import os
import sys
import threading
from pathlib import Path

import pytest

from judge.errors import ConfigError, InputError, RunError
from judge.files.inputs import Source, placed, readable, spoken, standard_input

LINES = b'{"qid":"a","answer":"x"}\n{"answer":\n{"qid":"c"}\n'


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_a_file_is_read_where_it_is(tmp_path: Path) -> None:
    for name in (str(tmp_path / "a"), str(tmp_path), "x" * 5000):
        with readable(name) as path:
            assert path == Path(name)


def test_what_is_piped_in_can_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, LINES)
    with readable("-") as path:
        assert path.read_bytes() == path.read_bytes() == LINES
    assert not path.exists()


def test_a_named_pipe_can_be_read_again(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(LINES,))
    writer.start()
    with readable(str(fifo)) as path:
        assert path.read_bytes() == path.read_bytes() == LINES
    writer.join()


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ConfigError, match="standard input is closed; pipe the samples in"):
        standard_input()
    with pytest.raises(ConfigError, match="standard input is closed"), readable("-"):
        pass


class Broken(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise OSError(5, "Input/output error")


def test_a_pipe_that_breaks_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Broken())))
    said = r"^standard input: cannot be copied \(Input/output error\); save it to a file"
    with pytest.raises(RunError, match=said), readable("-"):
        pass


def test_what_is_wrong_names_the_source_and_keeps_its_line() -> None:
    with pytest.raises(InputError) as caught, placed("standard input"):
        raise InputError("is wrong", path="copy", line=7, field="qid")
    assert str(caught.value) == "standard input, line 7, field 'qid': is wrong"
    assert (spoken("-"), spoken("a")) == ("standard input", "a")


def test_samples_with_a_bad_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(LINES)
    strict = Source(str(path), ("answer",), skip_bad_lines=False)
    with pytest.raises(InputError, match=r"in\.jsonl, line 2"), strict.samples() as samples:
        list(samples)
    lenient = Source(str(path), ("answer",), skip_bad_lines=True)
    for _ in range(2):
        lenient.rejected = 0
        with lenient.samples() as samples:
            assert [sample.qid for sample in samples] == ["a"]
        assert lenient.rejected == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 4
    assert told[0].startswith(f"judge: left out: {path}, line 2: bad JSON")
    assert "line 3, field 'answer': is missing" in told[1]


def test_bad_lines_that_are_piped_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe(monkeypatch, b'{"qid":"\x1b[31m\n{"qid":"b"}\n')
    source = Source("-", (), skip_bad_lines=True)
    with source.samples() as samples:
        assert [sample.qid for sample in samples] == ["b"]
    assert source.name == "standard input"
    told = capsys.readouterr().err
    assert told.startswith("judge: left out: standard input, line 1: bad JSON")
    assert "\x1b" not in told


def test_what_is_done_with_samples_is_placed_as_well(tmp_path: Path) -> None:
    source = Source(str(tmp_path / "in.jsonl"), (), skip_bad_lines=False)
    with pytest.raises(InputError, match=r"in\.jsonl: holds no query"), source.samples():
        raise InputError("holds no query")
