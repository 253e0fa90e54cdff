from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import Chunk, Sample
from judge.retrieval.perturbation import NOISE, Perturbation, added

FACTS = [
    *(
        f"The lease of house {n} ends after {n + 20} months; the garden is shared."
        for n in range(9)
    ),
    *(f"第{n}号馆于{n + 1990}年开放，门票每张{n + 60}元，周末另有讲座和展览。" for n in range(9)),
    "Bread is baked at dawn.",
    "桥上不得停车。",
    "",
]
ANSWERS = [
    "25 months",
    "The lease ends after 24 months.",
    "1995年",
    "65元",
    "Yes.",
    "",
    "It is at dawn.",
]


def pond(*ids: str) -> list[dict[str, str]]:
    texts = ("The pond froze.", "The pond is 9 m deep.", "The pond has carp.")
    return [{"chunk_id": name, "text": text} for name, text in zip(ids, texts, strict=True)]


@st.composite
def samples(draw: st.DrawFn) -> list[Sample]:
    made = []
    for number in range(draw(st.integers(1, 6))):
        texts = draw(st.lists(st.sampled_from(FACTS), max_size=6))
        ids = [draw(st.sampled_from([str(n + 1), f"{number}#{n}"])) for n in range(len(texts))]
        chunks = tuple(Chunk(chunk_id=i, text=t) for i, t in zip(ids, texts, strict=True))
        gold = draw(st.none() | st.lists(st.sampled_from([*ids, "nowhere"])).map(tuple))
        answer = draw(st.none() | st.sampled_from(ANSWERS))
        fields = {"chunks": chunks, "gold_evidence": gold, "gold_answer": answer}
        made.append(Sample(qid=f"q{number}", query=f"Which of {number}?", **fields))
    return made


@given(samples(), st.integers(0, 3))
def test_what_each_variant_promises(given_: list[Sample], seed: int) -> None:
    perturbation = Perturbation(given_, seed=seed)
    qids: Counter[str] = Counter()
    for sample in given_:
        own = [chunk.text for chunk in sample.chunks]
        gold = {c.text for c in sample.chunks if c.chunk_id in (sample.gold_evidence or ())}
        made: dict[str, dict[str, Any]] = {
            str(line["variant"]): line for line in perturbation.variants(sample)
        }
        qids.update(str(line["qid"]) for line in made.values())
        for name, line in made.items():
            texts = [chunk["text"] for chunk in line["chunks"]]
            if name in NOISE:
                size = added(len(own), NOISE[name])
                assert len(texts) == len(own) + (size or 0)
                assert not (Counter(texts) - Counter(own)).keys() & set(own)
            elif name == "reordered":
                assert sorted(texts) == sorted(own)
                assert texts != own
            elif name == "gold_removed":
                assert not gold.intersection(texts) - {""}
                assert line["gold_evidence"] == []
            else:
                assert texts == own
        reasons = [name for name, why in perturbation.left_out.items() if why]
        assert {*made, *reasons} == set(perturbation.left_out)
    assert max(qids.values()) == 1


POND = ["The pond froze.", "The pond is 9 m deep.", "The pond has carp."]
REMOVED: list[tuple[dict[str, Any], list[str]]] = [
    # By document; by place, for texts without ids are the first of `retrieved`; by grade.
    ({"chunks": pond("docA#1", "docA#2", "b"), "gold_evidence": ["docA"]}, POND[2:]),
    (
        {"chunks": POND, "retrieved": ["a", "b", "c", "d"], "gold_evidence": ["b"]},
        [POND[0], POND[2]],
    ),
    ({"chunks": POND, "relevance": {"1": 0, "3": 2}}, POND[:2]),
    # Equal texts, and chunks that contain the gold answer, are removed too.
    ({"chunks": [*POND, "the pond  froze."], "gold_evidence": ["1"]}, POND[1:]),
    ({"chunks": POND, "gold_evidence": ["1"], "gold_answer": "9 m"}, POND[2:]),
]


@pytest.mark.parametrize(("fields", "kept"), REMOVED)
def test_gold_is_removed(fields: dict[str, Any], kept: list[str]) -> None:
    sample = Sample.of({"qid": "a", "query": "a?", "answer": "", **fields})
    (line,) = Perturbation([sample], ["gold_removed"]).variants(sample)
    chunks: Any = line["chunks"]
    assert [chunk["text"] for chunk in chunks] == kept
    assert line["gold_evidence"] == []
    assert "relevance" not in line
