"""What a run says of the references, in its totals."""

from tests.cli.render.test_totals import printed, row
from tests.compared import compared


def test_the_worked_example() -> None:
    """Precision 1 and ¼, recall ½ and 1: F1 2/3 and 0.4. Pooled: 2/5 and 2/3, so ½ of 8."""
    text = printed(compared("a", "f", "fn"), compared("b", "fnnn", "f"), compared("c", "a", "h"))
    text = text[text.index("\nCorrectness against the reference\n") :]
    found = row(text, "correctness (F1)")
    assert [found[i] for i in (0, 2, 3, 4, 5)] == ["0.533", "0.500", "2", "8", "sentences"]
    assert [row(text, "precision")[i] for i in (0, 2, 4)] == ["0.625", "0.400", "5"]
    assert [row(text, "recall")[i] for i in (0, 2, 4)] == ["0.750", "0.667", "3"]
    assert (
        "  answers                3: 1 abstained, 2 scored\n"
        "  claims                 8, of answers and references\n"
        "  verdicts on answers    5: 2 full, 3 none\n"
        "  verdicts on references 3: 2 full, 1 none\n"
    ) in text
    assert "failures" not in text
    assert "fallback" not in text


def test_failures_leave_scores_open_and_a_fallback_is_a_row_of_its_own() -> None:
    """Precision 1, or 1/2 to 1; with the fallback 1/2, so F1 2/3 instead of 1."""
    text = printed(compared("a", "fN", "f"))
    assert row(text, "correctness (F1)")[0] == "1.000"
    assert row(text, "F1 with fallback")[0] == "0.667"
    assert text.count("  failures 0, then 1") == 2
    assert "0.667–1.000" in text
    assert "0.500–1.000" in text
    assert "  unscored               1: 1 timeout; 1 of them answered by the fallback\n" in text


def test_claims_without_a_verdict_are_claims() -> None:
    assert (
        "  answers                1: 1 unscored\n"
        "  claims                 3, of answers and references\n"
        "  verdicts on answers    0\n"
        "  verdicts on references 0\n"
        "  unscored               3: 3 timeout\n"
    ) in printed(compared("a", "??", "?"))


def test_without_any_reference_one_line_says_what_to_do() -> None:
    text = printed(compared("a", "h", ""), compared("b", "h", ""))
    assert "\n\ncorrectness: no answer has a reference" in text
    assert "gold_answer" in " ".join(text.split())
    assert "F1" not in text
    assert "F1" in printed(compared("a", "f", "f"), compared("b", "h", ""))
