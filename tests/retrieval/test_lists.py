from judge.records import Chunk, Sample
from judge.retrieval import measure_retrieval, measure_run
from judge.retrieval.records import RankingReport, RankRules

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


def test_what_does_not_reach_the_level_is_not_missed() -> None:
    grades = {"a": 2.0, "x": 1.0, "y": 2.0}
    only = Sample(qid="q", retrieved=IDS, relevance=grades)
    found = report(only, rules=RankRules(ks=(3,), relevance_level=2))
    assert [gold.chunk_id for gold in found.missed] == ["y"]
    assert found.relevant_total == 2


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
    for level, above in ((None, ()), (1, ()), (2, ("a", "b"))):
        found = report(only, rules=RankRules(ks=(3,), relevance_level=level))
        assert [top.chunk_ids for top in found.topped] == [above] * bool(above)
        assert [top.first_relevant for top in found.topped] == [3] * bool(above)
        assert found.topped_total == bool(above)


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


def test_conflicts_stand_before_duplicates() -> None:
    text = "Employees who travel abroad may claim up to eighty euros a day for meals and taxis."
    copies = [Chunk(chunk_id=name, text=text) for name in "ab"]
    denied = [
        Chunk(chunk_id="c", text="Dental care is covered by the plan for all staff."),
        Chunk(chunk_id="d", text="Dental care is not covered by the plan for any staff here."),
        Chunk(chunk_id="e", text="Dental care is not covered by the plan for all staff."),
    ]
    first = Sample(qid="1", chunks=tuple(copies), gold_evidence=("a",))
    second = Sample(qid="2", chunks=tuple(denied), gold_evidence=("c",))
    found = report(first, second)
    assert [(pair.qid, pair.kind) for pair in found.pairs] == [
        ("2", "conflict"),
        ("1", "duplicate"),
    ]
    # Where there is room for one, it is the conflict.
    (one,) = report(first, second, most=1).pairs
    assert (one.first, one.second, one.detail) == ("c", "e", "covered / not covered")
