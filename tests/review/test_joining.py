from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from judge.backends.hook import chosen
from judge.config import Config
from judge.errors import InputError, JudgeError, RunError
from judge.records import Support
from judge.review.draws import Drawing, take, take_live
from judge.review.folder import read_draw, write_draw, write_labels
from judge.review.labels import join
from judge.review.sheet import BLIND, write_sheet
from tests.reviewed import score

ANSWERS = [["supported", "unsupported"], ["supported", "partial"], ["supported"] * 4]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return score(tmp_path, ANSWERS)


@pytest.fixture
def drawing(run: Path) -> Drawing:
    drawing = take(run, size=8)
    write_draw(run, drawing.draw)
    return drawing


def sheet(place: Path, rows: Iterable[Mapping[str, str]], name: str = "review.csv") -> Path:
    path = place / name
    write_sheet(path, rows, BLIND, "en")
    return path


def labelled(drawing: Drawing, *said: str, reviewer: str = "") -> list[dict[str, str]]:
    """The first rows of the draw, with these labels."""
    rows = zip(drawing.rows, said, strict=False)
    return [row | {"human_support": word, "reviewer": reviewer} for row, word in rows]


def refused(run: Path, *paths: Path) -> str:
    with pytest.raises(JudgeError) as error:
        join(run, paths)
    return str(error.value)


def test_rows_in_any_order_come_back_to_their_sentences(
    run: Path, drawing: Drawing, tmp_path: Path
) -> None:
    rows = labelled(drawing, "full", "部分", "不支持", "矛盾", "是", "否", "", "no_claim")
    rows[0]["human_note"] = "=sure, 确定\nindeed"
    joined = join(run, [sheet(tmp_path, reversed(rows))])
    found = {label.review_id: label for label in joined.labels}
    said = [found.get(row["review_id"]) for row in rows]
    assert [label and label.support for label in said] == [
        Support.FULL,
        Support.PARTIAL,
        Support.NONE,
        Support.CONTRADICTED,
        Support.FULL,
        None,
        None,
        Support.NO_CLAIM,
    ]
    assert said[6] is None
    assert [label.supported for label in said if label] == [True, *[False] * 3, True, *[False] * 2]
    assert said[0] is not None
    assert said[0].note == "=sure, 确定\nindeed"
    assert {(x.qid, x.sentence) for x in joined.labels} < {
        (x.qid, x.sentence) for x in drawing.draw.sentences
    }


def test_every_row_that_cannot_be_right_is_named(
    run: Path, drawing: Drawing, tmp_path: Path
) -> None:
    rows = labelled(drawing, "full", "maybe", "full", "full", "none")
    rows[2]["review_id"] = rows[2]["review_id"][:-1] + "x"
    rows[3]["review_id"] = "r00000000-0123456789ab"
    rows[4]["review_id"] = ""
    rows.append(rows[0] | {"human_support": "partial"})
    path = sheet(tmp_path, rows)
    said = refused(run, path).splitlines()
    assert said[0] == "5 rows cannot be right, and nothing was imported:"
    for number, what in ((3, "'maybe' is no label"), (4, "is no row of this"), (5, "another draw")):
        assert any(f"{path}, row {number}:" in line and what in line for line in said)
    assert any("row 6:" in line and "is empty beside a label" in line for line in said)
    doubled = next(line for line in said if "row 7:" in line)
    assert "'partial' and in" in doubled
    assert "row 2 'full'" in doubled
    assert "fill in the column reviewer" in doubled


def test_many_bad_rows_are_listed_up_to_fifty(run: Path, drawing: Drawing, tmp_path: Path) -> None:
    bad = [drawing.rows[0] | {"human_support": f"word{k}"} for k in range(53)]
    said = refused(run, sheet(tmp_path, bad)).splitlines()
    assert len(said) == 52
    assert said[-1].strip() == "… and 3 more"


def test_the_same_twice_is_once_and_the_finer_label_stays(
    run: Path, drawing: Drawing, tmp_path: Path
) -> None:
    rows = [*labelled(drawing, "no"), *labelled(drawing, "none"), *labelled(drawing, "否")]
    assert [label.support for label in join(run, [sheet(tmp_path, rows)]).labels] == [Support.NONE]


def test_reviewers_may_differ_and_one_may_not(run: Path, drawing: Drawing, tmp_path: Path) -> None:
    first = sheet(tmp_path, labelled(drawing, "full", reviewer="李雷"), "1.csv")
    second = sheet(tmp_path, labelled(drawing, "none", reviewer="Ann  B"), "2.csv")
    assert {label.reviewer for label in join(run, [first, second]).labels} == {"李雷", "Ann B"}
    third = sheet(tmp_path, labelled(drawing, "none", reviewer="李雷"), "3.csv")
    said = refused(run, first, third)
    assert "both of reviewer '李雷'; keep one" in said
    assert "1 row cannot be right" in said


