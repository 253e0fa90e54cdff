import io

from rich.console import Console

from judge.cli.render.totals import Counts, add_score, score_table
from judge.cli.terminal import print_table
from judge.records import CorpusBounds, CorpusScore, Interval, Support, Unscored, UnscoredReason
from judge.reports.worst import Example

INTERVAL = Interval(low=0.25, high=0.75, method="wilson")
SCORE = CorpusScore(macro=0.5, micro=0.6, answers=4, items=10, interval=INTERVAL)
BOUNDS = CorpusBounds(low=0.4, high=0.7, answers=5, low_interval=INTERVAL)
LATE = Unscored(reason=UnscoredReason.RATE_LIMITED, detail="gave up\nafter 60 s")


def printed(score: CorpusScore | None, bounds: CorpusBounds | None, item: str) -> list[list[str]]:
    table = score_table("Title")
    add_score(table, "score", score, bounds, item)
    file = io.StringIO()
    print_table(table, Console(file=file, width=80))
    lines = file.getvalue().splitlines()
    assert lines[0] == "Title"
    return [line.split() for line in lines[4:] if line]


def test_a_score_and_how_far_failures_leave_it_open() -> None:
    row, bounds = printed(SCORE, BOUNDS, "claim")
    assert row == ["score", "0.500", "0.250–0.750", "0.600", "4", "10", "claims"]
    assert bounds == ["failures", "0,", "then", "1", "0.400–0.700", "5"]


def test_without_failures_there_is_one_row_and_one_thing_is_singular() -> None:
    one = SCORE.model_copy(update={"items": 1})
    closed = BOUNDS.model_copy(update={"high": 0.4, "answers": 4})
    (row,) = printed(one, closed, "claim")
    assert row[-2:] == ["1", "claim"]
    assert len(printed(one, None, "claim")) == 1


def test_bounds_over_more_answers_are_shown_however_narrow() -> None:
    """An answer that is in them and not in the mean would otherwise go unseen."""
    _, bounds = printed(SCORE, BOUNDS.model_copy(update={"high": 0.4}), "claim")
    assert bounds[-2:] == ["0.400–0.400", "5"]


def test_nothing_to_measure_is_a_dash() -> None:
    assert printed(None, None, "claim") == [["score", "–", "0"]]


def test_counts_stand_in_a_column() -> None:
    counts = Counts()
    counts.parts("claims", {Support.FULL: 2, Support.NONE: 0, Support.NO_CLAIM: 1})
    counts.line("calls", "4 sent")
    counts.flags({})
    assert counts.lines == ["  claims      3: 2 full, 1 no claim", "  calls       4 sent"]
    wide = Counts(20)
    wide.parts("claims", {})
    assert wide.lines == [f"  {'claims':<20} 0"]


def test_failures_have_examples_and_no_failure_has_no_line() -> None:
    unscored = {UnscoredReason.RATE_LIMITED: 3}
    counts = Counts()
    counts.failures(unscored, 2, {UnscoredReason.RATE_LIMITED: Example("题 1", LATE)})
    counts.failures({}, 0, {})
    assert counts.lines == [
        "  unscored    3: 3 rate limited; 2 of them answered by the fallback",
        "  such as     rate limited, 题 1: gave up after 60 s",
    ]
