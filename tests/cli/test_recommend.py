import json
from pathlib import Path

from tests.commands import judge, refused

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SPARSE = FIXTURES / "recommend_sparse.jsonl"


def test_json_is_one_object() -> None:
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
