"""A server that answers oddly again and again, and a kill -9: the short form of `tests/soak.py`."""

from pathlib import Path

import pytest

from tests.soak import Night, odd, soak


def test_nothing_is_lost_doubled_or_paid_for_twice(place: Path) -> None:
    # Two processes start, one of them to be killed, and replies that fail are waited out: seconds.
    assert len(odd()) >= 73
    counts = soak(place, answers=120, kills=1)
    assert counts["full"] >= 200


@pytest.mark.alone
def test_a_night_of_faults_costs_no_more_calls_than_there_are_faults(place: Path) -> None:
    # Hangs are waited out for three seconds each.
    counts = soak(place, answers=300, kills=1, night=Night(rate=150))
    assert counts["full"] + counts["none"] >= 580
    assert counts["faults"] >= 10
