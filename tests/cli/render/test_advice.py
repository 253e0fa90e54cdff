import re
from importlib.metadata import version

import pytest

from judge.advice.recommend import recommend_measures
from judge.advice.records import Advice, Wishes
from judge.cli.render.advice import command, markdown_page, print_advice
from judge.messages import Lang
from judge.records import Sample
from tests.paged import paged

RANKED = tuple(f"x{number}" for number in range(9))
ONE = Sample(qid="q", retrieved=RANKED, gold_evidence=("x3",))
MANY = Sample(qid="m", retrieved=RANKED, gold_evidence=RANKED[:8])


def sections(advice: Advice) -> dict[str, list[str]]:
    """By heading, the items of the page."""
    found = re.split(r"^## ", markdown_page(advice, "in.jsonl"), flags=re.MULTILINE)[1:]
    parted = (section.splitlines() for section in found)
    return {head: [line[2:] for line in rest if line[:2] == "- "] for head, *rest in parted}


def read(sample: Sample, lang: Lang = "en", **wishes: object) -> dict[str, list[str]]:
    return sections(recommend_measures([sample], Wishes.model_validate(wishes), lang))


def printed(lang: Lang = "en", width: int = 60, written: str | None = None) -> str:
    advice = recommend_measures([ONE], lang=lang)
    return paged(lambda page: print_advice(advice, "'a b.jsonl'", page, written), width)


def test_the_page_in_english() -> None:
    text = markdown_page(recommend_measures([ONE]), "samples.jsonl")
    lines = text.splitlines()
    assert lines[0] == "# Which measures fit this data"
    assert lines[2] == f"for samples.jsonl, by judge {version('judge')}"
    assert lines[-3:] == ["```bash", "judge retrieval samples.jsonl -k 5,10,20", "```"]
    assert text.endswith("\n")
    assert "\n\n\n" not in text
    found = read(ONE)
    assert [*found] == [
        "Scenario: sparse",
        "Primary",
        "Secondary",
        "Not to be used here",
        "Beyond retrieval",
        "Worth knowing",
        "The data",
        "Rules that fired",
        "To measure it",
    ]
    assert found["Scenario: sparse"] == [
        "a query has 1 relevant in the median, and at most 5 is little to find"
    ]
    assert found["Secondary"][1] == (
        "**precision@5** how much of what is read is relevant; "
        "at most 0.2 for the median query (one-or-two)"
    )
    assert "irrelevant a query, median: 8" in found["The data"]
    needs = "needs answers and gold answers (judge overlap)"
    assert found["Beyond retrieval"][0] == f"**overlap: does not fit** {needs}"


def test_the_page_in_chinese() -> None:
    found = read(ONE, "zh", depth=3, missed_cost="high", corpus_size=1000, task="qa")
    assert "情形：稀疏（sparse）" in found
    assert found["主要指标"][0] == "**hit@3** 究竟有没有找到相关片段（depth-missed-one）"
    asked = "要求：漏检代价高；只看前 3 个结果；待检索片段 1,000 个；--task qa"
    assert asked in found["数据概况"]
    assert markdown_page(recommend_measures([ONE], lang="zh"), "样本.jsonl").startswith(
        "# 哪些指标适合这份数据\n\n数据：样本.jsonl；"
    )


def test_what_depends_on_the_data() -> None:
    # 31 with one relevant, 29 with twenty: over all, precision@5 can be .587.
    twenty = Sample(qid="m", retrieved=RANKED, gold_evidence=[f"y{n}" for n in range(20)])
    for lang, said in (("en", "at most 0.2 for the median query"), ("zh", "中位数问题至多 0.2")):
        advice = recommend_measures([ONE] * 31 + [twenty] * 29, lang="zh" if lang == "zh" else "en")
        assert markdown_page(advice, "a").count(said) == 1
    left_out = "queries of which gold says that nothing is relevant (left out): 1"
    none = Sample(qid="n", retrieved=RANKED, gold_evidence=())
    assert left_out in sections(recommend_measures([ONE, none]))["The data"]
    assert not any("left out" in line for line in read(ONE)["The data"])
    assert read(MANY, corpus_size=9)["Supplementary"][0].startswith("**ndcg@10, between systems** ")
    assert read(MANY, "zh", corpus_size=9)["补充指标"][0].startswith("**ndcg@10（系统之差）** ")


def test_without_a_scenario_the_reader_is_sent_on() -> None:
    found = read(Sample(qid="q", retrieved=("x",)), noise_cost="high")
    told = "so no measure of retrieval is advised; why, stands below"
    assert found["Scenario: not known"] == [told]
    assert "Primary" not in found
    assert found["Worth knowing"][0].startswith("Nothing says what is relevant")
    assert "asked for: noise cost high" in found["The data"]
    assert "```" not in markdown_page(recommend_measures([Sample(qid="q")]), "a")
    assert command(recommend_measures([Sample(qid="q")]), "a") is None


def test_a_name_makes_no_markup_of_its_own() -> None:
    text = markdown_page(recommend_measures([ONE]), "'a_b*\n```\n# <b>|.jsonl'")
    assert "for 'a\\_b\\* \\`\\`\\` \\# \\<b\\>\\|.jsonl', by" in text
    assert text.count("\n```") == 2
    assert len([line for line in text.splitlines() if line.startswith("# ")]) == 1


def test_the_scenario_is_printed_first_and_the_command_last() -> None:
    lines = printed().splitlines()
    assert lines[0] == "Scenario: sparse"
    assert lines[-1] == "  judge retrieval 'a b.jsonl' -k 5,10,20"
    assert "  hit@10  whether anything relevant is found at all" in lines
    assert printed(written="决定\x1b.md").endswith("written to 决定␛.md\n")
    assert printed("zh", written="d.md").endswith("已写入 d.md\n")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_line_is_wider_than_the_terminal(lang: Lang) -> None:
    wide = [line for line in printed(lang, 40).splitlines() if len(line) > 40]
    assert all(line.startswith("  judge retrieval") for line in wide)
