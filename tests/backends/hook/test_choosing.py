import hashlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.backends.hook import chosen, uniform
from judge.scores.intervals import poisson_weights

# Any text, halves of surrogate pairs among it.
TEXTS = st.text(st.characters(), max_size=8)
PARTS = st.lists(TEXTS | st.integers(), max_size=4)


def test_the_number_is_the_hash_that_the_docstring_says() -> None:
    # Put together by hand: kind, length in bytes, text, for the seed and each part.
    spelled = "judge review|i1:7|s5:claim|s6:问题|i2:-1".encode()
    head = int(hashlib.sha256(spelled).hexdigest()[:16], 16)
    assert uniform(7, "claim", "问题", -1) == (head >> 11) / 2**53


@given(st.integers(), PARTS)
def test_it_lies_from_0_to_under_1_and_stays(seed: int, parts: list[str | int]) -> None:
    drawn = uniform(seed, *parts)
    assert 0 <= drawn < 1
    assert uniform(seed, *parts) == drawn


@given(st.integers(), PARTS, PARTS)
def test_other_parts_other_number(seed: int, one: list[str | int], two: list[str | int]) -> None:
    assert (uniform(seed, *one) == uniform(seed, *two)) is (one == two)


def test_parts_are_not_joined() -> None:
    lists: list[list[str | int]] = [
        ["ab", "c"],
        ["a", "bc"],
        ["abc"],
        ["a", "b", "c"],
        ["abc", ""],
        ["", "abc"],
        ["ab|s1:c"],
        [1],
        ["1"],
        [],
    ]
    assert len({uniform(0, *parts) for parts in lists}) == len(lists)
    assert uniform(1) != uniform(0, 1)


@pytest.mark.parametrize("seed", range(5))
def test_numbers_spread_evenly(seed: int) -> None:
    # Kolmogorov's distance stays under 1.95 / √n but once in a thousand even draws.
    n = 2000
    drawn = sorted(uniform(seed, "answer", f"q{i}") for i in range(n))
    assert max(abs(u - (i + 0.5) / n) for i, u in enumerate(drawn)) < 1.95 / math.sqrt(n)


def test_two_seeds_two_purposes_and_the_bootstrap_do_not_go_together() -> None:
    n = 2000
    qids = [f"q{i}" for i in range(n)]
    first = [uniform(0, "hook", qid) for qid in qids]
    others = (
        [uniform(1, "hook", qid) for qid in qids],
        [uniform(0, "answer", qid) for qid in qids],
        [float(poisson_weights(0, qid)[0]) for qid in qids],
    )
    for other in others:
        centre = sum(first) / n, sum(other) / n
        pairs = [(x - centre[0], y - centre[1]) for x, y in zip(first, other, strict=True)]
        spread = math.sqrt(sum(x * x for x, _ in pairs) * sum(y * y for _, y in pairs))
        # Of what is independent r·√n is about normal.
        assert abs(sum(x * y for x, y in pairs) / spread) < 3.3 / math.sqrt(n)


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
def test_about_the_share_is_chosen(rate: float) -> None:
    n = 5000
    hits = sum(chosen(f"问题-{i}", 0, rate) for i in range(n))
    assert abs(hits - n * rate) < 3.3 * math.sqrt(n * rate * (1 - rate))


@given(TEXTS, st.integers(min_value=0), st.floats(0, 1), st.floats(0, 1))
def test_who_is_chosen_at_a_rate_is_chosen_at_a_higher_one(
    qid: str, seed: int, one: float, two: float
) -> None:
    low, high = sorted((one, two))
    assert chosen(qid, seed, high) or not chosen(qid, seed, low)
    assert chosen(qid, seed, 1)
    assert not chosen(qid, seed, 0)
