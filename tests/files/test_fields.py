import re

import pytest
from pydantic import JsonValue

from judge.errors import InputError
from judge.files.fields import MAX_DEPTH, sample_from
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


WRONG: list[tuple[dict[str, JsonValue], str, str]] = [
    (
        {"chunks": []},
        "answer",
        r"is missing \(also read from: response\); found the keys 'chunks'",
    ),
    ({"answer": None, "chunks": []}, "answer", "is missing"),
    ({"answer": "a"}, "chunks", r"also read from: contexts, retrieved_contexts"),
    ({}, "answer", "found no keys"),
    ({**OK, "answer": 3}, "answer", "is a number, 3; text is needed"),
    ({"response": ["a"], "chunks": []}, "response", r"is a list, \['a'\]"),
    ({**OK, "query": {"a": 1}}, "query", "is an object"),
    ({**OK, "chunks": 3}, "chunks", "is a number, 3; a list of texts"),
    ({"answer": "a", "contexts": "text"}, "contexts", "is text, 'text'"),
    ({**OK, "chunks": [None]}, "chunks[0]", "is null"),
    (
        {**OK, "chunks": ["a", {"chunk_id": "x"}]},
        "chunks[1].text",
        "has no text; found the keys",
    ),
    ({**OK, "chunks": [{"text": 1}]}, "chunks[0].text", "is a number, 1"),
    ({**OK, "chunks": [{"id": [], "text": ""}]}, "chunks[0].id", "is a list"),
    ({**OK, "id": True}, "id", "is a boolean, True; text or a whole number is needed"),
    ({**OK, "qid": 1.5}, "qid", "is a number, 1.5"),
    ({**OK, "retrieved": "a"}, "retrieved", "a list of chunk ids is needed"),
    ({**OK, "gold_evidence": ["a", 0.5]}, "gold_evidence[1]", "is a number, 0.5"),
    ({**OK, "relevance": [1]}, "relevance", "an object of chunk id to grade is needed"),
    ({**OK, "rel_map": {"a": "2"}}, "rel_map['a']", "is text, '2'; a finite number"),
    ({**OK, "relevance": {"a": 1, "b": True}}, "relevance['b']", "is a boolean, True"),
    ({**OK, "relevance": {"a": float("nan")}}, "relevance['a']", "is a number, nan"),
    ({**OK, "relevance": {"a": 10**400}}, "relevance['a']", "a finite number is needed"),
    ({**OK, "answer": "a\ud800"}, "answer", "lone surrogate"),
    ({**OK, "answer": "a" * 6_000_001}, "answer", "6,000,001 characters, of which at most 6,000,"),
    ({**OK, "reference": "a" * 6_000_001}, "reference", "are read; shorten it"),
    ({**OK, "id": "\udfff"}, "id", "lone surrogate"),
    ({**OK, "extra": {"deep": ["\ud800"]}}, "extra", "lone surrogate"),
    ({**OK, "extra": {"\ud800": 1}}, "extra", "lone surrogate"),
    ({**OK, "\ud800": 1}, "\ud800", "lone surrogate"),
    ({**OK, "extra": nested(MAX_DEPTH + 1)}, "extra", "is nested over 100 deep; flatten it"),
    ({**OK, "answer": nested(150)}, "answer", "is a list"),
    ({**OK, "answer": {"text": "line\nbreak"}}, "answer", r"line\\nbreak"),
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


def test_nothing_is_legal_where_it_means_something() -> None:
    sample = read(answer="", chunks=[], query=None, retrieved=None, relevance=None, reference=None)
    assert (sample.answer, sample.chunks, sample.query) == ("", (), "")
    assert (sample.retrieved, sample.relevance, sample.gold_answer) == (None, None, None)
    assert read(answer="a\0b", chunks=["\0"]).answer == "a\0b"


def test_what_is_wrong_names_field_and_value_in_one_line() -> None:
    unsaid = []
    for fields, field, says in WRONG:
        with pytest.raises(InputError) as caught:
            read(**fields)
        told = str(caught.value)
        good = caught.value.field == field and re.search(says, told)
        if not good or "\n" in told or len(told) >= 300:
            unsaid.append((fields, told))
    assert unsaid == []


def test_deep_metadata_that_is_read_can_be_written_and_read_again() -> None:
    sample = read(**OK, extra=nested(MAX_DEPTH))
    assert Sample.model_validate_json(sample.model_dump_json()) == sample
