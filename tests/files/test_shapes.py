"""Other tools' rows: the same two answers, one of them Chinese, as each tool writes them."""

import csv
import dataclasses
import io
import json
from pathlib import Path

import pytest

from judge import Config, ConfigError, Evaluator, InputError, Sample
from judge.files.samples import read_samples
from tests.commands import judge
from tests.growth import repeated, squared

SHAPES = Path(__file__).resolve().parents[2] / "fixtures" / "shapes"
NUMBERED = ["1", "2"]
NAMED = ["gym-hours", "lockers"]
TOOL = {"chunks": "messages[role=tool].content"}


DOCUMENTS = "attributes.retrieval.documents[].document.content"
VALUES = ("attributes.input.value", "attributes.output.value", DOCUMENTS)
SAID = ("messages[role=user][-1].content", "messages[-1][role=assistant].content")
PAGES = ["gym-hours.md", "lockers.md"]
MAPPED = {
    "messages.jsonl": {"chunks": "messages[role=tool].content"},
    "ragas_turns.jsonl": {"chunks": "user_input[type=tool].content"},
}
GOLD = ("alce.jsonl", "deepeval.jsonl", "deepeval_array.json", "ragas_turns.jsonl")
# A file, its shape, where the query, the answer and the chunks stand, and the ids of these.
DOORS: dict[str, tuple[str, tuple[str, str, str], list[str]]] = {
    "alce.jsonl": ("ALCE", ("question", "output", "docs[].text"), NUMBERED),
    "deepeval.jsonl": (
        "deepeval",
        ("input", "actual_output", "retrieval_context, parted at |"),
        NUMBERED,
    ),
    "deepeval_array.json": (
        "deepeval",
        ("input", "actual_output", "retrieval_context"),
        NUMBERED,
    ),
    "deepeval_turns.jsonl": (
        "deepeval, several turns",
        (
            "turns[role=user][-1].content",
            "turns[-1][role=assistant].content",
            "turns[-1].retrieval_context",
        ),
        NUMBERED,
    ),
    "haystack_pipeline.jsonl": (
        "Haystack",
        ("query", "llm.replies[0]", "ranker.documents[].content"),
        NAMED,
    ),
    "haystack.jsonl": ("Haystack", ("query", "replies[0]", "documents[].content"), NAMED),
    "haystack_answers.jsonl": (
        "Haystack",
        ("answers[0].query", "answers[0].data", "answers[0].documents[].content"),
        NAMED,
    ),
    "inspect_ai.jsonl": (
        "inspect_ai",
        ("input", "output.completion", "metadata.contexts"),
        NUMBERED,
    ),
    "langchain.jsonl": (
        "LangChain",
        ("query", "result", "source_documents[].page_content"),
        PAGES,
    ),
    "langchain_serialised.jsonl": (
        "LangChain",
        ("input", "answer", "context[].page_content"),
        PAGES,
    ),
    "langfuse.jsonl": (
        "Langfuse",
        ("input.query", "output.answer", "metadata.documents[].page_content"),
        NAMED,
    ),
    "langsmith.jsonl": (
        "LangSmith",
        ("inputs.question", "outputs.answer", "outputs.context[].page_content"),
        NAMED,
    ),
    "llamaindex.jsonl": ("LlamaIndex", ("query", "response", "source_nodes[].node.text"), NAMED),
    "messages.jsonl": ("messages", (*SAID, "messages[role=tool].content"), NUMBERED),
    "openai_responses.jsonl": (
        "OpenAI responses",
        (
            "query",
            "output[type=message][-1].content",
            "output[type=file_search_call].results[].text",
        ),
        NUMBERED,
    ),
    "openinference_json.jsonl": (
        "OpenInference",
        (
            "attributes.input.value.question",
            "attributes.output.value.answer",
            "attributes.output.value.context[].page_content",
        ),
        NAMED,
    ),
    "openinference.jsonl": ("OpenInference", VALUES, NAMED),
    "openinference_flat.jsonl": ("OpenInference", VALUES, NAMED),
    "ragas_turns.jsonl": (
        "ragas, several turns",
        (
            "user_input[type=human][-1].content",
            "user_input[-1][type=ai].content",
            "user_input[type=tool].content",
        ),
        NUMBERED,
    ),
    "ragtruth.jsonl": (
        "RAGTruth",
        ("source_info.question", "response", "source_info.passages"),
        NUMBERED,
    ),
    "trec_rag.jsonl": ("TREC RAG", ("topic", "answer", "segments[].segment"), NAMED),
}
# As `pandas`, `ragas` and `datasets` save them: names of ours or ragas', and the ids of the chunks.
SAVED = {
    "pandas.csv.zst": NUMBERED,
    "pandas.feather": NAMED,
    "pandas.parquet": NAMED,
    "pandas.xlsx": NUMBERED,
    "ragas.csv": NUMBERED,
    "saved": NUMBERED,
}


