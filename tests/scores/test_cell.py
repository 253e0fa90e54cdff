from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import (
    Cell,
    Chunk,
    Evidence,
    JudgeOutcome,
    Judgment,
    Rules,
    Sample,
    Sentence,
    SentenceKind,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.scores.aggregate import aggregate, correctness
from judge.scores.cell import cell, has_gold, look_up

TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)
SUPPORTS = {"f": "full", "p": "partial", "n": "none", "c": "contradicted", "-": "no_claim"}
KINDS = {"a": SentenceKind.ABSTENTION, "q": SentenceKind.QUESTION}
SEEN = Sample(qid="1", chunks=(Chunk(chunk_id="x", text="t"),), gold_evidence=("x",))
MISSED = SEEN.model_copy(update={"gold_evidence": ("y",)})
NOTHING = SEEN.model_copy(update={"gold_evidence": ()})


def sentences(marks: str) -> list[Sentence]:
    """By letter: an abstention (a), a question (q), or a claim (of `outcomes`)."""
    return [
        Sentence(index=i, start=0, end=1, text="x", kind=KINDS.get(mark, SentenceKind.CLAIM))
        for i, mark in enumerate(marks)
    ]


def outcomes(marks: str) -> dict[int, JudgeOutcome]:
    """By letter: full, partial, none, contradicted, no claim (-), timed out (?), supported (y) or
    contradicted (N) by the fallback."""
    return {i: _outcome(mark) for i, mark in enumerate(marks) if mark not in KINDS}


def _outcome(mark: str) -> JudgeOutcome:
    if mark == "?":
        return TIMEOUT
    if mark in "yN":
        support = Support.FULL if mark == "y" else Support.CONTRADICTED
        return Verdict(support=support, source="nli", signature="s", fallback_from=TIMEOUT)
    evidence = (Evidence(chunk_id="x", quote="t"),)
    support = Support(SUPPORTS[mark])
    return Verdict(support=support, evidence=evidence, source="llm", signature="s")


def placed(
    sample: Sample,
    answer: str = "f",
    reference: str | None = None,
    forth: str = "",
    rules: Rules | None = None,
) -> Cell | None:
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
    return cell(sample, result, gold, rules or Rules())


def words(found: Cell | None) -> str:
    return "-" if found is None else " ".join(found.words)


@pytest.mark.parametrize(
    ("sample", "where"), [(SEEN, "answerable retrieved"), (MISSED, "answerable missed")]
)
@pytest.mark.parametrize(
    ("answer", "reference", "then"),
    [
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
        ("q", None, "silent"),
        ("q", "n", "silent"),
        ("q", "?", "silent"),
        ("-", "n", "silent"),
        # It claims nothing, and covers the reference all the same, as code may.
        ("q", "f", "answered unjudged correct"),
        ("a", "f", "abstained"),
        ("aq", None, "abstained"),
        ("af", "f", "answered faithful correct"),
    ],
)
def test_the_cells_of_an_answerable_question(
    sample: Sample, where: str, answer: str, reference: str | None, then: str
) -> None:
    assert words(placed(sample, answer, reference)) == f"{where} {then}"


@pytest.mark.parametrize(
    ("answer", "then"),
    [
        ("a", "abstained"),
        ("f", "answered faithful"),
        ("n", "answered unfaithful"),
        ("?", "answered unjudged"),
        ("q", "silent"),
        ("", "silent"),
    ],
)
def test_the_cells_of_an_unanswerable_question(answer: str, then: str) -> None:
    found = placed(NOTHING, answer)
    assert words(found) == f"unanswerable {then}"
    assert found is not None
    assert (found.retrieved, found.correct, found.partly) == (None, None, False)


@pytest.mark.parametrize(
    ("gold", "reference", "expected"),
    [
        ({}, None, None),
        ({}, "f", None),
        ({"gold_evidence": ()}, None, False),
        ({"relevance": {}}, None, False),
        ({"relevance": {"x": 0.0, "y": 0.0}}, None, False),
        ({"gold_evidence": (), "relevance": {"x": 0.5}}, None, True),
        ({"gold_evidence": ("y",), "relevance": {"x": 0.0}}, None, True),
        # The reference abstains: whatever the ids say, nothing answers the question.
        ({"gold_evidence": ("x",)}, "a", False),
        ({"gold_evidence": ()}, "aq", False),
        # It claims nothing and does not abstain: the ids decide.
        ({"gold_evidence": ()}, "q", False),
        ({"gold_evidence": ("x",)}, "q", True),
        # No chunk holds what the reference claims: that contradicts itself.
        ({"gold_evidence": ()}, "f", None),
        ({"relevance": {"x": 0.0}}, "af", None),
        ({"gold_evidence": ("x",)}, "af", True),
    ],
)
def test_whether_there_is_gold_and_an_answer(
    gold: dict[str, object],
    reference: str | None,
    expected: bool | None,  # noqa: FBT001
) -> None:
    sample = Sample(qid="1", chunks=SEEN.chunks).model_copy(update=gold)
    found = placed(sample, reference=reference)
    assert (found and found.answerable) is expected
    assert has_gold(sample) is bool(gold)


