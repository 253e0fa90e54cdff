from judge.reports.diagnosis.answers import answer_cautions, answer_figures
from tests.reports.diagnosis.answered import answered
from tests.reports.diagnosis.reports import report

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
