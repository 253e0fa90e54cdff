from pathlib import Path

import pytest

from judge.records import Support
from judge.review.draws import carried, take
from judge.review.folder import labelled_draws, write_draw, write_labels
from judge.review.records import Draw, DrawnSentence, Label
from tests.reviewed import score


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return score(tmp_path, [["supported", "partial", "unsupported"]] * 8)


def label(row: DrawnSentence, support: Support | None, reviewer: str = "") -> Label:
    return Label(
        review_id=row.review_id,
        qid=row.qid,
        sentence=row.sentence,
        support=support,
        supported=support is Support.FULL,
        reviewer=reviewer,
        note="见",
    )


def keep(run: Path, draw: Draw, labels: list[Label]) -> None:
    write_draw(run, draw)
    write_labels(run, draw.draw, labels)


def test_a_larger_draw_comes_filled_in_with_a_smaller_ones_labels(run: Path) -> None:
    small = take(run, size=15).draw
    keep(run, small, [label(row, Support.PARTIAL, "Ann") for row in small.sentences])
    large = take(run, size=20)
    filled = [row for row in carried(run, large, "zh") if "human_support" in row]
    both = {(s.qid, s.sentence) for s in small.sentences}
    both &= {(s.qid, s.sentence) for s in large.draw.sentences}
    assert len(filled) == len(both) > 10
    for row in filled:
        assert (row["human_support"], row["human_note"], row["reviewer"]) == (
            "部分支持",
            "见",
            "Ann",
        )


def test_where_people_disagree_nothing_is_filled_in(run: Path) -> None:
    draw = take(run, size=24).draw
    first, second, third, *_ = draw.sentences
    labels = [
        label(first, Support.FULL, "Ann"),
        label(first, Support.NONE, "Bo"),
        label(second, None),
        label(third, Support.NO_CLAIM, "Ann"),
        label(third, Support.NO_CLAIM, "Bo"),
    ]
    keep(run, draw, labels)
    other = take(run, size=24, seed=1)
    rows = dict(
        zip(
            ((s.qid, s.sentence) for s in other.draw.sentences),
            carried(run, other, "en"),
            strict=True,
        )
    )
    assert "human_support" not in rows[first.qid, first.sentence]
    assert rows[second.qid, second.sentence]["human_support"] == "no"
    assert rows[third.qid, third.sentence]["human_support"] == "no_claim"
    assert sum("human_support" in row for row in rows.values()) == 2


def test_labels_of_other_results_are_not_carried(run: Path) -> None:
    draw = take(run, size=24).draw.model_copy(update={"results": "0" * 64})
    keep(run, draw, [label(draw.sentences[0], Support.FULL)])
    assert list(labelled_draws(run)) == []
    assert not any("human_support" in row for row in carried(run, take(run, size=24), "en"))