def read(name: str) -> tuple[list[Sample], list[str]]:
    """The samples of a file, and what is told of it."""
    told: list[str] = []
    path = SHAPES / name
    return list(read_samples(path, mapping=MAPPED.get(name), told=told.append)), told


def test_each_shape_is_recognised_and_said_once() -> None:
    for name, (shape, places, ids) in DOORS.items():
        (english, chinese), (told,) = read(name)
        both = zip(("query", "answer", "chunks"), places, strict=True)
        said = f"read as {shape}: " + ", ".join(f"{key} from {place}" for key, place in both)
        assert told.partition(", gold_answer")[0] == said
        assert english.query == "When does the gym in Harbour Street open?", name
        assert chinese.query == "今年的年会在哪天举行？", name
        assert [chunk.chunk_id for chunk in english.chunks] == ids, name
        assert chinese.chunks[1].text == "请各部门在1月9日前报送节目单。", name
        assert chinese.gold_answer == ("1月16日。" if name in GOLD else None), name
        if name.endswith(".jsonl"):
            rows = map(json.loads, (SHAPES / name).read_text("utf-8").splitlines())
            made = [Sample.of(row, number=n, map=MAPPED.get(name)) for n, row in enumerate(rows, 1)]
            assert made == [english, chinese], name


def test_lists_as_pandas_writes_them_and_not_as_numpy_does(tmp_path: Path) -> None:
    expected = [chunk.text for chunk in read("alce.jsonl")[0][0].chunks]
    text = (SHAPES / "ragas.csv").read_text("utf-8")
    tabbed = csv.reader(io.StringIO(text))
    (tmp_path / "tabs.tsv").write_text("\n".join(map("\t".join, tabbed)), encoding="utf-8")
    (tmp_path / "shape.csv").write_text(
        text.replace("retrieved_contexts", "context"), encoding="utf-8"
    )
    for path in (SHAPES / "ragas.csv", tmp_path / "tabs.tsv", tmp_path / "shape.csv"):
        english, chinese = read_samples(path)
        assert [chunk.text for chunk in english.chunks] == expected
        assert len(chinese.chunks) == 2
    # Of 'a' 'b' Python makes one text; what is long or deep, or no constant, is not evaluated.
    path, long = tmp_path / "cell.csv", "['" + "x" * 1_000_000 + "']"
    broken = [long, "['a' 'b']", "[Document(page_content='c')]", "[{'page_content': x}]"]
    cells = {"contexts": [*broken, "[" * 5_000, "[1, f'{x}']"], "context": broken}
    for column, each in cells.items():
        for cell in each:
            path.write_text(f'answer,{column}\na,"{cell}"\n', encoding="utf-8")
            with pytest.raises(InputError, match=rf"line 2, field '{column}': .*json\.dumps$"):
                list(read_samples(path))
    with pytest.raises(InputError, match=r"line 2, field 'contexts': .*json\.dumps$"):
        list(read_samples(SHAPES / "numpy.csv"))


def test_what_is_saved_is_read_as_it_was() -> None:
    expected = read("alce.jsonl")[0]
    for name, ids in SAVED.items():
        samples, told = read(name)
        assert told == [], name
        assert [chunk.chunk_id for chunk in samples[0].chunks] == ids, name
        for sample, other in zip(samples, expected, strict=True):
            assert (sample.query, sample.answer) == (other.query, other.answer), name
            assert [chunk.text for chunk in sample.chunks] == [each.text for each in other.chunks]
        assert samples[1].gold_answer == "1月16日。"


