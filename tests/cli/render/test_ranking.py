import functools
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.advice.rules import measures
from judge.cli.render.ranking import Reading, print_measures, print_ranked, print_reading
from judge.messages import Lang
from judge.records import Sample
from judge.retrieval import measure_retrieval
from judge.retrieval.records import RankingReport, RankRules
from tests.advised import report
from tests.commands import judge, write
from tests.paged import paged

TEXT = "Employees who travel abroad may claim up to eighty euros a day for meals and taxis."


def shown(report: RankingReport, width: int = 80) -> str:
    return paged(lambda page: print_ranked(report, page), width)


def ranked(*samples: Sample, most: int = 5, ks: tuple[int, ...] = (1, 3)) -> RankingReport:
    return measure_retrieval(samples, RankRules(ks=ks), most=most)


FIRST = Sample(qid="first", query="Where?", retrieved=("a", "b"), gold_evidence=("a",))
THIRD = Sample(
    qid="third",
    query="差旅住宿标准怎么规定？",
    retrieved=("a", "b", "c", "d"),
    relevance={"c": 0.5, "d": 3, "x": 1},
)


def test_means_with_their_intervals() -> None:
    lines = shown(ranked(FIRST, THIRD)).splitlines()
    # MRR (1 + 1/3) / 2; Wilson's interval of 2/3 with n = 2 and t(1) = 12.706.
    (mrr,) = [line for line in lines if line.split()[:2] == ["mrr", "0.667"]]
    assert mrr.split() == ["mrr", "0.667", "0.005–0.999", "2"]
    header = next(line for line in lines if line.split()[:2] == ["first", "k"])
    assert header.split()[2:] == ["@1", "@3"]
    (hit,) = [line for line in lines if line.split()[:1] == ["hit"]]
    assert hit.split() == ["hit", "0.500", "1.000"]
    # DCG has no upper limit: Student's interval, from 0.
    at = next(number for number, line in enumerate(lines) if line.split()[:1] == ["dcg"])
    assert "0.000–" in lines[at + 1]
    assert lines[at + 2].split()[0] == "ndcg"
    # A measure that no query has is no number.
    alone = Sample(qid="q", retrieved=("a",), gold_evidence=("a",))
    (area,) = [each for each in shown(ranked(alone)).splitlines() if "roc_auc" in each]
    assert area.split() == ["roc_auc", "–", "–", "0"]


def test_a_mean_with_limits_at_some_cut_offs_shows_those() -> None:
    # Nothing relevant stands first: DCG@1 is 0 fifty times, and @3 is drawn.
    many = (
        Sample(qid=str(number), retrieved=("a", "b", "c"), gold_evidence=("bc"[number % 2],))
        for number in range(50)
    )
    lines = shown(ranked(*many)).splitlines()
    at = next(number for number, line in enumerate(lines) if line.split()[:1] == ["dcg"])
    assert lines[at].split()[1] == "0.000"
    (limits,) = lines[at + 1].split()
    low, high = map(float, limits.split("–"))
    # Each is 1/log2 3 or 1/log2 4, at rank 2 or 3.
    assert 0.5 < low < (0.5 + 0.63093) / 2 < high < 0.631
    assert lines[at + 1].index(limits) > lines[at].index("0.000") + len("0.000")


def tabled(text: str) -> dict[str, str]:
    """By measure and cut-off, the mean in its column; each table stands under its header."""
    found: dict[str, str] = {}
    ks: list[str] = []
    for words in map(str.split, text[: text.index("in the means")].splitlines()):
        if words[:2] == ["first", "k"]:
            ks = words[2:]
        elif ks and words and words[0].isalnum() and not words[0][0].isdecimal():
            found |= {words[0] + k: mean for k, mean in zip(ks, words[1:], strict=True)}
    return found


