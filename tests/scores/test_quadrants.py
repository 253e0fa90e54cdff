from collections.abc import Sequence
from itertools import product

import pytest

from judge.records import Chunk, Judgment, Quadrant, Rules, Sample
from judge.records.result import QuadrantWord
from judge.scores.answer import aggregate
from judge.scores.correctness import (
    Documents,
    context_scores,
    correctness,
    look_up,
    quadrant,
    row_of,
    table,
)
from tests.comparisons import outcomes, sentences

SEEN = Sample(qid="1", chunks=(Chunk(chunk_id="x", text="t"),), gold_evidence=("x",))
MISSED = SEEN.model_copy(update={"gold_evidence": ("y",)})
NOTHING = SEEN.model_copy(update={"gold_evidence": ()})


def placed(
    sample: Sample,
    answer: str = "f",
    reference: str | None = None,
    forth: str = "",
    rules: Rules | None = None,
) -> Quadrant | None:
    """Return the quadrant of an answer, whose sentences and reference are given as marks.

    `forth` are the marks of the answer's claims by the reference; None where nothing was compared.
    """
    result = aggregate(sample, sentences(answer), outcomes(answer), [], signature="s")
    gold = sentences(reference or "")
    if reference is not None:
        both = (Judgment(outcomes=outcomes(marks)) for marks in (forth, reference))
        compared = correctness(sentences(answer), gold, *both, signature="s")
        result = result.model_copy(update={"correctness": compared})
    return quadrant(sample, result, gold, rules or Rules())


def words(found: Quadrant | None) -> str:
    return "-" if found is None else " ".join(found.words)


ANSWERABLE: list[tuple[str, str | None, str]] = [
    # An answer, its reference (None: they were not compared), and where that puts it.
    ("f", "f", "answered faithful correct"),
    ("f", "n", "answered faithful wrong"),
    ("f", None, "answered faithful uncompared"),
    ("n", "f", "answered unfaithful correct"),
    ("n", "n", "answered unfaithful wrong"),
    ("?", "f", "answered unjudged correct"),
    ("?", "?", "answered unjudged uncompared"),
    ("", None, "abstained"),
    ("h", "n", "abstained"),
    ("-", "n", "abstained"),
    ("a", "f", "abstained"),
    ("af", "f", "answered faithful correct"),
]
UNANSWERABLE = [
    ("a", "abstained"),
    ("f", "answered faithful"),
    ("n", "answered unfaithful"),
    ("?", "answered unjudged"),
    ("", "abstained"),
]


def test_the_quadrant_of_an_answer() -> None:
    for sample, where in ((SEEN, "answerable retrieved"), (MISSED, "answerable missed")):
        found = [words(placed(sample, answer, gold)) for answer, gold, _ in ANSWERABLE]
        assert found == [f"{where} {then}" for *_, then in ANSWERABLE]
    found = [words(placed(NOTHING, answer)) for answer, _ in UNANSWERABLE]
    assert found == [f"unanswerable {then}" for _, then in UNANSWERABLE]
    nothing = placed(NOTHING, "f")
    assert nothing is not None
    assert (nothing.retrieved, nothing.correct) == (None, None)


@pytest.mark.parametrize(
    ("chunks", "where"),
    [
        # Labels of the reference's claims by the chunks; evidence was found from a recall of .8 on.
        ("ff", "answerable retrieved answered faithful uncompared"),
        ("fffn", "answerable missed answered faithful uncompared"),
        ("ffffn", "answerable retrieved answered faithful uncompared"),
        # A failure leaves it open, unless it changes nothing.
        ("f?", "-"),
        ("?", "-"),
        ("fffff?", "answerable retrieved answered faithful uncompared"),
        ("nn?", "answerable missed answered faithful uncompared"),
        # The judge found that the reference asserts nothing.
        ("-", "-"),
        ("a", "unanswerable answered faithful"),
        ("h", "-"),
        ("", "-"),
    ],
)
def test_context_recall_takes_the_place_of_gold_evidence(chunks: str, where: str) -> None:
    sample = SEEN.model_copy(update={"gold_evidence": None})
    gold = sentences(chunks)
    reference = aggregate(sample, gold, outcomes(chunks), [], signature="s")
    result = aggregate(sample, sentences("f"), outcomes("f"), [], signature="s")
    result = result.model_copy(update={"context": context_scores(sample, reference)})
    found = quadrant(sample, result, gold, Rules())
    assert words(found) == where
    assert found is None or "gold:context_recall" in found.signature


