"""From queries to the report on a whole file, batch by batch, in memory that does not grow."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, get_args

import numpy as np

from judge.errors import InputError
from judge.inputs.samples import samples_in
from judge.retrieval.batch import MAX_QUERIES, WASTE, Batch, mean_name
from judge.retrieval.lists import Lists
from judge.retrieval.ranking import (
    Block,
    Grades,
    RankedQuery,
    run_queries,
    sample_query,
)
from judge.retrieval.records import QueryRanks, QueryStatus, RankingReport, RankRules
from judge.scores.intervals import StreamedMeans
from judge.signature import Signature, release
from judge.text.visible import plural

Each = Callable[[QueryRanks], None]

NO_SAMPLE: Final = "holds no sample; one JSON object a line, or CSV under a header, is needed"
LISTED: Final = 100
"""Qids kept of the queries that could not be measured, of each kind."""
NOTES: Final = (
    (
        "hit@k (hit rate, success@k): one relevant chunk among the first k is enough. Some authors "
        "call that Recall@k; recall@k here is the share of all relevant chunks that are among them."
    ),
)

_NAMED: Final = 5
_UNBOUNDED: Final = "dcg@"


def measure_retrieval(
    samples: object,
    rules: RankRules | None = None,
    *,
    most: int = 5,
    each: Each | None = None,
) -> RankingReport:
    """Rank measures of samples, which are read once and not kept.

    Args:
        samples: `retrieved`, or else the order of `chunks`, is the ranking; `gold_evidence` and
            `relevance` say what is relevant. Each qid once. Or rows, as `judge.evaluate` takes
            them.
        rules: how; the defaults where left out.
        most: the most entries of each list.
        each: called with every query's measures, in the order of the samples.

    Raises:
        InputError: there is nothing to measure by, or gold contradicts itself.
    """
    rules = rules or RankRules()
    queries = (sample_query(sample, rules) for sample in samples_in(samples, ()))
    return _report(queries, rules, "given", most, each)


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
        most: the most entries of each list.
        each: called with every query's measures: of those ranked, then of those that are not.

    Raises:
        InputError: there is nothing to measure by.
    """
    rules = rules or RankRules()
    if isinstance(run, Mapping):
        run = ((qid, list(scored), list(scored.values())) for qid, scored in run.items())
    return _report(run_queries(qrels, run, rules), rules, "score", most, each)


def _report(
    queries: Iterable[RankedQuery], rules: RankRules, order: str, most: int, each: Each | None
) -> RankingReport:
    meter = Meter(rules, order, most, each)
    for query in queries:
        meter.add(query)
    return meter.report()


class Meter:
    """Measures the queries that it is given one by one, and keeps none of them.

    Args:
        rules: how.
        order: `given`, or by `score`.
        most: the most entries of each list.
        each: called with every query's measures, in the order in which they came.
    """

    def __init__(self, rules: RankRules, order: str, most: int, each: Each | None) -> None:
        self._rules, self._order, self._each = rules, order, each
        self._waiting: list[RankedQuery] = []
        self._means = StreamedMeans(())
        self._lists = Lists(rules.ks[-1], most)
        self._statuses: dict[QueryStatus, int] = dict.fromkeys(get_args(QueryStatus), 0)
        self._listed: dict[QueryStatus, list[str]] = {status: [] for status in self._statuses}
        self._averaged = self._repeated = self._named = self._conflicts = 0
        self._conflicting: list[str] = []
        self._ks = np.array(rules.ks)
        self._reach = np.zeros((2, len(rules.ks)))

    def add(self, query: RankedQuery) -> None:
        """Add a query."""
        self._waiting.append(query)
        if len(self._waiting) == MAX_QUERIES:
            self._measure()

    def _measure(self) -> None:
        if not self._waiting:
            return
        batch, self._waiting = Batch(self._waiting, self._rules), []
        self._count(batch)
        if self._each is not None:
            for row in range(len(batch.queries)):
                self._each(batch.row(row))

    def _count(self, batch: Batch) -> None:
        if not self._means.names:
            self._means = StreamedMeans(map(mean_name, batch.columns))
        for query, status in zip(batch.queries, batch.statuses, strict=True):
            self._statuses[status] += 1
            self._repeated += query.repeated
            self._named += query.named
            if query.evidence is not None:
                self._conflicts += 1
                self._conflicting += [query.qid] * (self._conflicts <= LISTED)
            if status != "measured" and len(self._listed[status]) < LISTED:
                self._listed[status].append(query.qid)
        self._averaged += int(batch.averaged.sum())
        self._means.add_rows(batch.table[batch.averaged])
        self._lists.add(batch)
        relevant = batch.relevant[batch.averaged, np.newaxis]
        most = np.minimum(relevant, self._ks)
        self._reach += (most / np.maximum(relevant, 1)).sum(axis=0), (most / self._ks).sum(axis=0)

    def report(self) -> RankingReport:
        """The report on all of them.

        Raises:
            InputError: there is nothing to measure by.
        """
        self._measure()
        lists, means = self._lists, self._means
        _refuse_nothing(self._statuses, self._named, self._rules)
        return RankingReport(
            signature=str(_signature(self._rules, self._order, apart=bool(self._conflicts))),
            queries=sum(self._statuses.values()),
            averaged=self._averaged,
            statuses=self._statuses,
            mean={name: means.mean(name) for name in means.names},
            ceiling={
                f"{measure}@{k}": float(most) / self._averaged
                for measure, row in zip(("recall", "precision"), self._reach, strict=True)
                for k, most in zip(self._rules.ks, row, strict=True)
            },
            interval={
                name: means.interval(name, bounded=not name.startswith(_UNBOUNDED))
                for name in means.names
            },
            defined={name: means.count(name) for name in means.names},
            listed={status: tuple(qids) for status, qids in self._listed.items() if qids},
            repeated=self._repeated,
            conflicts=self._conflicts,
            conflicting=tuple(self._conflicting),
            missed_total=lists.missed_total,
            relevant_total=lists.relevant_total,
            topped_total=lists.topped_total,
            worst=lists.looked_into(),
            missed=lists.missed.items(),
            topped=lists.topped.items(),
            notes=NOTES,
            warnings=tuple(self._warnings()),
        )

    def _warnings(self) -> Iterator[str]:
        rules, lists, statuses = self._rules, self._lists, self._statuses
        ways = {"zero": "counted 0 in each mean but roc_auc's", "skip": "in no mean"}
        said = (
            (statuses["no_gold"], "without gold: left out, for nobody said what is relevant"),
            (statuses["no_relevant"], f"with nothing relevant: {ways[rules.no_relevant]}"),
            (statuses["no_ranking"], f"without a ranking: {ways[rules.no_ranking]}"),
            (
                self._repeated,
                "whose ranking names a chunk twice: it counts once, at its first place",
            ),
        )
        for count, what in said:
            if count:
                yield f"{_queries(count)} {what}"
        if self._conflicts:
            yield (
                f"gold_evidence and relevance name different chunks in {_queries(self._conflicts)} "
                f"({_some(self._conflicting, self._conflicts)}): DCG and nDCG go by relevance "
                "there, all other measures by gold_evidence"
            )
        if rules.gold_match == "prefix":
            yield (
                "gold is matched by document: any chunk of it counts as found, which flatters "
                "recall, and later chunks of it leave the ranking, so that what follows ranks "
                "higher"
            )
        counts = {k: self._means.count(f"{WASTE}{k}") for k in rules.ks}
        k = min(rules.ks, key=counts.__getitem__)
        if any(counts.values()) and counts[k] < self._averaged:
            yield (
                f"waste@{k} is over {counts[k]} of {self._averaged} queries: of the others not "
                f"every text is known"
            )
        if lists.relevant_total and not lists.found_total:
            yield "not one relevant chunk is ranked; check that gold and rankings name them alike"


