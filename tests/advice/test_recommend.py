"""Which measures are advised for which data, with which reasons and notes."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.advice.diagnose import diagnosis_table
from judge.advice.recommend import (
    PARTS,
    Advice,
    Profile,
    Wishes,
    advice_table,
    advise,
    profile,
    recommend_measures,
)
from judge.errors import ConfigError, InputError
from judge.inputs.samples import read_samples
from judge.records import Chunk, Sample
from judge.retrieval.evaluate import mean_names
from judge.retrieval.records import RankRules

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def roles(advice: Advice) -> dict[str, list[str]]:
    """Return the names of the measures of each role."""
    return {
        role: [each.name for each in advice.measures if each.role == role]
        for role in ("primary", "secondary", "supplementary")
    }


def avoided(advice: Advice) -> set[str]:
    """Return the measures to avoid, without cut-offs."""
    return {each.name.partition("@")[0] for each in advice.avoided}


def counted(relevant: float | None, irrelevant: float | None, **changes: object) -> Profile:
    """Return the profile of 99 samples with these medians that contain everything."""
    fields: dict[str, object] = {
        "samples": 99,
        "queries": 0 if relevant is None else 99,
        "relevant": relevant,
        "irrelevant": irrelevant,
        "counted": None if irrelevant is None else "corpus",
        "graded": None if relevant is None else False,
        "share": dict.fromkeys(PARTS, 1.0),
        "fitting": dict.fromkeys(advice_table().family, 0),
    }
    return Profile.model_validate(fields | changes)


def queries(*relevant: int) -> list[Sample]:
    """One query for each number of relevant, twenty irrelevant ranked."""
    ranked = tuple(f"x{number}" for number in range(20))
    return [
        Sample(qid=str(row), retrieved=ranked, gold_evidence=tuple(f"d{n}" for n in range(count)))
        for row, count in enumerate(relevant)
    ]


# Relevant ones by query, what is asked for, the scenario, the measures by role, what is warned of,
# and the rules that decided something.
CASES: dict[str, tuple[tuple[int, ...], dict[str, object], str, str, str, str]] = {
    "clinical literature": (
        (5, 8, 10, 12, 15),
        {"corpus_size": 5_000_000, "missed_cost": "high"},
        "sparse",
        "hit@100 recall@100 | mrr ndcg@100 | ",
        "accuracy",
        "sparse-rare sparse-base missed-sparse",
    ),
    "shop search": (
        (5000,),
        {"corpus_size": 10_000_000, "depth": 10},
        "imbalanced",
        "ndcg@10 precision@10 | recall@100 | ",
        "accuracy hit mrr",
        "imbalanced imbalanced-rare many depth",
    ),
    # The row for costly noise replaces all three roles of the base row.
    "legal search": (
        (20, 24, 30),
        {"corpus_size": 1_000_000, "noise_cost": "high"},
        "imbalanced",
        "precision@20 recall@20 f1@20 | ndcg@20 | ",
        "accuracy",
        "imbalanced imbalanced-rare noise-imbalanced",
    ),
    "company knowledge base": (
        (1, 1, 2),
        {"corpus_size": 10_000},
        "sparse",
        "hit@10 hit@20 | mrr precision@5 | ",
        "accuracy recall",
        "sparse-few sparse-base one-or-two",
    ),
    "scholarly search": (
        (100, 200, 500),
        {"corpus_size": 50_000_000},
        "imbalanced",
        "recall@100 ndcg@100 map@100 | f1@100 precision@100 | recall@1000",
        "accuracy hit mrr",
        "imbalanced imbalanced-rare many",
    ),
}


def test_the_cases_that_the_table_must_meet() -> None:
    for case, (relevant, wishes, scenario, measures, avoid, fired) in CASES.items():
        advice = recommend_measures(queries(*relevant), Wishes.model_validate(wishes))
        assert advice.scenario == scenario, case
        assert " | ".join(" ".join(each) for each in roles(advice).values()) == measures, case
        assert " ".join(sorted(avoided(advice))) == avoid, case
        assert " ".join(each.rule for each in advice.fired) == fired, case
    for name, corpus in (("sparse", None), ("dense", 13), ("balanced", 75), ("imbalanced", None)):
        samples = read_samples(FIXTURES / f"recommend_{name}.jsonl", needs=())
        advice = recommend_measures(samples, Wishes(corpus_size=corpus))
        assert advice.scenario == name
        assert advice.fired[0].rule.startswith(name)


def test_no_cut_off_is_over_a_tenth_of_the_corpus() -> None:
    many = counted(60, 140)
    assert "recall@20" in {each.name for each in advise(many, Wishes(corpus_size=200)).measures}
    shallow = advise(counted(8, 5), Wishes(corpus_size=13, depth=3))
    assert [each.name for each in shallow.measures] == ["ndcg@3", "precision@3"]
    for corpus in (4, 13, 75, 200, 5000):
        for costs in ({}, {"missed_cost": "high"}, {"noise_cost": "high"}, {"depth": 3}):
            wishes = Wishes.model_validate({"corpus_size": corpus, **costs})
            for relevant in (1, 4, 30, 60):
                advice = advise(counted(relevant, max(0, corpus - relevant)), wishes)
                names = [each.name for each in advice.measures]
                ks = [int(name.partition("@")[2]) for name in names if "@" in name]
                assert max(ks, default=0) <= max(1, corpus // 10, wishes.depth or 0)
                assert len(names) == len(set(names)) > 0


def test_a_ranking_shows_only_the_least_of_what_is_irrelevant() -> None:
    """Seven of ten relevant is dense only if the ten are the corpus."""
    ranked = counted(7, 3, counted="ranking")
    advice = advise(ranked, Wishes())
    assert (advice.scenario, advice.measures, advice.avoided) == (None, (), ())
    assert any("--corpus-size" in note for note in advice.notes)
    assert advise(counted(7, 3), Wishes(corpus_size=10)).scenario == "dense"
    # A lower bound shows that it is neither dense nor balanced.
    assert advise(counted(30, 151, counted="ranking"), Wishes()).scenario == "imbalanced"
    assert advise(counted(19, 19, counted="ranking"), Wishes()).scenario == "imbalanced"
    for relevant, irrelevant in ((30, 150), (19, 18)):
        found = counted(relevant, irrelevant, counted="ranking")
        assert advise(found, Wishes()).scenario is None
    assert advise(counted(5, 0, counted="ranking"), Wishes()).scenario == "sparse"


EDGES: list[tuple[float | None, float | None, str | None]] = [
    (5, 1, "sparse"),
    (6, 60_000, "imbalanced"),
    (6, 60_006, "sparse"),
    (15, 150_015, "sparse"),
    (6, 5, "dense"),
    (20, 20, "balanced"),
    (20, 100, "balanced"),
    (20, 101, "imbalanced"),
    (6, None, None),
    (None, None, None),
]


def test_scenarios_at_their_edges() -> None:
    for relevant, irrelevant, scenario in EDGES:
        advice = advise(counted(relevant, irrelevant), Wishes())
        assert advice.scenario == scenario, (relevant, irrelevant)
        assert bool(advice.measures) == (scenario is not None)


halves = st.integers(2, 4000).map(lambda twice: twice / 2)
wished = st.builds(
    Wishes,
    missed_cost=st.just("normal"),
    noise_cost=st.sampled_from(["normal", "high"]),
    depth=st.none() | st.integers(1, 10**8),
) | st.builds(Wishes, missed_cost=st.just("high"), depth=st.none() | st.integers(1, 10**8))


@given(
    st.none() | halves,
    st.none() | st.integers(0, 10**9).map(float),
    wished,
    st.none() | st.booleans(),
)
def test_any_data_is_advised_a_few_measures_that_there_are(
    relevant: float | None,
    irrelevant: float | None,
    wishes: Wishes,
    graded: bool | None,  # noqa: FBT001
) -> None:
    found = counted(relevant, irrelevant, graded=graded)
    advice = advise(found, wishes)
    by_role = roles(advice)
    if advice.scenario is not None:
        assert 1 <= len(by_role["primary"]) <= 3
        assert 1 <= len(by_role["secondary"]) <= 3
        assert len(by_role["supplementary"]) <= 2
    advised = [each.name for each in advice.measures]
    assert len(set(advised)) == len(advised)
    assert not avoided(advice) & {name.partition("@")[0] for name in advised}
    texts = [each.why for each in advice.measures]
    texts += [each.why for each in advice.avoided]
    texts += [each.why for each in advice.fired]
    assert all(text and "{" not in text for text in (*texts, *advice.notes))
    assert Advice.model_validate_json(advice.model_dump_json()) == advice


CHUNK = Chunk(chunk_id="a", text="住宿费每晚500元。")


def one(ranked: str | None, gold: str | None = None, **grades: float) -> Sample:
    """A query whose chunks are letters."""
    retrieved = None if ranked is None else tuple(ranked)
    evidence = None if gold is None else tuple(gold)
    return Sample(qid="问1", retrieved=retrieved, gold_evidence=evidence, relevance=grades or None)


# Samples, the corpus, and what is counted.
PROFILES: list[tuple[list[Sample], int | None, dict[str, object]]] = [
    # a, b and c are relevant; x (twice) and y are not.
    (
        [one("axyx", "abc", a=1, b=1, c=2, x=0)],
        None,
        {"relevant": 3, "irrelevant": 2, "counted": "ranking", "graded": True},
    ),
    # Where both name chunks, and not the same, gold_evidence says which are relevant.
    (
        [one("axyc", "ab", c=2, b=1), one("ax", "a", a=2)],
        None,
        {"relevant": 1.5, "irrelevant": 2, "graded": True},
    ),
    # The median of 1, 2 and 3 relevant, of 1 and 3 irrelevant: for the last nothing was ranked.
    (
        [one("x", ""), one("x"), one("ax", "a"), one("xyz", "ab"), one("", "abc")],
        None,
        {"samples": 5, "queries": 3, "relevant": 2, "irrelevant": 2},
    ),
    ([one(None, "a"), one("x", "ab")], 1000, {"irrelevant": 998.5, "counted": "corpus"}),
    ([one("xy", "a")], 3, {"irrelevant": 2}),
    ([one("x")], 9, dict.fromkeys(("relevant", "irrelevant", "graded", "counted"))),
    # The order of the chunks serves for a ranking.
    ([Sample(qid="1", chunks=(CHUNK,), gold_evidence=("b",))], None, {"irrelevant": 1}),
]


def test_what_is_counted() -> None:
    for samples, corpus, expected in PROFILES:
        found = profile(samples, corpus)
        assert {name: getattr(found, name) for name in expected} == expected
    # Degrees are two grades above 0 in one query; gold evidence is graded 1.
    assert profile([one(None, "z", a=2, b=1)]).graded is True
    assert profile([one(None, a=1), one(None, a=2), one(None, "z", b=0)]).graded is False
    assert profile(PROFILES[2][0]).share["gold"] == 0.8
    assert profile(PROFILES[2][0]).share["retrieved"] == 0.8
    assert profile(PROFILES[3][0], 1000).ratio == pytest.approx(998.5 / 1.5)
    assert profile([one("x")]).ratio is None
    blank = profile([Sample(qid="1", answer=" \n", gold_answer="　")])
    assert set(blank.share.values()) == {0}
    with pytest.raises(InputError, match="holds no sample"):
        profile([])
    with pytest.raises(ConfigError, match="--corpus-size 2: query '问1' alone has 3 "):
        profile([one("xy", "a")], 2)


CUTS = {"small": 1, "k": 2, "wide": 3, "large": 4, "depth": 5, "pool": 6}
# Advice warns of accuracy, which is not measured here.
MEASURES = {re.sub(r"@\d+", "@k", name) for name in mean_names(RankRules())} | {"accuracy@k"}


def unknown(*names: str) -> list[str]:
    """Return the names that are no rank measures, whatever their cut-offs."""
    return [name for name in names if re.sub(r"@[1-9][0-9]*\Z", "@k", name) not in MEASURES]


def test_every_rule_has_its_texts_and_names_measures_that_there_are() -> None:
    rules = advice_table()
    stated = [
        pair
        for rule in rules.advice
        for role in (rule.primary, rule.secondary, rule.supplementary, rule.avoid)
        for pair in role or ()
    ]
    assert unknown(*(name.format(**CUTS) for name, _ in stated)) == []
    # None is missing, and none is left over.
    assert {group: set(texts) for group, texts in rules.text.items()} == {
        "rule": {rule.text for rule in (*rules.scenario, *rules.advice)},
        "reason": {reason for _, reason in stated},
        "note": {note.text for note in rules.note},
        "fits": set(rules.family),
        "lacks": set(rules.family),
    }
    assert all(rule.needs <= {*PARTS, "labels"} for rule in rules.family.values())
    table = diagnosis_table()
    assert (
        unknown(*(name for rule in table.rule for row in rule.when for name in row.measures)) == []
    )
    assert unknown(*table.change.rose, *table.change.unchanged) == []
    named = {name for rule in table.rule for name in rule.advice}
    assert set(table.advice) == named | set(table.change.advice)
