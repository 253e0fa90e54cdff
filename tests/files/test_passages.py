"""What rows of other tools are read as, a row at a time: passages, ids, messages and sentences."""

import json
from pathlib import Path

from judge import Sample
from judge.files.samples import read_samples

VALUE = {"type": "text", "text": {"value": "a", "annotations": []}}
THREE = [("1", "t"), ("2", "u"), ("3", "[1]")]
CHAT = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "a"}]
CITED = [{"text": "One.", "citations": ["b", "z"]}, {"text": "三。", "citations": {"a": 0.5}}]
RELEASED = {"references": ["a", "b"], "segments": {"b": "tb", "c": "tc", "a": {"segment": "ta"}}}
READ: list[tuple[dict[str, object], str, list[tuple[str, str]]]] = [
    # Citations count through the references, whatever the order of the texts; one that names what
    # is not there dangles.
    (
        {**RELEASED, "answer": CITED},
        "One. 三。",
        [("a", "ta"), ("b", "tb"), ("c", "tc")],
    ),
    (
        {
            "references": ["a"],
            "segments": ["ta"],
            "responses": [{"text": "X", "citations": [0, 9]}],
        },
        "X",
        [("a", "ta")],
    ),
    ({"topic_id": 1, "references": [], "segments": [], "answer": []}, "", []),
    (
        {"output": "a", "docs": [{"id": "7", "title": "T", "text": "t"}]},
        "a",
        [("1", "T\nt")],
    ),
    ({"response": "a", "source_info": {"stars": 4}}, "a", [("1", '{"stars": 4}')]),
    ({"answer": "a", "context": " "}, "a", []),
    ({"answer": "a", "context": {"content": "t", "id": 3}}, "a", [("3", "t")]),
    ({"result": "a", "documents": [{"id": "x", "text": "t"}, "u"]}, "a", [("1", "t"), ("2", "u")]),
    (
        {"replies": [{"role": "assistant", "content": [{"text": "a"}]}], "documents": ["t"]},
        "a",
        [("1", "t")],
    ),
    (
        {
            "messages": [{"role": "assistant", "content": [{"text": "a"}, {"url": 1}]}],
            "context": [],
        },
        "a",
        [],
    ),
    (
        {"input": "q", "output": '{"answer": "a", "contexts": ["t"]}', "timestamp": "x"},
        "a",
        [("1", "t")],
    ),
    # What the ranker left is what was shown; a prompt is no passage.
    (
        {
            "llm": {"replies": ["a"]},
            "prompt_builder": {"prompt": "p"},
            "retriever": {"documents": ["u", "t"]},
            "ranker": {"documents": ["t"]},
        },
        "a",
        [("1", "t")],
    ),
    # The answer stands beside what was said before; thoughts are none of it.
    ({"messages": [*CHAT, CHAT[0]], "output": "b", "context": ["t"]}, "b", [("1", "t")]),
    (
        {"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]}
        | {"context": ["t"]},
        "a",
        [("1", "t")],
    ),
    (
        {"contents": [{"role": "model", "parts": [{"text": "a"}]}], "context": ["t"]},
        "a",
        [("1", "t")],
    ),
    ({"messages": CHAT, "response": "b", "context": ["t"]}, "b", [("1", "t")]),
    (
        {
            "messages": [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "x", "text": "x"},
                        {"type": "text", "text": "a", "citations": [{"document_index": 0}]},
                        {"type": "text", "text": ". b", "citations": None},
                    ],
                }
            ],
            "documents": ["t"],
        },
        "a. b",
        [("1", "t")],
    ),
    (
        {"input": "q", "output": [*CHAT], "metadata": {"contexts": ["t"]}, "traceId": 1},
        "a",
        [("1", "t")],
    ),
    (
        {"messages": [{"role": "assistant", "content": [VALUE]}], "context": ["t"]},
        "a",
        [("1", "t")],
    ),
    # Of several references nobody knows which; of one everybody does.
    ({"prediction": "a", "ground_truth": ["g", "h"], "docs": ["t"]}, "a", [("1", "t")]),
    ({"prediction": ["a"], "ground_truth": ["g"], "docs": ["t"]}, "a", [("1", "t")]),
    ({"answer": "a", "contexts": ["t"], "ground_truth": ["g"]}, "a", [("1", "t")]),
    # Under our own names, too, documents may be others'.
    ({"answer": "a", "contexts": [{"page_content": "t", "id": "x"}]}, "a", [("x", "t")]),
    ({"response": {"role": "assistant", "content": "a"}, "chunks": ["t"]}, "a", [("1", "t")]),
    ({"answer": "a", "retrieved": [{"id": "x", "text": "t"}]}, "a", [("x", "t")]),
    ({"answer": "a", "document": "a.pdf", "chunks": [{"content": "t"}]}, "a", [("1", "t")]),
    ({"answer": "a", "passage": "A text."}, "a", [("1", "A text.")]),
    # A tool says its documents as one JSON text, or in parts.
    ({"answer": "a", "docs": ['[{"text": "t"}, {"content": "u"}]', "[1]"]}, "a", THREE),
    ({"answer": "a", "docs": [[{"type": "text", "text": "t"}], "u", "[1]"]}, "a", THREE),
    (
        {"references": ["A text.", "Another."], "answer": [{"text": "X", "citations": [1]}]},
        "X",
        [("1", "A text."), ("2", "Another.")],
    ),
    # What Phoenix calls the reference is what was retrieved.
    (
        {"context.span_id": "s", "input": "q", "output": "a", "reference": "t\n\nu"},
        "a",
        [("1", "t\n\nu")],
    ),
    ({"问题": "q", "回答": "a", "检索结果": ["t"], "参考答案": "g"}, "a", [("1", "t")]),
    ({"answer": "gold", "prediction": "a", "passages": ["t"]}, "a", [("1", "t")]),
    ({"answer": "gold", "prediction": "a", "context": ["t"]}, "a", [("1", "t")]),
    (
        {"answer": "a", "sources": [{"content": "t", "url": "u"}], "sources_url": None},
        "a",
        [("1", "t")],
    ),
    (
        {
            "references": [12, 13],
            "candidates": [{"docid": d, "doc": {"segment": f"t{d}"}} for d in (13, 12)],
            "answer": [{"text": "X", "citations": ["1", 1.0, {"docid": "12", "support": "full"}]}],
        },
        "X",
        [("12", "t12"), ("13", "t13")],
    ),
]


