import math
from collections import Counter
from pathlib import Path

import pytest

from judge.backends.hook import uniform
from judge.files.runs import read_results
from judge.review.census import Candidate, Census, Tally, divide, drawn
from judge.review.records import StratumName
from tests.reviewed import score

# Claims of answers with 1, 2, 4 and 8 claims; with 12 drawn of them, the first is certain.
HEFTS = [1.0] + [1 / 2] * 4 + [1 / 4] * 12 + [1 / 8] * 24


def tally(seed: int, hefts: list[float]) -> Tally:
    made = Tally(units=len(hefts))
    for k, heft in enumerate(hefts):
        made.weights[heft] += 1
        candidate = Candidate(uniform(seed, "draw", str(k)) / heft, k, 0, heft)
        made.least.append((-candidate.key, candidate))
        made.heaviest.append((heft, candidate))
    return made


@pytest.mark.parametrize("share", [5, 12, 25])
def test_units_are_drawn_as_often_as_is_said(share: int) -> None:
    seeds = 1000
    often: Counter[int] = Counter()
    said: dict[int, float] = {}
    for seed in range(seeds):
        found = drawn([tally(seed, HEFTS)], share)
        assert len({candidate.position for candidate, _ in found}) == share
        often.update(candidate.position for candidate, _ in found)
        said |= {candidate.position: probability for candidate, probability in found}
    assert len(said) == len(HEFTS)
    assert sum(said.values()) == pytest.approx(share)
    for heft in set(HEFTS):
        alike = [k for k, other in enumerate(HEFTS) if other == heft]
        expected = said[alike[0]]
        assert {said[k] for k in alike} == {expected}
        seen = sum(often[k] for k in alike) / len(alike) / seeds
        # Sequential Poisson sampling is off by some hundredths of itself in a draw so small.
        noise = math.sqrt(expected * (1 - expected) / seeds / len(alike))
        assert abs(seen - expected) <= 3.3 * noise + 0.03 * expected


def test_certainty_by_hand() -> None:
    # They weigh 9 together. Of 12 draws the first takes one, 11 are left for a weight of 8.
    chances = {c.weight: probability for c, probability in drawn([tally(0, HEFTS)], 12)}
    assert chances == pytest.approx({1: 1, 1 / 2: 11 / 16, 1 / 4: 11 / 32, 1 / 8: 11 / 64})
    # Of 25, the four halves, too: 20 are left for a weight of 6.
    chances = {c.weight: probability for c, probability in drawn([tally(0, HEFTS)], 25)}
    assert chances == pytest.approx({1: 1, 1 / 2: 1, 1 / 4: 20 / 24, 1 / 8: 20 / 48})


def test_two_tallies_are_drawn_from_as_one() -> None:
    whole = tally(0, HEFTS)
    parts = Tally(), Tally()
    for place, heft in enumerate(HEFTS):
        part = parts[place % 2]
        part.weights[heft] += 1
        part.least.append(whole.least[place])
        part.heaviest.append(whole.heaviest[place])
    assert sorted(drawn(parts, 12)) == sorted(drawn([whole], 12))


def test_no_weight_is_too_uneven() -> None:
    for hefts in ([1.0, *[1e-9] * 9], [1.0] * 9 + [1e-9], [1 / 49 * 49] * 5 + [1.0] * 5, [0.1]):
        for share in range(len(hefts) + 1):
            found = drawn([tally(1, hefts)], share)
            assert len({candidate.position for candidate, _ in found}) == share
            assert all(0 < probability <= 1 for _, probability in found)


def test_what_heaps_left_out_is_not_missed() -> None:
    # Many small answers in the way of few large ones, and a heap no larger than the draw.
    for seed in range(50):
        whole, bounded = tally(seed, HEFTS), tally(seed, HEFTS)
        bounded.least = sorted(bounded.least, reverse=True)[:12]
        bounded.heaviest = sorted(bounded.heaviest, reverse=True)[:12]
        assert drawn([bounded], 12) == drawn([whole], 12)


def test_strata_that_are_too_small_are_drawn_from_as_one(tmp_path: Path) -> None:
    answers = [["supported"]] * 20 + [["partial"]] * 3 + [["unsupported"]] * 9
    census = Census("answer", 0, 12)
    for result in read_results(score(tmp_path, answers)):
        census.add(result)
    strata, picked = divide(census, 12)
    assert [s.names for s in strata] == [
        (StratumName.SUPPORTED,),
        (StratumName.PARTIAL, StratumName.UNSUPPORTED),
    ]
    assert [s.units for s in strata] == [20, 12]
    # 20 · .2 : 3 · .35 + 9 · .3 = 4 : 3.75 of 12.
    assert [s.drawn for s in strata] == [6, 6]
    assert strata[1].span == (-0.5, 1)
    assert strata[1].macro.faithfulness == 1.5
    for position, items in picked.items():
        (item,) = items
        assert item.stratum == (position >= 20)
        assert item.probability == pytest.approx(6 / 20 if position < 20 else 6 / 12)
        assert item.sentence is None