async def test_the_same_answers_have_the_same_results_through_every_shape() -> None:
    found = {}
    async with Evaluator(Config(judge="similarity")) as evaluator:
        for name in (*DOORS, *SAVED):
            samples, _ = read(name)
            places = {sample.qid: [chunk.chunk_id for chunk in sample.chunks] for sample in samples}
            found[name] = [
                (
                    [getattr(each.outcome, "support", None) for each in result.sentences],
                    [
                        (each.status, places[result.qid].index(str(each.chunk_id)))
                        for each in result.citations
                    ],
                    result.scores.faithfulness,
                )
                async for result in evaluator.evaluate(samples)
            ]
    one, *others = found.values()
    assert [(len(support), len(cited)) for support, cited, _ in one] == [(2, 2), (2, 2)]
    assert one[1][2] == 1.0  # the Chinese answer, of which every word stands in its chunks
    assert [each for each in others if each != one] == []


CHAT = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "a"}]
DEEP: dict[str, object] = {"content": "a"}
for _ in range(200):
    DEEP = {"content": DEEP}
MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "a"}]}
WRONG: list[tuple[object, str, str]] = [
    (
        {"output": {"completion": "a"}, "messages": [{"content": "q"}], "input": "q"},
        "chunks",
        "is missing: inspect_ai has it as metadata.contexts",
    ),
    (
        {"replies": [], "documents": ["c"]},
        "answer",
        "is missing: Haystack has it as replies[0]",
    ),
    ({"docs": [{"title": "t"}], "output": "a"}, "docs[0]", "has no text"),
    ({"response": "a", "source_info": None}, "source_info", "is null"),
    ({"input": "q", "output": "a", "timestamp": 1}, "chunks", "is missing: Langfuse has it as"),
    (
        {"output.value": "a", "retrieval.documents.0.document.id": "x"},
        "retrieval.documents[0]",
        "has no text",
    ),
    (
        {"query": "q", "result": "a", "source_documents": None},
        "source_documents",
        "is null; a list",
    ),
    (
        {"result": "a", "source_documents": [{"metadata": {}}]},
        "source_documents[0]",
        "has no text, page_content, content; found the keys 'metadata'",
    ),
    ({"result": "a", "source_documents": ["t", None]}, "source_documents[1]", "is null"),
    (
        {"result": "a", "context": "[Document(page_content='x')]"},
        "context",
        "begins as a list and is none",
    ),
    (
        {"result": "a", "context": "page_content='x' metadata={}"},
        "context[0].text",
        "is an object as Python shows it",
    ),
    (
        {"answer": "a", "chunks": ["t", "Document(metadata={}, page_content='x')"]},
        "chunks[1]",
        "is an object as Python shows it",
    ),
    ({"result": "a", "documents": 3}, "documents", "is 3; a list of texts"),
    (
        {"query": "q", "source_documents": ["t"]},
        "answer",
        "is missing: a plain row has it as answer or response or",
    ),
    (
        {"input": "q", "actual_output": "a"},
        "chunks",
        "is missing: deepeval has it as retrieval_context",
    ),
    ({"actual_output": None, "retrieval_context": []}, "actual_output", "is null"),
    ({"actual_output": 3, "retrieval_context": []}, "actual_output", "is a number, 3; text"),
    (
        {"response": "a", "source_nodes": [{"node": {"id_": "n"}, "score": 1}]},
        "source_nodes[0]",
        "has no text",
    ),
    (
        {"messages": [{"role": "user", "content": "q"}]},
        "answer",
        "is missing: messages has it as answer or response or messages[-1][role=assistant]",
    ),
    # What was said before the last question, or before a tool was called, is not its answer.
    (
        {"messages": [*CHAT, {"role": "user", "content": "And on Sunday?"}], "context": ["t"]},
        "answer",
        "is missing: messages has it as",
    ),
    (
        {"messages": [*CHAT, {"role": "tool", "content": "7"}], "context": ["t"]},
        "answer",
        "is missing: messages has it as",
    ),
    (
        {"user_input": [{"type": "ai", "content": "a"}, {"type": "human", "content": "b"}]},
        "answer",
        "is missing: ragas, several turns has it as user_input[-1][type=ai].content",
    ),
    ({"messages": [{"role": "assistant", "content": "a"}]}, "chunks", "--map chunks=PATH"),
    (
        {"answer": [{"text": "a", "citations": [0]}], "references": ["d1"]},
        "references",
        "holds ids and no texts",
    ),
    (
        {"answer": [{"text": "a"}], "references": ["d1"], "segments": {"d2": "t"}},
        "segments",
        "has no text of 'd1'",
    ),
    ({"response": "a", "source_id": 1}, "chunks", "join source_info.jsonl by source_id, or name"),
    ({"answer": "a", "notes": [{"body": "t"}]}, "chunks", "or name its path: judge score --map"),
    ({"Answer": "a", "contexts": ["t"]}, "answer", "'Answer', 'contexts'; or name its path: judge"),
    (
        {"result": ["a", "b"], "context": ["t"]},
        "result",
        "holds 2 texts; name one: judge score --map",
    ),
    ({"result": DEEP, "context": ["t"]}, "result", "is nested over 100 deep; flatten it"),
    ({"result": "a", "context": [[DEEP]]}, "context", "is nested over 100 deep; flatten it"),
    ({"result": [{"type": {}}], "context": ["t"]}, "result", "is a list, [{'type': {}}]; text is"),
    ({"answer": "a", "context": [["t", "u"]]}, "context[0]", "is ['t', 'u']; a text or a document"),
    ({"answer": "a", "chunks": [{"body": "t"}]}, "chunks[0]", "has no text, page_content, content"),
    ({"answer": "a", "docs": [{"body": "t"}]}, "docs[0]", "has no text, page_content, content"),
    (
        {"answer": "a", "docs": ["a.pdf", "b.pdf"]},
        "docs",
        "holds names and no texts: 'a.pdf'; name",
    ),
    ({"answer": "a", "sources": ["https://a.b/c"]}, "chunks", "is missing (also read from"),
    (
        {"answer": {"sum": 1}, "context": ["t"]},
        "answer",
        "is an object and no text; found the keys",
    ),
    (
        {"output.value": '{"spoken": "a"}', "retrieval.documents": [{"document.content": "t"}]},
        "output.value",
        "is an object and no text; found the keys 'spoken'; name the path of its text: judge score",
    ),
    (
        {"output.value": "t", "retrieval.documents": [], "span_kind": "RERANKER"},
        "span_kind",
        "is 'RERANKER', which is no answer; leave it out",
    ),
    (
        {"input": {"context": ["t"]}, "output": "t", "startTime": 1, "name": "format_docs"},
        "name",
        "is 'format_docs', which is no answer",
    ),
    (
        {"inputs": {"context": ["t"]}, "outputs": {"output": "t"}, "parent_run_id": "r"},
        "parent_run_id",
        "is 'r', which is no answer",
    ),
    (
        {"input.value": '{"context": ["t"]}', "output.value": "t", "span_kind": "CHAIN"},
        "chunks",
        "join the retriever's span of the trace, as Phoenix' get_qa_with_reference does, or name",
    ),
    (
        {"input": "q", "output": ["t"], "timestamp": 1, "type": "RETRIEVER"},
        "type",
        "is 'RETRIEVER', which is no answer",
    ),
    (
        {"output": {"completion": ""}, "messages": [CHAT[0]], "error": {"message": "x" * 80}},
        "error",
        "is {'message': 'xxx",
    ),
    (
        {"inputs": {"query": "q"}, "outputs": {"documents": []}, "run_type": "retriever"},
        "run_type",
        "is 'retriever', which is no answer",
    ),
    (
        {"query": "q", "output": [{"type": "file_search_call", "results": None}, MESSAGE]},
        "chunks",
        "is missing: OpenAI responses has it as output[type=file_search_call].results[]",
    ),
    (
        {"output.value": "a", "attributes": {"openinference.span.kind": "RETRIEVER"}},
        "attributes.openinference.span.kind",
        "is 'RETRIEVER', which is no answer",
    ),
]


