import gzip
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.retrieval.runs import read_qrels, read_run

RUN = "q1 Q0 a 1 0.5 t\nq1 Q0 b 2 0.25 t\nq2 Q0 a 1 7 t\n"
SCORES = {"q1": {"a": 0.5, "b": 0.25}, "q2": {"a": 7.0}}


def put(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "file"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_qrels(tmp_path: Path) -> None:
    text = "q1 0 a 2\nq2 Q0 a 0\nq1\t0  b   -1\n\n q1 x c 0.5 \n"
    assert read_qrels(put(tmp_path, text)) == {"q1": {"a": 2, "b": -1, "c": 0.5}, "q2": {"a": 0}}


def test_a_run(tmp_path: Path) -> None:
    for data in (
        b"\xef\xbb\xbf" + RUN.encode(),
        RUN.replace("\n", "\r\n").encode(),
        RUN.replace(" ", " \t ").encode() + b"\n",
        gzip.compress(RUN.rstrip().encode()),
        b"q2 Q0 a 1 7 t\nq1 Q0 b 2 0.25 t\nq1 Q0 a 1 0.5 t\n",
    ):
        assert read_run(put(tmp_path, data)) == SCORES


def test_white_space_beyond_ascii_is_part_of_the_id(tmp_path: Path) -> None:
    names = ("文\u3000档", "a\u00a0b", "f\u0085g")
    lines = "".join(f"问\u3000题 Q0 {name} {rank} 1 t\n" for rank, name in enumerate(names))
    assert read_run(put(tmp_path, lines)) == {"问\u3000题": dict.fromkeys(names, 1)}


BAD_QRELS = [
    ("q 0 a 1\nq 0 b\n", "line 2: has 3 columns; 4 are needed: qid iteration docid relevance"),
    ("q 0 a b 1\n", "line 1: has 5 columns"),
    ("\n\nq 0 a x\n", "line 3, field 'relevance': 'x' is no finite number"),
    *((f"q 0 a {cell}\n", "line 1, field 'relevance'") for cell in ("nan", "inf", "1e999")),
    ("q 0 a 1\nq 0 b 1\nq 0 a 2\n", "line 3: query 'q' names 'a' twice"),
    ("\n \r\n\t\n", "holds no line; each is: qid iteration docid relevance"),
]
BAD_RUNS = [
    ("q Q0 a 1 0.5\n", "line 1: has 5 columns; 6 are needed: qid Q0 docid rank score tag"),
    ("q Q0 a 1 1 t\n\nq Q0 b 1 NaN t\n", "line 3, field 'score': 'NaN'"),
]


def test_bad_lines_are_named(tmp_path: Path) -> None:
    for read, rows in ((read_qrels, BAD_QRELS), (read_run, BAD_RUNS)):
        for text, expected in rows:
            with pytest.raises(InputError) as caught:
                read(put(tmp_path, text))
            assert expected in str(caught.value)
            assert str(caught.value).startswith(str(tmp_path / "file"))
