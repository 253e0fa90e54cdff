import pytest

from judge.review.findings import findings
from judge.review.records import Agreement, DrawnSentence, Share
from tests.drawn import FAILED, NO_SUMMARY, draw, fallen_back, label, row, stratum, sums, verdict


def found(rows: list[DrawnSentence], said: list[str], by: str = "sentence") -> Agreement:
    drawn = draw([stratum("supported", sums(len(rows), 0), len(rows))], rows, by)
    labels = [label(r, word) for r, word in zip(rows, said, strict=False)]
    return findings(drawn, labels, NO_SUMMARY)


def value(share: Share | None) -> float:
    assert share is not None
    assert 0 <= share.low <= share.value <= share.high <= 1
    return share.value


def test_each_label_weighs_one_over_its_chance() -> None:
    # 8 claims stand behind the first row, 2 behind each of the others.
    rows = [
        row("a", verdict("full"), probability=1 / 8),
        row("b", verdict("full"), probability=1 / 2),
        row("c", verdict("none"), probability=1 / 2),
        row("d", verdict("partial"), probability=1 / 2),
    ]
    says = found(rows, ["full", "none", "none", "full"])
    assert value(says.agreement) == pytest.approx(10 / 14)
    assert says.base_rate == pytest.approx(10 / 14)
    # Expected: full 10/14 · 10/14, none 2/14 · 4/14.
    expected = (100 + 8) / 196
    assert says.kappa == pytest.approx((10 / 14 - expected) / (1 - expected))
    by_label = {each.label: each for each in says.accuracy}
    assert list(by_label) == ["full", "partial", "none"]
    assert value(by_label["full"].precision) == pytest.approx(0.8)
    assert value(by_label["full"].recall) == pytest.approx(0.8)
    assert value(by_label["none"].recall) == pytest.approx(0.5)
    assert by_label["partial"].labelled == 0
    assert by_label["partial"].recall is None
    assert says.agreement is not None
    assert says.agreement.size == pytest.approx(14**2 / (64 + 4 + 4 + 4))


def test_a_bare_no_makes_it_full_against_rest() -> None:
    rows = [row("a", verdict("full")), row("b", verdict("partial")), row("c", verdict("none"))]
    says = found(rows, ["full", "contradicted", "no"])
    assert says.scale == "full_or_rest"
    assert value(says.agreement) == 1
    assert {score.name for score in says.corrected} == {"faithfulness_strict"}
    assert says.disagreements == ()


def test_similarity_is_not_told_off_for_words_it_lacks() -> None:
    rows = [
        row("a", verdict("full", 0.9, "similarity")),
        row("b", verdict("none", 0.2, "similarity")),
    ]
    says = found(rows, ["full", "contradicted"])
    assert says.scale == "full_or_rest"
    assert value(says.agreement) == 1
    assert "faithfulness" in {score.name for score in says.corrected}


def test_probabilities_are_held_against_labels() -> None:
    rows = [
        row("a", verdict("full", 0.8, "similarity")),
        row("b", verdict("none", 0.3, "similarity")),
    ]
    says = found(rows, ["full", "full"])
    assert says.brier == pytest.approx((0.04 + 0.49) / 2)
    assert says.calibration_error == pytest.approx((0.2 + 0.7) / 2)
    assert found([row("a", verdict("full"))], ["full"]).brier is None


def test_failures_are_no_verdicts_of_the_judge() -> None:
    rows = [row("a", FAILED), row("b", fallen_back("none")), row("c", verdict("full"))]
    says = found(rows, ["full", "full", "full"])
    assert (says.labelled, says.compared) == (3, 1)
    assert value(says.agreement) == 1
    assert says.disagreements == ()


def test_reviewers_beside_each_other() -> None:
    rows = [row(name, verdict("full")) for name in "abcd"]
    drawn = draw([stratum("supported", sums(4, 4), 4)], rows)
    first = [label(r, s, "x") for r, s in zip(rows, ["full", "full", "none", "none"], strict=True)]
    second = [label(r, s, "y") for r, s in zip(rows, ["full", "none", "none"], strict=False)]
    says = findings(drawn, [*first, *second], NO_SUMMARY)
    assert (says.labelled, says.labels, says.shared) == (4, 7, 3)
    assert says.reviewers == ("x", "y")
    # Krippendorff: pairs ff, fn, nn; 3 full and 3 none: 1 - (2/6) / (2·3·3/(6·5)).
    assert says.alpha == pytest.approx(1 - (2 / 6) / (18 / 30))
    # Rows weigh 1 each, whoever labelled them: 1, ½, 0, 0 of 4 agree.
    assert value(says.agreement) == pytest.approx(1.5 / 4)
    assert [each.people for each in says.disagreements] == [
        {"x": "none", "y": "none"},
        {"x": "none"},
        {"x": "full", "y": "none"},
    ]


def test_answers_labelled_in_part_are_counted() -> None:
    rows = [row(f"{q}{k}", verdict("full"), qid=q, sentence=k) for q in "abc" for k in range(2)]
    drawn = draw([stratum("supported", sums(3, 3), 3)], rows, by="answer")
    says = findings(drawn, [label(r, "full") for r in rows[:5]], NO_SUMMARY)
    assert (says.drawn, says.labelled, says.partly) == (6, 5, 1)


def test_rows_without_a_label_are_made_up_for_in_their_own_stratum() -> None:
    first = [row(name, verdict("full"), probability=0.5) for name in "ab"]
    second = [row(name, verdict("none"), probability=0.5, stratum=1) for name in "cd"]
    drawn = draw(
        [stratum("supported", sums(4, 4), 2), stratum("unsupported", sums(4, 0), 2)],
        [*first, *second],
    )
    labels = [label(first[0], "full"), label(first[1], "full"), label(second[0], "full")]
    # Four claims stand behind the first two labels, and four behind the third.
    assert value(findings(drawn, labels, NO_SUMMARY).agreement) == pytest.approx(0.5)


def test_sentences_of_one_answer_tell_less_than_as_many_of_their_own() -> None:
    rows = [row(f"{q}{k}", verdict("full"), qid=q, sentence=k) for q in "abcd" for k in range(5)]
    drawn = draw([stratum("supported", sums(4, 4), 4)], rows, by="answer")
    said = ["full"] * 10 + ["none"] * 10
    says = findings(drawn, [label(r, s) for r, s in zip(rows, said, strict=True)], NO_SUMMARY)
    assert says.agreement is not None
    # Two answers all right and two all wrong: v = 4/3 · 4 · 2.5² / 20² = 1/12, and p(1 - p)/v = 3.
    assert says.agreement.size == pytest.approx(3)


def test_a_failure_beside_similarity_is_no_other_scale() -> None:
    rows = [row("a", verdict("none", 0.2, "similarity")), row("b", FAILED)]
    says = found(rows, ["contradicted", "partial"])
    assert says.scale == "full_or_rest"
    assert value(says.agreement) == 1
