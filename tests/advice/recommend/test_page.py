from importlib.metadata import version

from judge.advice.recommend.advising import recommend_measures
from judge.advice.recommend.page import page
from judge.records import Sample

ONE = Sample(qid="q", retrieved=("a", "b"), gold_evidence=("b",))


def test_english() -> None:
    text = page(recommend_measures([ONE]), "samples.jsonl")
    lines = text.splitlines()
    assert lines[0] == "# Which measures fit this data"
    assert lines[2] == f"for samples.jsonl, by judge {version('judge')}"
    assert lines[4] == "## Scenario: sparse"
    assert "- **hit@10** whether anything relevant is found at all (one-or-two)" in lines
    assert lines[-3:] == ["```bash", "judge retrieval samples.jsonl -k 5,10,20", "```"]
    assert text.endswith("\n")
    assert "\n\n\n" not in text


def test_chinese() -> None:
    text = page(recommend_measures([ONE], lang="zh"), "样本.jsonl")
    assert text.startswith("# 哪些指标适合这份数据\n\n数据：样本.jsonl；")
    assert "- **mrr** 第一个相关片段排得多靠前（one-or-two）\n" in text


def test_a_name_makes_no_markup_of_its_own() -> None:
    text = page(recommend_measures([ONE]), "'a_b*\n```\n# <b>.jsonl'")
    assert "for 'a\\_b\\* \\`\\`\\` \\# \\<b\\>.jsonl', by" in text
    assert text.count("\n```") == 2
    assert [line for line in text.splitlines() if line.startswith("# ")] == [
        "# Which measures fit this data"
    ]


def test_a_bar_in_a_name_parts_no_cells() -> None:
    assert "for 'a\\|b.jsonl', by" in page(recommend_measures([ONE]), "'a|b.jsonl'")


def test_without_measures_there_is_no_command() -> None:
    text = page(recommend_measures([Sample(qid="q")]), "a")
    assert "```" not in text
