"""Which measures any data at all are advised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.advice.catalog import measure, measures
from judge.advice.recommend.advising import advise, ceiling, needs
from judge.advice.recommend.table import Lang
from judge.advice.records import Advice, Wishes
from tests.advised import avoided, counted, roles

KINDS = {
    "one": (1, 9999),
    "two": (2, 9999),
    "few": (4, 9999),
    "some": (30, 9999),
    "many": (200, 99_999),
    "dense": (60, 20),
    "balanced": (30, 60),
}


@pytest.mark.parametrize(
    ("kind", "depth", "dear", "expected"),
    [
        ("one", None, "normal", "hit@10 hit@20 | mrr precision@5"),
        ("one", None, "missed", "hit@20 hit@100 | mrr ndcg@100"),
        ("one", None, "noise", "precision@5 mrr@5 | hit@5 ndcg@5"),
        ("one", 7, "normal", "hit@7 ndcg@7 | mrr@7 precision@7"),
        ("one", 7, "missed", "hit@7 ndcg@7 | hit@70 precision@7"),
        ("one", 7, "noise", "precision@7 ndcg@7 | hit@7 mrr@7"),
        ("two", None, "normal", "hit@10 hit@20 | mrr precision@5"),
        ("two", None, "missed", "hit@100 recall@100 | mrr ndcg@100"),
        ("two", None, "noise", "precision@5 mrr@5 | hit@5 ndcg@5"),
        ("two", 7, "normal", "hit@7 ndcg@7 | mrr@7 precision@7"),
        ("two", 7, "missed", "hit@7 recall@7 ndcg@7 | precision@7 recall@70"),
        ("two", 7, "noise", "precision@7 ndcg@7 | hit@7 mrr@7"),
        ("few", None, "normal", "hit@10 mrr | ndcg@10 precision@10"),
        ("few", None, "missed", "hit@100 recall@100 | mrr ndcg@100"),
        ("few", None, "noise", "precision@5 mrr@5 | hit@5 ndcg@5"),
        ("few", 7, "normal", "hit@7 ndcg@7 | mrr@7 precision@7"),
        ("few", 7, "missed", "hit@7 recall@7 ndcg@7 | precision@7 recall@70"),
        ("few", 7, "noise", "precision@7 ndcg@7 | hit@7 mrr@7"),
        ("some", None, "normal", "f1@20 ndcg@20 map@20 | recall@100 precision@20 | roc_auc"),
        ("some", None, "missed", "recall@100 ndcg@100 map@100 | f1@20 precision@20"),
        ("some", None, "noise", "precision@20 recall@20 f1@20 | ndcg@20"),
        ("some", 7, "normal", "ndcg@7 precision@7 | recall@70"),
        ("some", 7, "missed", "recall@7 ndcg@7 precision@7 | recall@70"),
        ("some", 7, "noise", "precision@7 ndcg@7 | f1@7 recall@70"),
        (
            "many",
            None,
            "normal",
            "recall@100 ndcg@100 map@100 | f1@100 precision@100 | recall@1000",
        ),
        ("many", None, "missed", "recall@1000 ndcg@1000 map@1000 | f1@100 precision@100"),
        ("many", None, "noise", "precision@20 recall@20 f1@20 | ndcg@20"),
        ("many", 7, "normal", "ndcg@7 precision@7 | recall@70"),
        ("many", 7, "missed", "recall@7 ndcg@7 precision@7 | recall@70"),
        ("many", 7, "noise", "precision@7 ndcg@7 | f1@7 recall@70"),
        ("dense", None, "normal", "ndcg map | recall@1000 | ndcg@100"),
        ("dense", None, "missed", "recall@1000 ndcg | map | ndcg@100"),
        ("dense", None, "noise", "precision@20 ndcg@20 | map"),
        ("dense", 7, "normal", "ndcg@7 precision@7 | recall@70"),
        ("dense", 7, "missed", "recall@7 ndcg@7 precision@7 | recall@70"),
        ("dense", 7, "noise", "precision@7 ndcg@7 | f1@7 recall@70"),
        ("balanced", None, "normal", "ndcg@10 map@10 | recall@100 precision@10 f1@20"),
        ("balanced", None, "missed", "recall@100 ndcg@100 | map@100 precision@20"),
        ("balanced", None, "noise", "precision@5 ndcg@5 | map@10 f1@20"),
        ("balanced", 7, "normal", "ndcg@7 precision@7 | recall@70"),
        ("balanced", 7, "missed", "recall@7 ndcg@7 precision@7 | recall@70"),
        ("balanced", 7, "noise", "precision@7 ndcg@7 | f1@7 recall@70"),
    ],
)
def test_what_is_advised(kind: str, depth: int | None, dear: str, expected: str) -> None:
    wishes = {"depth": depth} | ({f"{dear}_cost": "high"} if dear != "normal" else {})
    advice = advise(counted(*KINDS[kind]), Wishes.model_validate(wishes))
    assert " | ".join(" ".join(names) for names in roles(advice).values()).rstrip(" |") == expected
    ours = ["ndcg@100"] if kind == "dense" and "| ndcg@100" in expected else []
    assert [each.name for each in advice.measures if each.difference] == ours


@pytest.mark.parametrize(
    ("kind", "avoid"),
    [
        ("one", "accuracy recall"),
        ("two", "accuracy recall"),
        ("few", "accuracy"),
        ("some", "accuracy"),
        ("many", "accuracy hit mrr"),
        ("dense", "precision hit"),
        ("balanced", "hit"),
    ],
)
def test_what_is_warned_of(kind: str, avoid: str) -> None:
    assert avoided(advise(counted(*KINDS[kind]), Wishes())) == set(avoid.split())


@pytest.mark.parametrize(
    ("relevant", "primary"),
    [
        (14, "f1@10 ndcg@10 map@10"),
        (15, "f1@10 ndcg@10 map@10"),
        (16, "f1@20 ndcg@20 map@20"),
        (50, "f1@20 ndcg@20 map@20"),
        (51, "recall@100 ndcg@100 map@100"),
    ],
)
def test_cut_offs_at_their_edges(relevant: float, primary: str) -> None:
    advice = advise(counted(relevant, 9 * relevant), Wishes())
    assert roles(advice)["primary"] == primary.split()
    assert ("mrr" in avoided(advice)) == (relevant > 50)


@pytest.mark.parametrize("dear", ["normal", "high"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_reason_points_to_none_before_it(kind: str, dear: str) -> None:
    wishes = Wishes.model_validate({"missed_cost": dear})
    assert not advise(counted(*KINDS[kind]), wishes).measures[0].why.startswith("the same")


def test_the_deep_cut_off_follows_the_many() -> None:
    dear = Wishes(missed_cost="high")
    assert roles(advise(counted(50, 5000), dear))["primary"][0] == "recall@100"
    assert roles(advise(counted(51, 5000), dear))["primary"][0] == "recall@1000"


def test_accuracy_is_called_near_1_only_where_it_is() -> None:
    for irrelevant in (6, 119):
        assert avoided(advise(counted(6, irrelevant), Wishes())) == set()
    near = advise(counted(6, 120), Wishes()).avoided
    assert [(each.name, each.rule) for each in near] == [("accuracy@k", "imbalanced-rare")]
    assert near[0].why.startswith("near 1 ")


@pytest.mark.parametrize(
    ("lang", "near", "more"), [("en", "near 1", "far more"), ("zh", "接近 1", "多得多")]
)
def test_what_is_not_rare_is_not_called_so(lang: Lang, near: str, more: str) -> None:
    told = advise(counted(1, 2), Wishes(), lang).avoided
    assert "accuracy@k" in {each.name for each in told}
    assert not any(near in each.why for each in told)
    advice = advise(counted(6, 6), Wishes(), lang)
    assert advice.scenario == "imbalanced"
    assert not any(more in each.why for each in advice.fired)


halves = st.integers(2, 4000).map(lambda twice: twice / 2)
wished = st.builds(
    Wishes,
    missed_cost=st.just("normal"),
    noise_cost=st.sampled_from(["normal", "high"]),
    depth=st.none() | st.integers(1, 10**8),
    task=st.none() | st.sampled_from(["qa", "passage"]),
) | st.builds(Wishes, missed_cost=st.just("high"), depth=st.none() | st.integers(1, 10**8))


@given(
    st.none() | halves,
    st.none() | st.integers(0, 10**9).map(float),
    wished,
    st.none() | st.booleans(),
    st.integers(0, 99),
    st.sampled_from(["en", "zh"]),
)
def test_any_data_is_advised_a_few_measures_that_there_are(
    relevant: float | None,
    irrelevant: float | None,
    wishes: Wishes,
    graded: bool | None,  # noqa: FBT001
    longest: int,
    lang: Lang,
) -> None:
    found = counted(relevant, irrelevant, graded=graded, longest=longest)
    advice = advise(found, wishes, lang)
    by_role = roles(advice)
    if advice.scenario is not None:
        assert 1 <= len(by_role["primary"]) <= 3
        assert 1 <= len(by_role["secondary"]) <= 3
        assert len(by_role["supplementary"]) <= 2
    names = [each.name for each in advice.measures]
    assert len(set(names)) == len(names)
    warned = [each.name for each in advice.avoided]
    assert {measure(name).family for name in (*names, *warned)} <= {"retrieval"}
    assert not avoided(advice) & {name.partition("@")[0] for name in names}
    said = [each.why for each in advice.measures]
    said += [each.why for each in advice.avoided]
    said += [each.why for each in advice.fired]
    assert all(text and "{" not in text for text in (*said, *advice.notes))
    assert Advice.model_validate_json(advice.model_dump_json()) == advice


def test_more_costs_than_one_cannot_be_high() -> None:
    with pytest.raises(ValueError, match="cannot both be high"):
        Wishes(missed_cost="high", noise_cost="high")


@pytest.mark.parametrize("size", [0, 10**15 + 1, 10**400])
def test_a_corpus_has_a_size_that_can_be(size: int) -> None:
    with pytest.raises(ValueError, match="corpus_size"):
        Wishes(corpus_size=size)


def test_the_other_families_fit_by_what_they_need() -> None:
    found = counted(1, 9, fitting=dict.fromkeys(needs(), 0) | {"faithfulness": 7, "overlap": 1})
    families = {each.family: each for each in advise(found, Wishes()).families}
    assert {name for name, each in families.items() if each.fits} == {"faithfulness", "overlap"}
    assert "7 of 99 samples" in families["faithfulness"].why
    assert families["citation"].why == "needs answers with citations, and chunks"
    assert set(families) == {each.family for each in measures()} - {"retrieval"}
    assert families["overlap"].measures == tuple(each.name for each in measures("overlap"))


def test_what_families_need_comes_from_the_catalog() -> None:
    assert needs()["overlap"] == {"answer", "gold_answer"}
    assert needs()["correctness"] == {"answer", "gold_answer", "chunks"}
    assert needs()["faithfulness"] == {"answer", "chunks"}
    assert needs()["citation"] == {"answer", "chunks", "citations"}
    assert "labels" in needs()["agreement"]


@pytest.mark.parametrize(
    ("name", "relevant", "most"),
    [
        ("recall@100", 5000.0, 0.02),
        ("precision@5", 1.5, 0.3),
        ("f1@10", 30.0, 0.5),
        ("map@10", 40.0, 0.25),
        ("map@10", 10.0, None),
        ("recall@10", 10.0, None),
        ("ndcg@10", 1.0, None),
        ("mrr", 1.0, None),
        ("recall@10", None, None),
    ],
)
def test_the_highest_value_there_can_be(
    name: str, relevant: float | None, most: float | None
) -> None:
    assert ceiling(name, relevant) == (None if most is None else pytest.approx(most))
