from pathlib import Path

import pytest

from judge.inputs.runs import hold
from judge.review.records import Agreement
from tests.commands import judge, line, write
from tests.review_runs import cells, fill, score

ANSWERS = [["supported", "unsupported", "partial"]] * 6 + [["supported_doubtful"]] * 6


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return score(tmp_path, ANSWERS)


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
    found = Agreement.model_validate_json((run / "agreement.json").read_bytes())
    assert (found.shared, found.reviewers) == (4, ("Ann", "李雷"))


def test_a_number_of_reviewers_writes_as_many_sheets(run: Path, tmp_path: Path) -> None:
    words = ("--reviewers", 2, "--overlap", 4)
    assert judge("review", "draw", run, "-o", tmp_path / "review.csv", *words).code == 0
    for n in (1, 2):
        assert {row["reviewer"] for row in cells(tmp_path / f"review-{n}.csv")} == {str(n)}


def test_what_cannot_be_drawn_is_told_and_nothing_is_written_over(
    run: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "review.csv"
    sheet.write_text("mine", encoding="utf-8")
    ran = judge("review", "draw", run, "-o", sheet)
    assert (ran.code, sheet.read_text(encoding="utf-8")) == (2, "mine")
    assert judge("review", "draw", run, "-o", sheet, "--force").code == 0
    for given in ("Ann,,Bo", "Ann,ann", ","):
        ran = judge("review", "draw", run, "-o", tmp_path / "x.csv", "--reviewers", given)
        assert ran.code == 2, given
    ran = judge("review", "draw", run, "-o", tmp_path / "x.csv", "--overlap", 3)
    assert ran.code == 2
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json*")}
    others = ("run/results.jsonl", "in.jsonl", "x.ods", "noext", "-", "run", "x" * 300 + ".csv")
    for name in others:
        ran = judge("review", "draw", run, "-o", tmp_path / name, "--force")
        assert ran.code == 2, name
        assert "Traceback" not in ran.err
    assert before == {path: path.read_bytes() for path in before}


def test_a_new_run_discards_what_came_of_the_old_and_keeps_what_people_said(place: Path) -> None:
    write(place / "in.jsonl", [line("1", "The canteen opens at seven.")])
    for step in ("score in.jsonl -o run", "review draw run -o review.csv"):
        assert judge(*step.split()).code == 0
    fill(Path("review.csv"), "full")
    assert judge("review", "import", "run", "review.csv").code == 0
    made = {path.name for path in Path("run").glob("agreement.*")}
    assert made == {"agreement.json", "agreement.html"}
    assert judge("score", "in.jsonl", "-o", "run", "--force").code == 0
    assert not list(Path("run").glob("agreement.*"))
    assert len(list(Path("run", "review").glob("*.labels.jsonl"))) == 1


def test_a_run_being_written_is_left_alone(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    with hold(run):
        ran = judge("review", "draw", run, "-o", sheet)
    assert ran.code == 2
    assert ran.err.startswith("judge: ")
