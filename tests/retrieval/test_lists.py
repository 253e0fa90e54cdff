import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import Chunk, Sample
from judge.retrieval import measure_retrieval, measure_run
from judge.retrieval.lists import Foremost, near_copies
from judge.retrieval.ranking import RankedQuery
from judge.retrieval.records import PairedChunks, RankingReport, RankRules

RULES = RankRules(ks=(1, 3))
IDS = tuple("abcdefgh")


def report(*samples: Sample, most: int = 5, rules: RankRules = RULES) -> RankingReport:
    return measure_retrieval(samples, rules, most=most)


def sample(qid: str, *gold: str) -> Sample:
    return Sample(qid=qid, query="问", retrieved=IDS, gold_evidence=gold)


def test_the_worst_have_the_lowest_average_precision() -> None:
    found = report(sample("1", "a"), sample("2", "h"), sample("3", "b"), sample("4", "b"), most=3)
    assert [ranks.qid for ranks in found.worst] == ["2", "3", "4"]
    assert found.worst[0].measures["ap"] == 1 / 8
    assert (found.worst[0].query, found.worst[0].relevant, found.worst[0].found) == ("问", 1, 1)


def test_gold_that_is_missed_and_where_it_stands() -> None:
    grades = {"a": 1.0, "e": 1.0, "h": 1.0, "x": 1.0, "g": 2.0, "y": 0.0}
    first = Sample(qid="q", retrieved=IDS, relevance=grades)
    found = report(first, sample("r", "c", "d", "z"))
    assert [(gold.qid, gold.chunk_id, gold.relevance, gold.rank) for gold in found.missed] == [
        ("q", "g", 2, 7),
        ("q", "x", 1, None),
        ("r", "z", 1, None),
        ("q", "h", 1, 8),
        ("q", "e", 1, 5),
    ]
    assert (found.missed_total, found.relevant_total) == (6, 8)


def test_what_is_irrelevant_and_on_top() -> None:
    found = report(sample("1", "a"), sample("2", "c"), sample("3", "h"), sample("4", "b", "x"))
    assert [(top.qid, top.first_relevant, top.chunk_ids) for top in found.topped] == [
        ("3", 8, ("a", "b", "c")),
        ("2", 3, ("a", "b")),
        ("4", 2, ("a",)),
    ]
    assert found.topped_total == 3


def test_below_the_level_is_irrelevant_and_on_top() -> None:
    grades = {"a": 1.0, "c": 2.0, "b": 0.5}
    only = Sample(qid="q", retrieved=IDS, relevance=grades)
    for level, above, relevant in ((None, (), 3), (1, (), 2), (2, ("a", "b"), 1)):
        found = report(only, rules=RankRules(ks=(3,), relevance_level=level))
        assert [top.chunk_ids for top in found.topped] == [above] * bool(above)
        assert [top.first_relevant for top in found.topped] == [3] * bool(above)
        assert (found.topped_total, found.relevant_total) == (bool(above), relevant)
        assert found.missed == ()


def test_rankings_shorter_than_what_is_looked_at() -> None:
    short = Sample(qid="q", retrieved=("a", "b"), gold_evidence=("x",))
    found = report(sample("1", "a"), short)
    assert found.topped[0].chunk_ids == ("a", "b")
    assert found.topped[0].first_relevant is None
    assert found.missed[0].rank is None


def test_of_a_run_the_score_orders_the_lists() -> None:
    found = measure_run({"q": {"c": 1.0, "b": 1.0}}, {"q": {"a": 1, "b": 2, "c": 1, "d": 3}}, RULES)
    # By score, and a tie by id downwards: d, b, c, a.
    assert found.topped[0].chunk_ids == ("d",)
    assert found.missed == ()
    deep = measure_run({"q": {"a": 1.0}}, {"q": {"a": 1, "b": 2, "c": 1, "d": 3}}, RULES)
    assert deep.missed[0].rank == 4


