"""Other tools' rows: the same two answers, one of them Chinese, as each tool writes them."""

import json
from pathlib import Path

import pytest

from judge import Config, Evaluator, InputError, Sample
from judge.files.samples import read_samples

SHAPES = Path(__file__).resolve().parents[2] / "fixtures" / "shapes"
NUMBERED = ["1", "2"]
NAMED = ["gym-hours", "lockers"]
TOOL = {"chunks": "messages[role=tool].content"}


DOCUMENTS = "attributes.retrieval.documents[].document.content"
VALUES = ("attributes.input.value", "attributes.output.value", DOCUMENTS)
SAID = ("messages[role=user][-1].content", "messages[role=assistant][-1].content")
PAGES = ["gym-hours.md", "lockers.md"]
MAPPED = {"messages.jsonl": {"chunks": "messages[role=tool].content"}}
GOLD = ("alce.jsonl", "deepeval.jsonl")
# A file, its shape, where the query, the answer and the chunks stand, and the ids of these.
DOORS: dict[str, tuple[str, tuple[str, str, str], list[str]]] = {
    "alce.jsonl": ("ALCE", ("question", "output", "docs[].text"), NUMBERED),
    "deepeval.jsonl": (
        "deepeval",
        ("input", "actual_output", "retrieval_context, parted at |"),
        NUMBERED,
    ),
    "haystack.jsonl": ("Haystack", ("query", "replies[0]", "documents[].content"), NAMED),
    "haystack_answers.jsonl": (
        "Haystack",
        ("answers[0].query", "answers[0].data", "answers[0].documents[].content"),
        NAMED,
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
    "llamaindex.jsonl": ("LlamaIndex", ("query", "response", "source_nodes[].node.text"), NAMED),
    "messages.jsonl": ("messages", (*SAID, "messages[role=tool].content"), NUMBERED),
    "openinference.jsonl": ("OpenInference", VALUES, NAMED),
    "openinference_flat.jsonl": ("OpenInference", VALUES, NAMED),
    "ragtruth.jsonl": (
        "RAGTruth",
        ("source_info.question", "response", "source_info.passages"),
        NUMBERED,
    ),
    "trec_rag.jsonl": ("TREC RAG", ("topic", "answer", "segments[].segment"), NAMED),
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


async def test_the_same_answers_have_the_same_results_through_every_shape() -> None:
    found = {}
    async with Evaluator(Config(judge="similarity")) as evaluator:
        for name in DOORS:
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


WRONG: list[tuple[object, str, str]] = [
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
    ({"result": "a", "documents": 3}, "documents", "is 3; a list of texts"),
    (
        {"query": "q", "source_documents": ["t"]},
        "answer",
        "is missing of LangChain (it stands at result or answer",
    ),
    ({"input": "q", "actual_output": "a"}, "chunks", "is missing of deepeval"),
    ({"actual_output": None, "retrieval_context": []}, "actual_output", "is null"),
    ({"actual_output": 3, "retrieval_context": []}, "actual_output", "is a number, 3; text"),
    (
        {"response": "a", "source_nodes": [{"node": {"id_": "n"}, "score": 1}]},
        "source_nodes[0]",
        "has no text",
    ),
    ({"messages": [{"role": "user", "content": "q"}]}, "answer", "is missing of messages"),
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
    ({"answer": "a", "docs": [{"body": "t"}]}, "chunks", "is missing (also read from: contexts"),
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
