from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from judge.errors import InputError, JudgeError, RunError
from judge.inputs.runs import read_summary
from judge.records import Support
from judge.review import import_labels
from judge.review.draws import SheetDraw, draw_rows, write_draw
from judge.review.labels import labels_of, read_labels
from judge.review.records import Agreement, Draw, Label
from judge.review.sheet import COLUMNS, SheetRow, write_sheet
from tests.draws import draw, row, stratum, verdict
from tests.review_runs import score

ANSWERS = [["supported", "unsupported"], ["supported", "partial"], ["supported"] * 4]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return score(tmp_path, ANSWERS)


@pytest.fixture
def drawing(run: Path) -> SheetDraw:
    drawing = draw_rows(run, size=8)
    write_draw(run, drawing.draw)
    return drawing


def sheet(place: Path, rows: Iterable[Mapping[str, str]], name: str = "review.csv") -> Path:
    path = place / name
    write_sheet(path, rows, COLUMNS)
    return path


def labelled(drawing: SheetDraw, *said: str, reviewer: str = "") -> list[dict[str, str]]:
    """The first rows of the draw, with these labels."""
    rows = zip(drawing.rows, said, strict=False)
    return [row | {"human_support": word, "reviewer": reviewer} for row, word in rows]


def imported(run: Path, *paths: Path, replace: bool = False) -> list[Label]:
    found = import_labels(run, paths, replace=replace)
    return read_labels(run, found.agreement.draw)


def refused(run: Path, *paths: Path) -> str:
    with pytest.raises(JudgeError) as error:
        import_labels(run, paths)
    assert not (run / "agreement.json").exists()
    return str(error.value)


def test_rows_in_any_order_are_matched_with_their_sentences(
    run: Path, drawing: SheetDraw, tmp_path: Path
) -> None:
    rows = labelled(drawing, "full", "部分", "不支持", "矛盾", "是", "否", "", "no_claim")
    rows[0]["human_note"] = "=sure, 确定\nindeed"
    rows[6]["human_note"] = "cannot tell"
    found = import_labels(run, [sheet(tmp_path, reversed(rows))], page=lambda *_: "<p>")
    assert (found.summary) == (read_summary(run))
    written = (run / "agreement.json").read_bytes()
    assert Agreement.model_validate_json(written) == found.agreement
    assert (run / "agreement.html").read_text() == "<p>"
    kept = {label.review_id: label for label in read_labels(run, found.agreement.draw)}
    said = [kept.get(row["review_id"]) for row in rows]
    supports = [label and label.support for label in said]
    full, partial, none = Support.FULL, Support.PARTIAL, Support.NONE
    expected = [full, partial, none, Support.CONTRADICTED, full, None, None, Support.NO_CLAIM]
    assert supports == expected
    assert said[6] is None
    assert [label.supported for label in said if label] == [True, *[False] * 3, True, *[False] * 2]
    assert said[0] is not None
    assert said[0].note == "=sure, 确定\nindeed"
    places = {(each.review_id, each.qid, each.sentence) for each in drawing.draw.sentences}
    assert {(x.review_id, x.qid, x.sentence) for x in kept.values()} < places
    # An import without a page removes the page of earlier labels.
    import_labels(run, [sheet(tmp_path, rows)])
    assert not (run / "agreement.html").exists()


def test_every_wrong_row_is_named(run: Path, drawing: SheetDraw, tmp_path: Path) -> None:
    rows = labelled(drawing, "full", "maybe", "full", "full", "none")
    rows[2]["review_id"] = rows[2]["review_id"][:-1] + "x"
    rows[3]["review_id"] = "r00000000-0123456789ab"
    rows[4]["review_id"] = ""
    rows.append(rows[0] | {"human_support": "partial"})
    path = sheet(tmp_path, rows)
    said = refused(run, path).splitlines()
    assert said[0] == "5 rows cannot be right, and nothing was imported:"
    wanted = {
        3: ["'maybe' is no label"],
        4: ["was not drawn here"],
        5: ["was not drawn here"],
        6: ["no review_id"],
        7: ["'partial' and in", "row 2 'full'", "fill in the column reviewer"],
    }
    for number, words in wanted.items():
        (line,) = (each for each in said if f"{path}, row {number}:" in each)
        assert all(word in line for word in words), line
    bad = [drawing.rows[0] | {"human_support": f"word{k}"} for k in range(53)]
    said = refused(run, sheet(tmp_path, bad)).splitlines()
    assert len(said) == 52
    assert said[-1].strip() == "… and 3 more"
    assert "no row has a label" in refused(run, sheet(tmp_path, drawing.rows))
    assert "no row of any draw" in refused(run, sheet(tmp_path, [{"human_support": "full"}]))


