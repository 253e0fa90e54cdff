import gzip
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.retrieval.trec import read_qrels, read_run

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
        RUN.encode(),
        b"\xef\xbb\xbf" + RUN.encode(),
        RUN.replace("\n", "\r\n").encode(),
        RUN.replace("\n", "\n \n\n").encode(),
        RUN.replace(" ", " \t ").encode(),
        RUN.rstrip().encode(),
        gzip.compress(RUN.encode()),
        b"q2 Q0 a 1 7 t\nq1 Q0 b 2 0.25 t\nq3 Q0 a 1 1 t\nq1 Q0 a 1 0.5 t\n",
    ):
        found = read_run(put(tmp_path, data))
        assert {qid: found[qid] for qid in SCORES} == SCORES


def test_white_space_that_is_not_asciis_is_of_the_id(tmp_path: Path) -> None:
    names = ("文\u3000档", "a\u00a0b", "c\u2003d\u3000e", "f\u0085g")
    lines = "".join(f"问\u3000题 Q0 {name} {rank} 1 t\n" for rank, name in enumerate(names))
    assert read_run(put(tmp_path, lines)) == {"问\u3000题": dict.fromkeys(names, 1)}
    grades = "".join(f"q 0 {name} 1\r\n" for name in names)
    assert read_qrels(put(tmp_path, grades)) == {"q": dict.fromkeys(names, 1)}


BAD_QRELS = [
    ("q 0 a 1\nq 0 b\n", "line 2: has 3 columns; 4 are needed: qid iteration docid relevance"),
    ("q 0 a b 1\n", "line 1: has 5 columns"),
    ("q 0 文\u3000档\n", "line 1: has 3 columns"),
    ("\n\nq 0 a x\n", "line 3, field 'relevance': 'x' is no finite number"),
    ("q 0 a nan\n", "line 1, field 'relevance': 'nan'"),
    ("q 0 a inf\n", "line 1, field 'relevance': 'inf' is no finite number"),
    ("q 0 a 1e999\n", "line 1, field 'relevance'"),
    ("q 0 a 1\nq 0 b 1\nq 0 a 2\n", "line 3, field 'relevance': 'a' of query 'q' is graded 2"),
    ("", "holds no line; each is: qid iteration docid relevance"),
    ("\n \r\n\t\n", "holds no line"),
]


def test_qrels_that_are_wrong_are_named_by_place(tmp_path: Path) -> None:
    for text, says in BAD_QRELS:
        with pytest.raises(InputError) as caught:
            read_qrels(put(tmp_path, text))
        assert says in str(caught.value)
        assert str(caught.value).startswith(str(tmp_path / "file"))
        assert "\n" not in str(caught.value)


BAD_RUNS = [
    ("q Q0 a 1 0.5\n", "line 1: has 5 columns; 6 are needed: qid Q0 docid rank score tag"),
    ("q Q0 a 1 0.5 t u\n", "line 1: has 7 columns"),
    (RUN + "q3 Q0 a 1 0.5 t\nq3 Q0 b 1 x t\n", "line 5, field 'score': 'x' is no number"),
    ("q Q0 a 1 1 t\n\nq Q0 b 1 NaN t\nr Q0 a 1 1 t\n", "line 3, field 'score': 'NaN'"),
    ("q Q0 a 1 1 t\nq Q0 a 2 2 t\n", "line 2: query 'q' ranks 'a' twice"),
    ("", "holds no line; each is: qid Q0 docid rank score tag"),
]


def test_runs_that_are_wrong_are_named_by_place(tmp_path: Path) -> None:
    for text, says in BAD_RUNS:
        with pytest.raises(InputError) as caught:
            read_run(put(tmp_path, text))
        assert says in str(caught.value)
