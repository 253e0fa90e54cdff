import math
from pathlib import Path

import pytest

from judge.errors import RunError
from judge.records import Support
from judge.review.corrected import plan
from judge.review.draws import take
from judge.review.folder import write_draw, write_labels
from judge.review.records import Label, StratumName
from tests.reviewed import score


def test_one_stratum_by_hand(tmp_path: Path) -> None:
    run = score(tmp_path, [["supported"]] * 100)
    found = plan(run, 0.1)
    # s = .2: n0 = (1.96 · .2 / .1)² = 15.37; 15.37 / (1 + 15.37/100) = 13.3
    assert (found.total, found.learnt) == (14, 0)
    assert [share.names for share in found.quotas] == [(StratumName.SUPPORTED,)]


def test_a_finer_interval_needs_more_and_never_more_than_there_are(tmp_path: Path) -> None:
    run = score(tmp_path, [["supported"] * 3 + ["partial", "unsupported"]] * 20)
    totals = [plan(run, reach).total for reach in (0.2, 0.1, 0.05, 0.001)]
    assert totals == sorted(totals)
    assert totals[-1] == 100


def test_labels_teach_the_spread(tmp_path: Path) -> None:
    run = score(tmp_path, [["supported"]] * 100)
    drawn = take(run, size=40).draw
    write_draw(run, drawn)
    labels = [
        Label(
            review_id=each.review_id,
            qid=each.qid,
            sentence=0,
            support=Support.FULL if k % 2 else Support.NONE,
            supported=bool(k % 2),
        )
        for k, each in enumerate(drawn.sentences)
    ]
    write_labels(run, drawn.draw, labels)
    found = plan(run, 0.1)
    assert found.learnt == 40
    # Squares of 40 errors of 0 and -1 around -½ are 10; ten more labels count with .2² each.
    assert found.quotas[0].spread == pytest.approx(math.sqrt((10 + 10 * 0.04) / 50))
    assert found.total > 14


def test_by_answer(tmp_path: Path) -> None:
    run = score(tmp_path, [["supported", "supported"]] * 30)
    assert sum(share.units for share in plan(run, 0.05, "answer").quotas) == 30


def test_nothing_to_plan(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="nothing to review"):
        plan(score(tmp_path, [[]]), 0.1)
