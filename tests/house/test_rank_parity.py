"""Rank measures beside trec_eval's own printed numbers, pytrec_eval, ir_measures and ranx."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import ir_measures
import numpy as np
import numpy.typing as npt
import pytest
import pytrec_eval

from judge.retrieval.measures import (
    Values,
    average_precision,
    dcg,
    f1_at_k,
    hit_at_k,
    ndcg,
    precision_at_k,
    r_precision,
    recall_at_k,
    reciprocal_rank,
    roc_auc,
)

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "retrieval"
Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
QUERIES = 2000
KS = (1, 3, 5, 10, 20, 40)


class Queries(NamedTuple):
    """What the measures take, a row a query."""

    gains: npt.NDArray[np.float64]
    """Relevance by rank."""
    hits: npt.NDArray[np.bool_]
    """Whether that reaches the level from which a document counts as relevant."""
    length: npt.NDArray[np.int64]
    relevant: npt.NDArray[np.int64]
    judged: npt.NDArray[np.float64]


Measure = Callable[[Queries, int], Values]

# By trec_eval's names; k is the number behind the name, or the length of the ranking.
TREC: dict[str, Measure] = {
    "P": lambda q, k: precision_at_k(q.hits, k),
    "recall": lambda q, k: recall_at_k(q.hits, k, q.relevant),
    "success": lambda q, k: hit_at_k(q.hits, k),
    "map": lambda q, _: average_precision(q.hits, q.relevant),
    "map_cut": lambda q, k: average_precision(q.hits, q.relevant, k),
    "recip_rank": lambda q, _: reciprocal_rank(q.hits),
    "Rprec": lambda q, _: r_precision(q.hits, q.relevant),
    "ndcg": lambda q, _: ndcg(q.gains, q.judged),
    "ndcg_cut": lambda q, k: ndcg(q.gains, q.judged, k),
    "set_P": lambda q, _: alone(q, lambda row, n, _: precision_at_k(row, n)),
    "set_recall": lambda q, _: alone(q, recall_at_k),
    "set_F": lambda q, _: alone(q, f1_at_k),
}
CUT = ("P", "recall", "success", "map_cut", "ndcg_cut")
RANX: dict[str, Measure] = {
    "hits": lambda q, k: np.asarray(precision_at_k(q.hits, k)) * k,
    "hit_rate": TREC["success"],
    "precision": TREC["P"],
    "recall": TREC["recall"],
    "f1": lambda q, k: f1_at_k(q.hits, k, q.relevant),
    "r-precision": TREC["Rprec"],
    "mrr": lambda q, k: reciprocal_rank(q.hits, k),
    "map": TREC["map_cut"],
    "dcg": lambda q, k: dcg(q.gains, k),
    "dcg_burges": lambda q, k: dcg(q.gains, k, gain="exp2"),
    "ndcg": TREC["ndcg_cut"],
    "ndcg_burges": lambda q, k: ndcg(q.gains, q.judged, k, gain="exp2"),
}
RANX_WHOLE: dict[str, Measure] = {
    "hits": lambda q, _: np.asarray(q.hits.sum(axis=-1, dtype=np.float64)),
    "precision": TREC["set_P"],
    "recall": TREC["set_recall"],
    "f1": TREC["set_F"],
    "r-precision": TREC["Rprec"],
    "mrr": TREC["recip_rank"],
    "map": TREC["map"],
    "dcg": lambda q, _: dcg(q.gains),
    "dcg_burges": lambda q, _: dcg(q.gains, gain="exp2"),
    "ndcg": TREC["ndcg"],
    "ndcg_burges": lambda q, _: ndcg(q.gains, q.judged, gain="exp2"),
}


def alone(q: Queries, measure: Callable[[npt.NDArray[np.bool_], int, int], Values]) -> Values:
    """Each query by itself, with the length of its ranking as k."""
    rows = zip(q.hits, q.length.tolist(), q.relevant.tolist(), strict=True)
    return np.array([float(measure(row, n, r)) if n else 0.0 for row, n, r in rows])


def ordered(scores: Mapping[str, float]) -> list[str]:
    """As trec_eval does: by score, equal ones by document id, both falling."""
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


def by_rank(run: Run) -> Run:
    """The same rankings with scores that nobody has to break a tie of."""
    return {
        qid: {document: float(-rank) for rank, document in enumerate(ordered(scores))}
        for qid, scores in run.items()
    }


def queries(qrels: Mapping[str, Mapping[str, float]], run: Run, level: float = 1) -> Queries:
    ranked = [[qrels[qid].get(d, 0) for d in ordered(scores)] for qid, scores in run.items()]
    judged = [list(qrels[qid].values()) for qid in run]
    gains = filled(ranked)
    return Queries(
        gains,
        gains >= level,
        np.array([len(row) for row in ranked]),
        np.array([sum(grade >= level for grade in row) for row in judged]),
        filled(judged),
    )


def filled(rows: Sequence[Sequence[float]]) -> npt.NDArray[np.float64]:
    table = np.zeros((len(rows), max(map(len, rows))))
    for place, row in zip(table, rows, strict=True):
        place[: len(row)] = row
    return table


@cache
def drawn(grades: tuple[int, ...]) -> tuple[Qrels, Run]:
    """Rankings of 1 to 25 with about four documents to a score; some relevant ones are missed."""
    rng = random.Random(f"ranks {grades}")  # noqa: S311 (no secret)
    qrels, run = {}, {}
    for query in range(QUERIES):
        # Ids of unlike length: "9" stands after "10" in one order of ids and not in the other.
        found = [f"d{i}" for i in rng.sample(range(1200), rng.randint(1, 25))]
        missed = [f"x{i}" for i in range(rng.randint(0, 4))]
        scores = [rng.randint(0, 6) / 4 - 0.5 for _ in found]
        run[f"q{query}"] = dict(zip(found, scores, strict=True))
        seen = [document for document in found if rng.random() < 0.7] + missed
        qrels[f"q{query}"] = {d: rng.choice(grades) for d in seen or found}
    return qrels, run


GRADES = pytest.mark.parametrize("grades", [(0, 0, 1), (-1, 0, 0, 0, 1, 2, 3, 4)], ids=str)
LEVELS = pytest.mark.parametrize("level", [1, 2])


def names() -> Iterator[tuple[str, Measure, int]]:
    for name, measure in TREC.items():
        if name not in CUT:
            yield name, measure, 0
        for k in KS if name in CUT else ():
            yield f"{name}_{k}", measure, k


@GRADES
@LEVELS
def test_as_pytrec_eval(grades: tuple[int, ...], level: int) -> None:
    qrels, run = drawn(grades)
    asked = {name.replace("_cut_", "_cut.") for name, _, _ in names()}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, asked, relevance_level=level).evaluate(run)
    q = queries(qrels, run, level)
    for name, measure, k in names():
        expected = [theirs[qid][name] for qid in run]
        np.testing.assert_allclose(measure(q, k), expected, rtol=0, atol=1e-9, err_msg=name)


@GRADES
@LEVELS
def test_as_ir_measures(grades: tuple[int, ...], level: int) -> None:
    qrels, run = drawn(grades)
    q = queries(qrels, run, level)
    rel = f"(rel={level})"
    pairs: dict[str, Values] = {
        f"RR{rel}": reciprocal_rank(q.hits),
        f"AP{rel}": average_precision(q.hits, q.relevant),
        f"Rprec{rel}": r_precision(q.hits, q.relevant),
        f"SetP{rel}": TREC["set_P"](q, 0),
        f"SetR{rel}": TREC["set_recall"](q, 0),
        f"SetF{rel}": TREC["set_F"](q, 0),
        "nDCG": ndcg(q.gains, q.judged),
    }
    for k in KS:
        pairs[f"P{rel}@{k}"] = precision_at_k(q.hits, k)
        pairs[f"R{rel}@{k}"] = recall_at_k(q.hits, k, q.relevant)
        pairs[f"Success{rel}@{k}"] = hit_at_k(q.hits, k)
        pairs[f"AP{rel}@{k}"] = average_precision(q.hits, q.relevant, k)
        pairs[f"nDCG@{k}"] = ndcg(q.gains, q.judged, k)
    compare(pairs, qrels, run)


@GRADES
@LEVELS
def test_reciprocal_rank_at_k_as_ir_measures(grades: tuple[int, ...], level: int) -> None:
    # It breaks ties by document id rising, as MS MARCO does, where its RR without k has them
    # falling: here the rank is the score.
    qrels, run = drawn(grades)
    q = queries(qrels, run, level)
    pairs = {f"RR(rel={level})@{k}": reciprocal_rank(q.hits, k) for k in KS}
    compare(pairs, qrels, by_rank(run))


def compare(pairs: Mapping[str, Values], qrels: Qrels, run: Run) -> None:
    measures = {ir_measures.parse_measure(name): name for name in pairs}
    theirs: dict[str, dict[str, float]] = {name: {} for name in pairs}
    for metric in ir_measures.iter_calc(list(measures), qrels, run):
        theirs[measures[metric.measure]][metric.query_id] = metric.value
    for name, ours in pairs.items():
        expected = [theirs[name][qid] for qid in run]
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9, err_msg=name)


@GRADES
def test_roc_auc_as_ir_measures_accuracy(grades: tuple[int, ...]) -> None:
    """What it calls Accuracy is the chance that a relevant one stands above an irrelevant one."""
    qrels, run = drawn(grades)
    # Of tied documents it takes the first in the file to be the higher.
    run = by_rank(run)
    q = queries(qrels, run)
    auc = np.asarray(roc_auc(q.hits, q.length))
    # It divides by zero where all are relevant, and leaves out where none is.
    both = ~np.isnan(auc)
    assert both.sum() > QUERIES / 2
    defined = {qid: run[qid] for qid, known in zip(run, both, strict=True) if known}
    compare({"Accuracy": auc[both]}, qrels, defined)


# ranx compiles its measures when they are first called in an environment, for half a minute or so,
# and keeps them on disk; from then on the tests are quick. Importing it takes a second or two.
UNSAFE = pytest.mark.filterwarnings(
    # Its hashes of document ids are unsigned and it keeps them signed, which numba says.
    "ignore::numba.core.errors.NumbaTypeSafetyWarning"
)


def ranx_values(
    qrels: Mapping[str, Mapping[str, float]], run: Run, asked: Sequence[str]
) -> dict[str, npt.NDArray[np.float64]]:
    import ranx  # noqa: PLC0415 (slow, and only these tests need it)

    # It sorts by score with an unstable sort, and reverses that: which of two equal scores comes
    # first hangs on the length of the ranking. So it is handed scores made from the rank. Queries
    # it matches by their place in the two dictionaries.
    values: dict[str, npt.NDArray[np.float64]] = ranx.evaluate(
        {qid: dict(qrels[qid]) for qid in run}, by_rank(run), list(asked), return_mean=False
    )
    return values


def ranx_compare(
    qrels: Mapping[str, Mapping[str, float]], run: Run, names: Sequence[str], level: int = 1
) -> None:
    q = queries(qrels, run, level)
    theirs = ranx_values(qrels, run, names)
    for name in names:
        stem, _, depth = name.partition("-l")[0].partition("@")
        ours = RANX[stem](q, int(depth)) if depth else RANX_WHOLE[stem](q, 0)
        np.testing.assert_allclose(ours, theirs[name], rtol=0, atol=1e-9, err_msg=name)


def ranx_names() -> list[str]:
    # Its R-precision takes no k, and its hit rate of a whole ranking is not one of ours.
    return [*RANX_WHOLE, *(f"{name}@{k}" for name in RANX if name != "r-precision" for k in KS)]


@pytest.mark.oracle
@UNSAFE
@GRADES
def test_as_ranx(grades: tuple[int, ...]) -> None:
    ranx_compare(*drawn(grades), ranx_names())


@pytest.mark.oracle
@UNSAFE
def test_as_ranx_at_level_two() -> None:
    # Its DCG at a level drops the grades under it; in trec_eval the level does not touch nDCG.
    asked = [f"{name}-l2" for name in ranx_names() if "dcg" not in name]
    ranx_compare(*drawn((-1, 0, 0, 0, 1, 2, 3, 4)), asked, 2)


@pytest.mark.oracle
@UNSAFE
def test_fractions_as_ranx() -> None:
    # Relevance under 1 is none to ranx: its levels are whole numbers.
    grades = {0: 0.0, 1: 1.25, 2: 1.5, 3: 2.875, 4: 3.1, -1: 0.0}
    qrels, run = drawn((-1, 0, 0, 0, 1, 2, 3, 4))
    fractions = {qid: {d: grades[g] for d, g in row.items()} for qid, row in qrels.items()}
    ranx_compare(fractions, run, ranx_names())


@pytest.mark.oracle
@UNSAFE
def test_the_example_of_ranx() -> None:
    qrels: Qrels = json.loads(there("ranx/qrels.json"))
    run: Run = json.loads(there("ranx/run.json"))
    ranx_compare(qrels, run, ranx_names())
    assert np.asarray(RANX_WHOLE["ndcg"](queries(qrels, run), 0)).tolist() == [1, 1]


def there(name: str) -> str:
    path = DATA / name
    if not path.exists():
        pytest.skip("no shared data beside this checkout")
    return path.read_text("utf-8")


def read(qrels_name: str, run_name: str) -> tuple[Qrels, Run]:
    qrels: Qrels = {}
    for line in there(qrels_name).splitlines():
        qid, _, document, grade = line.split()
        qrels.setdefault(qid, {})[document] = int(grade)
    run: Run = {}
    for line in there(run_name).splitlines():
        qid, _, document, _, score, _ = line.split()
        run.setdefault(qid, {})[document] = float(score)
    return qrels, run


@pytest.mark.parametrize(
    ("printed", "qrels_name", "level"),
    [("out.test.aq", "qrels.test", 1), ("out.test.aql", "qrels.rel_level", 2)],
)
def test_as_trec_eval_prints_it(printed: str, qrels_name: str, level: int) -> None:
    qrels, run = read(f"trec_eval/{qrels_name}", "trec_eval/results.test")
    # The level decides what is relevant; nDCG takes every grade above 0 all the same.
    q = queries(qrels, run, level)
    seen: set[str] = set()
    for line in there(f"trec_eval/{printed}").splitlines():
        name, qid, text = line.split()
        stem, _, depth = name.rpartition("_")
        if name in TREC:
            values = np.asarray(TREC[name](q, 0))
        elif stem in CUT:
            values = np.asarray(TREC[stem](q, int(depth)))
        else:
            continue
        seen.add(stem if stem in CUT else name)
        value = values.mean() if qid == "all" else values[list(run).index(qid)]
        assert f"{value:.4f}" == text, line
    assert seen == set(TREC)


def test_the_rankings_of_ir_measures() -> None:
    qrels, run = read("ir_measures/compat.qrels", "ir_measures/compat.run")
    run = {qid: run[qid] for qid in run if qid in qrels}
    assert run
    asked = {name.replace("_cut_", "_cut.") for name, _, _ in names()}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    q = queries(qrels, run)
    for name, measure, k in names():
        expected = [theirs[qid][name] for qid in run]
        np.testing.assert_allclose(measure(q, k), expected, rtol=0, atol=1e-9, err_msg=name)


def test_as_cwl_eval_prints_it() -> None:
    """Against numbers that ir_measures' tests give for a run of cwl-eval by hand."""
    q = queries(*read("ir_measures/cwl.qrels", "ir_measures/cwl.run"))
    # Its scaled DCG divides by what ten relevant ones in a row would have.
    scaled = np.asarray(dcg(q.gains, 10)) / dcg(np.ones(10))
    for ours, printed in (
        (average_precision(q.hits, q.relevant), [0.7087, 0.7438, 0.3068]),
        (reciprocal_rank(q.hits), [1, 1, 0.1667]),
        (precision_at_k(q.hits, 1), [1, 1, 0]),
        (precision_at_k(q.hits, 5), [0.6, 0.6, 0]),
        (precision_at_k(q.hits, 10), [0.5, 0.6, 0.4]),
        (precision_at_k(q.hits, 20), [0.25, 0.3, 0.2]),
        (scaled, [0.5645, 0.6531, 0.2848]),
    ):
        assert np.asarray(ours).round(4).tolist() == printed
