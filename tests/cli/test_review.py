import csv
import json
from pathlib import Path

import pytest

from judge.runs.review import read_agreement
from tests.commands import judge
from tests.reviewed import score

ANSWERS = [["supported", "unsupported", "partial"]] * 6 + [["supported_doubtful"]] * 6


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return score(tmp_path, ANSWERS)


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, word: str, header: str = "human_support") -> None:
    rows = cells(path)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | {header: word} for row in rows)


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


def test_the_sheet_is_blind_unless_open(run: Path, tmp_path: Path) -> None:
    assert judge("review", "draw", run, "-o", tmp_path / "blind.csv").code == 0
    rows = cells(tmp_path / "blind.csv")
    assert list(rows[0]) == [
        "review_id",
        "query",
        "answer",
        "sentence",
        "chunks",
        "human_support",
        "human_note",
        "reviewer",
    ]
    assert all(row["human_support"] == "" for row in rows)
    assert f"▶{rows[0]['sentence']}◀" in rows[0]["answer"]
    assert judge("review", "draw", run, "-o", tmp_path / "open.csv", "--open").code == 0
    told = {row["judge_support"] for row in cells(tmp_path / "open.csv")}
    assert told == {"full", "partial", "contradicted"}


def test_chinese_headers_are_read_back(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    assert judge("review", "draw", run, "-o", sheet, "--lang", "zh").code == 0
    assert "编号" in cells(sheet)[0]
    fill(sheet, "支持", "人工判断")
    assert judge("review", "import", run, sheet, "--lang", "zh").code == 0
    assert 'lang="zh' in (run / "agreement.html").read_text(encoding="utf-8")


def test_several_reviewers_share_rows(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    words = ("-n", 10, "--reviewers", "Ann,李雷", "--overlap", 4)
    assert judge("review", "draw", run, "-o", sheet, *words).code == 0
    first, second = (tmp_path / f"review-{n}.csv" for n in (1, 2))
    assert {row["reviewer"] for row in cells(first)} == {"Ann"}
    assert {row["reviewer"] for row in cells(second)} == {"李雷"}
    ids = [{row["review_id"] for row in cells(path)} for path in (first, second)]
    assert len(ids[0] & ids[1]) == 4
    assert len(ids[0] | ids[1]) == 10
    fill(first, "full")
    fill(second, "none")
    assert judge("review", "import", run, first, second).code == 0
    found = read_agreement(run)
    assert (found.shared, found.reviewers) == (4, ("Ann", "李雷"))


def test_by_answer(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    ran = judge("review", "draw", run, "-n", 12, "--by", "answer", "-o", sheet)
    assert "12 of 12 answers, 24 sentences" in ran.out
    fill(sheet, "full")
    assert judge("review", "import", run, sheet).code == 0
    assert read_agreement(run).by == "answer"


def test_plan(run: Path) -> None:
    ran = judge("review", "plan", run, "--width", 0.1)
    assert ran.code == 0
    assert "sentences for ±0.1" in ran.out
    assert f"judge review draw {run} -n" in ran.out


def test_a_sheet_that_is_there_is_not_replaced_unasked(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    sheet.write_text("mine", encoding="utf-8")
    ran = judge("review", "draw", run, "-o", sheet)
    assert (ran.code, sheet.read_text(encoding="utf-8")) == (2, "mine")
    assert "--force" in ran.err
    assert judge("review", "draw", run, "-o", sheet, "--force").code == 0


def test_a_bad_row_imports_nothing(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    judge("review", "draw", run, "-o", sheet)
    fill(sheet, "perhaps")
    ran = judge("review", "import", run, sheet)
    assert ran.code == 2
    assert "row 2: human_support 'perhaps' is no label" in ran.err
    assert not (run / "agreement.json").exists()
    assert not list((run / "review").glob("*.labels.jsonl"))


@pytest.mark.parametrize("given", ["0", "51", "Ann,,Bo", "Ann,Ann", ","])
def test_reviewers_that_cannot_be(run: Path, tmp_path: Path, given: str) -> None:
    ran = judge("review", "draw", run, "-o", tmp_path / "x.csv", "--reviewers", given)
    assert ran.code == 2
    assert "--reviewers" in ran.err


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
