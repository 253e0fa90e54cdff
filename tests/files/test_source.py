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
    TextLines,
    check_encoding,
    open_source,
    placed,
    presentable,
    readable,
    spoken,
)

LINES = '{"answer": "十元"}\r\n\n{"answer": "ten"}'
PIPE = b'{"qid":"a"}\n{"qid":"b"}\n'


def read(path: Path, size: int = 0) -> list[tuple[int, str]]:
    with open_source(path) as stream:
        found = list(TextLines(stream, path, size))
        assert not stream.closed
    return found


def test_numbered_lines_of_a_file_gzipped_or_not(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"  # gzip is told by its bytes, not by its name
    for bom in (b"", b"\xef\xbb\xbf"):
        data = bom + LINES.encode()
        for bytes_ in (data, gzip.compress(data)):
            path.write_bytes(bytes_)
            expected = [(1, '{"answer": "十元"}\r\n'), (2, "\n"), (3, '{"answer": "ten"}')]
            assert read(path) == expected
    # Only a BOM at the start is one, and only a line feed ends a line.
    path.write_text("\ufeffa\n\ufeffb\rc\u2028d\x85e\x0cf", "utf-8", newline="")
    assert read(path) == [(1, "a\n"), (2, "\ufeffb\rc\u2028d\x85e\x0cf")]


@pytest.mark.parametrize("size", [1, 100, 1 << 15])
def test_many_lines_together_are_the_same_lines(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.txt"
    text = "\ufeff" + "".join(f"行{number}\r\n\n" for number in range(500)) + "end"
    for data in (text.encode(), gzip.compress(text.encode())):
        path.write_bytes(data)
        lines = [
            (first + i, line)
            for first, text in read(path, size)
            for i, line in enumerate(text.splitlines(keepends=True))
        ]
        assert lines == read(path)


def test_what_is_no_text_is_refused_with_the_next_step(tmp_path: Path) -> None:
    table = {
        "差旅".encode("utf-16"): "is UTF-16; convert it",
        "abc".encode("utf-16-le"): "is a binary file",
        b"PK\x03\x04\0\0\0": "is a binary file",
        gzip.compress(b"\0\1\2", mtime=0): "is a binary file",
        b"\x1f\x8b": "the gzip data is damaged (",
        b"\x1f\x8b\x08\x00not gzip": "the gzip data is damaged (",
    }
    path = tmp_path / "bad.jsonl"
    for data, says in table.items():
        path.write_bytes(data)
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: {says}")
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
def test_a_digest_is_fed_the_very_bytes_of_the_file(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.jsonl"
    data = b"0123456789\n" * (size // 11)
    for stored in (data, gzip.compress(data)):
        path.write_bytes(stored)
        digest = hashlib.sha256()
        with open_source(path, digest) as stream:
            assert b"".join(stream) == data
        assert digest.hexdigest() == hashlib.sha256(stored).hexdigest()


@pytest.mark.parametrize("cut", ["tail", "checksum", "junk", "middle"])
def test_gzip_that_is_damaged_names_the_line(tmp_path: Path, cut: str) -> None:
    data = gzip.compress(b"x\n" * 40_000)
    # Whole lines, flushed to a full byte; then a block of a kind that there is none of.
    packed = zlib.compressobj(wbits=31)
    flushed = packed.compress(b"x\n" * 40_000) + packed.flush(zlib.Z_FULL_FLUSH)
    spoilt = {
        "tail": data[:-20],
        "checksum": data[:-8] + b"\0" * 8,
        "junk": data + b"junk",
        "middle": flushed + b"\xff" * 9,
    }
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(spoilt[cut])
    for size in (0, 1000):
        with pytest.raises(InputError, match="gzip data is damaged here") as caught:
            read(path, size)
        assert caught.value.line is not None
        assert 1 < caught.value.line <= 40_001


def test_what_is_no_file_is_an_input_error(tmp_path: Path) -> None:
    table = {
        "missing.jsonl": "no such file",
        "": "is a folder",
        "x" * 5000: "cannot be read",
        "a\0b": "cannot be read",
    }
    for name, says in table.items():
        with pytest.raises(InputError, match=says):
            read(tmp_path / name)
    end, write = os.pipe()
    os.close(write)
    # A pipe is read only once.
    with pytest.raises(InputError, match=r"is a pipe.*standard input"):
        read(Path(f"/dev/fd/{end}"))
    os.close(end)


def test_a_file_is_read_where_it_is(tmp_path: Path) -> None:
    for name in (str(tmp_path / "a"), str(tmp_path), "x" * 5000):
        with readable(name) as path:
            assert path == Path(name)


def test_what_is_piped_in_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PIPE)))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(PIPE,))
    writer.start()
    for name in ("-", str(fifo)):
        with readable(name) as path:
            assert path.read_bytes() == path.read_bytes() == PIPE
        assert not path.exists()
    writer.join()


class Broken(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise OSError(5, "Input/output error")


def test_a_pipe_that_breaks_or_is_closed_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Broken())))
    said = r"^standard input: cannot be copied \(Input/output error\); save it to a file"
    with pytest.raises(RunError, match=said), readable("-"):
        pass
    monkeypatch.setattr(sys, "stdin", None)
    with (
        pytest.raises(ConfigError, match="standard input is closed; pipe the samples in"),
        readable("-"),
    ):
        pass


def test_what_is_wrong_names_the_source_and_keeps_its_line() -> None:
    with pytest.raises(InputError) as caught, placed(spoken("-")):
        raise InputError("is wrong", path="copy", line=7, field="qid")
    assert str(caught.value) == "standard input, line 7, field 'qid': is wrong"
    assert spoken("a") == "a"
