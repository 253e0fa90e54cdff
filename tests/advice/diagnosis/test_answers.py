from judge.advice.diagnosis.answers import answer_cautions, answer_figures
from judge.records import QuadrantTable
from judge.scores.intervals import wilson
from tests.advice.diagnosis.answered import answered
from tests.advice.diagnosis.reports import report

REPORT = report({"hit@5": 0.9})


def test_the_means_are_those_of_the_run_with_their_intervals() -> None:
    first, second = answer_figures(answered(0.5, 0.7, 0.1))
    assert (first.measure, first.value) == ("faithfulness", 0.5)
    assert (second.measure, second.value) == ("correctness_recall", 0.7)
    assert first.interval is not None
    assert (first.interval.low, first.interval.high) == (0.4, 0.6)


def test_what_was_not_measured_is_no_figure() -> None:
    assert [each.measure for each in answer_figures(answered(0.5, None))] == ["faithfulness"]
    assert answer_figures(answered(None, None)) == ()


def test_what_is_not_to_be_trusted_is_left_out_and_said_to_be() -> None:
    for untrusted, left in (
        ((True, False), ["correctness_recall"]),
        ((False, True), ["faithfulness"]),
        ((True, True), []),
    ):
        run = answered(0.5, 0.5, untrusted=untrusted)
        assert [each.measure for each in answer_figures(run)] == left
        assert "untrusted" in " ".join(each.en for each in answer_cautions(run, REPORT))


def test_similarity_is_said_to_be_similarity() -> None:
    (caution,) = answer_cautions(answered(0.5, 0.5, signature="similarity:lexical"), REPORT)
    assert "look supported" in caution.en
    assert "看似有依据" in caution.zh
    assert answer_cautions(answered(0.5, 0.5), REPORT) == ()


def test_another_number_of_answers_is_cautioned() -> None:
    (caution,) = answer_cautions(answered(0.5, 0.5), report({"hit@5": 0.9}, queries=7))
    assert "100 answers" in caution.en
    assert "7 questions" in caution.en


def placed(**cells: int) -> QuadrantTable:
    """So many answers of each cell, its words joined by `_`."""
    kept = {name: tuple(name.split("_")) for name in cells}
    return QuadrantTable.model_validate(
        {
            "cells": [
                {"words": kept[name], "half": "unknown", "answers": count, "qids": ()}
                for name, count in cells.items()
            ],
            "halves": {},
            "counted": sum(cells.values()),
            "without_gold": 0,
            "conflicting": 0,
            "conflicting_qids": (),
            "signatures": {},
        }
    )


TABLE = placed(
    answerable_retrieved_answered_faithful_correct=6,
    answerable_retrieved_answered_faithful_wrong=1,
    answerable_retrieved_answered_unfaithful_wrong=3,
    answerable_retrieved_answered_unjudged_correct=1,
    answerable_retrieved_abstained=5,
    answerable_missed_answered_unfaithful_wrong=9,
)


def test_with_gold_the_answers_whose_evidence_was_retrieved_are_counted() -> None:
    run = answered(0.1, 0.1).model_copy(update={"breakdown": TABLE})
    first, second = answer_figures(run)
    # 7 of 10 known to be faithful or not; 7 of 11 correct or wrong; what was missed is not asked.
    assert (first.measure, first.value) == ("faithful_of_retrieved", 0.7)
    assert (second.measure, second.value) == ("correct_of_retrieved", 7 / 11)
    assert first.interval is not None
    assert (first.interval.low, first.interval.high) == wilson(0.7, 10)


def test_of_a_table_too_only_what_is_trusted_counts() -> None:
    for untrusted, left in (((True, False), "correct"), ((False, True), "faithful")):
        run = answered(0.1, 0.1, untrusted=untrusted).model_copy(update={"breakdown": TABLE})
        (figure,) = answer_figures(run)
        assert figure.measure == f"{left}_of_retrieved"


def test_a_table_without_a_cell_leaves_the_means() -> None:
    run = answered(0.1, 0.1).model_copy(update={"breakdown": placed()})
    assert [each.measure for each in answer_figures(run)] == ["faithfulness", "correctness_recall"]
