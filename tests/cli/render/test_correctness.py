import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from judge.cli.render.totals import print_correctness
from judge.records import SampleResult, Unscored, UnscoredReason
from judge.reports.worst import Example
from judge.scores.totals import summarize
from tests.compared import compared

LATE = Unscored(reason=UnscoredReason.TIMEOUT, detail="60 秒")


def printed(*results: SampleResult, offline: bool = False, width: int = 80) -> str:
    totals = summarize(results).correctness
    assert totals is not None
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=False, no_color=True)
    failures = {UnscoredReason.TIMEOUT: Example("q", LATE)} if totals.unscored else {}
    print_correctness(totals, failures, console, offline=offline)
    return file.getvalue()


def row(text: str, name: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.strip().startswith(name))
    return line.strip().removeprefix(name).split()


def test_the_worked_example() -> None:
    """Precision 1 and ¼, recall ½ and 1: F1 2/3 and 0.4. Pooled: 2/5 and 2/3, so ½ of 8."""
    text = printed(compared("a", "f", "fn"), compared("b", "fnnn", "f"), compared("c", "a", "h"))
    assert text.startswith("\nCorrectness against the reference\n")
    found = row(text, "correctness (F1)")
    assert [found[i] for i in (0, 2, 3, 4, 5)] == ["0.533", "0.500", "2", "8", "sentences"]
    assert [row(text, "precision")[i] for i in (0, 2, 4)] == ["0.625", "0.400", "5"]
    assert [row(text, "recall")[i] for i in (0, 2, 4)] == ["0.750", "0.667", "3"]
    assert text.splitlines()[-4:] == [
        "  answers                3: 1 abstained, 2 scored",
        "  claims                 8, of answers and references",
        "  verdicts on answers    5: 2 full, 3 none",
        "  verdicts on references 3: 2 full, 1 none",
    ]
    assert "failures" not in text
    assert "fallback" not in text


def test_what_similarity_compared_only_looks_so() -> None:
    text = printed(compared("a", "f", "f"), offline=True)
    assert text.startswith("\nHow far answers look correct against the reference (similarity)\n")
    assert row(text, "looks correct (F1)")[0] == "1.000"
    assert "orrectness" not in text


def test_failures_leave_scores_open_and_a_fallback_is_a_row_of_its_own() -> None:
    """Precision 1, or 1/2 to 1; with the fallback 1/2, so F1 2/3 instead of 1."""
    text = printed(compared("a", "fN", "f"))
    assert row(text, "correctness (F1)")[0] == "1.000"
    assert row(text, "F1 with fallback")[0] == "0.667"
    assert text.count("  failures 0, then 1") == 2
    assert "0.667–1.000" in text
    assert "0.500–1.000" in text
    assert text.splitlines()[-2:] == [
        "  unscored               1: 1 timeout; 1 of them answered by the fallback",
        "  such as                timeout, q: 60 秒",
    ]


def test_claims_without_a_verdict_are_claims() -> None:
    assert printed(compared("a", "??", "?")).splitlines()[-6:-1] == [
        "  answers                1: 1 unscored",
        "  claims                 3, of answers and references",
        "  verdicts on answers    0",
        "  verdicts on references 0",
        "  unscored               3: 3 timeout",
    ]


def test_without_any_reference_one_line_says_what_to_do() -> None:
    text = printed(compared("a", "h", ""), compared("b", "h", ""))
    assert len(text.strip().split("\n\n")) == 1
    assert "no answer has a reference" in text
    assert "gold_answer" in " ".join(text.split())
    assert "F1" not in text
    assert "F1" in printed(compared("a", "f", "f"), compared("b", "h", ""))


@pytest.mark.parametrize("width", [80, 160])
def test_no_line_is_too_wide_and_none_ends_in_a_space(width: int) -> None:
    results = [compared(f"q{i}", "fpnc-?yN" * 40, "fpnc-?yNh" * 40) for i in range(3)]
    for each in (results, [compared("a", "h", "")]):
        for line in printed(*each, width=width).splitlines():
            assert cell_len(line) <= width
            assert line == line.rstrip()