def seen(chunks: Sequence[str], retrieved: Sequence[str] | None, **gold: object) -> Sample:
    texts = tuple(Chunk(chunk_id=name, text="t") for name in chunks)
    ranked = None if retrieved is None else tuple(retrieved)
    return Sample(qid="1", chunks=texts, retrieved=ranked).model_copy(update=gold)


@pytest.mark.parametrize(
    ("sample", "found", "missed"),
    [
        (seen("ab", None, gold_evidence=("b", "z", "a")), ("b", "a"), ("z",)),
        (seen("ab", None, relevance={"a": 0.0, "b": 2.0, "z": 1.0}), ("b",), ("z",)),
        (seen("ab", None, gold_evidence=("a",), relevance={"z": 1.0}), ("a",), ("z",)),
        # It saw chunks, and not all that was ranked.
        (seen("a", "abc", gold_evidence=("b",)), (), ("b",)),
        # The texts came without ids, and are the first of what was ranked.
        (seen("12", "abc", gold_evidence=("b", "c")), ("b",), ("c",)),
        (seen("1234", "abc", gold_evidence=("c", "2")), ("c",), ("2",)),
        # So did these, though some ids of the corpus are numbers in their range.
        (seen("123", ["7", "2", "9", "1"], gold_evidence=("2", "9", "1")), ("2", "9"), ("1",)),
        (seen("12", ["12", "1"], gold_evidence=("2", "12")), ("12",), ("2",)),
        # These ids are the corpus's own: the first in another order, or not counted from 1.
        (seen("123", "3127", gold_evidence=("2", "7")), ("2",), ("7",)),
        (seen("23", "7213", gold_evidence=("2", "7")), ("2",), ("7",)),
        (seen("21", "7213", gold_evidence=("2", "7")), ("2",), ("7",)),
        (seen("", "abc", gold_evidence=("a",)), (), ("a",)),
        (seen("", None, gold_evidence=("a",)), (), ("a",)),
    ],
)
def test_what_gold_names_and_the_generator_saw(
    sample: Sample, found: tuple[str, ...], missed: tuple[str, ...]
) -> None:
    assert look_up(sample, "exact") == (found, missed)


@pytest.mark.parametrize(
    ("gold", "reference", "expected"),
    [
        ({"gold_evidence": ("a",)}, None, (True, False)),
        ({"gold_evidence": ("a", "b")}, None, (True, False)),
        ({"gold_evidence": ("a", "z")}, None, (True, True)),
        ({"relevance": {"a": 0.5, "z": 2.0}}, "f", (True, True)),
        ({"relevance": {"a": 1.0, "z": 0.0}}, None, (True, False)),
        ({"gold_evidence": ("z",)}, None, (False, False)),
        ({"gold_evidence": ("a", "z")}, "a", (None, False)),
    ],
)
def test_evidence_that_was_seen_in_part(
    gold: dict[str, object], reference: str | None, expected: tuple[bool | None, bool]
) -> None:
    found = placed(seen("ab", None, **gold), reference=reference)
    assert found is not None
    assert (found.retrieved, found.partly) == expected


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
    ("fN", None),
    ("f-", True),
    ("-", None),
]


@pytest.mark.parametrize(("marks", "expected"), LIMITS)
def test_a_failure_leaves_open_only_what_it_could_change(
    marks: str,
    expected: bool | None,  # noqa: FBT001
) -> None:
    kept = placed(SEEN, answer=marks)
    agrees = placed(SEEN, answer="n", reference=marks)
    assert kept is not None
    assert agrees is not None
    assert (kept.faithful, agrees.correct) == (expected, expected)


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


def test_more_than_the_reference_says_is_not_wrong_unless_it_says_otherwise() -> None:
    told = [placed(SEEN, "fff", "f", forth) for forth in ("fnn", "nnn", "fnc", "fnN")]
    assert [each and each.correct for each in told] == [True, True, False, None]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (Rules(faithful_from=0.75, correct_from=0.9), (True, False)),
        (Rules(faithful_from=0.76, correct_from=0.5), (False, True)),
        (Rules(faithful_from=0, correct_from=1), (True, False)),
    ],
)
def test_the_limits_are_the_users(rules: Rules, expected: tuple[bool, bool]) -> None:
    found = placed(SEEN, answer="fffn", reference="fn", rules=rules)
    assert found is not None
    assert (found.faithful, found.correct) == expected


def test_how_a_cell_was_made_can_be_told() -> None:
    usual = placed(SEEN)
    other = placed(SEEN, rules=Rules(faithful_from=0.9, correct_from=1, gold_match="prefix"))
    assert usual is not None
    assert other is not None
    assert usual.signature == "cells:1|faithful:0.8|correct:0.8|gold:exact"
    assert other.signature == "cells:1|faithful:0.9|correct:1.0|gold:prefix"