def test_a_half_right_row_names_file_line_and_key(tmp_path: Path) -> None:
    unsaid = []
    for row, field, says in WRONG:
        path = tmp_path / "rows.jsonl"
        path.write_text("\n" + json.dumps(row), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            list(read_samples(path))
        told = str(caught.value)
        place = f"{path}, line 2, field {field!r}: "
        if not told.startswith(place) or says not in told or "\n" in told:
            unsaid.append((told, field, says))
    assert unsaid == []


def test_a_map_finds_what_has_no_shape_and_says_where_it_finds_nothing(tmp_path: Path) -> None:
    path, run = tmp_path / "rows.jsonl", tmp_path / "run"
    rows = [
        {"nr": number, "out": {"text": text}, "found": [{"body": chunk}], "ask": "?"}
        for number, (text, chunk) in enumerate(
            [("Six rooms are free [1].", "Six rooms are free."), ("九点关门[1]。", "九点关门。")]
        )
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    given = ("answer=out.text", "chunks=found[].body", "qid=nr")
    score = ("score", path, "-o", run, "--judge", "similarity", "--force")
    options = [word for each in given for word in ("--map", each)]
    code, _, err = judge(*score, *options)
    assert (code, err.splitlines()[0]) == (
        0,
        "judge: read as --map says: answer from out.text, chunks from found[].body",
    )
    code, out, _ = judge("show", run, "1")  # which reads the samples once more, by run.json
    assert (code, "九点关门" in out) == (0, True)
    wrong = {
        "answer=out.txt": "line 1, field 'answer': nothing stands at out.txt; found the keys 'nr'",
        "chunks=found[].text": "line 1, field 'found[0].text': is null",
        "chunks=found[3]": "nothing stands at found[3]; found the keys 'nr', 'out', 'found'",
        "text=out.text": "map 'text': is no field; there are: qid, query, answer",
        "answer=out..text": "map: 'out..text' is no path",
        "answer": "'answer' is no FIELD=PATH",
    }
    for each, says in wrong.items():
        name = each.partition("=")[0]
        rest = [word for kept in given if not kept.startswith(name) for word in ("--map", kept)]
        code, _, err = judge(*score, *rest, "--map", each)
        assert (code, says in err, err.count("\n")) == (2, True, 1), err
    with pytest.raises(ConfigError, match="a field stands twice"):
        Config.model_validate({"map": "answer=a,answer=b"})
    assert Config.model_validate({"map": "answer=a, chunks=b"}).map == {
        "answer": "a",
        "chunks": "b",
    }


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


def test_a_row_that_has_our_own_names_is_read_by_them_whatever_stood_before(tmp_path: Path) -> None:
    own = {"answer": "b", "chunks": ["own"], "context": "another's"}
    first = {"answer": "a", "chunks": None, "context": "first's"}
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(first)}\n{json.dumps(own)}", encoding="utf-8")
    texts = [(each.chunks[0].text, each.metadata) for each in read_samples(path)]
    assert texts == [("first's", {}), ("own", {"context": "another's"})]


def test_a_row_of_another_shape_than_the_first_says_so(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"result": "a", "context": ["t"]}, {"actual_output": "b", "retrieval_context": ["t"]}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(
        InputError, match=r"line 2.*LangChain \(as the first row was read\) has it as"
    ):
        list(read_samples(path))


def test_a_reference_beside_an_answer_is_not_the_answer_of_a_row_without_one(
    tmp_path: Path,
) -> None:
    row: dict[str, str | None] = {"context": "so it is", "answer": "gold", "prediction": "a"}
    for name, says in (
        ("rows.jsonl", "line 3, field 'prediction': is null; text is needed"),
        ("rows.csv", r"line 3, field 'answer': is missing: .* has it as prediction; found"),
    ):
        path = tmp_path / name
        rows = [row, row | {"prediction": None}]
        lines = ["", *map(json.dumps, rows)]
        if name.endswith("csv"):
            lines = [",".join(row), *(",".join(each[k] or "" for k in row) for each in rows)]
        path.write_text("\n".join(lines), encoding="utf-8")
        with pytest.raises(InputError, match=says):
            list(read_samples(path))


def test_a_short_text_of_a_later_row_is_no_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"answer": "a", "context": text} for text in ("so it is", "N/A")]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert [each.chunks[0].text for each in read_samples(path)] == ["so it is", "N/A"]


def test_a_row_without_passages_does_not_say_how_others_have_theirs(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"answer": "a", "chunks": []}, {"answer": "b", "chunks": [{"content": "t"}]}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert [[c.text for c in each.chunks] for each in read_samples(path)] == [[], ["t"]]


def test_a_file_may_use_several_names_of_one_shape_and_each_is_said(tmp_path: Path) -> None:
    path, told = tmp_path / "rows.jsonl", list[str]()
    rows = [{"result": "a", "context": ["t"]}, {"answer": "a", "context": ["t"]}]
    path.write_text("\n".join(map(json.dumps, rows * 2)), encoding="utf-8")
    assert len(list(read_samples(path, told=told.append))) == 4
    assert [each.split(", ")[0] for each in told] == [
        "read as LangChain: answer from result",
        "read as LangChain: answer from answer",
    ]


def test_keys_of_any_length_cost_no_more_than_once() -> None:
    def read(key: str) -> Sample:
        return Sample.of({f"{key}\n": 1, "result": "a", "context": []})

    assert squared(read, map(repeated, (".1", ".1\n", ".x", "1", ".1x")), 2_000) == []
