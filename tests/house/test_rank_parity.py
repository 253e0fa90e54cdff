"""Rank measures of whole runs beside pytrec_eval and trec_eval's own numbers."""

import json
import random
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
import pytrec_eval

from judge import RankRules, measure_run
from judge.retrieval.records import QueryRanks
from tests.commands import judge

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "retrieval"
Grades = Mapping[str, Mapping[str, float]]
Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
Values = dict[str, dict[str, float]]
"""By measure, then by query."""
QUERIES = 300
KS = (1, 3, 5, 10, 20, 40)

# Our names, and those of the others; `{}` stands for k.
TREC = {
    "ap": "map",
    "rr": "recip_rank",
    "ndcg": "ndcg",
    "precision@{}": "P_{}",
    "recall@{}": "recall_{}",
    "hit@{}": "success_{}",
    "ap@{}": "map_cut_{}",
    "ndcg@{}": "ndcg_cut_{}",
}


def at_each_k(names: Mapping[str, str]) -> dict[str, str]:
    """Return the names with every cut-off put in."""
    return {
        ours.format(k): theirs.format(k)
        for ours, theirs in names.items()
        for k in (KS if "{}" in ours else KS[:1])
    }


def measured(qrels: Grades, run: Run, **rules: object) -> Values:
    """Our values of the queries with something relevant."""
    found: Values = {}
    chosen = RankRules.model_validate({"ks": KS, "gold_match": "exact", **rules})
    rows: list[QueryRanks] = []
    measure_run(qrels, run, chosen, each=rows.append)
    for row in rows:
        if row.status == "measured":
            for name, value in row.measures.items():
                if value is not None:
                    found.setdefault(name, {})[row.qid] = value
    assert len(found["ap"]) > len(run) / 2
    return found


@cache
def random_rankings(grades: tuple[int, ...]) -> tuple[Qrels, Run]:
    """Rankings of 1 to 25 with about four documents to a score; some relevant ones are missed."""
    rng = random.Random(f"ranks {grades}")  # noqa: S311 (no secret)
    # The last three are one score in single precision, in which trec_eval holds them.
    scores = (-0.5, 0.0, 1e-50, 0.25, 0.75, 1.0, 1.00000001, 16777216.0, 16777217.0)
    qrels, run = {}, {}
    for query in range(QUERIES):
        # Ids of different lengths: "9" sorts after "10" as text and before it as a number.
        found = [f"d{i}" for i in rng.sample(range(1200), rng.randint(1, 25))]
        missed = [f"x{i}" for i in range(rng.randint(0, 4))]
        run[f"q{query}"] = {document: rng.choice(scores) for document in found}
        seen = [document for document in found if rng.random() < 0.7] + missed
        qrels[f"q{query}"] = {d: rng.choice(grades) for d in seen or found}
    return qrels, run


BINARY, GRADED = (0, 0, 1), (-1, 0, 0, 0, 1, 2, 3, 4)


def pytrec(qrels: Qrels, run: Run, level: int) -> Values:
    measures = {name.replace("_cut_", "_cut.") for name in at_each_k(TREC).values()}
    rows = pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level).evaluate(run)
    return {
        name: {qid: row[name] for qid, row in rows.items()} for name in at_each_k(TREC).values()
    }


@pytest.mark.parametrize(
    ("grades", "level"), [(BINARY, 1), (GRADED, 1), (GRADED, 2)], ids=["binary", "graded", "level"]
)
def test_as_pytrec_eval(grades: tuple[int, ...], level: int) -> None:
    qrels, run = random_rankings(grades)
    ours, theirs = measured(qrels, run, relevance_level=level), pytrec(qrels, run, level)
    # A first rank beyond the cut-off counts 0.
    for k in KS:
        ranks = theirs["recip_rank"].items()
        theirs[f"recip_rank_{k}"] = {qid: rr if rr >= 1 / k else 0.0 for qid, rr in ranks}
    for own, other in (at_each_k(TREC) | at_each_k({"rr@{}": "recip_rank_{}"})).items():
        expected = {qid: theirs[other][qid] for qid in ours[own]}
        assert ours[own] == pytest.approx(expected, rel=0, abs=1e-9), own


def shared_text(name: str) -> str:
    path = DATA / name
    if not path.exists():
        pytest.skip("no shared data beside this checkout")
    return path.read_text("utf-8")


# Names of trec_eval's printed means, as the command calls its own.
PRINTED = {"map": "map", "mrr": "recip_rank"} | {
    name.replace("ap@", "map@"): other for name, other in TREC.items() if name not in ("ap", "rr")
}
PRINTED_KS = (1, 5, 10, 15, 20, 30, 100, 200, 500, 1000)


def printed(name: str) -> Iterator[tuple[str, str, str]]:
    """Query, name of the measure as we call it, and the value as trec_eval printed it."""
    names = {other.format(k): own.format(k) for own, other in PRINTED.items() for k in PRINTED_KS}
    for line in shared_text(f"trec_eval/{name}").splitlines():
        measure, qid, value = line.split()
        if measure in names:
            yield qid, names[measure], value


# Three files of trec_eval's, the levels they were made with, and the same qrels with other grades.
@pytest.mark.parametrize(
    ("name", "qrels", "words"),
    [
        ("out.test.a", "qrels.test", ()),
        ("out.test.aq", "qrels.test", ()),
        ("out.test.aql", "qrels.rel_level", ("--relevance-level", "2")),
    ],
)
def test_the_command_prints_trec_evals_numbers(
    place: Path, name: str, qrels: str, words: tuple[str, ...]
) -> None:
    expected = [*printed(name)]
    rows = place / "rows.jsonl"
    files = (DATA / "trec_eval" / each for each in (qrels, "results.test"))
    options = [word for pair in zip(("--qrels", "--run"), files, strict=True) for word in pair]
    ks = ",".join(map(str, PRINTED_KS))
    ran = judge("retrieval", *options, "-o", rows, "-k", ks, "--json", *words)
    assert (ran.code, ran.err) == (0, "")
    found = {"all": json.loads(ran.out)["mean"]}
    found |= {row["qid"]: row for row in map(json.loads, rows.read_text("utf-8").splitlines())}
    for qid, measure, value in expected:
        own = measure if qid == "all" else measure.replace("map", "ap").replace("mrr", "rr")
        assert f"{found[qid][own]:.4f}" == value, (qid, measure)
    assert sum(qid == "all" for qid, _, _ in expected) == 42