@pytest.mark.parametrize(("width", "tables"), [(40, 6), (80, 3)])
def test_more_cut_offs_than_the_terminal_is_wide(width: int, tables: int) -> None:
    many = ranked(FIRST, THIRD, ks=(1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100, 1000))
    text = shown(many, width)
    # The table above them has no columns to spare.
    head = text[text.index(" first k") : text.index("in the means")].splitlines()[:-1]
    assert len([line for line in head if "first k" in line]) == tables
    assert max(map(len, head)) <= width
    assert "…" not in "".join(head)
    cut = {name: mean for name, mean in many.mean.items() if "@" in name}
    assert len(cut) == 9 * 12
    # Without texts there is no row for what tokens are wasted on.
    assert tabled(text) == {n: f"{mean:.3f}" for n, mean in cut.items() if "waste" not in n}


def test_lists_for_a_person() -> None:
    text = " ".join(shown(ranked(FIRST, THIRD)).split())
    assert "2 of 2 queries in the means; 2 of 4 relevant not in the first 3; 1 query with" in text
    assert "third ap 0.278, 2 of 3 relevant among 4 ranked, the first at rank 3" in text
    assert "third d (relevance 3) stands at rank 4" in text
    assert "third x is not ranked at all" in text
    assert "third a, b above; the first relevant is at 3" in text
    assert "差旅住宿标准怎么规定？" in text


def test_lists_in_chinese() -> None:
    shown_zh = paged(lambda page: print_ranked(ranked(FIRST, THIRD), page), lang="zh")
    text = "".join(shown_zh.split())
    for said in (
        "2个查询中有2个计入平均值；4个相关片段中有2个不在前3位；1个查询的最前面有不相关片段",
        "third d（相关度 3）在第 4 位",
        "third x 未排序",
        "third a, b 在前；第一个相关片段在第 3 位",
        "整个排序 平均值 95 % 区间 查询数",
        "前 k 位 @1 @3",
    ):
        assert said.replace(" ", "") in text, said


def test_lists_of_little() -> None:
    text = shown(ranked(FIRST))
    assert "Worst queries" in text
    for title in ("Relevant, and not", "Irrelevant on top"):
        assert title not in text
    assert "Worst" not in shown(ranked(FIRST, most=0))
    assert "Some authors call that Recall@k" in " ".join(text.split())
    assert f"made by {ranked(FIRST).signature}\n" in text
    none = Sample(qid="none", retrieved=tuple("bcdefghij"), gold_evidence=("a",))
    text = " ".join(shown(ranked(FIRST, none, ks=(9,))).split())
    assert "b, c, d, e, f and 4 more above; nothing relevant is ranked" in text
    assert "0 of 1 relevant among 9 ranked" in text
    text = " ".join(shown(ranked(FIRST, Sample(qid="none", gold_evidence=("a", "b")))).split())
    assert (
        "none ap 0.000, 0 of 2 relevant, nothing is ranked missed a (relevant, not ranked) first"
        in text
    )
    assert "among 0 ranked" not in text


def test_who_is_not_measured_is_named() -> None:
    bare = [Sample(qid=f"没{number}", retrieved=("a",)) for number in range(120)]
    text = shown(ranked(FIRST, *bare))
    assert "warning: 120 queries without gold: left out" in text
    assert "no gold: 没0, 没1, 没2, 没3, 没4 and 115 more" in text


@pytest.mark.parametrize("width", [20, 40, 80])
def test_what_is_said_fits_the_terminal(width: int) -> None:
    long = Sample(qid="编号" * 40, query="问" * 200, retrieved=("文" * 90,), gold_evidence=("x",))
    text = shown(ranked(FIRST, THIRD, long), width)
    said = [line for line in text[text.index("3 of 3") :].splitlines() if "|" not in line]
    assert max(sum(1 + (char > "\u2e80") for char in line) for line in said) <= width
    assert "编号" in text


