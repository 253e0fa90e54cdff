import gzip
import hashlib
import io
import os
import sys
import threading
import zlib
from pathlib import Path

import pytest

from judge.errors import ConfigError, InputError, RunError
from judge.files.source import (
    CsvError,
    check_encoding,
    csv_reader,
    open_source,
    placed,
    presentable,
    readable,
    spoken,
    standard_input,
    text_lines,
)

LINES = '{"answer": "十元"}\r\n\n{"answer": "ten"}'


def read(path: Path) -> list[tuple[int, str]]:
    with open_source(path) as stream:
        return list(text_lines(stream, path))


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("zipped", [False, True])
def test_numbered_lines_of_a_file_gzipped_or_not(
    tmp_path: Path, bom: bytes, *, zipped: bool
) -> None:
    path = tmp_path / "samples.jsonl"  # gzip is told by its bytes, not by its name
    data = bom + LINES.encode()
    path.write_bytes(gzip.compress(data) if zipped else data)
    assert read(path) == [(1, '{"answer": "十元"}\r\n'), (2, "\n"), (3, '{"answer": "ten"}')]


def test_only_a_bom_at_the_start_is_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\ufeffa\n\ufeffb", "utf-8")
    assert read(path) == [(1, "a\n"), (2, "\ufeffb")]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("差旅".encode("utf-16"), "is UTF-16; convert it"),
        ("abc".encode("utf-16-le"), "is a binary file"),
        (b"PK\x03\x04\0\0\0", "is a binary file"),
        (gzip.compress(b"\0\1\2", mtime=0), "is a binary file"),
        (b"\x1f\x8b", "gzip data is damaged"),
        (b"\x1f\x8b\x08\x00not gzip", "gzip data is damaged"),
    ],
)
def test_what_is_no_text_is_refused_with_the_next_step(
    tmp_path: Path, data: bytes, says: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(data)
    with pytest.raises(InputError, match=says) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_another_encoding_is_named_by_line_byte_and_column(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("问\n".encode() + b"1," + "报销".encode("gb18030") + "\n好".encode())
    first, (number, spoilt), last = read(path)
    for place, text in (first, last):
        check_encoding(text, place, path)
    says = r"line 2: not UTF-8 \(byte 0xb1 at column 3\).*iconv"
    with pytest.raises(InputError, match=says):
        check_encoding(spoilt, number, path)
    assert presentable(spoilt) == "1,\ufffd\ufffd\ufffd\ufffd\n"


@pytest.mark.parametrize("size", [0, 10, 1_000_000])
@pytest.mark.parametrize("zipped", [False, True])
def test_a_digest_is_fed_the_very_bytes_of_the_file(
    tmp_path: Path, size: int, *, zipped: bool
) -> None:
    path = tmp_path / "a.jsonl"
    data = b"0123456789\n" * (size // 11)
    path.write_bytes(gzip.compress(data) if zipped else data)
    digest = hashlib.sha256()
    with open_source(path, digest) as stream:
        assert b"".join(stream) == data
    assert digest.hexdigest() == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("cut", ["tail", "checksum", "junk"])
def test_gzip_that_breaks_off_names_the_line(tmp_path: Path, cut: str) -> None:
    data = gzip.compress(b"x\n" * 100_000)
    spoilt = {"tail": data[:-20], "checksum": data[:-8] + b"\0" * 8, "junk": data + b"junk"}[cut]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(spoilt)
    with pytest.raises(InputError, match="gzip data is damaged here") as caught:
        read(path)
    assert caught.value.line is not None
    assert caught.value.line > 1


def test_what_is_no_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "missing.jsonl")
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / ("x" * 5000))
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "a\0b")


def test_a_pipe_is_refused_for_it_is_read_twice() -> None:
    end, write = os.pipe()
    os.close(write)
    try:
        with pytest.raises(InputError, match=r"is a pipe.*standard input"):
            read(Path(f"/dev/fd/{end}"))
    finally:
        os.close(end)


@pytest.mark.parametrize("size", [1, 100, 1 << 15])
@pytest.mark.parametrize("zipped", [False, True])
def test_blocks_are_the_same_lines(tmp_path: Path, size: int, *, zipped: bool) -> None:
    path = tmp_path / "a.txt"
    text = "\ufeff" + "".join(f"行{number}\r\n\n" for number in range(500)) + "end"
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    with open_source(path) as stream:
        blocks = list(text_lines(stream, path, size))
        assert not stream.closed
    lines = [
        (first + i, line)
        for first, text in blocks
        for i, line in enumerate(text.splitlines(keepends=True))
    ]
    assert lines == read(path)
    assert [line for _, line in lines][:2] == ["行0\r\n", "\n"]


def test_gzip_whose_middle_is_damaged_names_the_line(tmp_path: Path) -> None:
    # Whole lines, flushed to a full byte; then a block of a kind that there is none of.
    packed = zlib.compressobj(wbits=31)
    data = packed.compress(b"x\n" * 100_000) + packed.flush(zlib.Z_FULL_FLUSH) + b"\xff" * 9
    path = tmp_path / "a.gz"
    path.write_bytes(data)
    with open_source(path) as stream, pytest.raises(InputError) as lines:
        list(text_lines(stream, path))
    with open_source(path) as stream, pytest.raises(InputError) as blocks:
        list(text_lines(stream, path, 1000))
    for caught in (lines, blocks):
        assert "gzip data is damaged here" in str(caught.value)
        assert caught.value.line is not None
        assert 1 < caught.value.line <= 100_001


def test_what_no_line_ends_is_one_line(tmp_path: Path) -> None:
    # Only a line feed ends one; what other programs take for line ends stands in texts.
    path = tmp_path / "a.jsonl"
    path.write_text("a\rb\u2028c\x85d\x0ce", "utf-8", newline="")
    assert read(path) == [(1, "a\rb\u2028c\x85d\x0ce")]


def test_a_bad_record_is_not_the_last() -> None:
    reader = csv_reader(["a,b\n", '"c"d,e\n', "f,g\n"], ",")
    assert next(reader) == ["a", "b"]
    with pytest.raises(CsvError):
        next(reader)
    assert list(reader) == [["f", "g"]]


PIPE = b'{"qid":"a","answer":"x"}\n{"answer":\n{"qid":"c"}\n'


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_a_file_is_read_where_it_is(tmp_path: Path) -> None:
    for name in (str(tmp_path / "a"), str(tmp_path), "x" * 5000):
        with readable(name) as path:
            assert path == Path(name)


def test_what_is_piped_in_can_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, PIPE)
    with readable("-") as path:
        assert path.read_bytes() == path.read_bytes() == PIPE
    assert not path.exists()


def test_a_named_pipe_can_be_read_again(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(PIPE,))
    writer.start()
    with readable(str(fifo)) as path:
        assert path.read_bytes() == path.read_bytes() == PIPE
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
