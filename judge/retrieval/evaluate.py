"""Rank measures of a file of queries, and of several runs over the same queries."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from judge import __version__
from judge.errors import InputError
from judge.inputs.samples import samples_in
from judge.records import Interval
from judge.retrieval import measures
from judge.retrieval.ranking import Grades, RankedQuery, run_queries, sample_query
from judge.retrieval.records import (
    ComparedRun,
    MeasureDifference,
    Mismatch,
    QueryRanks,
    QueryStatus,
    RankingReport,
    RankRules,
    RunsReport,
)
from judge.retrieval.worst import WorstQueries
from judge.scores.intervals import StreamedMeans, paired
from judge.signature import Signature
from judge.text.visible import plural

QuerySink = Callable[[QueryRanks], None]
"""A function that receives the measures of each query."""

RunSink = Callable[[str, QueryRanks], None]
"""A function that receives the name of a run and the measures of one of its queries."""

NO_SAMPLE: Final = "holds no sample; one JSON object a line, or CSV under a header, is needed"
MOST_QIDS: Final = 100
"""The most qids of one kind in a report."""
_SHOWN_QIDS: Final = 5
_MEANS: Final = {"rr": "mrr", "ap": "map"}
"""The names of means that differ from the names of their measures."""


def measure_retrieval(
    samples: object,
    rules: RankRules | None = None,
    *,
    most: int = 5,
    each: QuerySink | None = None,
) -> RankingReport:
    """Return the rank measures of samples, which are read once and not kept.

    Args:
        samples: samples with unique qids, or rows as `judge.evaluate` takes them. The ranking is
            `retrieved`, or else the order of `chunks`; gold is `gold_evidence` and `relevance`.
        rules: of the measures; by default `RankRules()`.
        most: the number of worst queries in the report.
        each: receives the measures of each query, in the order of the samples.

    Raises:
        InputError: there is nothing to measure by, or gold contradicts itself.
    """
    rules = rules or RankRules()
    queries = (sample_query(sample, rules) for sample in samples_in(samples, ()))
    return measure_queries(queries, rules, "given", most, each)


def measure_run(
    qrels: Mapping[str, Grades],
    run: Mapping[str, Mapping[str, float]],
    rules: RankRules | None = None,
    *,
    most: int = 5,
    each: QuerySink | None = None,
) -> RankingReport:
    """Return the rank measures of a run, ordered by score, and equal scores by id, descending.

    Args:
        qrels: relevance by document id by qid.
        run: scores by document id by qid.
        rules: of the measures; by default `RankRules()`.
        most: the number of worst queries in the report.
        each: receives the measures of each query: of the run, then of those that it lacks.

    Raises:
        InputError: there is nothing to measure by, or a score is NaN.
    """
    rules = rules or RankRules()
    return measure_queries(run_queries(qrels, run, rules), rules, "score", most, each)


def query_ranks(query: RankedQuery, rules: RankRules) -> QueryRanks:
    """Return the measures of one query, null where it counts in no mean."""
    gold = query.gold or {}
    status: QueryStatus = "measured" if query.ids else "no_ranking"
    if not gold:
        status = "no_gold" if query.gold is None else "no_relevant"
    found: dict[str, float | None] = dict(_measured(query, gold, rules))
    if status != "measured" and not (status == "no_ranking" and rules.no_ranking == "zero"):
        found = dict.fromkeys(found)
    return QueryRanks(
        qid=query.qid,
        query=query.query,
        status=status,
        ranked=len(query.ids),
        relevant=len(gold),
        found=len(gold.keys() & query.ids.keys()),
        measures=found,
    )


def _measured(query: RankedQuery, gold: Grades, rules: RankRules) -> Iterator[tuple[str, float]]:
    """Yield each measure by its name."""
    hits = [gold.get(name, 0.0) for name in query.ids]
    gains = [query.relevance.get(name, 0.0) for name in query.ids]
    relevant, judged, gain = len(gold), [*query.relevance.values()], rules.gain
    yield "rr", measures.reciprocal_rank(hits)
    yield "ap", measures.average_precision(hits, relevant)
    yield "ndcg", measures.ndcg(gains, judged, gain=gain)
    for k in rules.ks:
        yield f"hit@{k}", measures.hit_at_k(hits, k)
        yield f"recall@{k}", measures.recall_at_k(hits, k, relevant)
        yield f"precision@{k}", measures.precision_at_k(hits, k)
        yield f"f1@{k}", measures.f1_at_k(hits, k, relevant)
        yield f"rr@{k}", measures.reciprocal_rank(hits, k)
        yield f"ap@{k}", measures.average_precision(hits, relevant, k)
        yield f"ndcg@{k}", measures.ndcg(gains, judged, k, gain=gain)


def mean_names(rules: RankRules) -> tuple[str, ...]:
    """Return the names of the means in a report by these rules."""
    return tuple(_mean_name(name) for name, _ in _measured(RankedQuery("", {}, {}, {}), {}, rules))


def _mean_name(measure: str) -> str:
    """Return the name of a measure's mean, such as `mrr@5` for `rr@5`."""
    name, at, k = measure.partition("@")
    return _MEANS.get(name, name) + at + k


