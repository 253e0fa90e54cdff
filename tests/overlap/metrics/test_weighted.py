import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

# The reference library takes a second or so to import; the tests themselves are quick.
from rouge_score.rouge_scorer import RougeScorer

from judge.overlap.metrics import MOST_TOKENS, rouge_w
from judge.overlap.metrics.weighted import wlcs

LETTERS = st.lists(st.sampled_from("abcd报"), max_size=9)
ASCII = st.lists(st.sampled_from("abcd"), max_size=20).map(" ".join)
WEIGHTS = st.sampled_from([1, 1.2, 2, 3.5])
LIN = "A B C D E F G"
RUN, APART = "A B C D H I K", "A H B K C I D"


def test_lins_example() -> None:
    # Four in a row, f(4), against four alone, 4·f(1); with f(k) = k² the paper has .571 and .286.
    assert wlcs(LIN.split(), RUN.split(), 2) == 16
    assert wlcs(LIN.split(), APART.split(), 2) == 4
    assert rouge_w(RUN, LIN, 2) == pytest.approx((4 / 7, 4 / 7, 4 / 7))
    assert rouge_w(APART, LIN, 2) == pytest.approx((2 / 7, 2 / 7, 2 / 7))
    # At 1.2: (4^1.2)^(1/1.2) = 4 of 7, against 4^(1/1.2) = 3.1748 of 7.
    assert rouge_w(RUN, LIN) == pytest.approx((4 / 7, 4 / 7, 4 / 7))
    assert rouge_w(APART, LIN) == pytest.approx((0.453543,) * 3, abs=1e-6)


def test_precision_and_recall_by_hand() -> None:
    # "the cat is on" and "mat": 4^1.2 + 1 = 6.278032, whose root is 4.622245; of 5 and of 6.
    found = rouge_w("the cat is on mat", "the cat is on the mat")
    assert found == pytest.approx((0.924449, 0.770374, 0.840408), abs=1e-6)


def test_chinese_by_hand() -> None:
    # 差旅, 标准: 2·2^1.2 = 4.594793, whose root is 3.563595; of 4 and of 5.
    found = rouge_w("差旅标准。", "差旅费标准")
    assert found == pytest.approx((0.890899, 0.712719, 0.791910), abs=1e-6)


def test_nothing_to_compare_is_zero() -> None:
    assert rouge_w("", "a") == rouge_w("a", "") == rouge_w("👍", "👍") == (0, 0, 0)


@pytest.mark.parametrize("weight", [0.9, 0, -1, math.nan, math.inf])
def test_a_weight_that_is_none(weight: float) -> None:
    with pytest.raises(ValueError, match="a number of at least 1 is needed"):
        rouge_w("a", "a", weight)


def test_too_long_is_none_and_no_hang() -> None:
    assert rouge_w("a " * 2_001, "a " * 2_000) is None
    assert rouge_w("a", "报" * (MOST_TOKENS + 1)) is None


@given(LETTERS, LETTERS, WEIGHTS)
def test_range_and_symmetry(ours: list[str], theirs: list[str], weight: float) -> None:
    found = rouge_w(" ".join(ours), " ".join(theirs), weight)
    turned = rouge_w(" ".join(theirs), " ".join(ours), weight)
    assert found is not None
    assert turned is not None
    assert all(0 <= part <= 1 for part in found)
    assert found.f == pytest.approx(turned.f)
    assert found.precision == pytest.approx(turned.recall)


@given(ASCII, ASCII)
def test_at_weight_one_it_is_rouge_l(answer: str, gold: str) -> None:
    expected = RougeScorer(["rougeL"]).score(gold, answer)["rougeL"]
    assert rouge_w(answer, gold, 1) == pytest.approx(tuple(expected))


@given(LETTERS, WEIGHTS)
def test_the_same_text_has_the_maximum(letters: list[str], weight: float) -> None:
    text = " ".join([*letters, "a"])
    assert rouge_w(text, text, weight) == pytest.approx((1, 1, 1))


@given(st.permutations("abcdefg"), st.integers(1, 7))
def test_without_repeats_it_lies_between_one_run_and_none(letters: list[str], size: int) -> None:
    kept = letters[:size]
    longest = max(
        n for n in range(1, size + 1) for c in combinations(kept, n) if list(c) == sorted(c)
    )
    found = wlcs("abcdefg", kept, 2)
    assert found <= longest**2
    assert found >= 1
    assert wlcs("abcdefg", kept, 1) == longest