GOLD: list[tuple[dict[str, object], str | None, bool | None]] = [
    # Rows of gold, reference, and whether the question has an answer; None where unknown.
    ({}, None, None),
    ({}, "f", None),
    ({"gold_evidence": ()}, None, False),
    ({"gold_evidence": (), "relevance": {"x": 0.5}}, None, True),
    ({"gold_evidence": ("y",), "relevance": {"x": 0.0}}, None, True),
    # The reference abstains: whatever the ids say, nothing answers the question.
    ({"gold_evidence": ("x",)}, "a", False),
    ({"gold_evidence": ()}, "ah", False),
    # It claims nothing and does not abstain: the ids decide.
    ({"gold_evidence": ()}, "h", False),
    ({"gold_evidence": ("x",)}, "h", True),
    # No chunk holds what the reference claims: that contradicts itself.
    ({"gold_evidence": ()}, "f", None),
    ({"relevance": {"x": 0.0}}, "af", None),
    ({"gold_evidence": ("x",)}, "af", True),
]


def test_whether_there_is_gold_and_an_answer() -> None:
    samples = [Sample(qid="1", chunks=SEEN.chunks).model_copy(update=gold) for gold, *_ in GOLD]
    found = [placed(sample, "f", row[1]) for sample, row in zip(samples, GOLD, strict=True)]
    assert [cell and cell.answerable for cell in found] == [row[-1] for row in GOLD]
    assert [sample.has_gold for sample in samples] == [bool(gold) for gold, *_ in GOLD]


def seen(chunks: Sequence[str], retrieved: Sequence[str] | None, **gold: object) -> Sample:
    texts = tuple(Chunk(chunk_id=name, text="t") for name in chunks)
    ranked = None if retrieved is None else tuple(retrieved)
    return Sample(qid="1", chunks=texts, retrieved=ranked).model_copy(update=gold)


LOOKED_UP = [
    # A sample; what gold names and it saw, and what it did not.
    (seen("ab", None, gold_evidence=("b", "z", "a")), "b a", "z"),
    (seen("ab", None, relevance={"a": 0.0, "b": 2.0, "z": 1.0}), "b", "z"),
    # Gold evidence decides where relevance names other chunks, and an empty one does not.
    (seen("ab", None, gold_evidence=("a",), relevance={"z": 1.0}), "a", ""),
    (seen("ab", None, gold_evidence=(), relevance={"a": 1.0}), "a", ""),
    # It saw chunks, and not all that was ranked.
    (seen("a", "abc", gold_evidence=("b",)), "", "b"),
    # The texts came without ids, and are the first of what was ranked.
    (seen("12", "abc", gold_evidence=("b", "c")), "b", "c"),
    (seen("1234", "abc", gold_evidence=("c", "2")), "c", "2"),
    # The same, although some ids of the corpus are numbers in that range.
    (seen("123", ["7", "2", "9", "1"], gold_evidence=("2", "9", "1")), "2 9", "1"),
    (seen("12", ["12", "1"], gold_evidence=("2", "12")), "12", "2"),
    # These ids are the corpus's own: the first in another order, or not counted from 1.
    (seen("123", "3127", gold_evidence=("2", "7")), "2", "7"),
    (seen("23", "7213", gold_evidence=("2", "7")), "2", "7"),
    (seen("", None, gold_evidence=("a",)), "", "a"),
]


def test_what_gold_names_and_the_generator_saw() -> None:
    found = [tuple(map(" ".join, look_up(sample, "exact"))) for sample, *_ in LOOKED_UP]
    assert found == [row[1:] for row in LOOKED_UP]