def test_what_each_shape_is_read_as() -> None:
    for row, answer, chunks in READ:
        sample = Sample.of(row)
        assert (sample.answer, [(c.chunk_id, c.text) for c in sample.chunks]) == (answer, chunks)
    ((cited,),) = ([each.citations for each in sample.sentences or ()],)
    assert cited == (
        1,
        1,
        "12",
    )  # places may be texts, and citations bear what a person said of them


# What is said of a row besides, where people should look.
NOTED: list[tuple[dict[str, object], str]] = [
    ({"result": "a", "context": "t"}, "answer from result, chunks from context, as one text"),
    (
        {"result": "a", "context": [{"id": 0, "text": "t"}, {"id": 1, "text": "u"}]},
        "chunks from context[].text, numbered, for their id would be taken for places",
    ),
    ({"result": "a", "context": [{"id": 1, "text": "t"}]}, "chunks from context[].text"),
    (
        {"answer": "gold", "response": "a", "context": ["t"]},
        "answer from answer, not from response (--map answer=response), chunks from context",
    ),
    (
        {"answer": "gold", "response": "a", "contexts": ["t"]},
        "answer from answer, not from response (--map answer=response)",
    ),
    (
        {"answer": "gold", "predicted_answer": "a", "contexts": ["t"]},
        "answer from answer, not from predicted_answer (--map answer=predicted_answer)",
    ),
    ({"answer": "a", "response": "a", "contexts": ["t"]}, ""),
    (
        {"answer": "<think>so</think> a", "contexts": ["t"]},
        "answers hold <think>: a model's thoughts are judged as said; cut them out",
    ),
    (
        {"answer": "a", "contexts": ["a.pdf", "b.pdf"]},
        "chunks hold names and no texts, such as 'a.pdf' (--map chunks=PATH)",
    ),
]


def test_what_could_be_read_otherwise_is_said(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for row, says in NOTED:
        path.write_text(f"{json.dumps(row)}\n{json.dumps(row)}", encoding="utf-8")
        told: list[str] = []
        assert len(list(read_samples(path, told=told.append))) == 2
        assert [each[-len(says) :] for each in told] == [says] * bool(says)


def test_a_reference_of_another_name_is_one_where_it_is_a_text() -> None:
    row = {"answer": "a", "contexts": ["t"]}
    truths: list[object] = ["九点", "['九点']", ["九点"], None, {"text": "九点"}]
    found = [Sample.of(row | {"ground_truth": each}) for each in truths]
    assert [each.gold_answer for each in found] == ["九点", None, None, None, None]
    assert [each.metadata for each in found] == [{}, *({"ground_truth": e} for e in truths[1:])]
    assert Sample.of(row | {"ground_truth": "x", "reference": "y"}).gold_answer == "y"


def test_texts_that_a_path_leads_to_keep_the_ids_of_their_documents() -> None:
    docs = [{"id": "a1", "in": {"body": "t"}}, {"id": "b2", "in": {"body": "u"}}]
    for given, path in (
        ({"docs": docs}, "docs[].in.body"),
        (
            {"log": [{"id": "q", "as": "user"}, *({"as": "tool"} | d for d in docs)]},
            "log[as=tool].in.body",
        ),
        ({"hits": [{"docs": docs}]}, "hits[].docs[].in.body"),
        ({"hits": [{"docs": docs}]}, "hits[0].docs[].in.body"),
    ):
        row = {"answer": "It is so [b2].", **given}
        ids = [each.chunk_id for each in Sample.of(row, map={"chunks": path}).chunks]
        assert ids == ["a1", "b2"], path
    plain = Sample.of({"answer": "a", "docs": ["t", "u"]}, map={"chunks": "docs[]"})
    assert [each.chunk_id for each in plain.chunks] == ["1", "2"]
