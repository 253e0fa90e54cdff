import json
from pathlib import Path

from tests.commands import judge

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SPARSE = FIXTURES / "recommend_sparse.jsonl"


def test_the_fixture() -> None:
    ran = judge("recommend", SPARSE)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Scenario: sparse\n")
    for said in ("1.5 relevant", "hit@20", "Not to be used here", "one-or-two", "-k 5,10,20"):
        assert said in ran.out


def test_the_rows_of_another_tool() -> None:
    ran = judge("recommend", FIXTURES / "shapes" / "deepeval_array.json")
    assert "judge: read as deepeval" in ran.err
    assert "with a gold answer: 100%" in ran.out


def test_json_is_one_object() -> None:
    ran = judge("recommend", SPARSE, "--json", "--corpus-size", 10_000)
    assert ran.code == 0
    found = json.loads(ran.out)
    assert (found["schema"], found["scenario"], found["lang"]) == (1, "sparse", "en")
    assert found["profile"]["relevant"] == 1.5
    assert found["profile"]["irrelevant"] == 9998.5
    assert [each["name"] for each in found["measures"]] == [
        "hit@10",
        "hit@20",
        "mrr",
        "precision@5",
    ]
    assert found["fired"][0]["rule"] == "sparse-few"


def test_the_costs_and_the_depth() -> None:
    balanced = ("recommend", FIXTURES / "recommend_balanced.jsonl", "--corpus-size", 75)
    assert "recall@100" in judge(*balanced, "--missed-cost", "high").out
    assert "precision@5" in judge(*balanced, "--noise-cost", "high").out
    assert "ndcg@3" in judge(*balanced, "--depth", 3).out
    assert "SQuAD" in judge(*balanced, "--task", "qa").out


def test_bad_lines_are_told_and_left_out(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"gold_evidence": ["a"], "retrieved": ["a"]}\n{"query":\n', "utf-8")
    assert judge("recommend", source).code == 2
    ran = judge("recommend", source, "--skip-bad-lines", "--json")
    assert ran.code == 0
    assert "in.jsonl, line 2: bad JSON" in ran.err
    assert json.loads(ran.out)["profile"]["samples"] == 1


WRONG: list[tuple[tuple[object, ...], str]] = [
    (("--missed-cost", "high", "--noise-cost", "high"), "which of the two costs more"),
    (("--missed-cost", "low"), "--missed-cost 'low': give one of normal, high"),
    (("--noise-cost", "HIGH"), "--noise-cost 'HIGH'"),
    (("--depth", 0), "--depth '0': give a whole number from 1 to 100000000"),
    (("--depth", -3), "--depth '-3': give"),
    (("--depth", 10**9), "--depth '1000000000': give"),
    (("--depth", "abc"), "--depth 'abc': give"),
    (("--depth=",), "--depth '': give"),
    (("--depth", "１０"), "--depth '１０': give"),
    (("--corpus-size", 0), "--corpus-size '0': give a whole number from 1 to 1000000000000000"),
    (("--corpus-size", "abc"), "--corpus-size 'abc': give"),
    (("--corpus-size", "1.5"), "--corpus-size '1.5': give"),
    (("--corpus-size", "1\x1b[31m"), "--corpus-size '1"),
    (("--corpus-size", 10**15 + 1), "--corpus-size '1000000000000001': give"),
    (("--corpus-size", "1" + "0" * 400), f"--corpus-size '1{'0' * 58}…': give"),
    (("--corpus-size", "9" * 5000), "…': give"),
    (("--corpus-size", 4), "--corpus-size 4: query 'zh-leave' alone has 5"),
    (("--task", "chat"), "--task 'chat': give one of qa, passage"),
    (("--lang", "fr"), "--lang 'fr'"),
    (("--json", "--markdown", "-"), "--json and --markdown -"),
    (("--markdown", ""), "name of the file to write is empty"),
    (("--markdown", SPARSE), "is the file that is read"),
    (("--markdown", FIXTURES), "is no file that could be replaced"),
]


def test_what_is_wrong_is_one_clear_line(tmp_path: Path) -> None:
    before = SPARSE.read_bytes()
    (tmp_path / "none.jsonl").touch()
    page = ("--markdown", tmp_path / "decision.md")
    bad: list[tuple[Path, tuple[object, ...], str]] = [
        *((SPARSE, words, message) for words, message in WRONG),
        (FIXTURES / "nowhere.jsonl", page, "no such file"),
        (FIXTURES / "broken.jsonl", page, "broken.jsonl, line 3: bad JSON"),
        (FIXTURES / "gb18030.csv", page, "not UTF-8"),
        (tmp_path / "none.jsonl", page, "none.jsonl: holds no sample"),
    ]
    for source, words, message in bad:
        ran = judge("recommend", source, *words)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err
        assert ran.err.startswith("judge: ")
        assert ran.err.count("\n") == 1
    assert SPARSE.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["none.jsonl"]


def test_the_decision_is_written_down_or_printed(tmp_path: Path) -> None:
    page = tmp_path / "decision.md"
    ran = judge("recommend", SPARSE, "--markdown", page, "--lang", "zh")
    assert str(page) in ran.out
    assert "## 主要指标" in page.read_text("utf-8")
    ran = judge("recommend", SPARSE, "--json", "--markdown", page)
    assert json.loads(ran.out)["scenario"] == "sparse"
    assert "## Primary" in page.read_text("utf-8")
    ran = judge("recommend", SPARSE, "--markdown", "-")
    assert ran.out.startswith("# Which measures fit this data\n")
    # Two of five have gold answers; of the other file none.
    assert "**correctness: fits** 2 of 5 samples" in ran.out
    assert "long answers have low correctness" in ran.out
    dense = judge("recommend", FIXTURES / "recommend_dense.jsonl", "--markdown", "-").out
    assert "**correctness: does not fit** needs answers, gold answers and chunks" in dense
    assert "correctness\\_recall" not in dense
