import io
import json
import sys
from pathlib import Path

import pytest

from tests.commands import judge, write

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SPARSE = FIXTURES / "recommend_sparse.jsonl"


def test_the_fixture() -> None:
    ran = judge("recommend", SPARSE)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Scenario: sparse\n")
    for said in ("1.5 relevant", "hit@20", "Not to be used here", "one-or-two", "-k 5,10,20"):
        assert said in ran.out


def test_chinese() -> None:
    ran = judge("recommend", FIXTURES / "recommend_dense.jsonl", "--lang", "zh")
    assert ran.code == 0
    assert ran.out.startswith("情形：密集（dense）\n")
    assert "系统之差" in ran.out


@pytest.mark.parametrize(
    ("lang", "fits", "said"),
    [
        ("en", "**correctness: fits** 2 of 5 samples", "long answers have low correctness"),
        ("zh", "**correctness：适用** 5 个样本中有 2 个", "参考答案短而答案长时"),
    ],
)
def test_gold_answers_call_for_correctness(lang: str, fits: str, said: str) -> None:
    out = judge("recommend", SPARSE, "--markdown", "-", "--lang", lang).out
    assert fits in out
    assert "judge score --correctness" in out
    assert said in out


def test_without_gold_answers_correctness_does_not_fit() -> None:
    out = judge("recommend", FIXTURES / "recommend_dense.jsonl", "--markdown", "-").out
    assert "**correctness: does not fit** needs answers, gold answers and chunks" in out
    assert "correctness\\_recall" not in out


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
    balanced = FIXTURES / "recommend_balanced.jsonl"
    assert "recall@100" in judge("recommend", balanced, "--missed-cost", "high").out
    assert "precision@5" in judge("recommend", balanced, "--noise-cost", "high").out
    assert "ndcg@3" in judge("recommend", balanced, "--depth", 3).out
    assert "SQuAD" in judge("recommend", balanced, "--task", "qa").out


@pytest.mark.parametrize(("lang", "said"), [("en", "## Primary"), ("zh", "## 主要指标")])
def test_the_decision_is_written_down(tmp_path: Path, lang: str, said: str) -> None:
    page = tmp_path / "decision.md"
    ran = judge("recommend", SPARSE, "--markdown", page, "--lang", lang)
    assert ran.code == 0
    assert str(page) in ran.out
    assert said in page.read_text("utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["decision.md"]


def test_the_decision_on_standard_output() -> None:
    ran = judge("recommend", SPARSE, "--markdown", "-")
    assert ran.code == 0
    assert ran.out.startswith("# Which measures fit this data\n")


def test_json_beside_a_page(tmp_path: Path) -> None:
    page = tmp_path / "decision.md"
    ran = judge("recommend", SPARSE, "--json", "--markdown", page)
    assert json.loads(ran.out)["scenario"] == "sparse"
    assert page.is_file()


def test_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SPARSE.read_bytes())))
    ran = judge("recommend", "-", "--json")
    assert json.loads(ran.out)["profile"]["samples"] == 5


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


def test_the_largest_corpus_and_depth() -> None:
    ran = judge("recommend", SPARSE, "--corpus-size", 10**15, "--depth", 10**8, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["wishes"]["corpus_size"] == 10**15


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_what_is_wrong_is_one_clear_line(words: tuple[object, ...], message: str) -> None:
    before = SPARSE.read_bytes()
    ran = judge("recommend", SPARSE, *words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.startswith("judge: ")
    assert ran.err.count("\n") == 1
    assert SPARSE.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.jsonl", "no such file"),
        ("broken.jsonl", "broken.jsonl, line 3: bad JSON"),
        ("gb18030.csv", "not UTF-8"),
    ],
)
def test_bad_input_leaves_no_page(name: str, message: str, tmp_path: Path) -> None:
    ran = judge("recommend", FIXTURES / name, "--markdown", tmp_path / "decision.md")
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_no_sample_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").touch()
    ran = judge("recommend", tmp_path / "none.jsonl")
    assert ran.code == 2
    assert "none.jsonl: holds no sample" in ran.err


def test_the_name_of_a_file_steers_no_terminal(tmp_path: Path) -> None:
    source = write(tmp_path / "a\x1b[31m b.jsonl", [{"gold_evidence": ["a"], "retrieved": ["b"]}])
    ran = judge("recommend", source)
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "b.jsonl' -k" in ran.out


def test_samples_without_gold_hear_of_the_other_families(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"answer": "好。", "contexts": ["好。"]}])
    ran = judge("recommend", source)
    assert ran.code == 0
    assert "Scenario: not known" in ran.out
    assert "faithfulness: fits" in ran.out