def test_hostile_names_are_shown_and_not_obeyed() -> None:
    name = "[red]a\x1b[2Jb\x07\u202ec\nd"
    hostile = Sample(
        qid=name, query=name, retrieved=("x", name, name), gold_evidence=(name, name + "y")
    )
    text = shown(ranked(hostile, Sample(qid=name * 2, retrieved=(name,))))
    assert "[red]a␛[2Jb␇" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


PLAIN = Reading()
BURIED = {"recall@20": 0.9, "mrr@5": 0.3}


def told(found: RankingReport, asked: Reading = PLAIN, width: int = 200) -> str:
    return paged(lambda page: print_reading(found, asked, page), width)


def row(text: str, *begin: str) -> list[str]:
    (line,) = [line.split() for line in text.splitlines() if line.split()[: len(begin)] == [*begin]]
    return line[len(begin) :]


def test_bands_stand_under_their_cut_offs() -> None:
    means = {"mrr": 0.5, "recall@5": 0.6, "recall@20": 0.9, "precision@5": 0.2, "ndcg@20": None}
    text = told(report(means))
    assert row(text, "band") == ["whole", "@5", "@20"]
    assert row(text, "mrr", "fair") == []
    assert row(text, "recall", "fair") == ["excellent"]
    assert row(text, "precision") == ["poor"]
    assert row(text, "recall@5", "0.600") == ["–", "below", "minimum"]
    assert row(text, "mrr", "0.500") == ["–", "minimum"]
    assert "not measured, so in no band: ndcg@20" in text
    assert "rules of thumb" in text
    assert "95 % interval reaches" not in text


def test_what_its_interval_leaves_is_doubtful() -> None:
    doubt = "?: the 95 % interval reaches beyond the limit"
    text = told(report({"recall@5": 0.74, "mrr": 0.5}, 0.05))
    assert row(text, "recall") == ["fair?"]
    assert row(text, "mrr", "fair") == []
    assert row(text, "mrr", "0.500") == ["0.450–0.550", "minimum?"]
    assert doubt in text
    # All of it is fair (.60 to .75), and production's minimum of .70 lies within.
    text = told(report({"recall@5": 0.72}, 0.025))
    assert row(text, "recall") == ["fair"]
    assert row(text, "recall@5", "0.720") == ["0.695–0.745", "minimum?"]
    assert doubt in text


def test_targets_of_a_use() -> None:
    means = {"mrr": 0.9, "hit@3": 0.7}
    text = told(report(means, 0.1), Reading(use="faq"))
    assert "for FAQ" in text
    assert row(text, "mrr", "0.900", "0.800–1.000", "0.850") == ["yes?"]
    assert row(text, "hit@3") == ["0.700", "0.600–0.800", "0.900", "no"]
    assert row(text, "precision@3") == ["–", "–", "0.800", "not", "measured"]
    assert row(told(report(means), Reading(use="monitoring")), "mrr", "0.900", "–", "none")
    # .6 of .667 is .9, and the target .8.
    found = report({"precision@3": 0.6}, ceiling={"precision@3": 2 / 3})
    _, _, after = told(found, Reading(use="faq")).partition("for FAQ")
    assert row(after, "precision@3", "0.600", "–", "0.800") == ["yes"]
    assert "no ranking could exceed precision@3 0.667" in after


def test_diagnoses_with_their_evidence() -> None:
    text = told(report(BURIED, 0.05))
    assert "- what is relevant is found, and does not stand on top" in text
    assert "because recall@20 0.900 (0.850–0.950) is high: 0.800 or more" in text
    assert "because mrr@5 0.300 (0.250–0.350) is low: under 0.500" in text
    assert "next: rerank" in text
    assert "a hint only" not in text
    hint = "a hint only: the 95 % intervals do not settle it"
    assert hint in told(report(BURIED, 0.15))
    assert "a hint only: not all of these numbers have an interval" in told(report(BURIED))


