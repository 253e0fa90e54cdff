"""Worksheets: labels as a reviewer gives them, and what an import reads of them."""

import csv
import shutil
from pathlib import Path

import pytest

from judge import review
from judge.errors import InputError, RunError
from judge.review.labels import import_labels
from judge.review.worksheet import LabelEntry, Questions, Worksheet, draw_to_label, worksheets
from tests.commands import cramped, judge
from tests.review_runs import cells, score

NAMES = ("supported", "supported", "unsupported", "unsupported", "partial", "supported")


def test_labels_of_the_page_are_imported_like_sheets(place: Path) -> None:
    run = score(place, [NAMES[:3], NAMES[3:]])
    assert "judge label" in judge("review", "import", run).err
    draw, fresh = draw_to_label(run)
    assert (fresh, draw_to_label(run)) == (True, (draw, False))
    review.draw(run, "review.csv", size=60)
    rows = cells(Path("review.csv"))
    ids = [row["review_id"] for row in rows]
    assert ids == [each.review_id for each in draw.sentences]
    labels = {
        "Ann": ("full", "full", "none", "contradicted", "no_claim", ""),
        " 李 雷/../x ": ("full", "partial", "", "", "", ""),
    }
    both = []
    for name, words in labels.items():
        sheet = Worksheet(run, draw, name)
        for row, word in zip(rows, words, strict=True):
            sheet.put(row["review_id"], LabelEntry(label="contradicted"))
            sheet.put(row["review_id"], LabelEntry(label=word, skip=not word))
            both.append(row | {"human_support": word, "reviewer": name})
        assert sheet.path.parent == run / "review"
        assert [each["human_support"] for each in cells(sheet.path)] == list(words)
    with Path("filled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(both)
    copy = Path(shutil.copytree(run, "copy"))
    imported = judge("review", "import", run)
    assert (imported.code, "skipped by reviewers: 5" in imported.out) == (0, True)
    found = import_labels(copy, ["filled.csv"]).agreement
    assert found.reviewers == ("Ann", "李 雷/../x")
    for name in ("agreement.json", f"review/{draw.draw}.labels.jsonl"):
        assert (run / name).read_bytes() == (copy / name).read_bytes()

    # A later draw is what is read from then on.
    again = review.draw(run, "more.csv", size=5, seed=1).draw
    sheet = Worksheet(run, again, "ann")
    sheet.put(again.sentences[0].review_id, LabelEntry(label="full"))
    assert worksheets(run) == [sheet.path]


def test_a_question_shows_what_the_sheet_shows_and_the_best_passage(place: Path) -> None:
    run = score(place, [("supported", "unsupported", "unscored")])
    made = review.draw(run, "review.csv", size=3)
    questions = Questions(run, made.draw)
    for row in cells(Path("review.csv")):
        found = questions.of(row["review_id"])
        (chunk,) = found.evidence
        claim = found.claim
        assert f"{claim.before}▶{claim.part}◀{claim.after}" == row["answer"]
        assert f"[1] a\n{chunk.before}{chunk.part}{chunk.after}" == row["chunks"]
        assert (found.query, claim.part, chunk.part) == (row["query"], *[row["sentence"]] * 2)


def test_two_at_work_on_one_worksheet_and_a_full_disk_lose_nothing(place: Path) -> None:
    run = score(place, [("supported", "unsupported", "partial")])
    draw, _ = draw_to_label(run)
    first, second, third = (each.review_id for each in draw.sentences)
    one, other = Worksheet(run, draw, "Ann"), Worksheet(run, draw, "ＡNN ")
    one.put(first, LabelEntry(label="full", note='=1+1, "quoted"\nand more'))
    other.put(second, LabelEntry(skip=True))
    both = one.entries()
    assert both == other.entries()
    with cramped(10), pytest.raises(RunError, match="cannot be written"):
        one.put(third, LabelEntry(label="none"))
    assert one.entries() == both
    assert [path.name for path in (run / "review").glob("*part*")] == []
    # What somebody changes in a spreadsheet is taken as a sheet of theirs would be.
    text = one.path.read_text(encoding="utf-8-sig").replace('"full"', '"No"')
    one.path.write_text(text, encoding="gb18030")
    one.put(third, LabelEntry(label="none"))
    assert [each.label for each in one.entries().values()] == ["No", "", "none"]
    one.path.write_text("nothing")
    with pytest.raises(InputError, match="review_id"):
        one.entries()
