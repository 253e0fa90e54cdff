import json
from pathlib import Path

import pytest

from tests.commands import judge

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
OVERLAP = FIXTURES / "overlap.jsonl"


def test_the_fixture() -> None:
    ran = judge("overlap", OVERLAP)
    assert (ran.code, ran.err) == (0, "")
    assert "exact match" in ran.out
    assert "0.500" in ran.out
    assert "whether an answer is true or supported" in ran.out
    assert "without gold_answer: en-no-gold" in ran.out
    assert "|tok:zh|" in ran.out
    assert "made by overlap:v1|" in ran.out


def test_json_is_one_object() -> None:
    ran = judge("overlap", OVERLAP, "--json", "--worst", 1)
    assert ran.code == 0
    found = json.loads(ran.out)
    assert found["mean"]["exact_match"] == 0.5
    assert found["interval"]["exact_match"]["method"] == "wilson_effective"
    assert found["counts"]["without_gold_answer"] == 1
    assert [item["language"] for item in found["bleu"]] == ["other", "zh"]
    assert [item["qid"] for item in found["worst"]] == ["en-paraphrase"]
    assert found["worst"][0]["rougeL"] == 0
    assert found["signature"].startswith("overlap:")
    assert found["warnings"]


def test_rows_as_jsonl(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    assert judge("overlap", OVERLAP, "-o", out).code == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["qid"] for row in rows][:2] == ["en-same", "en-mat"]
    assert rows[1]["rouge1_recall"] == pytest.approx(5 / 6)
    assert rows[-1]["unmeasured"] == "no_gold_answer"
    assert rows[-1]["rouge1"] is None
    assert rows[1]["token_recall"] == 1
    assert rows[1]["language"] == "other"


BAD = {
    "nowhere.jsonl": "no such file",
    "broken.jsonl": "broken.jsonl, line 3: bad JSON",
    "duplicate_qid.jsonl": "field 'qid': ",
    "gb18030.csv": "not UTF-8",
    "aliases.jsonl": "field 'gold_answer': is missing or blank in every sample (3 read)",
}


def test_bad_lines_are_told_and_counted(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    text = '{"answer":"a","gold_answer":"a"}\r\n{"answer":\r\n\r\n{"gold_answer":"a"}\r\n'
    source.write_bytes(text.encode())
    ran = judge("overlap", source, "--skip-bad-lines", "--json")
    assert ran.code == 0
    assert "in.jsonl, line 2: bad JSON" in ran.err
    assert "in.jsonl, line 4, field 'answer': is missing" in ran.err
    counts = json.loads(ran.out)["counts"]
    assert (counts["samples"], counts["bad_lines"]) == (1, 2)
    assert any(line.endswith("left out: 2") for line in json.loads(ran.out)["warnings"])


def test_bad_input_is_one_clear_line(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    (tmp_path / "none.jsonl").touch()
    for name, message in BAD.items():
        ran = judge("overlap", FIXTURES / name, "-o", rows)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err
        assert ran.err.startswith("judge: ")
        assert ran.err.count("\n") == 1
    assert "none.jsonl: holds no sample" in judge("overlap", tmp_path / "none.jsonl").err
    assert judge("overlap", OVERLAP, "-o", tmp_path / "rows.txt").code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["none.jsonl"]
    ran = judge("overlap", OVERLAP, "--stem", "-o", rows)
    assert "|stem:porter|" in ran.out
    assert rows.read_text("utf-8-sig").startswith('"qid","unmeasured","language",')
