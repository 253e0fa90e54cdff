"""Other tools' rows: the same two answers, one of them Chinese, as each tool writes them."""

import csv
import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import pytest

from judge import Config, ConfigError, InputError, Sample
from judge.inputs.samples import read_samples
from tests.commands import judge

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
    "pandas.csv.zst": NUMBERED,
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


def written(folder: Path, *rows: object) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


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


# Rows, and the answer and chunks that they are read as; or what is noted of their reading; or the
# field that is named where they are half right, and a part of what is said of it.
ROWS = list(map(json.loads, (Path(__file__).parent / "rows.jsonl").read_text("utf-8").splitlines()))


def test_what_each_shape_is_read_as() -> None:
    for each in (each for each in ROWS if "answer" in each):
        sample = Sample.of(each["row"])
        chunks = [[c.chunk_id, c.text] for c in sample.chunks]
        assert (sample.answer, chunks) == (each["answer"], each["chunks"])


def test_citations_bear_what_a_person_said_of_them() -> None:
    cited = ["1", 1.0, {"docid": "12", "support": "full"}]
    sample = Sample.of(
        {
            "references": [12, 13],
            "candidates": [{"docid": d, "doc": {"segment": f"t{d}"}} for d in (13, 12)],
            "answer": [{"text": "X", "citations": cited}],
        }
    )
    assert [(c.chunk_id, c.text) for c in sample.chunks] == [("12", "t12"), ("13", "t13")]
    assert [each.citations for each in sample.sentences or ()] == [(1, 1, "12")]


def test_what_to_look_at_is_said(tmp_path: Path) -> None:
    for each in (each for each in ROWS if "note" in each):
        told: list[str] = []
        path = written(tmp_path, each["row"], each["row"])
        assert len(list(read_samples(path, report=told.append))) == 2
        assert [said.endswith(each["note"]) for said in told] == [True] * bool(each["note"])


def test_a_reference_of_another_name_is_one_where_it_is_a_text() -> None:
    row = {"answer": "a", "contexts": ["t"]}
    truths: list[object] = ["九点", "['九点']", ["九点"], None, {"text": "九点"}]
    found = [Sample.of(row | {"ground_truth": each}) for each in truths]
    assert [each.gold_answer for each in found] == ["九点", None, None, None, None]
    assert [each.metadata for each in found] == [{}, *({"ground_truth": e} for e in truths[1:])]
    assert Sample.of(row | {"ground_truth": "x", "reference": "y"}).gold_answer == "y"


def test_texts_that_a_path_leads_to_keep_the_ids_of_their_documents() -> None:
    docs = [{"id": "a1", "in": {"body": "t"}}, {"id": "b2", "in": {"body": "u"}}]
    log = [{"id": "q", "as": "user"}, *({"as": "tool"} | d for d in docs)]
    rows: list[tuple[dict[str, object], str]] = [
        ({"docs": docs}, "docs[].in.body"),
        ({"log": log}, "log[as=tool].in.body"),
        ({"hits": [{"docs": docs}]}, "hits[].docs[].in.body"),
        ({"hits": [{"docs": docs}]}, "hits[0].docs[].in.body"),
    ]
    for given, path in rows:
        row = {"answer": "It is so [b2].", **given}
        ids = [each.chunk_id for each in Sample.of(row, map={"chunks": path}).chunks]
        assert ids == ["a1", "b2"], path
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


@pytest.mark.parametrize("ids", [["docX"], ["docX", "docY"]])
def test_a_retriever_of_langfuse_gives_the_ids_of_its_documents(ids: list[str]) -> None:
    documents = [{"id": each, "content": "It opens at six."} for each in ids]
    step = {"id": "o1", "type": "RETRIEVER", "output": documents}
    row = {"projectId": "p", "input": "When?", "output": "At six [docX].", "observations": [step]}
    assert [each.chunk_id for each in Sample.of(row).chunks] == ids


DEEP: dict[str, object] = {"content": "a"}
for _ in range(200):
    DEEP = {"content": DEEP}
TOO_DEEP = [
    {"row": {"result": DEEP, "context": ["t"]}, "field": "result", "says": "over 100 deep"},
    {"row": {"result": "a", "context": [[DEEP]]}, "field": "context", "says": "over 100 deep"},
]


@pytest.mark.parametrize("wrong", [*(each for each in ROWS if "field" in each), *TOO_DEEP])
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
    rows = [
        {"nr": number, "out": {"text": text}, "found": [{"body": chunk}], "ask": "?"}
        for number, (text, chunk) in enumerate(
            [("Six rooms are free [1].", "Six rooms are free."), ("九点关门[1]。", "九点关门。")]
        )
    ]
    path = written(tmp_path, *rows)
    given = ("answer=out.text", "chunks=found[].body", "qid=nr")
    score = ("score", path, "-o", run, "--judge", "similarity", "--force")
    options = [word for each in given for word in ("--map", each)]
    assert judge(*score, *options).code == 0
    shown = judge("show", run, "1")  # which reads the samples once more, by run.json
    assert (shown.code, "九点关门" in shown.out) == (0, True)
    wrong = {
        "answer=out.txt": "line 1, field 'answer': there is nothing at out.txt; found the keys",
        "chunks=found[].text": "line 1, field 'found[0].text': is null",
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
        path = written(tmp_path, *rows)
        if isinstance(found, str):
            with pytest.raises(InputError, match=found):
                list(read_samples(path))
        else:
            assert [[c.text for c in each.chunks] for each in read_samples(path)] == found
