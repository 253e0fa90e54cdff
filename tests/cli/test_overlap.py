import json
from pathlib import Path

import pytest

from tests.commands import judge

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
OVERLAP = FIXTURES / "overlap.jsonl"


def test_json_is_one_object_and_rows_have_each_answer(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    ran = judge("overlap", OVERLAP, "--json", "--worst", 1, "-o", out)
    assert ran.code == 0
    found = json.loads(ran.out)
    assert found["mean"]["exact_match"] == 0.5
    assert [item["language"] for item in found["bleu"]] == ["other", "zh"]
    assert [item["qid"] for item in found["worst"]] == ["en-paraphrase"]
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["qid"] for row in rows][:2] == ["en-same", "en-mat"]
    assert rows[1]["rouge1"] == pytest.approx(10 / 11)
    assert (rows[-1]["unmeasured"], rows[-1]["rouge1"]) == ("no_gold_answer", None)


def test_bad_input_is_one_clear_line_and_leaves_no_rows(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    for name in ("nowhere.jsonl", "broken.jsonl", "duplicate_qid.jsonl", "aliases.jsonl"):
        ran = judge("overlap", FIXTURES / name, "-o", rows)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("judge: ")
        assert ran.err.count("\n") == 1
    assert judge("overlap", OVERLAP, "-o", tmp_path / "rows.txt").code == 2
    assert [*tmp_path.iterdir()] == []
