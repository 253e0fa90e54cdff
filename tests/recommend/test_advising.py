"""Which measures the five cases, the fixtures and any data at all are advised."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.metrics.catalog import measure, measures
from judge.recommend.advising import advise, ceiling, cutoff, needs, recommend_measures
from judge.recommend.profile import HELD
from judge.recommend.table import Lang
from judge.records import Sample
from judge.records.advice import Advice, Profile, Wishes
from judge.samples import read_samples

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
LANGS = pytest.mark.parametrize("lang", ["en", "zh"])


def queries(*relevant: int) -> list[Sample]:
    """One query for each number of relevant, twenty irrelevant ranked."""
    ranked = tuple(f"x{number}" for number in range(20))
    return [
        Sample(qid=str(row), retrieved=ranked, gold_evidence=tuple(f"d{n}" for n in range(count)))
        for row, count in enumerate(relevant)
    ]


def roles(advice: Advice) -> dict[str, list[str]]:
    return {
        role: [each.name for each in advice.measures if each.role == role]
        for role in ("primary", "secondary", "supplementary")
    }


def avoided(advice: Advice) -> set[str]:
    return {each.name.partition("@")[0] for each in advice.avoided}


@LANGS
def test_clinical_literature(lang: Lang) -> None:
    wishes = Wishes(corpus_size=5_000_000, missed_cost="high")
    advice = recommend_measures(queries(5, 8, 10, 12, 15), wishes, lang)
    assert advice.scenario == "sparse"
    assert roles(advice) == {
        "primary": ["hit@100", "recall@100"],
        "secondary": ["mrr", "ndcg@100"],
        "supplementary": [],
    }
    assert [each.rule for each in advice.fired] == ["sparse-rare", "sparse-base", "missed-sparse"]


@LANGS
def test_shop_search(lang: Lang) -> None:
    advice = recommend_measures(queries(5000), Wishes(corpus_size=10_000_000, depth=10), lang)
    assert advice.scenario == "imbalanced"
    assert roles(advice) == {
        "primary": ["ndcg@10", "precision@10"],
        "secondary": ["recall@100"],
        "supplementary": [],
    }
    assert {"hit", "mrr"} <= avoided(advice)
    # 100 of 5 000 at best.
    assert advice.measures[-1].most == pytest.approx(0.02)


@LANGS
def test_legal_search(lang: Lang) -> None:
    wishes = Wishes(corpus_size=1_000_000, noise_cost="high")
    advice = recommend_measures(queries(20, 24, 30), wishes, lang)
    assert advice.scenario == "imbalanced"
    assert roles(advice) == {
        "primary": ["precision@20", "recall@20", "f1@20"],
        "secondary": ["ndcg@20"],
        "supplementary": [],
    }


@LANGS
@pytest.mark.parametrize("relevant", [(1, 1, 2), (1, 2), (1, 2, 2)])
def test_company_knowledge_base(lang: Lang, relevant: tuple[int, ...]) -> None:
    advice = recommend_measures(queries(*relevant), Wishes(corpus_size=10_000), lang)
    assert advice.scenario == "sparse"
    assert roles(advice)["primary"] == ["hit@10", "hit@20"]
    assert roles(advice)["secondary"] == ["mrr", "precision@5"]
    assert roles(advice)["supplementary"] == []
    assert {"recall", "accuracy"} <= avoided(advice)


@LANGS
def test_scholarly_search(lang: Lang) -> None:
    wishes = Wishes(corpus_size=50_000_000)
    advice = recommend_measures(queries(100, 200, 500), wishes, lang)
    assert advice.scenario == "imbalanced"
    assert roles(advice) == {
        "primary": ["recall@100", "ndcg@100", "map@100"],
        "secondary": ["f1@100", "precision@100"],
        "supplementary": ["recall@1000"],
    }


@LANGS
@pytest.mark.parametrize("scenario", ["sparse", "dense", "balanced", "imbalanced"])
def test_the_fixture_of_each_scenario(scenario: str, lang: Lang) -> None:
    samples = read_samples(FIXTURES / f"recommend_{scenario}.jsonl", needs=())
    advice = recommend_measures(samples, lang=lang)
    assert advice.scenario == scenario
    assert advice.fired[0].rule.startswith(scenario)


def counted(relevant: float | None, irrelevant: float | None, **changes: object) -> Profile:
    fields: dict[str, object] = {
        "samples": 99,
        "queries": 0 if relevant is None else 99,
        "without_relevant": 0,
        "relevant": relevant,
        "irrelevant": irrelevant,
        "counted": None if irrelevant is None else "corpus",
        "longest": 1000,
        "graded": None if relevant is None else False,
        "share": dict.fromkeys(HELD, 1.0),
        "fitting": dict.fromkeys(needs(), 0),
    }
    return Profile.model_validate(fields | changes)


@pytest.mark.parametrize(
    ("relevant", "irrelevant", "scenario"),
    [
        (5, 1, "sparse"),
        (5, None, "sparse"),
        (5.5, 55_000, "imbalanced"),
        (6, 60_000, "imbalanced"),
        (6, 60_006, "sparse"),
        (15, 150_015, "sparse"),
        (15.5, 10_000_000, "imbalanced"),
        (6, 5, "dense"),
        (6, 6, "imbalanced"),
        (20, 19, "dense"),
        (20, 20, "balanced"),
        (20, 100, "balanced"),
        (20, 101, "imbalanced"),
        (19, 40, "imbalanced"),
        (30, 0, "dense"),
        (6, None, None),
        (None, None, None),
    ],
)
def test_scenarios_at_their_edges(
    relevant: float | None, irrelevant: float | None, scenario: str | None
) -> None:
    advice = advise(counted(relevant, irrelevant), Wishes())
    assert advice.scenario == scenario
    assert bool(advice.measures) == (scenario is not None)


@pytest.mark.parametrize(
    ("relevant", "irrelevant", "primary", "secondary", "supplementary", "avoid"),
    [
        (4, 9999, "hit@10 mrr", "ndcg@10 precision@10", "", "accuracy"),
        (30, 9999, "f1@20 ndcg@20 map@20", "recall@100 precision@20", "roc_auc", "accuracy"),
        (60, 20, "ndcg map", "recall@1000", "ndcg@100", "precision hit"),
        (30, 60, "ndcg@10 map@10", "recall@100 precision@10 f1@20", "", "hit"),
    ],
)
def test_each_scenario_when_nothing_is_asked(
    relevant: float,
    irrelevant: float,
    primary: str,
    secondary: str,
    supplementary: str,
    avoid: str,
) -> None:
    advice = advise(counted(relevant, irrelevant), Wishes())
    assert roles(advice) == {
        "primary": primary.split(),
        "secondary": secondary.split(),
        "supplementary": supplementary.split(),
    }
    assert avoided(advice) == set(avoid.split())
    assert [each.name for each in advice.measures if each.difference] == supplementary.split()[
        : relevant > irrelevant
    ]


KINDS = [(1, 9999), (2, 9999), (4, 9999), (30, 9999), (200, 99_999), (60, 20), (30, 60)]


@pytest.mark.parametrize(("relevant", "irrelevant"), KINDS)
def test_dear_misses_look_further_down(relevant: float, irrelevant: float) -> None:
    plain = roles(advise(counted(relevant, irrelevant), Wishes()))["primary"]
    dear = roles(advise(counted(relevant, irrelevant), Wishes(missed_cost="high")))["primary"]
    assert any(name.startswith("recall" if relevant > 1 else "hit") for name in dear)
    assert max(cutoff(name) or 0 for name in dear) > max(cutoff(name) or 0 for name in plain)


@pytest.mark.parametrize(("relevant", "irrelevant"), KINDS)
def test_dear_noise_looks_at_precision_of_the_first_few(relevant: float, irrelevant: float) -> None:
    advice = advise(counted(relevant, irrelevant), Wishes(noise_cost="high"))
    first = roles(advice)["primary"][0]
    assert first.startswith("precision@")
    assert (cutoff(first) or 0) <= 20
    assert not advice.measures[0].why.startswith("how much")


@pytest.mark.parametrize("cost", ["", "missed_cost", "noise_cost"])
@pytest.mark.parametrize(("relevant", "irrelevant"), KINDS)
def test_a_depth_is_where_ndcg_and_precision_are_read(
    relevant: float, irrelevant: float, cost: str
) -> None:
    wishes = Wishes.model_validate({"depth": 7} | ({cost: "high"} if cost else {}))
    advice = advise(counted(relevant, irrelevant), wishes)
    names = [each.name for each in advice.measures]
    assert {"ndcg@7", "precision@7"} <= set(names)
    assert "ndcg@7" in roles(advice)["primary"]
    assert {cutoff(name) for name in names} <= {7, 70}


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
    assert needs()["faithfulness"] == {"answer", "chunks"}
    assert needs()["citation"] == {"answer", "chunks", "citations"}
    assert "labels" in needs()["agreement"]


def noted(found: Profile, **wishes: object) -> str:
    return json.dumps(advise(found, Wishes.model_validate(wishes)).notes)


def test_notes() -> None:
    assert "degrees of relevance: nDCG weighs them" in noted(counted(9, 90, graded=True))
    assert "no degrees" in noted(counted(9, 90))
    assert "SQuAD" in noted(counted(9, 90), task="qa")
    assert "MS MARCO" in noted(counted(9, 90), task="passage")
    assert "BEIR" in noted(counted(30, 60))
    assert "BEIR" not in noted(counted(9, 90))
    assert "may be cut" in noted(counted(9, 90, counted="ranking"))
    assert "retrieve 100 " in noted(counted(9, 90, longest=20))
    assert "retrieve" not in noted(counted(9, 90, longest=100))
    assert "but 40 chunks" in noted(counted(9, 31), corpus_size=40)
    assert "Only 49 queries" in noted(counted(9, 90, queries=49))
    assert "Only" not in noted(counted(9, 90, queries=50))
    assert "--corpus-size N" in noted(counted(9, None))
    nothing = dict.fromkeys(HELD, 0.0)
    assert "Nothing says what is relevant" in noted(counted(None, None, share=nothing))
    assert "There is no ranking" in noted(counted(None, None, share=nothing))
    assert "Gold says of every query" in noted(counted(None, None))


@pytest.mark.parametrize(
    ("name", "relevant", "most"),
    [
        ("recall@100", 5000.0, 0.02),
        ("precision@5", 1.5, 0.3),
        ("f1@10", 30.0, 0.5),
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