def _refuse_nothing(statuses: Mapping[QueryStatus, int], named: int, rules: RankRules) -> None:
    """Refuse to give means of nothing; `named` queries have a ranked id that gold names."""
    queries, measured = sum(statuses.values()), statuses["measured"]
    with_gold = queries - statuses["no_gold"]
    if not queries:
        raise InputError(NO_SAMPLE)
    if not with_gold:
        message = f"nothing says what is relevant ({_queries(queries)}); give each gold_evidence, "
        message += "the ids of the chunks that hold its answer, or relevance, a grade by id"
        raise InputError(message, field="gold_evidence")
    if with_gold == statuses["no_relevant"] and rules.no_relevant == "skip":
        level = rules.relevance_level
        least, option = (
            ("", "") if level is None else (f" from {level:g} on", " and --relevance-level")
        )
        message = f"nothing is relevant{least} ({_queries(with_gold)} with gold), so there is "
        message += f"nothing to find; check the grades{option}, or pass --no-relevant zero"
        raise InputError(message, field="relevance")
    if statuses["no_ranking"] and not measured:
        message = f"nothing is ranked ({_queries(statuses['no_ranking'])} with gold); "
        message += "a sample's ranking is retrieved, a list of ids, or else its chunks; a run's "
        raise InputError(message + "queries must bear the names that the qrels give them")
    if measured and not named and rules.gold_match is None:
        message = f"no ranking holds an id that its gold names ({_queries(measured)}), "
        message += "so the two are likely of different naming; if gold names documents (a chunk's "
        message += "id is a document's id, then a character that is no letter or digit), pass "
        message += "--gold-match prefix; if the ids are right, --gold-match exact"
        raise InputError(message)


def _some(qids: Sequence[str], count: int) -> str:
    more = f" and {count - _NAMED} more" if count > _NAMED else ""
    return ", ".join(qids[:_NAMED]) + more


def _queries(count: int) -> str:
    return f"{count} {plural(count, 'query')}"


def _signature(rules: RankRules, order: str, *, apart: bool) -> Signature:
    level = ">0" if rules.relevance_level is None else f">={rules.relevance_level:g}"
    return Signature(
        "retrieval",
        (
            f"k:{','.join(map(str, rules.ks))}",
            f"order:{order}",
            f"gain:{rules.gain}",
            f"relevant:{level}",
            f"gold:{rules.gold_match or 'exact'}",
            *(("graded:relevance",) if apart else ()),
            f"no_relevant:{rules.no_relevant}",
            f"no_ranking:{rules.no_ranking}",
            *(() if rules.beta is None else (f"beta:{rules.beta:g}",)),
            f"judge:{release('judge')}",
        ),
    )