def test_a_sheet_of_another_run(drawing: Drawing, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = score(tmp_path / "other", [["supported"] * 6])
    path = sheet(tmp_path, labelled(drawing, "full"))
    said = refused(other, path)
    assert f"{path}, row 2" in said
    assert "is a row of another run" in said
    assert "none" in said  # no draw of that run is known


def test_a_run_scored_again(run: Path, drawing: Drawing, tmp_path: Path) -> None:
    path = sheet(tmp_path, labelled(drawing, "full"))
    results = run / "results.jsonl"
    results.write_bytes(results.read_bytes().replace(b"0.99", b"0.98"))
    assert "was scored again after draw" in refused(run, path)


def test_two_draws_at_once(run: Path, drawing: Drawing, tmp_path: Path) -> None:
    other = take(run, size=8, seed=1)
    write_draw(run, other.draw)
    rows = [*labelled(drawing, "full"), *labelled(other, "full")]
    assert "rows of 2 draws" in refused(run, sheet(tmp_path, rows))


@pytest.mark.parametrize("name", ["../../draw", "r../../..", "/etc/passwd", "r0000000"])
def test_no_cell_names_a_file(run: Path, drawing: Drawing, tmp_path: Path, name: str) -> None:
    (tmp_path / "draw.json").write_text(drawing.draw.model_dump_json(), encoding="utf-8")
    rows = [row | {"review_id": f"{name}-0"} for row in labelled(drawing, "full")]
    assert "another run" in refused(run, sheet(tmp_path, rows))


def test_without_a_label_there_is_nothing_to_import(
    run: Path, drawing: Drawing, tmp_path: Path
) -> None:
    assert "no row has a label" in refused(run, sheet(tmp_path, drawing.rows))
    nameless = [{"human_support": "full"}]
    assert "no row has a review_id" in refused(run, sheet(tmp_path, nameless))


def test_labels_imported_earlier_are_not_lost_unasked(
    run: Path, drawing: Drawing, tmp_path: Path
) -> None:
    first = sheet(tmp_path, labelled(drawing, "full", "full", reviewer="Ann"), "1.csv")
    write_labels(run, drawing.draw.draw, join(run, [first]).labels)
    second = sheet(tmp_path, labelled(drawing, "none", reviewer="Bo"), "2.csv")
    with pytest.raises(RunError, match=r"2 labels imported earlier \(Ann\)"):
        join(run, [second])
    assert len(join(run, [first, second]).labels) == 3
    assert len(join(run, [second], replace=True).labels) == 1
    changed = sheet(tmp_path, labelled(drawing, "full", "none", reviewer="Ann"), "1.csv")
    assert len(join(run, [changed]).labels) == 2


def test_rows_that_a_hook_wrote_make_their_own_draw(tmp_path: Path) -> None:
    run = score(tmp_path, [["supported", "partial"]] * 40, Config(review_rate=0.3, seed=5))
    live = take_live(run)
    qids = {sentence.qid for sentence in live.draw.sentences}
    assert 0 < len(qids) < 40
    assert all(chosen(qid, 5, 0.3) for qid in qids)
    path = sheet(tmp_path, labelled(live, *["full"] * len(live.rows)))
    joined = join(run, [path])
    assert joined.draw.by == "answer"
    assert len(joined.labels) == 2 * len(qids)
    assert read_draw(run, joined.draw.draw) == joined.draw


def test_a_file_that_is_none(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        join(run, [tmp_path / "none.csv"])


def live(place: Path, names: list[list[str]]) -> tuple[Path, Drawing]:
    place.mkdir()
    run = score(place, names, Config(review_rate=1.0))
    return run, take_live(run)


def test_rows_that_a_hook_wrote_for_another_run_like_it_are_refused(tmp_path: Path) -> None:
    # As of a nightly run: the same ids and settings, and other answers.
    _, monday = live(tmp_path / "monday", [["supported"], ["partial"]])
    tuesday, _ = live(tmp_path / "tuesday", [["supported", "partial"], ["partial", "supported"]])
    path = sheet(tmp_path, labelled(monday, "full", "full"))
    assert "2 rows cannot be right" in refused(tuesday, path)
    assert "is no row of this run" in refused(tuesday, path)


def test_a_hooks_draw_of_earlier_results_gives_way(tmp_path: Path) -> None:
    run, drawn = live(tmp_path / "run", [["supported"], ["partial"]])
    write_draw(run, drawn.draw.model_copy(update={"results": "0" * 64}))
    path = sheet(tmp_path, labelled(drawn, "full", "full"))
    assert len(join(run, [path]).labels) == 2
    kept = read_draw(run, drawn.draw.draw)
    assert kept is not None
    assert kept.results == drawn.draw.results


def test_one_answer_that_a_hook_was_handed(tmp_path: Path) -> None:
    run, drawn = live(tmp_path / "run", [["supported"]])
    joined = join(run, [sheet(tmp_path, labelled(drawn, "full"))])
    assert [each.probability for each in joined.draw.sentences] == [1.0]
