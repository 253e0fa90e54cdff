import math
import random
from dataclasses import asdict, astuple
from enum import Enum

# The reference library takes a second or so to import; the tests themselves are quick.
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from judge.review.agreement import LabelScore, label_scores

Row = tuple[str, str, int]
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 4)), max_size=25
)


class Support(Enum):
    FULL = "full"
    NONE = "none"


def scores(rows: list[Row]) -> dict[str, LabelScore]:
    return label_scores(
        [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    )


def test_precision_and_recall_by_hand() -> None:
    judged = ["full", "full", "full", "none", "part"]
    labelled = ["full", "full", "none", "none", "full"]
    assert label_scores(judged, labelled) == {
        "full": LabelScore(2 / 3, 2 / 3, 3, 3),
        "none": LabelScore(1.0, 0.5, 1, 2),
        "part": LabelScore(0.0, None, 1, 0),
    }


def test_weights_by_hand() -> None:
    found = label_scores(["a", "a", "b"], ["a", "b", "b"], [1, 3, 4])
    assert astuple(found["a"]) == pytest.approx((1 / 4, 1.0, 2, 1))
    assert astuple(found["b"]) == pytest.approx((1.0, 4 / 7, 1, 2))


def test_rows_that_weigh_nothing_are_counted_and_no_more() -> None:
    found = label_scores([True, False], [True, False], [1, 0])
    assert found[False] == LabelScore(None, None, 1, 1)
    assert found[True] == LabelScore(1.0, 1.0, 1, 1)


def test_labels_come_in_order_of_first_appearance() -> None:
    assert list(label_scores("cbc", "acd")) == ["c", "a", "b", "d"]
    assert list(label_scores([Support.NONE], [Support.FULL])) == [Support.NONE, Support.FULL]
    assert label_scores([], []) == {}


@pytest.mark.parametrize(
    ("labelled", "weights", "said"),
    [
        (["a"], None, "got 2 and 1"),
        (["a", "b"], [1.0], "got 1 for 2 rows"),
        (["a", "b"], [1.0, -2.0], "got -2.0"),
        (["a", math.nan], None, "got nan"),
    ],
)
def test_what_cannot_be_scored(
    labelled: list[object], weights: list[float] | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        label_scores(["a", "b"], labelled, weights)


@given(ROWS)
def test_scores_stay_in_their_ranges(rows: list[Row]) -> None:
    found = scores(rows)
    assert sum(score.judged for score in found.values()) == len(rows)
    assert sum(score.labelled for score in found.values()) == len(rows)
    for score in found.values():
        assert score.precision is None or 0 <= score.precision <= 1
        assert score.recall is None or 0 <= score.recall <= 1


@given(ROWS)
def test_precision_is_recall_of_the_other_side(rows: list[Row]) -> None:
    turned = scores([(theirs, own, weight) for own, theirs, weight in rows])
    for label, score in scores(rows).items():
        assert score.precision == turned[label].recall


@given(ROWS, st.integers(2, 9))
def test_only_ratios_of_weights_matter(rows: list[Row], unit: int) -> None:
    scaled = scores([(own, theirs, unit * weight) for own, theirs, weight in rows])
    for label, score in scores(rows).items():
        assert asdict(scaled[label]) == pytest.approx(asdict(score), abs=1e-9)


@given(ROWS)
def test_a_whole_weight_is_a_row_repeated(rows: list[Row]) -> None:
    repeated = scores([(own, theirs, 1) for own, theirs, weight in rows for _ in range(weight)])
    for label, score in scores(rows).items():
        precision = repeated[label].precision if label in repeated else None
        recall = repeated[label].recall if label in repeated else None
        assert score.precision == (precision and pytest.approx(precision))
        assert score.recall == (recall and pytest.approx(recall))


@pytest.mark.parametrize("seed", range(30))
def test_scores_are_scikit_learn_s(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  no secret
    names = "abcdef"[: dice.randint(2, 6)]
    labelled = dice.choices(names, k=dice.randint(5, 80))
    judged = [label if dice.random() < 0.6 else dice.choice(names) for label in labelled]
    weights = [dice.choice((0.0, dice.random(), 100 * dice.random())) for _ in labelled]
    for given_weights in (None, weights):
        found = label_scores(judged, labelled, given_weights)
        precision, recall, _, _ = precision_recall_fscore_support(
            labelled, judged, labels=list(found), sample_weight=given_weights, zero_division=np.nan
        )
        for score, p, r in zip(found.values(), precision, recall, strict=True):
            assert (score.precision is None) == math.isnan(p)
            assert (score.recall is None) == math.isnan(r)
            assert score.precision is None or score.precision == pytest.approx(p, abs=1e-9)
            assert score.recall is None or score.recall == pytest.approx(r, abs=1e-9)
