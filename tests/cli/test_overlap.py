"""`judge overlap` and `judge recommend`: what they write, and what they refuse."""

import json
from pathlib import Path

import pytest

from tests.commands import judge, refused

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
OVERLAP, SPARSE = FIXTURES / "overlap.jsonl", FIXTURES / "recommend_sparse.jsonl"


def test_overlap_is_one_object_and_rows_have_each_answer(tmp_path: Path) -> None:
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


def test_advice_is_one_object() -> None:
    ran = judge("recommend", SPARSE, "--json", "--corpus-size", 10_000)
    assert ran.code == 0
    found = json.loads(ran.out)
    assert (found["schema"], found["scenario"]) == (1, "sparse")
    assert (found["profile"]["relevant"], found["profile"]["irrelevant"]) == (1.5, 9998.5)
    names = [each["name"] for each in found["measures"]]
    assert names == ["hit@10", "hit@20", "mrr", "precision@5"]
    assert found["fired"][0]["rule"] == "sparse-few"


def test_bad_lines_are_told_and_left_out(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"gold_evidence": ["a"], "retrieved": ["a"]}\n{"query":\n', "utf-8")
    assert judge("recommend", source).code == 2
    ran = judge("recommend", source, "--skip-bad-lines", "--json")
    assert (ran.code, json.loads(ran.out)["profile"]["samples"]) == (0, 1)
    assert "in.jsonl, line 2: bad JSON" in ran.err


WRONG: list[tuple[object, ...]] = [
    ("--missed-cost", "high", "--noise-cost", "high"),
    ("--missed-cost", "low"),
    *(("--depth", value) for value in (0, -3, 10**9, "abc", "", "１０")),
    *(("--corpus-size", value) for value in (0, "1.5", "1\x1b[31m", 10**15 + 1, "9" * 5000, 4)),
]


def test_what_is_wrong_is_one_clear_line() -> None:
    for words in WRONG:
        refused(judge("recommend", SPARSE, *words))