def test_queries_that_are_not_measured_are_in_no_list() -> None:
    nothing = Sample(qid="nothing", retrieved=IDS, gold_evidence=())
    empty = Sample(qid="empty", gold_evidence=("a",))
    rules = RankRules(ks=(3,), no_relevant="zero")
    found = report(sample("1", "a"), Sample(qid="bare", retrieved=IDS), nothing, empty, rules=rules)
    assert [ranks.qid for ranks in found.worst] == ["empty", "1"]
    assert [gold.qid for gold in found.missed] == ["empty"]
    assert (found.topped, found.topped_total) == ((), 0)
    assert (found.missed_total, found.relevant_total) == (1, 2)
    skipped = report(sample("1", "a"), empty, nothing, rules=RankRules(ks=(3,), no_ranking="skip"))
    assert (skipped.missed, skipped.topped) == ((), ())
    assert (skipped.missed_total, skipped.relevant_total, skipped.topped_total) == (0, 1, 0)


def test_lists_over_many_batches_are_as_of_one() -> None:
    # More than fit a batch, the last of them the worst.
    many = [sample(str(number), "b", "x") for number in range(4200)]
    found = report(*many, sample("last", "h", "x", "y"), sample("end", "h", "x", "y"), most=3)
    assert [ranks.qid for ranks in found.worst] == ["last", "end", "0"]
    assert [top.qid for top in found.topped] == ["last", "end", "0"]
    assert [(gold.qid, gold.chunk_id) for gold in found.missed] == [
        ("0", "x"),
        ("1", "x"),
        ("2", "x"),
    ]
    assert found.missed_total == 4200 + 2 * 3
    assert found.topped_total == 4202


def test_chunks_that_say_the_same() -> None:
    text = "Employees who travel abroad may claim up to eighty euros a day for meals and taxis."
    other = "差旅住宿标准为每晚五百元，超出部分由员工本人承担，特殊情况须事先经主管批准。"
    texts = {"a": text, "b": other, "c": text, "d": text}
    chunks = tuple(Chunk(chunk_id=name, text=each) for name, each in texts.items())
    alike = Sample(qid="q", query="问", chunks=chunks, gold_evidence=("a",))
    found = report(alike)
    assert found.pairs_total["duplicate"] == 1
    (pair,) = found.pairs
    assert (pair.kind, pair.first, pair.second, pair.ranks) == ("duplicate", "a", "c", (1, 3))
    # Those that no text is known of are in no pair.
    bare = Sample(qid="q", retrieved=("a", "b", "c"), gold_evidence=("a",))
    assert report(bare).pairs == ()
    (both,) = report(alike, rules=RankRules(ks=(100,))).pairs[:1]
    assert (both.first, both.second) == ("a", "c")


def test_how_far_chunks_are_held_against_each_other_is_said() -> None:
    texts = [f"nothing else has the number {n} beside the word{n}" for n in range(60)]
    texts[54] = texts[55] = "these two are one and the same long text, from first to last word"
    chunks = tuple(Chunk(chunk_id=str(n), text=text) for n, text in enumerate(texts))
    deep = Sample(qid="q", chunks=chunks, gold_evidence=("0",))
    assert report(deep).compared == 3
    found = report(deep, rules=RankRules(ks=(100,)))
    assert found.compared == 50
    assert found.pairs == ()


POLICY = (
    "Staff may work from home on two days a week, agreed with the head of their team. Each team"
    " keeps a calendar that shows who is in the office. New staff spend the first month on site."
)
POLICY_ZH = (
    "员工每周可居家办公两天，须与团队负责人商定。各团队须维护日历，标明在岗人员。新员工首月须到岗。"
)
FOLLOWING = "Before it stands a title.\n{}\nBehind it a closing line."