def measure_queries(
    queries: Iterable[RankedQuery], rules: RankRules, order: str, most: int, each: QuerySink | None
) -> RankingReport:
    """Return the report on queries, which are read once and not kept.

    `order` says how the rankings were ordered, `given` or by `score`; it is part of the signature.
    """
    means, worst = StreamedMeans(mean_names(rules)), WorstQueries(rules.ks[-1], most)
    statuses: dict[QueryStatus, int] = dict.fromkeys(get_args(QueryStatus), 0)
    listed: defaultdict[QueryStatus, list[str]] = defaultdict(list)
    ceilings: defaultdict[str, float] = defaultdict(float)
    conflicting: list[str] = []
    averaged = repeated = with_gold_id = conflicts = 0
    for query in queries:
        ranks = query_ranks(query, rules)
        statuses[ranks.status] += 1
        repeated += query.repeated
        with_gold_id += query.has_gold_id
        worst.remember(query)
        conflicts += query.conflicting
        if query.conflicting and conflicts <= MOST_QIDS:
            conflicting.append(query.qid)
        if ranks.status != "measured" and statuses[ranks.status] <= MOST_QIDS:
            listed[ranks.status].append(query.qid)
        if ranks.measures["ap"] is not None:
            averaged += 1
            means.add({_mean_name(name): value for name, value in ranks.measures.items()})
            worst.add(ranks, query)
            for k in rules.ks:
                within = min(k, ranks.relevant)
                ceilings[f"recall@{k}"] += within / ranks.relevant
                ceilings[f"precision@{k}"] += within / k
        if each is not None:
            each(ranks)
    _check_measurable(statuses, with_gold_id, rules)
    report = RankingReport(
        signature=str(_signature(rules, order, conflict=conflicts > 0)),
        queries=sum(statuses.values()),
        averaged=averaged,
        statuses=statuses,
        mean={name: means.mean(name) for name in means.names},
        ceiling={name: most / averaged for name, most in ceilings.items()},
        interval={name: means.interval(name) for name in means.names},
        listed={status: tuple(listed[status]) for status in statuses if listed[status]},
        repeated=repeated,
        conflicts=conflicts,
        conflicting=tuple(conflicting),
        missed_total=worst.missed_total,
        relevant_total=worst.relevant_total,
        worst=worst.queries,
    )
    warnings = tuple(_warnings(report, rules, worst.found_total))
    return report.model_copy(update={"warnings": warnings})


def _warnings(report: RankingReport, rules: RankRules, found: int) -> Iterator[str]:
    statuses, conflicts = report.statuses, report.conflicts
    in_means = {"zero": "counted 0 in each mean", "skip": "in no mean"}
    for count, what in (
        (statuses["no_gold"], "without gold: left out"),
        (statuses["no_relevant"], "with nothing relevant: in no mean"),
        (statuses["no_ranking"], f"without a ranking: {in_means[rules.no_ranking]}"),
        (report.repeated, "whose ranking names a chunk twice: it counts once, at its first place"),
    ):
        if count:
            yield f"{_queries(count)} {what}"
    if conflicts:
        yield (
            f"gold_evidence and relevance name different chunks in {_queries(conflicts)} "
            f"({_some(report.conflicting, conflicts)}): nDCG goes by relevance there, all other "
            "measures by gold_evidence"
        )
    if rules.gold_match == "prefix":
        yield (
            "gold is matched by document: any chunk of it counts as found, which flatters recall, "
            "and later chunks of it leave the ranking, so that what follows ranks higher"
        )
    if not found:
        yield "not one relevant chunk is ranked; check that gold and rankings name them alike"


def _check_measurable(
    statuses: Mapping[QueryStatus, int], with_gold_id: int, rules: RankRules
) -> None:
    """Raise InputError if there is nothing to measure by."""
    queries, measured = sum(statuses.values()), statuses["measured"]
    with_gold = queries - statuses["no_gold"]
    if not queries:
        raise InputError(NO_SAMPLE)
    if not with_gold:
        message = f"nothing says what is relevant ({_queries(queries)}); give each gold_evidence, "
        message += "the ids of the chunks that hold its answer, or relevance, a grade by id"
        raise InputError(message, field="gold_evidence")
    if with_gold == statuses["no_relevant"]:
        message = f"nothing is relevant ({_queries(with_gold)} with gold), so there is nothing to "
        message += "find; check the grades, and --relevance-level if you set it"
        raise InputError(message, field="relevance")
    if statuses["no_ranking"] and not measured:
        message = f"nothing is ranked ({_queries(statuses['no_ranking'])} with gold); "
        message += "a sample's ranking is retrieved, a list of ids, or else its chunks; a run's "
        raise InputError(message + "queries must bear the names that the qrels give them")
    if measured and not with_gold_id and rules.gold_match is None:
        message = f"no ranking holds an id that its gold names ({_queries(measured)}), "
        message += "so the two are likely of different naming; if gold names documents (a chunk's "
        message += "id is a document's id, then a character that is no letter or digit), pass "
        message += "--gold-match prefix; if the ids are right, --gold-match exact"
        raise InputError(message)


