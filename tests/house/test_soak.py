"""A server that answers oddly again and again, and a kill -9: the short form of `tests/soak.py`."""

from pathlib import Path

from tests.soak import odd, soak


def test_nothing_is_lost_doubled_or_paid_for_twice(place: Path) -> None:
    # Two processes start, one of them to be killed, and replies that fail are waited out: seconds.
    assert len(odd()) >= 73
    counts = soak(place, answers=120, kills=1)
    assert counts.total() == 240
    assert counts["full"] >= 200
