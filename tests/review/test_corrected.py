import math

import pytest

from judge.records import Outcome
from judge.review.agreement import by_row, corrected_scores
from judge.review.records import CorrectedScore, Draw, Label, ScoreName
from tests.draws import (
    FAILED,
    NO_SUMMARY,
    draw,
    fallen_back,
    label,
    row,
    stratum,
    verdict,
)


def corrected(drawn: Draw, labels: list[Label], name: ScoreName = "faithfulness") -> CorrectedScore:
    (score,) = corrected_scores(drawn, by_row(labels), NO_SUMMARY, [name])
    return score


def test_the_formula_by_hand() -> None:
    # 100 claims called full, 20 called none; 4 and 2 of them drawn and labelled.
    full = [row(f"f{k}", verdict("full"), probability=0.04) for k in range(4)]
    none = [row(f"n{k}", verdict("none"), stratum=1, probability=0.1) for k in range(2)]
    drawn = draw(
        [
            stratum("supported", 100, 100, 4, span=(-1, 0)),
            stratum("unsupported", 20, 0, 2, span=(0, 1)),
        ],
        [*full, *none],
    )
    said = ["full", "full", "full", "partial", "none", "full"]
    score = corrected(drawn, [label(r, s) for r, s in zip([*full, *none], said, strict=True)])
    # 100/120 · (1 - 1/8) + 20/120 · (0 + 1/2)
    assert score.corrected == pytest.approx(0.8125)
    # s² of (0, 0, 0, -½) is 1/16, of (0, 1) it is ½.
    variance = (5 / 6) ** 2 * 0.96 * (1 / 16) / 4 + (1 / 6) ** 2 * 0.9 * 0.5 / 2
    assert score.standard_error == pytest.approx(math.sqrt(variance))
    assert 0 < score.low < 0.8125 < score.high < 1
    assert score.raw is None  # nothing was judged in an empty run


def test_with_all_claims_labelled_the_score_is_the_mean_of_the_labels() -> None:
    full, none, no_claim = verdict("full"), verdict("none"), verdict("no_claim")
    # The outcomes of claims, what they add and how many count, what people say, and the mean of it.
    table: list[tuple[list[Outcome], float, float, str, float]] = [
        ([full, FAILED, fallen_back("full")], 2, 3, "none full partial", 0.5),
        # Whom people call no claim leaves the mean, and whom only the judge called so comes back.
        ([full] * 4, 4, 4, "full none no_claim no_claim", 0.5),
        ([full, no_claim], 1, 1, "full none", 0.5),
        # Reviewers of one row share it.
        ([full, none], 1, 2, "partial/partial full", 0.75),
        # The one there is needs no second.
        ([full], 1, 1, "partial", 0.5),
    ]
    for outcomes, added, counted, said, mean in table:
        rows = [row(f"q{n}", outcome) for n, outcome in enumerate(outcomes)]
        drawn = draw([stratum("supported", len(rows), added, len(rows), counted=counted)], rows)
        words = zip(rows, said.split(), strict=True)
        labels = [label(r, s, f"x{n}") for r, w in words for n, s in enumerate(w.split("/"))]
        score = corrected(drawn, labels)
        assert (score.low, score.corrected, score.high) == pytest.approx((mean,) * 3), said
    # Strictly only full counts, and a bare no is enough.
    rows = [row("a", full), row("b", verdict("partial")), row("c", none)]
    drawn = draw([stratum("supported", 3, 1.5, 3, faithfulness_strict=1)], rows)
    labels = [label(rows[0], "no"), label(rows[1], "partial"), label(rows[2], "yes")]
    assert corrected(drawn, labels, "faithfulness_strict").corrected == pytest.approx(1 / 3)


def test_rows_left_blank_count_as_never_drawn() -> None:
    rows = [row(f"f{k}", verdict("full"), probability=0.5) for k in range(8)]
    small = draw([stratum("supported", 16, 16, 8)], rows)
    labels = [label(r, "none" if k == 0 else "full") for k, r in enumerate(rows[:4])]
    rows = [row(f"f{k}", verdict("full"), probability=0.25) for k in range(4)]
    same = draw([stratum("supported", 16, 16, 4)], rows)
    left = corrected(small, labels)
    assert left.model_copy(update={"blank": None}) == corrected(same, labels)
    assert left.blank is not None
    # 8 rows are drawn; 3 say full, 1 says none, 4 are blank: 3 to 7 of 8.
    assert (left.blank.wrong, left.blank.right) == (0.375, 0.875)
    for filled, limit in (("none", "low"), ("full", "high")):
        whole = [*labels, *(label(each, filled) for each in small.sentences[4:])]
        assert getattr(left.blank, limit) == getattr(corrected(small, whole), limit)


def test_blank_rows_raise_a_warning_only_if_they_are_uneven_and_matter() -> None:
    rows = [row(f"f{k}", verdict("full"), probability=0.5) for k in range(40)]
    rows += [row(f"n{k}", verdict("none"), stratum=1, probability=0.5) for k in range(40)]
    drawn = draw([stratum("supported", 80, 80, 40), stratum("unsupported", 80, 0, 40)], rows)
    for blank, decides in ((range(40, 70), True), (range(0, 80, 3), False), (range(40, 42), False)):
        labelled = [each for number, each in enumerate(rows) if number not in blank]
        labels = [label(each, "none" if each.stratum else "full") for each in labelled]
        limits = corrected(drawn, labels).blank
        assert limits is not None
        assert limits.decides is decides, blank


def test_a_stratum_with_one_label_joins_its_neighbour() -> None:
    full = [row(f"f{k}", verdict("full"), probability=0.1) for k in range(5)]
    lone = row("n", verdict("none"), stratum=1, probability=0.1)
    drawn = draw(
        [stratum("supported", 50, 50, 5), stratum("unsupported", 10, 0, 1)],
        [*full, lone],
    )
    labels = [label(r, "full") for r in full]
    # Together: 60 units that the judge calls 50/60, and errors 0 0 0 0 0 1.
    assert corrected(drawn, [*labels, label(lone, "full")]).corrected == pytest.approx(1)
    assert corrected(drawn, [*labels, label(lone, "none")]).corrected == pytest.approx(5 / 6)


def test_one_label_corrects_nothing() -> None:
    rows = [row(name, verdict("full"), probability=0.1) for name in "ab"]
    drawn = draw([stratum("supported", 20, 20, 2)], rows)
    one = by_row([label(rows[0], "none")])
    assert corrected_scores(drawn, one, NO_SUMMARY, ["faithfulness"]) == []