def test_what_was_not_judged_and_why() -> None:
    text = told(report({"recall@20": 0.9}))
    assert "No rule applies" in text
    assert "not judged, whether what is relevant is found" in text
    assert "needs one of mrr@5, mrr" in text
    text = told(report({"recall@100": 0.1}, ceiling={"recall@100": 0.25}))
    assert "because recall@100 0.100 of at most 0.250 is low: under 0.700" in text


def test_a_perfect_ranking_of_many_is_not_called_low(tmp_path: Path) -> None:
    ids = [f"c{i}" for i in range(50)]
    lines: list[Mapping[str, JsonValue]] = [
        {"qid": f"q{i}", "query": "问", "retrieved": [*ids], "gold_evidence": [*ids]}
        for i in range(60)
    ]
    ran = judge("retrieval", write(tmp_path / "in.jsonl", lines), "--use", "documents")
    text = " ".join(ran.out.split())
    assert "next:" not in text
    assert "poor" not in text
    assert "no ranking could exceed recall@1 0.020, recall@3 0.060, recall@5 0.100" in text


def test_levels_are_coloured() -> None:
    for value, words, colour in (
        (0.1, ("poor", "below minimum"), "31"),
        (0.9, ("excellent", "excellent"), "32"),
    ):
        found = report({"recall@5": value})
        text = paged(functools.partial(print_reading, found, PLAIN), colour=True)
        painted = re.findall(r"\x1b\[(3\d)m([a-z ]+)\x1b", text)
        assert painted[:2] == [(colour, word) for word in words]


def test_a_change_with_its_interval() -> None:
    now = report({"ndcg@10": 0.7, "recall@20": 0.75}, 0.02)
    before = report({"ndcg@10": 0.6, "recall@20": 0.76}, 0.02)
    text = told(now, Reading(before=before))
    assert "ndcg@10 rose from 0.600 to 0.700 (difference +0.072 to +0.128)" in text
    assert "recall@20 stands: 0.760 before, 0.750 now (difference −0.038 to +0.018)" in text
    chinese = told(report(BURIED, 0.02), Reading(before=report(BURIED, 0.02), lang="zh"))
    assert "recall@20 0.900（0.880–0.920）较高：不低于 0.800" in chinese
    assert "两组相互独立的问题" in chinese


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_line_is_in_the_language(lang: Lang) -> None:
    now = report({"ndcg@10": 0.7, "recall@20": 0.6, "mrr": 0.3, "precision@5": 0.1}, 0.1)
    asked = Reading(use="faq", before=report({"ndcg@10": 0.5}, queries=7), lang=lang)
    text = told(now.model_copy(update={"ceiling": {"precision@5": 0.2}}), asked, 400)
    for line in text.splitlines():
        if line.strip(" ─") and "@" not in line and line.split()[0] not in ("mrr", "ndcg"):
            assert any("\u4e00" <= char <= "\u9fff" for char in line) is (lang == "zh"), line


@pytest.mark.parametrize("width", [20, 40])
def test_lines_fit_the_terminal(width: int) -> None:
    text = told(report({"recall@20": 0.4, "mrr@5": 0.3}), PLAIN, width)
    assert "embedding" in text
    prose = [line for line in text.splitlines() if line.startswith("  ")]
    assert max(map(len, prose)) <= width


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_measure_is_printed_with_what_it_is(width: int) -> None:
    printed = paged(print_measures, width)
    assert all(len(line) <= width for line in printed.splitlines())
    flowing = "".join(printed.split())
    for measure in measures():
        for said in (measure.name, measure.range, measure.formula, measure.source):
            assert "".join(said.split()) in flowing
        for told in (measure.meaning, measure.meaning_zh, *measure.needs):
            assert "".join(told.split()) in flowing


def test_another_name_is_told_once() -> None:
    lines = paged(print_measures, 500).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("hit@k"))
    assert lines[at + 2].count("hit rate") == 1
    assert any("Also called reciprocal rank." in line for line in lines)
