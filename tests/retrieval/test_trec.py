import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.errors import InputError
from judge.retrieval.trec import ScatteredError, read_qrels, read_run

RUN = "q1 Q0 a 1 0.5 t\nq1 Q0 b 2 0.25 t\nq2 Q0 a 1 7 t\n"
BLOCKS = [("q1", ["a", "b"], [0.5, 0.25]), ("q2", ["a"], [7.0])]


def put(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "file"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def run(
    tmp_path: Path, text: str | bytes, *, whole: bool = False
) -> list[tuple[str, list[str], list[float]]]:
    blocks = read_run(put(tmp_path, text), whole=whole)
    return [(qid, list(docs), list(scores)) for qid, docs, scores in blocks]


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
    ):
        for whole in (False, True):
            assert run(tmp_path, data, whole=whole) == BLOCKS


def test_white_space_that_is_not_asciis_is_of_the_id(tmp_path: Path) -> None:
    names = ("文\u3000档", "a\u00a0b", "c\u2003d\u3000e", "f\u0085g")
    lines = "".join(f"问\u3000题 Q0 {name} {rank} 1 t\n" for rank, name in enumerate(names))
    assert run(tmp_path, lines) == [("问\u3000题", list(names), [1.0] * len(names))]
    grades = "".join(f"q 0 {name} 1\r\n" for name in names)
    assert read_qrels(put(tmp_path, grades)) == {"q": dict.fromkeys(names, 1)}


BAD_QRELS = [
    ("q 0 a 1\nq 0 b\n", "line 2: has 3 columns; 4 are needed: qid iteration docid relevance"),
    ("q 0 a b 1\n", "line 1: has 5 columns"),
    ("q 0 文\u3000档\n", "line 1: has 3 columns"),
    # A cell too many and one too few: together as many as two lines have, and all are numbers.
    ("q1 0 11 1 x\nq1 0 12\n", "line 1: has 5 columns"),
    ("q1 0 11\nq1 0 12 1 7\n", "line 1: has 3 columns"),
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
    ("", "holds no line; each is: qid Q0 docid rank score tag"),
]


def test_runs_that_are_wrong_are_named_by_place(tmp_path: Path) -> None:
    for text, says in BAD_RUNS:
        for whole in (False, True):
            with pytest.raises(InputError) as caught:
                run(tmp_path, text, whole=whole)
            assert says in str(caught.value)


def test_lines_of_a_query_that_do_not_stand_together(tmp_path: Path) -> None:
    text = "q1 Q0 a 1 1 t\nq2 Q0 b 1 2 t\nq1 Q0 c 2 3 t\n"
    with pytest.raises(ScatteredError, match="line 3: query 'q1' goes on here"):
        run(tmp_path, text)
    whole = run(tmp_path, text, whole=True)
    assert whole == [("q1", ["a", "c"], [1, 3]), ("q2", ["b"], [2])]


def test_a_query_is_handed_on_before_the_next_is_read(tmp_path: Path) -> None:
    # Lines are read many at a time.
    many = "".join(f"q{number} Q0 a 1 1 t\n" for number in range(20_000))
    blocks = read_run(put(tmp_path, many + "broken\n"))
    assert next(blocks) == ("q0", ["a"], [1.0])
    with pytest.raises(InputError, match="line 20001"):
        list(blocks)


def test_queries_longer_than_what_is_read_at_a_time(tmp_path: Path) -> None:
    docs = [f"文{number}" for number in range(20_000)]
    lines = [f"q Q0 {doc} 1 {number} t\n" for number, doc in enumerate(docs)]
    scores = [float(number) for number in range(20_000)]
    text = "".join(lines) + "r Q0 a 1 1 t\n"
    assert run(tmp_path, text) == [("q", docs, scores), ("r", ["a"], [1.0])]
    # One white space that is not ASCII's, or a blank line, in the middle.
    lines[9000] = "\n" + lines[9000].replace("文9000", "文\u30009000")
    docs[9000] = "文\u30009000"
    assert run(tmp_path, "".join(lines), whole=True) == [("q", docs, scores)]
    lines[15_000] = "q Q0 a 1 t\n"
    with pytest.raises(InputError, match="line 15002: has 5 columns"):
        run(tmp_path, "".join(lines))


NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n\f\v\0\x1c\x1d\x1e\x1f"),
    min_size=1,
    max_size=5,
).filter(lambda name: name.split() and not name.startswith("\ufeff"))


# The file is written anew each time.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(NAMES, st.lists(st.tuples(NAMES, st.floats(allow_nan=False)), min_size=1)),
        min_size=1,
        max_size=4,
        unique_by=lambda query: query[0],
    )
)
def test_what_was_written_is_read(
    tmp_path: Path, queries: Sequence[tuple[str, list[tuple[str, float]]]]
) -> None:
    text = "".join(
        f"{qid} Q0 {doc} {rank} {score!r} tag\n"
        for qid, ranked in queries
        for rank, (doc, score) in enumerate(ranked)
    )
    found = run(tmp_path, text)
    assert found == run(tmp_path, text, whole=True)
    assert found == [
        (qid, [doc for doc, _ in ranked], [score for _, score in ranked]) for qid, ranked in queries
    ]
