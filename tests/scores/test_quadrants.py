from collections.abc import Sequence
from itertools import chain, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import Chunk, Judgment, Quadrant, Rules, Sample
from judge.records.result import QuadrantWord
from judge.scores.answer import aggregate
from judge.scores.context import context_scores
from judge.scores.correctness import (
    Documents,
    correctness,
    differs,
    look_up,
    quadrant,
    read_words,
    row_of,
    table,
)
from tests.compared import outcomes, sentences

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
    """The cell of an answer.

    Args:
        sample: with its gold.
        answer: its sentences, held against the chunks.
        reference: its sentences, held against the answer; None where they were not compared.
        forth: the answer's claims, held against the reference.
        rules: the usual ones where left out.
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
    ("n", None, "answered unfaithful uncompared"),
    ("?", "f", "answered unjudged correct"),
    ("?", "?", "answered unjudged uncompared"),
    ("?", "n", "answered unjudged wrong"),
    ("", None, "silent"),
    ("h", None, "silent"),
    ("h", "n", "silent"),
    ("h", "?", "silent"),
    ("-", "n", "silent"),
    # It claims nothing, and covers the reference all the same, as code may.
    ("h", "f", "answered unjudged correct"),
    ("a", "f", "abstained"),
    ("ah", None, "abstained"),
    ("af", "f", "answered faithful correct"),
]
UNANSWERABLE = [
    ("a", "abstained"),
    ("f", "answered faithful"),
    ("n", "answered unfaithful"),
    ("?", "answered unjudged"),
    ("h", "silent"),
    ("", "silent"),
]


def test_the_quadrant_of_an_answer() -> None:
    for sample, where in ((SEEN, "answerable retrieved"), (MISSED, "answerable missed")):
        found = [words(placed(sample, answer, gold)) for answer, gold, _ in ANSWERABLE]
        assert found == [f"{where} {then}" for *_, then in ANSWERABLE]
    found = [words(placed(NOTHING, answer)) for answer, _ in UNANSWERABLE]
    assert found == [f"unanswerable {then}" for _, then in UNANSWERABLE]
    nothing = placed(NOTHING, "f")
    assert nothing is not None
    assert (nothing.retrieved, nothing.correct, nothing.partly) == (None, None, False)


def by_context(reference: str, chunks: str, answer: str = "f") -> Quadrant | None:
    """The cell of an answer without gold evidence: its reference, held against the chunks."""
    sample = SEEN.model_copy(update={"gold_evidence": None})
    gold = sentences(reference)
    held = aggregate(sample, gold, outcomes(chunks), [], signature="s")
    result = aggregate(sample, sentences(answer), outcomes(answer), [], signature="s")
    found = context_scores(sample, held)
    return quadrant(sample, result.model_copy(update={"context": found}), gold, Rules())


def test_context_recall_takes_the_place_of_gold_evidence() -> None:
    for chunks, where, partly in (
        # Labels of the reference's claims by the chunks; evidence was found from a recall of .8 on.
        ("ff", "answerable retrieved answered faithful uncompared", False),
        ("fffn", "answerable missed answered faithful uncompared", False),
        ("ffffn", "answerable retrieved answered faithful uncompared", True),
        ("n", "answerable missed answered faithful uncompared", False),
        # A failure leaves it open, unless it changes nothing.
        ("f?", "-", False),
        ("?", "-", False),
        ("fffff?", "answerable retrieved answered faithful uncompared", False),
        ("nn?", "answerable missed answered faithful uncompared", False),
        # The judge found that the reference asserts nothing.
        ("-", "-", False),
    ):
        found = by_context(chunks, chunks)
        assert words(found) == where, chunks
        if found is not None:
            assert found.partly is partly, chunks
            assert "gold:context_recall" in found.signature
    assert words(by_context("a", "a")) == "unanswerable answered faithful"
    assert words(by_context("", "")) == words(by_context("h", "h")) == "-"


GOLD: list[tuple[dict[str, object], str | None, bool | None]] = [
    # Rows of gold, reference, and whether the question has an answer; None where unknown.
    ({}, None, None),
    ({}, "f", None),
    ({"gold_evidence": ()}, None, False),
    ({"relevance": {}}, None, False),
    ({"relevance": {"x": 0.0, "y": 0.0}}, None, False),
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
    (seen("ab", None, gold_evidence=("a",), relevance={"z": 1.0}), "a", "z"),
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
    (seen("21", "7213", gold_evidence=("2", "7")), "2", "7"),
    (seen("", "abc", gold_evidence=("a",)), "", "a"),
    (seen("", None, gold_evidence=("a",)), "", "a"),
]


def test_what_gold_names_and_the_generator_saw() -> None:
    found = [tuple(map(" ".join, look_up(sample, "exact"))) for sample, *_ in LOOKED_UP]
    assert found == [row[1:] for row in LOOKED_UP]


def test_gold_evidence_decides_where_relevance_names_other_chunks() -> None:
    rows = [
        ({"gold_evidence": ("a",), "relevance": {"z": 1.0}}, True, False),
        ({"gold_evidence": ("z",), "relevance": {"a": 2.0, "z": 1.0}}, False, False),
        ({"gold_evidence": ("a", "z"), "relevance": {"a": 1.0}}, True, True),
        # These do not differ: nothing named says nothing, and 0 is no name.
        ({"gold_evidence": (), "relevance": {"a": 1.0}}, True, False),
        ({"gold_evidence": ("a",), "relevance": {"a": 2.0, "z": 0.0}}, True, False),
    ]
    for number, (gold, retrieved, partly) in enumerate(rows):
        sample = seen("ab", None, **gold)
        cell = placed(sample, "f")
        assert cell is not None
        assert (cell.retrieved, cell.partly, differs(sample)) == (retrieved, partly, number < 3)


def test_gold_may_name_documents() -> None:
    sample = seen(["doc#1", "文档2 第三章"], None, gold_evidence=("doc", "文档2", "do"))
    assert look_up(sample, "exact") == ((), ("doc", "文档2", "do"))
    assert look_up(sample, "prefix") == (("doc", "文档2"), ("do",))
    # The longer name is another document's, though it is not relevant.
    graded = seen(["doc-2#1"], None, relevance={"doc": 1.0, "doc-2": 0.0})
    assert look_up(graded, "prefix") == ((), ("doc",))
    bare = seen(["1"], ["doc#1", "other#1"], gold_evidence=("doc",))
    assert look_up(bare, "prefix") == (("doc",), ())
    documents = placed(bare, rules=Rules(gold_match="prefix"))
    assert (words(documents), words(placed(bare))) == (
        "answerable retrieved answered faithful uncompared",
        "answerable missed answered faithful uncompared",
    )


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


LABELS = "fpnc-"


@given(st.text(alphabet=LABELS + "?", min_size=1, max_size=4))
def test_whatever_a_failed_claim_had_got_what_is_known_stands(marks: str) -> None:
    found = placed(SEEN, answer=marks)
    assert found is not None
    blanks = product(LABELS, repeat=marks.count("?"))
    filled = [marks.replace("?", "{}").format(*labels) for labels in blanks]
    cells = {words(placed(SEEN, answer=each)) for each in filled}
    if found.faithful is None and "?" in marks:
        assert len(cells) > 1
    else:
        assert cells == {words(found)}


def test_the_limits_are_the_users_and_stand_in_the_signature() -> None:
    rows = [
        (Rules(), (False, False), "faithful:0.8|correct:0.8|gold:exact"),
        (Rules(faithful_from=0.75, correct_from=0.9), (True, False), "faithful:0.75|correct:0.9|"),
        (Rules(faithful_from=0.76, correct_from=0.5), (False, True), "faithful:0.76|correct:0.5|"),
        (Rules(faithful_from=0, correct_from=1), (True, False), "faithful:0.0|correct:1.0|"),
        (Rules(gold_match="prefix"), (False, False), "faithful:0.8|correct:0.8|gold:prefix"),
    ]
    for rules, expected, signature in rows:
        found = placed(SEEN, answer="fffn", reference="fn", rules=rules)
        assert found is not None
        assert (found.faithful, found.correct) == expected
        assert found.signature.startswith(f"cells:3|{signature}")


def every_quadrant() -> set[tuple[QuadrantWord, ...]]:
    """The words of every quadrant there can be."""
    sides = [("answerable", "retrieved", "abstained", "silent", "beside"), ("faithful", "correct")]
    values = product(*[(True, False)] * 5, *[(True, False, None)] * 2)
    every = (dict(zip(chain(*sides), each, strict=True)) for each in values)
    return {Quadrant.model_validate(each | {"signature": "s"}).words for each in every}


def test_every_quadrant_has_a_row_and_every_row_a_quadrant_and_a_meaning_of_its_own() -> None:
    assert {row_of(words) for words in every_quadrant()} == set(table())
    with pytest.raises(ValueError, match="faithful"):
        row_of(("answered", "faithful"))
    for texts in ([row.en for row in table()], [row.zh for row in table()]):
        assert len(set(texts)) == len(texts)


def test_what_is_no_word_is_said() -> None:
    for text in ("retrieved,", "retrieved wrong", "检索到", "", " ， "):
        with pytest.raises(ValueError, match="there are: answerable, unanswerable, "):
            read_words(text)


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


def test_whose_chunk_it_is() -> None:
    for names in ([*CHUNKS, "docA"], [*CHUNKS][::-1]):
        documents = Documents(names)
        for name, chunks in CHUNKS.items():
            found = {chunk: documents.of(chunk) for chunk in chunks.split(",")}
            assert found == {chunk: name or chunk for chunk in found}
