"""What `evaluate` takes, and what it says of the rest."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from judge import (
    Config,
    Evaluator,
    InputError,
    Sample,
    evaluate,
    measure_overlap,
    measure_retrieval,
    recommend_measures,
)

CHUNKS = ["Either side gives four weeks' notice."]
ROW = {"qid": 7, "answer": "The notice is four weeks [1].", "contexts": CHUNKS}
OTHER = ROW | {"qid": None}
UNNAMED = {key: value for key, value in ROW.items() if key != "qid"}


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows))


TAKEN: list[tuple[object, list[str]]] = [
    (ROW, ["7"]),
    (Sample.of(ROW), ["7"]),
    ([ROW, Sample.of(OTHER, number=2), UNNAMED], ["7", "2", "3"]),
    ((row for row in (UNNAMED, ROW)), ["1", "7"]),
    ([], []),
    # A column of numbers in which one is missing holds floats, and is a column of numbers.
    (frame(ROW, OTHER), ["7", "2"]),
    (frame(ROW, OTHER).convert_dtypes(), ["7", "2"]),
    (frame(ROW, OTHER | {"qid": "x"}).set_index("qid"), ["7", "x"]),
    (frame(ROW).iloc[0], ["7"]),
    # As a CSV holds them: lists as text, or a column for each chunk.
    (frame(ROW | {"contexts": str(CHUNKS)}, UNNAMED | {"contexts": '["a"]'}), ["7", "2"]),
    (frame({"qid": 7, "answer": ROW["answer"], "chunk_1": CHUNKS[0], "chunk_2": None}), ["7"]),
    (
        [ROW | {"qid": UUID(int=1), "price": Decimal("1.5"), "day": pd.NaT, "n": pd.NA}],
        [str(UUID(int=1))],
    ),
]


def test_samples_are_taken_as_programs_have_them() -> None:
    for given, qids in TAKEN:
        results = evaluate(given)
        assert [result.qid for result in results] == qids, given
        assert [result.scores.faithfulness for result in results[:1]] == [1.0] * bool(qids), given
    (last,) = evaluate(TAKEN[-1][0])
    assert last.metadata == {"price": "1.5", "day": None, "n": None}
    mapped = {"result": {"text": ROW["answer"]}, "docs": [{"body": CHUNKS[0]}]}
    config = Config(map={"answer": "result.text", "chunks": "docs[].body"})
    assert evaluate(mapped, config)[0].scores.faithfulness == 1.0
    # The message about a missing path tells how to map it in Python.
    for given in ({"docs": []}, {"result": "x", "docs": [], "map": ""}):
        with pytest.raises(InputError, match=r"in Python map=\{'answer'"):
            Sample.of(given, map={"answer": "text.result", "chunks": "docs"})
    with pytest.raises(InputError, match=r"in Python map=\{'chunks'"):
        Sample.of({"messages": [{"role": "assistant", "content": "a"}]})


REFUSED: list[tuple[object, str]] = [
    ("samples.jsonl", "field 'samples': is a str; a file is read by judge.read_samples(path)"),
    (5, "row 1: is no row (int); one with an answer and its chunks is needed"),
    ([ROW, None], "row 2: is no row (NoneType); one with an answer"),
    ([ROW, ROW | {"answer": 3}], "row 2, field 'answer': is a number, 3; text is needed"),
    (ROW | {"raw": object()}, "has no form as JSON (Unable to serialize unknown type"),
    (frame(ROW, ROW), "row 2, field 'qid': '7' is already in row 1; make it unique"),
    (frame(ROW, {"qid": 8}), "row 2, field 'answer': is null or NaN; fill it"),
    (frame(ROW, ROW | {"qid": 8, "answer": float("nan")}), "'answer': is null or NaN; fill it"),
    ([UNNAMED] * 101 + [{}], "row 102, field 'answer': is missing"),
]


def test_what_is_no_sample_is_one_line_before_anybody_is_asked() -> None:
    for given, says in REFUSED:
        with pytest.raises(InputError) as caught:
            evaluate(given)
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)

    async def first(rows: object) -> str:
        async with Evaluator() as evaluator:
            return (await anext(evaluator.evaluate(rows))).qid

    with pytest.raises(InputError, match="row 2"):
        asyncio.run(first([ROW, {}]))
    # An iterator cannot be checked beforehand.
    assert asyncio.run(first(iter([ROW, {}]))) == "7"


async def test_rows_may_come_one_by_one() -> None:
    async def slowly() -> AsyncIterator[object]:
        for row in (Sample.of(ROW), UNNAMED):
            await asyncio.sleep(0)
            yield row

    assert [result.qid async for result in Evaluator().evaluate(slowly())] == ["7", "2"]


GRADED: list[dict[str, Any]] = [
    ROW | {"by": {"a": 1}, "relevance": {"1": 1}},
    ROW | {"qid": 8, "by": {"b": 2}, "relevance": {"2": 1}},
]


def test_tables_of_pyarrow_are_read() -> None:
    # A column gives each object the keys of all; what other rows have is not in a row.
    for rows in (pa.Table.from_pylist(GRADED), GRADED, frame(*GRADED)):
        assert [result.metadata for result in evaluate(rows)] == [
            {"by": {"a": 1}},
            {"by": {"b": 2}},
        ]


class Frame:
    """As polars has it."""

    def iter_rows(self, *, named: bool) -> Iterator[dict[str, Any]]:
        assert named
        return iter([ROW, OTHER])

    def __len__(self) -> int:
        return 2


class DataSet(list[dict[str, Any]]):
    """As `datasets` has it."""

    column_names = tuple(ROW)


def test_tables_are_read_by_what_they_offer() -> None:
    for table in (Frame(), DataSet([ROW, OTHER])):
        assert [result.qid for result in evaluate(table)] == ["7", "2"]


def test_what_else_is_measured_takes_frames_too() -> None:
    rows = frame(
        {"answer": "It is paid.", "reference": "It is paid.", "retrieved": ["a", "b"]}
        | {"gold_evidence": ["b"]}
    )
    assert measure_overlap(rows).counts.measured == 1
    assert measure_retrieval(rows).mean["mrr"] == 0.5
    assert recommend_measures(rows).profile.samples == 1
    with pytest.raises(InputError, match="row 1, field 'answer': is missing"):
        measure_overlap(rows.drop(columns="answer"))


def test_how_rows_are_read_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    rows = [{"result": "a", "context": ["t"]}] * 2
    with caplog.at_level("INFO", logger="judge"):
        evaluate(rows)
        evaluate(iter(rows))
    said = "read as LangChain: answer from result, chunks from context"
    assert [each.getMessage() for each in caplog.records] == [said, said]


@dataclasses.dataclass
class Answered:
    """As tools make them: a data class with models in it."""

    response: str
    source_nodes: list[object]
    score: float = float("nan")


class Node:
    """As pydantic makes them."""

    def model_dump(self) -> dict[str, object]:
        return {"node": {"id_": "n", "text": "t"}, "score": 0.5}


def test_an_object_of_a_tool_is_a_sample_and_what_is_none_is_one_line() -> None:
    sample = Sample.of(Answered("a", [Node()]), number=7)
    assert (sample.qid, sample.answer, sample.metadata) == ("7", "a", {"score": None})
    assert [(chunk.chunk_id, chunk.text) for chunk in sample.chunks] == [("n", "t")]
    assert Sample.of(sample) is sample
    looped: dict[str, object] = {}
    looped["answer"] = looped
    for given in (None, "text", [], object(), Node, looped, {"answer": "a", "chunks": [object()]}):
        with pytest.raises(InputError) as caught:
            Sample.of(given)
        assert "\n" not in str(caught.value)
