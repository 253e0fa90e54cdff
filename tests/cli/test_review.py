import os
import subprocess
import sys
from pathlib import Path

import pytest

from judge.review.folder import read_agreement
from judge.review.sheet import BLIND
from tests.commands import judge
from tests.reviewed import cells, fill, score

ANSWERS = [["supported", "unsupported", "partial"]] * 6 + [["supported_doubtful"]] * 6


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return score(tmp_path, ANSWERS)


def test_the_sheet_is_blind_unless_open(run: Path, tmp_path: Path) -> None:
    assert judge("review", "draw", run, "-o", tmp_path / "blind.csv").code == 0
    rows = cells(tmp_path / "blind.csv")
    assert tuple(rows[0]) == BLIND
    assert all(row["human_support"] == "" for row in rows)
    assert f"▶{rows[0]['sentence']}◀" in rows[0]["answer"]
    assert judge("review", "draw", run, "-o", tmp_path / "open.csv", "--open").code == 0
    told = {row["judge_support"] for row in cells(tmp_path / "open.csv")}
    assert told == {"full", "partial", "contradicted"}


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


def test_what_cannot_be_drawn_is_told_and_nothing_is_written_over(
    run: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "review.csv"
    sheet.write_text("mine", encoding="utf-8")
    ran = judge("review", "draw", run, "-o", sheet)
    assert (ran.code, sheet.read_text(encoding="utf-8")) == (2, "mine")
    assert "--force" in ran.err
    assert judge("review", "draw", run, "-o", sheet, "--force").code == 0
    for given in ("0", "51", "9" * 30, "-2", "1.5", "Ann,,Bo", "Ann,Ann", "Ann,ann", ",", ""):
        ran = judge("review", "draw", run, "-o", tmp_path / "x.csv", "--reviewers", given)
        assert ran.code == 2, given
        assert "--reviewers" in ran.err
    ran = judge("review", "draw", run, "-o", tmp_path / "x.csv", "--overlap", 3)
    assert ran.code == 2
    assert "--overlap 3: one reviewer shares with none" in ran.err
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json*")}
    others = ("run/results.jsonl", "in.jsonl", "x.ods", "noext", "-", "run", "x" * 300 + ".csv")
    for name in others:
        ran = judge("review", "draw", run, "-o", tmp_path / name, "--force")
        assert ran.code == 2, name
        assert "Traceback" not in ran.err
    assert before == {path: path.read_bytes() for path in before}


def test_a_second_draw_comes_filled_in(run: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    judge("review", "draw", run, "-n", 12, "-o", first)
    fill(first, "none")
    assert judge("review", "import", run, first).code == 0
    plan = judge("review", "plan", run, "--width", 0.05)
    assert "sentences for ±0.05" in plan.out
    assert f"judge review draw {run} -n" in plan.out
    assert "spread learnt from 12 labelled sentences" in plan.out
    ran = judge("review", "draw", run, "-n", 24, "-o", second)
    assert "filled in with earlier labels: 12" in ran.out
    assert sum(row["human_support"] == "none" for row in cells(second)) == 12
    assert judge("review", "import", run, second).code == 0


def test_the_sheet_is_the_same_in_every_process(run: Path, tmp_path: Path) -> None:
    # This one, and another with other hashes of strings.
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    assert judge("review", "draw", run, "-o", here).code == 0
    words = ["review", "draw", str(run), "-o", str(there)]
    command = [sys.executable, "-c", "from judge.cli.app import main; main()", *words]
    env = os.environ | {"PYTHONHASHSEED": "1"}
    subprocess.run(command, check=True, env=env, capture_output=True)
    assert here.read_bytes() == there.read_bytes()