def copies(*texts: str, k: int = 20) -> list[PairedChunks]:
    chunks = [Chunk(chunk_id=f"c{at}", text=text) for at, text in enumerate(texts)]
    return list(near_copies(RankedQuery("q", {}, None, chunks=chunks), k))


def words(count: int, *others: str) -> str:
    """So many words, the last of them replaced."""
    kept = [f"{letter}{letter}" for letter in "abcdefghijklmnopqrstuv"][: count - len(others)]
    return " ".join([*kept, *others])


READ = "".join(f"w{number} " for number in range(5000))

# Two texts, and how far they are copies; None where they are not.
TEXTS: list[tuple[str, str, float | None]] = [
    *((text, text, 1.0) for text in (POLICY, POLICY_ZH, "Fees", "费用", "…")),
    (POLICY, POLICY.upper().replace(". ", ".\n\n"), 1.0),
    ("费用ＡＢＣ", "费用abc", 1.0),
    # One within the other, whichever ranks first.
    *((text, FOLLOWING.format(text), 1.0) for text in (POLICY, POLICY_ZH)),
    *((FOLLOWING.format(text), text, 1.0) for text in (POLICY, POLICY_ZH)),
    # Of 22 words 20 runs, of 12 words 10: each changed last word loses one.
    (words(22), words(22, "other"), 0.95),
    (words(12), words(12, "other"), 0.9),
    (words(12), words(12, "other", "words"), 0.8),
    (words(12), words(12, "other", "words", "here"), None),
    # A text of under eight runs stands in others by chance.
    (words(10), f"A title: {words(10)}, and so on", 1.0),
    (words(9), f"A title: {words(9)}, and so on", None),
    (words(9), words(9), 1.0),
    (POLICY, "Staff who work from home agree it with their team first.", None),
    ("Work from home", f"Work from home. {POLICY}", None),
    # Of a chunk 20 000 characters are read.
    (READ[:20_000] + "甲", READ[:20_000] + "乙", 1.0),
    # What is not known is no copy.
    ("", "", None),
    (" ", "", None),
    ("…", "。", None),
]


def test_which_texts_are_near_copies() -> None:
    for one, other, share in TEXTS:
        found = [pair.similarity for pair in copies(one, other)]
        assert found == [pytest.approx(share)] * (share is not None), (one[:60], other[:60])
    (pair,) = copies(READ[:19_998] + "甲", READ[:19_998] + "乙")
    assert pair.similarity < 1


def test_near_copies_stand_by_rank_and_only_the_first_k_are_looked_at() -> None:
    found = copies(*(f"{POLICY} The limit is {days} days." for days in (30, 60, 90, 30)))
    order = [pair.ranks for pair in found]
    assert order == sorted(order)
    assert (1, 4) in order
    assert copies(POLICY, POLICY_ZH, POLICY, k=2) == copies(POLICY) == copies() == []
    (alike,) = copies(POLICY, POLICY_ZH, POLICY, k=3)
    assert (alike.first, alike.second, alike.ranks, alike.similarity) == ("c0", "c2", (1, 3), 1)


def test_chunks_of_any_size_are_compared() -> None:
    for one, other in (
        ("a" * 2_000_000, "a" * 2_000_001),
        ("e" + "\u0301" * 500_000, "e" + "\u0301" * 500_000),
        ("1," * 500_000, "[" * 1_000_000),
    ):
        assert len(copies(one, other)) <= 1


def kept(most: int, keys: list[tuple[float, ...]]) -> list[int]:
    foremost: Foremost[int] = Foremost(most)
    for number, key in enumerate(keys):
        foremost.add(key, number)
    return list(foremost.items())


@given(
    st.integers(0, 6),
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-math.inf, 0.5, math.inf]))),
)
def test_the_foremost_are_those_of_a_stable_sort(most: int, keys: list[tuple[float, ...]]) -> None:
    expected = sorted(range(len(keys)), key=lambda i: keys[i], reverse=True)
    assert kept(most, keys) == expected[:most]
