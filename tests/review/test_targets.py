"""Correctness drawn for people: its two halves, each held against the other text."""

import json
from pathlib import Path

import pytest

from judge.review.sheet import COMPARED, write_sheet
from tests.commands import judge
from tests.reviewed import cells, fill, score

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "correctness.jsonl"
KNOWN = {each["qid"]: each for each in map(json.loads, FIXTURE.read_text("utf-8").splitlines())}
HALVES = ("precision", "recall")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fixture, scored by similarity."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    ran = judge("score", FIXTURE, "-o", tmp_path / "run", "--correctness")
    assert ran.code == 0, ran.err
    return tmp_path / "run"


def right(sheet: str) -> None:
    """Label every row: a claim of a half right answer is full if the other text contains it."""
    rows = cells(Path(sheet))
    known = {each["query"]: each for each in KNOWN.values()}
    for row in rows:
        half, other = ("precision", "reference") if "▶" in row["answer"] else ("recall", "answer")
        value = known[row["query"]][f"known_{half}"]
        same = row["sentence"] in row[other] or row[other] in row["sentence"]
        row["human_support"] = "full" if value == 1 or (value and same) else "none"
        row["asked"] = row["question"]
    write_sheet(sheet, rows, COMPARED)


def test_both_halves_are_drawn_into_one_sheet_and_corrected(run: Path) -> None:
    ran = judge("review", "draw", run, "--for", "correctness", "-n", 100, "-o", "c.csv")
    assert ran.code == 0, ran.err
    rows = cells(Path("c.csv"))
    assert len(rows[0]) == len(COMPARED)
    for row in rows:
        precise = row["question"] == "Does the reference support what the answer says?"
        own, other = ("answer", "reference") if precise else ("reference", "answer")
        assert f"▶{row['sentence']}◀" in row[own]
        assert "▶" not in row[other]
        assert row["human_support"] == ""
    right("c.csv")
    ran = judge("review", "import", run, "c.csv")
    assert ran.code == 0, ran.err
    # The answers with both halves known by hand; an abstention has none.
    compared = [each for each in KNOWN.values() if each["known_precision"] is not None]
    means = {}
    for half in HALVES:
        found = json.loads((run / f"agreement_{half}.json").read_text("utf-8"))
        assert (run / f"agreement_{half}.html").exists()
        assert found["target"] == f"correctness_{half}"
        score = found["corrected"][0]
        assert (score["name"], score["average"]) == (f"correctness_{half}", "macro")
        means[half] = score["corrected"]
        known = [each[f"known_{half}"] for each in compared]
        assert score["corrected"] == pytest.approx(sum(known) / len(known))
        raw = json.loads((run / "summary.json").read_text("utf-8"))["correctness"][half]["macro"]
        assert score["raw"] == raw
        assert found["signature"].startswith("similarity:lexical")
        assert {"full"} <= {each["label"] for each in found["accuracy"]}
    both = 2 * means["precision"] * means["recall"] / sum(means.values())
    assert f"{both:.3f}" in ran.out
    assert not (run / "agreement.json").exists()
    # A new draw is filled in with these labels; a draw for faithfulness is not.
    ran = judge("review", "draw", run, "--for", "correctness", "-n", 12, "-o", "again.csv")
    assert "filled in with earlier labels: 12" in ran.out
    ran = judge("review", "draw", run, "-n", 12, "-o", "faithful.csv")
    assert "filled in" not in ran.out
    assert "no draw has labels" in judge("review", "promote", run, "-o", "golden.jsonl").err


def test_where_nothing_was_compared_the_draw_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = score(tmp_path, [["supported"]])
    ran = judge("review", "draw", run, "-o", "c.csv", "--for", "correctness")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "score with --correctness" in ran.err
    assert not Path("c.csv").exists()


def test_replace_lets_go_of_a_half_that_the_sheets_label_nowhere(run: Path) -> None:
    assert judge("review", "draw", run, "--for", "correctness", "-n", 10, "-o", "c.csv").code == 0
    fill(Path("c.csv"), "none")
    assert judge("review", "import", run, "c.csv").code == 0
    rows = cells(Path("c.csv"))
    for row in rows:
        row["asked"] = row["question"]
        if "▶" in row["reference"]:
            row.update(human_support="", human_note="which of them?")
    write_sheet("c.csv", rows, COMPARED)
    ran = judge("review", "import", run, "c.csv")
    assert (ran.code, "5 labels imported earlier" in ran.err) == (2, True)
    assert (run / "agreement_recall.json").exists()
    ran = judge("review", "import", run, "c.csv", "--replace")
    assert ran.code == 0, ran.err
    assert "5 rows have a note and no label" in ran.out
    found = sorted(path.name for path in run.glob("agreement*"))
    assert found == ["agreement_precision.html", "agreement_precision.json"]
    ran = judge("review", "draw", run, "--for", "correctness", "-n", 40, "-o", "again.csv")
    assert "filled in with earlier labels: 5\n" in ran.out
