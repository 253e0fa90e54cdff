import csv
import json
from pathlib import Path

import pytest

from judge.files.folder import hold
from judge.review.folder import read_agreement
from tests.commands import judge
from tests.reviewed import cells, fill, score

ANSWERS = [["supported", "unsupported", "partial"]] * 6 + [["supported_doubtful"]] * 6


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return score(tmp_path, ANSWERS)


def test_the_loop_closes(run: Path, tmp_path: Path) -> None:
    drawn = judge("review", "draw", run, "-n", 24, "-o", tmp_path / "review.csv")
    assert drawn.code == 0, drawn.err
    assert "24 of 24 sentences" in drawn.out
    fill(tmp_path / "review.csv", "full")
    ran = judge("review", "import", run, tmp_path / "review.csv")
    assert ran.code == 0, ran.err
    agreement = read_agreement(run)
    assert {score.corrected for score in agreement.corrected} == {1.0}
    assert agreement.labels == 24
    assert "100" in ran.out or "1.000" in ran.out
    assert "<html" in (run / "agreement.html").read_text(encoding="utf-8")


def test_a_new_run_discards_what_came_of_the_old_and_keeps_what_people_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = {
        "qid": "1",
        "answer": "It opens at seven.",
        "chunks": [{"chunk_id": "a", "text": "It opens at seven."}],
    }
    (tmp_path / "in.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert judge("score", "in.jsonl", "-o", "run").code == 0
    assert judge("review", "draw", "run", "-o", "review.csv").code == 0
    fill(tmp_path / "review.csv", "full")
    assert judge("review", "import", "run", "review.csv").code == 0
    assert (tmp_path / "run" / "agreement.json").exists()
    assert judge("score", "in.jsonl", "-o", "run", "--force").code == 0
    assert not (tmp_path / "run" / "agreement.json").exists()
    assert not (tmp_path / "run" / "agreement.html").exists()
    assert len(list((tmp_path / "run" / "review").glob("*.labels.jsonl"))) == 1


def test_import_tells_of_notes_without_a_label(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    judge("review", "draw", run, "-o", sheet)
    rows = cells(sheet)
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | {"human_support": "full"} for row in rows[:-2])
        writer.writerows(row | {"human_note": "none - see page 3"} for row in rows[-2:])
    ran = judge("review", "import", run, sheet)
    assert ran.code == 0
    assert "2 rows have a note and no label" in ran.out


def test_findings_of_other_labels_do_not_outlive_them(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    judge("review", "draw", run, "-o", sheet)
    fill(sheet, "full")
    assert judge("review", "import", run, sheet).code == 0
    (labels,) = (run / "review").glob("*.labels.jsonl")
    labels.unlink()
    labels.mkdir()  # nothing can be written there
    fill(sheet, "none")
    assert judge("review", "import", run, sheet).code == 2
    labels.rmdir()
    labels.with_name("x").write_text("")
    assert judge("review", "import", run, sheet).code == 0


def test_a_run_being_written_is_left_alone(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    with hold(run):
        ran = judge("review", "draw", run, "-o", sheet)
    assert ran.code == 2
    assert "another command is writing here" in ran.err
