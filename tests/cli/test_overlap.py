import json
from pathlib import Path

import pytest

from tests.commands import judge, refused

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
OVERLAP = FIXTURES / "overlap.jsonl"


def test_json_is_one_object_and_rows_have_each_answer(tmp_path: Path) -> None:
    out, source = tmp_path / "rows.jsonl", tmp_path / "samples.jsonl"
    source.write_text(OVERLAP.read_text("utf-8") + "{}\n", "utf-8")
    ran = judge("overlap", source, "--json", "-o", out, "--skip-bad-lines")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert found["mean"]["exact_match"] == 0.5
    assert [item["language"] for item in found["bleu"]] == ["other", "zh"]
    assert found["warnings"][-1] == "lines that are no samples, and so left out: 1"
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["qid"] for row in rows][:2] == ["en-same", "en-mat"]
    assert rows[1]["rouge1"] == pytest.approx(10 / 11)
    assert (rows[-1]["language"], rows[-1]["rouge1"]) == (None, None)


def test_rows_without_a_known_ending_or_an_answer_to_compare_are_refused(tmp_path: Path) -> None:
    refused(judge("overlap", FIXTURES / "aliases.jsonl", "-o", tmp_path / "rows.csv"))
    refused(judge("overlap", OVERLAP, "-o", tmp_path / "rows.txt"))
    assert [*tmp_path.iterdir()] == []