def test_two_labels_of_one_reviewer_must_agree(
    run: Path, drawing: SheetDraw, tmp_path: Path
) -> None:
    first = sheet(tmp_path, labelled(drawing, "full", reviewer="李雷"), "1.csv")
    second = sheet(tmp_path, labelled(drawing, "none", reviewer="Ann  B"), "2.csv")
    third = sheet(tmp_path, labelled(drawing, "none", reviewer="李雷"), "3.csv")
    said = refused(run, first, third)
    assert "both of reviewer '李雷'; keep one" in said
    assert "1 row cannot be right" in said
    assert {label.reviewer for label in imported(run, first, second)} == {"李雷", "Ann B"}


def test_rows_of_another_run_or_draw(run: Path, drawing: SheetDraw, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    stranger = score(tmp_path / "other", [["supported"] * 6])
    path = sheet(tmp_path, labelled(drawing, "full"))
    said = refused(stranger, path)
    assert f"{path}: has no row of any draw" in said
    assert "its draws: none" in said
    # No cell names a file.
    (tmp_path / "draw.json").write_text(drawing.draw.model_dump_json(), encoding="utf-8")
    for name in ("../../draw", "r../../..", "/etc/passwd", "r0000000"):
        rows = [row | {"review_id": f"{name}-0"} for row in labelled(drawing, "full")]
        assert "no row of any draw" in refused(run, sheet(tmp_path, rows)), name
    other = draw_rows(run, size=8, seed=1)
    write_draw(run, other.draw)
    both = [*labelled(drawing, "full"), *labelled(other, "full")]
    assert "has rows of the draws" in refused(run, sheet(tmp_path, both))
    path = sheet(tmp_path, labelled(drawing, "full"))
    results = run / "results.jsonl"
    results.write_bytes(results.read_bytes().replace(b"0.99", b"0.98"))
    assert "was scored again after draw" in refused(run, path)


def test_earlier_labels_are_dropped_only_on_request(
    run: Path, drawing: SheetDraw, tmp_path: Path
) -> None:
    first = sheet(tmp_path, labelled(drawing, "full", "full", reviewer="Ann"), "1.csv")
    assert len(imported(run, first)) == 2
    second = sheet(tmp_path, labelled(drawing, "none", reviewer="Bo"), "2.csv")
    with pytest.raises(RunError, match=r"2 labels imported earlier \(Ann\)"):
        imported(run, second)
    changed = sheet(tmp_path, labelled(drawing, "full", "none", reviewer="Ann"), "1.csv")
    assert len(imported(run, changed)) == 2
    assert len(imported(run, first, second)) == 3
    assert len(imported(run, second, replace=True)) == 1


@pytest.fixture
def drawn() -> Draw:
    rows = [
        row("a", verdict("full"), text="It opens at 7.50, 每天。"),
        row("b", verdict("none"), text="It closes at three."),
    ]
    return draw([stratum("supported", 2, 1, 2)], rows)


def filled(name: str, said: str, number: int = 2, **cells: str) -> SheetRow:
    return SheetRow(Path("s.csv"), number, {"review_id": name, "human_support": said, **cells})


def problems(drawn: Draw, *rows: SheetRow) -> str:
    with pytest.raises(InputError) as error:
        labels_of(drawn, rows)
    return str(error.value)


def test_texts_sorted_without_their_ids_are_refused(drawn: Draw) -> None:
    a, b = (sentence.review_id for sentence in drawn.sentences)
    rows = [
        filled(a, "full", 2, sentence="It closes at three."),
        filled(b, "none", 3, sentence="It opens at 7.50, 每天。"),
    ]
    said = problems(drawn, *rows)
    assert "2 rows cannot be right" in said
    assert f"s.csv, row 2: holds another sentence than {a!r} was drawn for" in said
    # What spreadsheets and old code pages do to a text makes no other text of it.
    same = ["", "It opens at 7.50, 每天。", "'It opens\nat 7.50, 每天｡"]
    for text in same:
        assert len(labels_of(drawn, [filled(a, "full", sentence=text)])) == 1, text
    for text in [" it opens at 7.50 每天 "]:
        assert "another sentence" in problems(drawn, filled(a, "full", sentence=text))
    long = row("c", verdict("full"), text="word " * 8000)
    cut = long.text[:29_999] + "…"
    drawn = drawn.model_copy(update={"sentences": (long,)})
    assert len(labels_of(drawn, [filled(long.review_id, "full", sentence=cut)])) == 1


def test_one_reviewer_by_any_spelling(drawn: Draw) -> None:
    name = drawn.sentences[0].review_id
    first = filled(name, "full", 2, reviewer="Ann")
    for other in ("ANN", "Ａnn", "  An\u200bn "):
        assert "both of reviewer" in problems(drawn, first, filled(name, "none", reviewer=other))
        labels = labels_of(drawn, [first, filled(name, "yes", 3, reviewer=other)])
        assert [label.reviewer for label in labels] == ["Ann"]
