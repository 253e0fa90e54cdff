import pytest
from pydantic import JsonValue

from judge.errors import InputError
from judge.inputs.fields import MAX_DEPTH, sample_from
from judge.records import Chunk, Sample

NEEDS = frozenset({"answer", "chunks"})
OK: dict[str, JsonValue] = {"answer": "a", "chunks": ["c"]}


def read(**fields: JsonValue) -> Sample:
    return sample_from(fields, line=7, needs=NEEDS)


def nested(depth: int) -> JsonValue:
    value: JsonValue = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_the_fields_of_a_sample_under_their_own_names() -> None:
    sample = read(
        qid="q_001",
        query="报销?",
        answer="……",
        chunks=[{"chunk_id": "docA#1", "text": "十元"}],
        retrieved=["docA#1", "docB#1"],
        gold_answer="十",
        gold_evidence=["docA#1"],
        relevance={"docA#1": 2, "docB#1": 0.5},
        team="网络",
    )
    assert sample == Sample(
        qid="q_001",
        query="报销?",
        answer="……",
        chunks=(Chunk(chunk_id="docA#1", text="十元"),),
        retrieved=("docA#1", "docB#1"),
        gold_answer="十",
        gold_evidence=("docA#1",),
        relevance={"docA#1": 2.0, "docB#1": 0.5},
        metadata={"team": "网络"},
    )


# More wrong rows are in `rows.jsonl`.
WRONG: list[tuple[dict[str, JsonValue], str, str]] = [
    ({"chunks": []}, "answer", "is missing (also read from: response); found the keys 'chunks'"),
    ({"answer": None, "chunks": []}, "answer", "is null or NaN; fill it, or leave out the row"),
    ({"response": ["a"], "chunks": []}, "response", "is a list, ['a']"),
    ({**OK, "chunks": ["a", {"chunk_id": "x"}]}, "chunks[1].text", "has no text; found the keys"),
    ({**OK, "relevance": {"a": float("nan")}}, "relevance['a']", "is a number, nan"),
    ({**OK, "answer": "a" * 6_000_001}, "answer", "6,000,001 characters, of which at most 6,000,"),
    ({**OK, "reference": "a" * 6_000_001}, "reference", "are read; shorten it"),
    ({**OK, "answer": nested(150)}, "answer", "is a list"),
    ({**OK, "answer": {"text": "line\nbreak"}}, "answer", "line\\nbreak"),
]


def test_other_accepted_names() -> None:
    chunks = (Chunk(chunk_id="1", text="one"), Chunk(chunk_id="2", text="二"))  # numbered from one
    rows: list[tuple[str, JsonValue, str, object]] = [
        ("id", "x", "qid", "x"),
        ("sample_id", "x", "qid", "x"),
        ("id", 12, "qid", "12"),
        ("question", "q", "query", "q"),
        ("user_input", "q", "query", "q"),
        ("response", "r", "answer", "r"),
        ("chunks", ["one", "二"], "chunks", chunks),
        ("contexts", ["one", "二"], "chunks", chunks),
        ("retrieved_contexts", ["one", "二"], "chunks", chunks),
        ("reference", "r", "gold_answer", "r"),
        ("rel_map", {"1": 1}, "relevance", {"1": 1.0}),
        ("retrieved", [3, "b"], "retrieved", ("3", "b")),
    ]
    samples = [sample_from({key: value}, line=1, needs=()) for key, value, *_ in rows]
    found = [getattr(sample, row[2]) for sample, row in zip(samples, rows, strict=True)]
    assert found == [read_as for *_, read_as in rows]
    assert all(sample.metadata == {} for sample in samples)


def test_chunks_by_id_by_number_by_position_and_with_other_keys() -> None:
    sample = read(
        answer="a",
        chunks=[
            {"id": "b#1", "text": "x", "score": 0.5},
            {"id": 3, "text": ""},
            {"text": "z"},
            "w",
        ],
    )
    assert [(chunk.chunk_id, chunk.text) for chunk in sample.chunks] == [
        ("b#1", "x"),
        ("3", ""),
        ("3", "z"),
        ("4", "w"),
    ]


def test_the_first_name_wins_and_what_is_not_used_is_metadata() -> None:
    sample = read(**OK, qid="first", id="second", query=None, question="q", extra=None)
    assert (sample.qid, sample.query) == ("first", "q")
    assert sample.metadata == {"id": "second", "query": None, "extra": None}


def test_what_is_wrong_names_field_and_value_in_one_line() -> None:
    for fields, field, says in WRONG:
        with pytest.raises(InputError) as caught:
            read(**fields)
        told = str(caught.value)
        assert caught.value.field == field
        assert says in told
        assert "\n" not in told
        assert len(told) < 300


def test_deep_metadata_that_is_read_can_be_written_and_read_again() -> None:
    sample = read(**OK, extra=nested(MAX_DEPTH))
    assert Sample.model_validate_json(sample.model_dump_json()) == sample