def test_gold_may_name_documents() -> None:
    sample = seen(["doc#1", "文档2 第三章"], None, gold_evidence=("doc", "文档2", "do"))
    assert look_up(sample, "exact") == ((), ("doc", "文档2", "do"))
    assert look_up(sample, "prefix") == (("doc", "文档2"), ("do",))
    # The longer name is another document's, though it is not relevant.
    graded = seen(["doc-2#1"], None, relevance={"doc": 1.0, "doc-2": 0.0})
    assert look_up(graded, "prefix") == ((), ("doc",))
    without_ids = seen(["1"], ["doc#1", "other#1"], gold_evidence=("doc",))
    assert look_up(without_ids, "prefix") == (("doc",), ())


LIMITS = [
    ("ffffn", True),  # 0.8
    ("fffnn", False),
    ("ffpp", False),  # 0.75
    ("fffp", True),
    ("ffff?", None),  # 0.8 to 1, but it may be contradicted
    ("ffffff??", None),  # 0.75 to 1
    ("fffnn?", False),  # 0.5 to 0.67
    ("ffffffffc", False),  # 0.89, and one contradicted
    ("c???", False),
    ("?", None),
    ("y", None),  # a fallback is not the run's own judge
    ("ffffN", None),
    ("f-", True),
    ("-", None),
]


def test_a_failure_leaves_open_only_what_it_could_change() -> None:
    kept = [placed(SEEN, answer=marks) for marks, _ in LIMITS]
    agrees = [placed(SEEN, answer="n", reference=marks) for marks, _ in LIMITS]
    expected = [known for _, known in LIMITS]
    assert [found and found.faithful for found in kept] == expected
    assert [found and found.correct for found in agrees] == expected


def test_the_thresholds_are_settings_and_in_the_signature() -> None:
    rows = [
        (Rules(), (False, False), "faithful:0.8|correct:0.8|gold:exact"),
        (Rules(faithful_from=0.75, correct_from=0.9), (True, False), "faithful:0.75|correct:0.9|"),
        (Rules(faithful_from=0.76, correct_from=0.5), (False, True), "faithful:0.76|correct:0.5|"),
        (Rules(gold_match="prefix"), (False, False), "faithful:0.8|correct:0.8|gold:prefix"),
    ]
    for rules, expected, signature in rows:
        found = placed(SEEN, answer="fffn", reference="fn", rules=rules)
        assert found is not None
        assert (found.faithful, found.correct) == expected
        assert found.signature.startswith(f"cells:4|{signature}")


def every_quadrant() -> set[tuple[QuadrantWord, ...]]:
    """Return the words of every possible quadrant."""
    names = ("answerable", "retrieved", "abstained", "faithful", "correct")
    values = product(*[(True, False)] * 3, *[(True, False, None)] * 2)
    every = (dict(zip(names, each, strict=True)) for each in values)
    return {Quadrant.model_validate(each | {"signature": "s"}).words for each in every}


def test_every_quadrant_has_a_row_and_every_row_a_quadrant_and_a_meaning_of_its_own() -> None:
    assert {row_of(words) for words in every_quadrant()} == set(table())
    with pytest.raises(ValueError, match="faithful"):
        row_of(("answered", "faithful"))
    for texts in ([row.en for row in table()], [row.zh for row in table()]):
        assert len(set(texts)) == len(texts)


CHUNKS = {
    # Documents, and the chunks that belong to each; the last belong to none.
    "docA": "docA,docA#1,docA_1,docA 1,docA-27,docA文,docA第三章,docA文2",
    "docA-2": "docA-2,docA-2#7",
    "报销制度": "报销制度#第三章,报销制度（2024）,报销制度2,报销制度A,报销制度２",
    "手册.pdf": "手册.pdf第1页",
    "ガイド": "ガイドv2",
    "kb#": "kb#7,kb#",
    "": "docAB,docA1,DOCA#1,doc,,报销制度补充,手册.pdfx,ガイド第1章,kb",
}


def test_the_document_of_a_chunk() -> None:
    for names in ([*CHUNKS, "docA"], [*CHUNKS][::-1]):
        documents = Documents(names)
        for name, chunks in CHUNKS.items():
            found = {chunk: documents.of(chunk) for chunk in chunks.split(",")}
            assert found == {chunk: name or chunk for chunk in found}
