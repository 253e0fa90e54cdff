"""From queries to the report on a whole file, batch by batch, in memory that does not grow."""

from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from typing import Final, get_args

import numpy as np

from judge.records import Interval, Sample
from judge.retrieval.gathering import run_queries, sample_queries
from judge.retrieval.lists import Lists
from judge.retrieval.measuring import Batch, batches
from judge.retrieval.query import Grades, RankedQuery
from judge.retrieval.records import PairKind, QueryRanks, QueryStatus, RankingReport, RankRules
from judge.retrieval.remarks import NOTES, refuse, warnings
from judge.retrieval.trec import Block
from judge.scores.intervals import Method, StreamedMeans
from judge.signature import Signature

Each = Callable[[QueryRanks], None]

LISTED: Final = 100
"""Qids kept of the queries that could not be measured, of each kind."""

_MEANS: Final = {"rr": "mrr", "ap": "map"}
_UNBOUNDED: Final = "dcg@"


def measure_retrieval(
    samples: Iterable[Sample],
    rules: RankRules | None = None,
    *,
    most: int = 5,
    each: Each | None = None,
) -> RankingReport:
    """Rank measures of samples, which are read once and not kept.

    Args:
        samples: `retrieved`, or else the order of `chunks`, is the ranking; `gold_evidence` and
            `relevance` say what is relevant. Each qid once.
        rules: how; the defaults where left out.
        most: how long each list for a person may be.
        each: called with every query's measures, in the order of the samples.

    Raises:
        InputError: there is nothing to measure by, or gold contradicts itself.
    """
    rules = rules or RankRules()
    return _report(sample_queries(samples, rules), rules, "given", most, each)


def measure_run(
    qrels: Mapping[str, Grades],
    run: Iterable[Block] | Mapping[str, Mapping[str, float]],
    rules: RankRules | None = None,
    *,
    most: int = 5,
    each: Each | None = None,
) -> RankingReport:
    """Rank measures of a run, ordered as trec_eval does: by score, ties by id, both descending.

    Args:
        qrels: relevance by document id by qid.
        run: scores by document id by qid; or triples of qid, document ids, scores, each qid once.
        rules: how; the defaults where left out.
        most: how long each list for a person may be.
        each: called with every query's measures: of those ranked, then of those that are not.

    Raises:
        InputError: there is nothing to measure by.
    """
    rules = rules or RankRules()
    blocks = (
        ((qid, list(scored), list(scored.values())) for qid, scored in run.items())
        if isinstance(run, Mapping)
        else run
    )
    return _report(run_queries(qrels, blocks, rules), rules, "score", most, each)


def _report(
    queries: Iterable[RankedQuery], rules: RankRules, order: str, most: int, each: Each | None
) -> RankingReport:
    totals = _Totals(rules, most)
    for batch in batches(queries, rules):
        totals.add(batch)
        if each is not None:
            for row in range(len(batch.queries)):
                each(batch.row(row))
    return totals.report(order)


class _Totals:
    def __init__(self, rules: RankRules, most: int) -> None:
        self._rules = rules
        self._means: StreamedMeans | None = None
        self._names: list[str] = []
        self._lists = Lists(rules.ks[-1], most)
        self._statuses: dict[QueryStatus, int] = dict.fromkeys(get_args(QueryStatus), 0)
        self._listed: dict[QueryStatus, list[str]] = {status: [] for status in self._statuses}
        self._averaged = self._repeated = self._named = 0
        self._ks = np.array(rules.ks)
        self._reach = np.zeros((2, len(rules.ks)))

    def add(self, batch: Batch) -> None:
        if self._means is None:
            self._names = list(batch.columns)
            self._means = StreamedMeans(len(self._names), self._rules.seed)
        qids = []
        for row, (query, status) in enumerate(zip(batch.queries, batch.statuses, strict=True)):
            self._statuses[status] += 1
            self._repeated += query.repeated
            self._named += query.named
            if status != "measured" and len(self._listed[status]) < LISTED:
                self._listed[status].append(query.qid)
            if batch.averaged[row]:
                qids.append(query.qid)
        self._averaged += len(qids)
        self._means.add_rows(qids, batch.table[batch.averaged])
        self._lists.add(batch)
        relevant = batch.relevant[batch.averaged, np.newaxis]
        most = np.minimum(relevant, self._ks)
        self._reach += (most / np.maximum(relevant, 1)).sum(axis=0), (most / self._ks).sum(axis=0)

    def _ceiling(self) -> dict[str, float]:
        return {
            f"{measure}@{k}": float(most) / self._averaged
            for measure, row in zip(("recall", "precision"), self._reach, strict=True)
            for k, most in zip(self._rules.ks, row, strict=True)
        }

    def report(self, order: str) -> RankingReport:
        lists = self._lists
        refuse(self._statuses, self._named, self._rules)
        means = self._means or StreamedMeans(0, self._rules.seed)
        return RankingReport(
            signature=_signature(self._rules, order),
            queries=sum(self._statuses.values()),
            averaged=self._averaged,
            statuses=self._statuses,
            mean={mean_name(name): means.mean(i) for i, name in enumerate(self._names)},
            ceiling=self._ceiling(),
            interval={
                mean_name(name): _interval(name, means.interval(i))
                for i, name in enumerate(self._names)
            },
            defined={mean_name(name): means.count(i) for i, name in enumerate(self._names)},
            listed={status: tuple(qids) for status, qids in self._listed.items() if qids},
            repeated=self._repeated,
            missed_total=lists.missed_total,
            relevant_total=lists.relevant_total,
            topped_total=lists.topped_total,
            compared=lists.compared,
            pairs_total={kind: lists.pairs_total[kind] for kind in get_args(PairKind)},
            worst=lists.worst.items(),
            missed=lists.missed.items(),
            topped=lists.topped.items(),
            pairs=lists.pairs.items(),
            notes=NOTES,
            warnings=warnings(
                self._statuses,
                self._repeated,
                lists.relevant_total,
                lists.found_total,
                self._rules,
            ),
        )


def mean_name(name: str) -> str:
    """What the mean of a measure is called.

    >>> mean_name("ap"), mean_name("rr@10"), mean_name("ndcg@10")
    ('map', 'mrr@10', 'ndcg@10')
    """
    measure, at, k = name.partition("@")
    return _MEANS.get(measure, measure) + at + k


def _interval(name: str, found: tuple[float, float, Method] | None) -> Interval | None:
    if found is None or (name.startswith(_UNBOUNDED) and found[2] == "wilson"):
        return None
    low, high, method = found
    return Interval(low=low, high=high, method=method)


def _signature(rules: RankRules, order: str) -> str:
    level = ">0" if rules.relevance_level is None else f">={rules.relevance_level:g}"
    made = Signature(
        "retrieval",
        (
            f"k:{','.join(map(str, rules.ks))}",
            f"order:{order}",
            f"gain:{rules.gain}",
            f"relevant:{level}",
            f"gold:{rules.gold_match or 'exact'}",
            f"no_relevant:{rules.no_relevant}",
            f"no_ranking:{rules.no_ranking}",
            f"seed:{rules.seed}",
            f"judge:{version('judge')}",
        ),
    )
    return str(made)
