from hypothesis import given
from hypothesis import strategies as st

from judge.review.draws import deal


@given(st.integers(0, 30), st.integers(1, 5), st.integers(0, 40))
def test_all_see_the_shared_and_one_the_rest(units: int, hands: int, overlap: int) -> None:
    rows = [f"{unit}.{k}" for unit in range(units) for k in range(1 + unit % 3)]
    dealt = deal(rows, hands, overlap, lambda row: row.split(".")[0])
    assert len(dealt) == hands
    for row in rows:
        takers = [hand for hand in dealt if row in hand]
        assert len(takers) == (hands if int(row.split(".")[0]) < overlap else 1)
    for hand in dealt:
        assert hand == [row for row in rows if row in hand]  # in order, each once
    sizes = [len({row.split(".")[0] for row in hand}) for hand in dealt]
    assert max(sizes) - min(sizes) <= 1
