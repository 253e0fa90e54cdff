from judge.advice.recommend.advising import recommend_measures
from judge.advice.recommend.sections import Section, command, sections, title
from judge.advice.records import Wishes
from judge.records import Sample

RANKED = tuple(f"x{number}" for number in range(9))
ONE = Sample(qid="q", retrieved=RANKED, gold_evidence=("x3",))
MANY = Sample(qid="m", retrieved=RANKED, gold_evidence=RANKED[:8])


def found(sample: Sample, lang: str = "en", **wishes: object) -> dict[str, Section]:
    asked = Wishes.model_validate(wishes)
    advice = recommend_measures([sample], asked, "zh" if lang == "zh" else "en")
    return {section.title: section for section in sections(advice)}


def lines(section: Section) -> list[str]:
    return [f"{item.name}|{item.said}" for item in section.items]


def test_english() -> None:
    read = found(ONE)
    assert [*read] == [
        "Scenario: sparse",
        "Primary",
        "Secondary",
        "Not to be used here",
        "Beyond retrieval",
        "Worth knowing",
        "The data",
        "Rules that fired",
    ]
    assert lines(read["Scenario: sparse"]) == [
        "|a query has 1 relevant in the median, and at most 5 is little to find"
    ]
    assert lines(read["Secondary"])[1] == (
        "precision@5|how much of what is read is relevant; "
        "at most 0.2 for the median query (one-or-two)"
    )
    assert "|irrelevant a query, median: 8" in lines(read["The data"])
    assert lines(read["Beyond retrieval"])[0].endswith(
        "needs answers and gold answers (judge overlap)"
    )


def test_chinese() -> None:
    read = found(ONE, "zh", depth=3, missed_cost="high", corpus_size=1000, task="qa")
    assert "情形：稀疏（sparse）" in read
    assert lines(read["主要指标"])[0] == "hit@3|究竟有没有找到相关片段（depth-missed-one）"
    assert "|要求：漏检代价高；只看前 3 个结果；待检索片段 1,000 个；--task qa" in lines(
        read["数据概况"]
    )


def test_a_ceiling_is_said_to_be_of_the_median_query() -> None:
    # 31 with one relevant, 29 with twenty: over all, precision@5 can be .587.
    twenty = Sample(qid="m", retrieved=RANKED, gold_evidence=[f"y{n}" for n in range(20)])
    for lang, said in (("en", "at most 0.2 for the median query"), ("zh", "中位数问题至多 0.2")):
        advice = recommend_measures([ONE] * 31 + [twenty] * 29, lang="zh" if lang == "zh" else "en")
        read = [item.said for section in sections(advice) for item in section.items]
        assert sum(said in each for each in read) == 1


def test_queries_without_anything_relevant_are_told_where_there_are_any() -> None:
    none = Sample(qid="n", retrieved=RANKED, gold_evidence=())
    left_out = "queries of which gold says that nothing is relevant (left out): 1"
    for samples, told in (([ONE], False), ([ONE, none], True)):
        read = {section.title: section for section in sections(recommend_measures(samples))}
        assert (f"|{left_out}" in lines(read["The data"])) is told
        assert any("left out" in line for line in lines(read["The data"])) is told


def test_a_difference_is_called_one() -> None:
    assert lines(found(MANY)["Supplementary"])[0].startswith("ndcg@10, between systems|")
    assert lines(found(MANY, "zh")["补充指标"])[0].startswith("ndcg@10（系统之差）|")


def test_without_a_scenario_the_reader_is_sent_on() -> None:
    read = found(Sample(qid="q", retrieved=("x",)), noise_cost="high")
    assert lines(read["Scenario: not known"]) == [
        "|so no measure of retrieval is advised; why, stands below"
    ]
    assert "Primary" not in read
    assert "|Nothing says what is relevant" in lines(read["Worth knowing"])[0]
    assert "|asked for: noise cost high" in lines(read["The data"])


def test_the_command_takes_all_cut_offs_once() -> None:
    advice = recommend_measures([ONE], Wishes(corpus_size=100))
    assert command(advice, "'a b.jsonl'") == "judge retrieval 'a b.jsonl' -k 5,10,20"
    assert command(recommend_measures([Sample(qid="q")]), "a") is None


def test_the_title() -> None:
    assert title(recommend_measures([ONE])) == "Which measures fit this data"
    assert title(recommend_measures([ONE], lang="zh")) == "哪些指标适合这份数据"
