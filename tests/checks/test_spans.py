from hypothesis import given
from hypothesis import strategies as st

from judge.checks.spans import Spans


@given(st.lists(st.integers(0, 40), unique=True), st.integers(0, 40), st.integers(1, 5))
def test_spans_meet_what_shares_a_character_with_them(
    edges: list[int], start: int, length: int
) -> None:
    edges = sorted(edges)
    spans = list(zip(edges[::2], edges[1::2], strict=False))
    held = {place for low, high in spans for place in range(low, high)}
    shares = not held.isdisjoint(range(start, start + length))
    assert Spans(spans).meets(start, start + length) is shares
