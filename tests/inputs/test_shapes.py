"""Other tools' rows: the same two answers, one of them Chinese, as each tool writes them."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from judge import Config, ConfigError, InputError, Sample
from judge.inputs.fields import sample_from
from judge.inputs.samples import read_samples
from judge.records import Chunk
from tests.commands import judge, write

SHAPES = Path(__file__).resolve().parents[2] / "fixtures" / "shapes"
NUMBERED = ["1", "2"]
NAMED = ["gym-hours", "lockers"]
PAGES = ["gym-hours.md", "lockers.md"]
MAPPED = {
    "messages.jsonl": {"chunks": "messages[role=tool].content"},
    "ragas_turns.jsonl": {"chunks": "user_input[type=tool].content"},
}
GOLD = ("deepeval.jsonl", "deepeval_array.json", "ragas_turns.jsonl")
# A file, whose shape it has, and the ids of its chunks.
DOORS = {
    "deepeval.jsonl": ("deepeval", NUMBERED),
    "deepeval_array.json": ("deepeval", NUMBERED),
    "deepeval_turns.jsonl": ("deepeval, several turns", NUMBERED),
    "haystack.jsonl": ("Haystack", NAMED),
    "haystack_answers.jsonl": ("Haystack", NAMED),
    "haystack_pipeline.jsonl": ("Haystack", NAMED),
    "langchain.jsonl": ("LangChain", PAGES),
    "langchain_serialised.jsonl": ("LangChain", PAGES),
    "langfuse.jsonl": ("Langfuse", NAMED),
    "llamaindex.jsonl": ("LlamaIndex", NAMED),
    "messages.jsonl": ("messages", NUMBERED),
    "openinference.jsonl": ("OpenInference", NAMED),
    "openinference_flat.jsonl": ("OpenInference", NAMED),
    "openinference_json.jsonl": ("OpenInference", NAMED),
    "ragas_turns.jsonl": ("ragas, several turns", NUMBERED),
    "trec_rag.jsonl": ("TREC RAG", NAMED),
}
# As `pandas` and `ragas` save them: names of ours or ragas', and the ids of the chunks.
SAVED = {
    "pandas.feather": NAMED,
    "pandas.parquet": NAMED,
    "pandas.xlsx": NUMBERED,
    "ragas.csv": NUMBERED,
}


def read(name: str) -> tuple[list[Sample], list[str]]:
    """The samples of a file, and what is told of it."""
    told: list[str] = []
    path = SHAPES / name
    return list(read_samples(path, mapping=MAPPED.get(name), report=told.append)), told


@pytest.mark.parametrize("name", DOORS)
def test_each_shape_is_recognised_and_said_once(name: str) -> None:
    shape, ids = DOORS[name]
    (english, chinese), (told,) = read(name)
    assert told.startswith(f"read as {shape}: query from ")
    for sample, other in zip((english, chinese), read("ragas.csv")[0], strict=True):
        assert sample.query == other.query
        # TREC RAG has its citations in lists, and none in the text.
        assert sample.answer == other.answer or sample.sentences
        assert [chunk.text for chunk in sample.chunks] == [each.text for each in other.chunks]
    assert [chunk.chunk_id for chunk in english.chunks] == ids
    assert chinese.gold_answer == ("1月16日。" if name in GOLD else None)
    if name.endswith(".jsonl"):
        rows = map(json.loads, (SHAPES / name).read_text("utf-8").splitlines())
        made = [Sample.of(row, number=n, map=MAPPED.get(name)) for n, row in enumerate(rows, 1)]
        assert made == [english, chinese]


@pytest.mark.parametrize("name", SAVED)
def test_what_is_saved_is_read_as_it_was(name: str) -> None:
    samples, told = read(name)
    assert told == []
    assert [chunk.chunk_id for chunk in samples[0].chunks] == SAVED[name]
    for sample, other in zip(samples, read("deepeval.jsonl")[0], strict=True):
        assert (sample.query, sample.answer) == (other.query, other.answer)
        assert [chunk.text for chunk in sample.chunks] == [each.text for each in other.chunks]
    assert samples[1].gold_answer == "1月16日。"


def test_lists_as_pandas_writes_them_and_not_as_numpy_does(tmp_path: Path) -> None:
    expected = [chunk.text for chunk in read("deepeval.jsonl")[0][0].chunks]
    text = (SHAPES / "ragas.csv").read_text("utf-8")
    tabs, shape = tmp_path / "tabs.tsv", tmp_path / "shape.csv"
    tabs.write_text("\n".join(map("\t".join, csv.reader(io.StringIO(text)))), encoding="utf-8")
    shape.write_text(text.replace("retrieved_contexts", "context"), encoding="utf-8")
    for path in (SHAPES / "ragas.csv", tabs, shape):
        english, chinese = read_samples(path)
        assert [chunk.text for chunk in english.chunks] == expected
        assert len(chinese.chunks) == 2
    # Python joins 'a' 'b' to one text. Long or deep literals, and expressions, are not evaluated.
    path, long = tmp_path / "cell.csv", "['" + "x" * 1_000_000 + "']"
    broken = [long, "['a' 'b']", "[Document(page_content='c')]", "[{'page_content': x}]"]
    cells = {"contexts": [*broken, "[" * 5_000, "[1, f'{x}']"], "context": broken}
    for column, each in cells.items():
        for cell in each:
            path.write_text(f'answer,{column}\na,"{cell}"\n', encoding="utf-8")
            with pytest.raises(InputError, match=rf"line 2, field '{column}': "):
                list(read_samples(path))
    with pytest.raises(InputError, match=r"line 2, field 'contexts': "):
        list(read_samples(SHAPES / "numpy.csv"))


def test_other_accepted_names() -> None:
    one: dict[str, JsonValue] = {
        "id": 12,
        "question": "q",
        "response": "r",
        "rel_map": {"1": 1},
        "reference": "g",
    }
    two: dict[str, JsonValue] = {"sample_id": "x", "user_input": "q", "retrieved": [3, "b"]}
    ours = sample_from(one, line=1, needs=())
    assert (ours.qid, ours.query, ours.answer, ours.gold_answer) == ("12", "q", "r", "g")
    assert (ours.relevance, ours.metadata) == ({"1": 1.0}, {})
    other = sample_from(two | {"contexts": ["t"]}, line=1, needs=())
    assert (other.qid, other.query, other.retrieved) == ("x", "q", ("3", "b"))
    assert (other.chunks, other.metadata) == ((Chunk(chunk_id="1", text="t"),), {})
    row: dict[str, JsonValue] = {"id": "first", "sample_id": "b", "query": None, "question": "q"}
    sample = sample_from(row, line=1, needs=())
    assert (sample.qid, sample.query) == ("first", "q")
    assert sample.metadata == {"sample_id": "b", "query": None}
    with pytest.raises(InputError, match="holds half a character"):
        sample_from({"answer": "\ud800"}, line=1, needs=())


# Rows, and the answer and chunks that they are read as; or the field that the error names, and a
# part of its message.
ROWS = list(map(json.loads, (Path(__file__).parent / "rows.jsonl").read_text("utf-8").splitlines()))


def test_what_each_shape_is_read_as() -> None:
    for each in (each for each in ROWS if "answer" in each):
        sample = Sample.of(each["row"])
        chunks = [[c.chunk_id, c.text] for c in sample.chunks]
        assert (sample.answer, chunks) == (each["answer"], each["chunks"])


def test_a_citation_beyond_the_references_names_no_chunk() -> None:
    segments = {"a": "One.", "b": "Two."}
    answer = [{"text": "One.", "citations": [0]}, {"text": "Two.", "citations": [1]}]
    sample = Sample.of({"references": ["a"], "segments": segments, "answer": answer})
    assert sample.sentences is not None
    assert [each.citations for each in sample.sentences] == [(0,), ("references[1]",)]


def test_numbered_columns_beside_chunks_are_metadata() -> None:
    sample = Sample.of({"answer": "a", "contexts": ["t"], "chunk_1": "other"})
    assert ([each.text for each in sample.chunks], sample.metadata) == (["t"], {"chunk_1": "other"})


def test_a_reference_of_another_name_is_one_where_it_is_a_text() -> None:
    row = {"answer": "a", "contexts": ["t"]}
    truths: list[object] = ["九点", ["九点"], None, {"text": "九点"}]
    found = [Sample.of(row | {"ground_truth": each}) for each in truths]
    assert [each.gold_answer for each in found] == ["九点", None, None, None]
    assert [each.metadata for each in found] == [{}, *({"ground_truth": e} for e in truths[1:])]
    assert Sample.of(row | {"ground_truth": "x", "reference": "y"}).gold_answer == "y"


def test_a_map_names_ids_beside_the_texts() -> None:
    hits = [{"_id": "a1", "_source": {"body": "t"}}, {"_id": "b2", "_source": {"body": "u"}}]
    row = {"answer": "It is so [b2].", "hits": hits}
    mapping = {"chunks": "hits[]._source.body", "chunk_ids": "hits[]._id"}
    sample = Sample.of(row, map=mapping)
    assert [(c.chunk_id, c.text) for c in sample.chunks] == [("a1", "t"), ("b2", "u")]
    with pytest.raises(InputError, match=r"field 'hits\[0\]._id': is text, 'a1'; a list of chunk"):
        Sample.of(row, map=mapping | {"chunk_ids": "hits[0]._id"})
    with pytest.raises(InputError, match="has 1 ids, and there are 2 chunks"):
        Sample.of(row, map=mapping | {"chunk_ids": "hits[_id=a1]._id"})
    plain = Sample.of({"answer": "a", "docs": ["t", "u"]}, map={"chunks": "docs[]"})
    assert [each.chunk_id for each in plain.chunks] == ["1", "2"]


@pytest.mark.parametrize("wrong", [each for each in ROWS if "field" in each])
def test_a_half_right_row_names_file_line_and_key(wrong: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n" + json.dumps(wrong["row"]), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_samples(path))
    told = str(caught.value)
    assert told.startswith(f"{path}, line 2, field {wrong['field']!r}: ")
    assert wrong["says"] in told
    assert "\n" not in told


def test_a_map_finds_what_has_no_shape_and_says_where_it_finds_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    rows: list[dict[str, JsonValue]] = [
        {"nr": number, "out": {"text": text}, "found": [{"body": chunk}], "ask": "?"}
        for number, (text, chunk) in enumerate(
            [("Six rooms are free [1].", "Six rooms are free."), ("九点关门[1]。", "九点关门。")]
        )
    ]
    path = write(tmp_path / "rows.jsonl", rows)
    given = ("answer=out.text", "chunks=found[].body", "qid=nr")
    score = ("score", path, "-o", run, "--judge", "similarity", "--force")
    options = [word for each in given for word in ("--map", each)]
    assert judge(*score, *options).code == 0
    shown = judge("show", run, "1")  # which reads the samples once more, by run.json
    assert (shown.code, "九点关门" in shown.out) == (0, True)
    wrong = {
        "answer=out.txt": "line 1, field 'answer': there is nothing at out.txt; found the keys",
        "chunks=found[].text": "there is nothing at found[].text; found the keys 'nr'",
        "chunks=found[3]": "there is nothing at found[3]; found the keys 'nr', 'out', 'found'",
        "text=out.text": "map 'text': is no field",
        "answer=out..text": "map: 'out..text' is no path",
        "answer": "'answer' is not FIELD=PATH",
    }
    for each, says in wrong.items():
        name = each.partition("=")[0]
        rest = [word for kept in given if not kept.startswith(name) for word in ("--map", kept)]
        code, _, err = judge(*score, *rest, "--map", each)
        assert (code, says in err, err.count("\n")) == (2, True, 1), err
    with pytest.raises(ConfigError, match="is given twice"):
        Config.model_validate({"map": "answer=a,answer=b"})
    kept = Config.model_validate({"map": "answer=a, chunks=b"}).map
    assert kept == {"answer": "a", "chunks": "b"}


# Rows of one file: the texts of their chunks, or what is said of one of them.
MIXED: list[tuple[list[dict[str, Any]], list[list[str]] | str]] = [
    # A row that has our own names is read by them, whatever stood before.
    (
        [
            {"answer": "a", "chunks": None, "context": "first's"},
            {"answer": "b", "chunks": ["own"], "context": "another's"},
        ],
        [["first's"], ["own"]],
    ),
    (
        [{"result": "a", "context": ["t"]}, {"actual_output": "b", "retrieval_context": ["t"]}],
        r"line 2.*LangChain \(as the first row was read\) has it as",
    ),
    # A short text of a later row is no name.
    ([{"answer": "a", "context": t} for t in ("so it is", "N/A")], [["so it is"], ["N/A"]]),
    # A row without passages does not say how others have theirs.
    ([{"answer": "a", "chunks": []}, {"answer": "b", "chunks": [{"content": "t"}]}], [[], ["t"]]),
    ([{"result": "a", "context": ["t"]}, {"answer": "a", "context": ["u"]}], [["t"], ["u"]]),
]


def test_rows_that_differ(tmp_path: Path) -> None:
    for rows, found in MIXED:
        path = write(tmp_path / "rows.jsonl", rows)
        if isinstance(found, str):
            with pytest.raises(InputError, match=found):
                list(read_samples(path))
        else:
            assert [[c.text for c in each.chunks] for each in read_samples(path)] == found
