import math

from hypothesis import given
from hypothesis import strategies as st

from judge.retrieval.keeping import Foremost


def kept(most: int, keys: list[tuple[float, ...]]) -> list[int]:
    foremost: Foremost[int] = Foremost(most)
    for number, key in enumerate(keys):
        foremost.add(key, number)
    return list(foremost.items())


def test_of_equal_keys_the_first_to_come_stay() -> None:
    assert kept(2, [(1,), (1,), (1,)]) == [0, 1]
    assert kept(3, [(1,), (2,), (1,), (2,), (0,)]) == [1, 3, 0]
    assert kept(2, [(1, math.inf), (1, 3), (2, 0), (1, math.inf)]) == [2, 0]


def test_none_are_kept_where_none_are_asked_for() -> None:
    assert kept(0, [(1,), (2,)]) == []


def test_what_is_kept_need_not_compare() -> None:
    foremost: Foremost[object] = Foremost(2)
    for _ in range(5):
        foremost.add((1,), object())
    assert len(foremost.items()) == 2


@given(
    st.integers(0, 6),
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-math.inf, 0.5, math.inf]))),
)
def test_as_a_stable_sort(most: int, keys: list[tuple[float, ...]]) -> None:
    expected = sorted(range(len(keys)), key=lambda i: keys[i], reverse=True)
    assert kept(most, keys) == expected[:most]
