"""The five cases that the table must meet, and each scenario: its fixture and its edges."""

from pathlib import Path

import pytest

from judge.advice.recommend.advising import advise, recommend_measures
from judge.advice.recommend.table import Lang
from judge.advice.records import Advice, Wishes
from judge.files.samples import read_samples
from judge.records import Sample
from tests.advised import avoided, counted, roles

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
LANGS = pytest.mark.parametrize("lang", ["en", "zh"])


def queries(*relevant: int) -> list[Sample]:
    """One query for each number of relevant, twenty irrelevant ranked."""
    ranked = tuple(f"x{number}" for number in range(20))
    return [
        Sample(qid=str(row), retrieved=ranked, gold_evidence=tuple(f"d{n}" for n in range(count)))
        for row, count in enumerate(relevant)
    ]


def fired(advice: Advice) -> list[str]:
    return [each.rule for each in advice.fired]


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
    assert "accuracy" in avoided(advice)
    # Each decided something.
    assert fired(advice) == ["sparse-rare", "sparse-base", "missed-sparse"]


@LANGS
def test_shop_search(lang: Lang) -> None:
    advice = recommend_measures(queries(5000), Wishes(corpus_size=10_000_000, depth=10), lang)
    assert advice.scenario == "imbalanced"
    assert roles(advice) == {
        "primary": ["ndcg@10", "precision@10"],
        "secondary": ["recall@100"],
        "supplementary": [],
    }
    assert avoided(advice) == {"hit", "mrr", "accuracy"}
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
    assert avoided(advice) == {"accuracy"}
    # What the base row states, the dear noise replaces, all three roles: it decided nothing.
    assert fired(advice) == ["imbalanced", "imbalanced-rare", "noise-imbalanced"]


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
    assert avoided(advice) == {"hit", "mrr", "accuracy"}


@LANGS
@pytest.mark.parametrize("scenario", ["sparse", "dense", "balanced", "imbalanced"])
def test_the_fixture_of_each_scenario(scenario: str, lang: Lang) -> None:
    samples = read_samples(FIXTURES / f"recommend_{scenario}.jsonl", needs=())
    advice = recommend_measures(samples, lang=lang)
    assert advice.scenario == scenario
    assert advice.fired[0].rule.startswith(scenario)


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