def _some(qids: Sequence[str], count: int) -> str:
    more = f" and {count - _SHOWN_QIDS} more" if count > _SHOWN_QIDS else ""
    return ", ".join(qids[:_SHOWN_QIDS]) + more


def _queries(count: int) -> str:
    return f"{count} {plural(count, 'query')}"


def _signature(rules: RankRules, order: str, *, conflict: bool) -> Signature:
    level = ">0" if rules.relevance_level is None else f">={rules.relevance_level:g}"
    return Signature(
        "retrieval",
        (
            f"k:{','.join(map(str, rules.ks))}",
            f"order:{order}",
            f"gain:{rules.gain}",
            f"relevant:{level}",
            f"gold:{rules.gold_match or 'exact'}",
            *(("graded:relevance",) if conflict else ()),
            f"no_ranking:{rules.no_ranking}",
            f"judge:{__version__}",
        ),
    )


# Several runs


class _QueryValues(NamedTuple):
    """The measures of one query, kept until the report."""

    values: npt.NDArray[np.float64]
    """All measures; NaN if the query counts in no mean."""
    relevant: int


def compare_runs(
    runs: Mapping[str, Iterable[RankedQuery]],
    rules: RankRules | None = None,
    *,
    order: str = "given",
    most: int = 5,
    each: RunSink | None = None,
) -> RunsReport:
    """Compare runs with the first of them over the queries that both have.

    The measures of every query are kept, 400 bytes a query at the usual cut-offs, because the two
    queries of a pair may be anywhere in their files.

    Args:
        runs: the queries of each run by its name, with unique qids in any order.
        rules: the rules of the measures.
        order: how the rankings were ordered, `given` or by `score`.
        most: the number of worst queries in the report.
        each: receives the measures of each query.
    """
    rules = rules or RankRules()
    compared: list[ComparedRun] = []
    first: dict[str, _QueryValues] = {}
    for name, queries in runs.items():
        own: dict[str, _QueryValues] = {}

        def keep(ranks: QueryRanks, run: str = name, own: dict[str, _QueryValues] = own) -> None:
            values = np.array([math.nan if v is None else v for v in ranks.measures.values()])
            own[ranks.qid] = _QueryValues(values, ranks.relevant)
            if each is not None:
                each(run, ranks)

        try:
            report = measure_queries(queries, rules, order, most, keep)
        except InputError as error:
            raise error.at(error.path or name, error.line) from None
        run = ComparedRun(name=name, report=report)
        if compared:
            mismatches = _mismatches(own, first)
            changes = {
                "differences": dict(_differences(own, first, rules)),
                "mismatches": {kind: len(qids) for kind, qids in mismatches.items()},
                "listed": {kind: tuple(qids[:MOST_QIDS]) for kind, qids in mismatches.items()},
            }
            run = run.model_copy(update=changes)
        else:
            first = own
        compared.append(run)
    return RunsReport(runs=tuple(compared))


def _differences(
    own: Mapping[str, _QueryValues], first: Mapping[str, _QueryValues], rules: RankRules
) -> Iterator[tuple[str, MeasureDifference | None]]:
    both = [qid for qid in first if qid in own]
    for column, name in enumerate(mean_names(rules)):
        values, others = (
            np.array([queries[qid].values[column] for qid in both]) for queries in (own, first)
        )
        defined = ~(np.isnan(values) | np.isnan(others))
        found = paired((values[defined] - others[defined]).tolist())
        if found is None:
            yield name, None
            continue
        mean, limits = float(others[defined].mean()), found.limits
        difference = MeasureDifference(
            queries=found.pairs,
            first=mean,
            difference=found.mean,
            interval=limits and Interval(low=limits[0], high=limits[1], method="t"),
            p=found.p,
            gain=found.mean / mean if mean else None,
            higher=found.higher,
            lower=found.lower,
        )
        yield name, difference


def _mismatches(
    own: Mapping[str, _QueryValues], first: Mapping[str, _QueryValues]
) -> dict[Mismatch, list[str]]:
    """Return the qids of each kind of mismatch that occurs."""
    kinds: dict[Mismatch, list[str]] = {
        "only_here": [qid for qid in own if qid not in first],
        "only_first": [qid for qid in first if qid not in own],
        "gold_differs": [
            qid for qid in own if qid in first and own[qid].relevant != first[qid].relevant
        ],
    }
    return {kind: qids for kind, qids in kinds.items() if qids}
