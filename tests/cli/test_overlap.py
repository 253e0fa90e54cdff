import csv
import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from tests.commands import judge, write

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
    assert found["interval"]["exact_match"]["method"] == "wilson"
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


def test_rows_for_a_spreadsheet(tmp_path: Path) -> None:
    source = write(
        tmp_path / "in.jsonl",
        [
            {"qid": "=1+1", "answer": "a", "gold_answer": "a"},
            {"qid": "报,销", "answer": "a", "gold_answer": None},
        ],
    )
    out = tmp_path / "rows.csv"
    assert judge("overlap", source, "-o", out).code == 0
    assert out.read_bytes().startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(out.read_text("utf-8-sig"))))
    assert rows[0]["qid"] == "'=1+1"
    assert float(rows[0]["exact_match"]) == 1
    assert rows[1]["qid"] == "报,销"
    assert rows[1]["exact_match"] == ""
    assert not {"True", "False"} & {cell for row in rows for cell in row.values()}


def test_from_standard_input_zipped(monkeypatch: pytest.MonkeyPatch) -> None:
    zipped = io.BytesIO(gzip.compress(OVERLAP.read_bytes()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(zipped))
    ran = judge("overlap", "-", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["counts"]["samples"] == 7


def test_ragas_names(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"response": "Yes, it is.", "reference": "Yes it is"}])
    found = json.loads(judge("overlap", source, "--json").out)
    assert found["mean"]["exact_match"] == 1


def test_stems_are_said() -> None:
    assert "|stem:porter|" in judge("overlap", OVERLAP, "--stem").out


def test_the_seed_is_said() -> None:
    assert "|seed:3|" in judge("overlap", OVERLAP, "--seed", 3).out


BAD = {
    "nowhere.jsonl": "no such file",
    "broken.jsonl": "broken.jsonl, line 3: bad JSON",
    "duplicate_qid.jsonl": "field 'qid': ",
    "gb18030.csv": "not UTF-8",
    "aliases.jsonl": "field 'gold_answer': is missing or blank in every sample (3 read)",
}


@pytest.mark.parametrize(("name", "message"), BAD.items())
def test_bad_input_is_one_clear_line(name: str, message: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    ran = judge("overlap", FIXTURES / name, "-o", rows)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.startswith("judge: ")
    assert ran.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").touch()
    ran = judge("overlap", tmp_path / "none.jsonl")
    assert ran.code == 2
    assert "none.jsonl: holds no sample" in ran.err


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


@pytest.mark.parametrize("name", ["rows.txt", "rows"])
def test_an_output_of_no_known_kind(name: str, tmp_path: Path) -> None:
    ran = judge("overlap", OVERLAP, "-o", tmp_path / name)
    assert ran.code == 2
    assert name in ran.err


def test_the_samples_are_not_written_over(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(OVERLAP.read_bytes())
    assert judge("overlap", source, "-o", source).code == 2
    assert source.read_bytes() == OVERLAP.read_bytes()


def test_hostile_text_steers_no_terminal(tmp_path: Path) -> None:
    text = "[bold]x[/bold] \x1b[31mred\x07\u202e"
    source = write(tmp_path / "in.jsonl", [{"qid": text, "answer": text, "gold_answer": "报销"}])
    ran = judge("overlap", source)
    assert ran.code == 0
    assert "[bold]x[/bold] ␛[31mred␇" in ran.out
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
