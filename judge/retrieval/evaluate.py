"""From queries to the report on a whole file, in memory that does not grow with the queries."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, get_args

import numpy as np

from judge import __version__
from judge.errors import InputError
from judge.inputs.samples import samples_in
from judge.retrieval import measures
from judge.retrieval.lists import Lists
from judge.retrieval.measures import Floats
from judge.retrieval.ranking import Grades, RankedQuery, run_queries, sample_query
from judge.retrieval.records import QueryRanks, QueryStatus, RankingReport, RankRules
from judge.scores.intervals import StreamedMeans
from judge.signature import Signature
from judge.text.fold import estimate_tokens
from judge.text.visible import plural

QuerySink = Callable[[QueryRanks], None]
"""A function that receives the measures of each query."""

NO_SAMPLE: Final = "holds no sample; one JSON object a line, or CSV under a header, is needed"
LISTED: Final = 100
"""The most qids in a report of the queries that could not be measured, for each status."""
NOTES: Final = (
    (
        "hit@k (hit rate, success@k): one relevant chunk among the first k is enough. Some authors "
        "call that Recall@k; recall@k here is the share of all relevant chunks that are among them."
    ),
)
_NAMED: Final = 5
_BATCH_QUERIES: Final = 128
_MEANS: Final = {"rr": "mrr", "ap": "map"}
"""The names of means that differ from the names of their measures."""
_UNBOUNDED: Final = "dcg@"
_WASTE: Final = "waste@"


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
        most: the maximum length of each list.
        each: receives the measures of each query, in the order of the samples.

    Raises:
        InputError: there is nothing to measure by, or gold contradicts itself.
    """
    rules = rules or RankRules()
    queries = (sample_query(sample, rules) for sample in samples_in(samples, ()))
    return _report(queries, rules, "given", most, each)


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
        most: the maximum length of each list.
        each: receives the measures of each query: of the run, then of those that it lacks.

    Raises:
        InputError: there is nothing to measure by, or a score is NaN.
    """
    rules = rules or RankRules()
    return _report(run_queries(qrels, run, rules), rules, "score", most, each)


def _report(
    queries: Iterable[RankedQuery],
    rules: RankRules,
    order: str,
    most: int,
    each: QuerySink | None,
) -> RankingReport:
    meter = Meter(rules, order, most, each)
    for query in queries:
        meter.add(query)
    return meter.report()


class _Batch:
    """The measures of some queries, computed together: each measure is a column."""

    def __init__(self, queries: Sequence[RankedQuery], rules: RankRules) -> None:
        least = rules.relevance_level or 0.0
        self.queries = queries
        self.gold: list[Grades] = [
            {name: grade for name, grade in (query.gold or {}).items() if grade >= least}
            for query in queries
        ]
        self.statuses = [_status(*pair) for pair in zip(queries, self.gold, strict=True)]
        ways = {"no_relevant": rules.no_relevant, "no_ranking": rules.no_ranking, "no_gold": "skip"}
        self.averaged = np.array([ways.get(status) != "skip" for status in self.statuses])
        """Whether each query counts in the means."""
        self.columns = self._measure(rules)
        """Every measure of every query, by name; NaN if it is not defined."""
        self.table = np.stack(list(self.columns.values()), axis=1)
        """The same as one table, shape (queries, measures)."""

    def _measure(self, rules: RankRules) -> dict[str, Floats]:
        queries, gain = self.queries, rules.gain
        lengths = np.array([len(query.ids) for query in queries])
        relevant = np.array([len(gold) for gold in self.gold])
        # DCG takes no notice of the level, but a query without gold at the level is 0 there too.
        graded = [
            (query.relevance or {}) if gold else {}
            for query, gold in zip(queries, self.gold, strict=True)
        ]
        hits, gains = (_by_rank(queries, grades) for grades in (self.gold, graded))
        best = _rows(sorted(grades.values(), reverse=True) for grades in graded)
        scores = None
        if any(query.tied for query in queries):
            scores = _rows(query.tied or range(-1, -len(query.ids) - 1, -1) for query in queries)
        tokens = _tokens(queries, rules, hits.shape[1])
        columns: dict[str, measures.Values] = {
            "rr": measures.reciprocal_rank(hits),
            "ap": measures.average_precision(hits, relevant),
            "r_precision": measures.r_precision(hits, relevant),
            "ndcg": measures.ndcg(gains, best, gain=gain),
            "roc_auc": measures.roc_auc(hits, lengths, scores),
        }
        for k in rules.ks:
            columns |= {
                f"hit@{k}": measures.hit_at_k(hits, k),
                f"recall@{k}": measures.recall_at_k(hits, k, relevant),
                f"precision@{k}": measures.precision_at_k(hits, k),
                f"f1@{k}": measures.fbeta_at_k(hits, k, relevant),
                f"rr@{k}": measures.reciprocal_rank(hits, k),
                f"ap@{k}": measures.average_precision(hits, relevant, k),
                f"dcg@{k}": measures.dcg(gains, k, gain=gain),
                f"ndcg@{k}": measures.ndcg(gains, best, k, gain=gain),
                f"{_WASTE}{k}": measures.waste_at_k(hits, tokens, k),
            }
            if (beta := rules.beta) is not None:
                columns[f"f{beta:g}@{k}"] = measures.fbeta_at_k(hits, k, relevant, beta)
        return {name: np.asarray(column) for name, column in columns.items()}

    def ranks(self, row: int) -> QueryRanks:
        """Return the measures of one query."""
        query, averaged = self.queries[row], bool(self.averaged[row])
        return QueryRanks(
            qid=query.qid,
            query=query.query,
            status=self.statuses[row],
            ranked=len(query.ids),
            relevant=len(self.gold[row]),
            found=len(self.gold[row].keys() & query.ids.keys()),
            measures={
                name: value if averaged and not math.isnan(value) else None
                for name, value in zip(self.columns, self.table[row].tolist(), strict=True)
            },
        )


def _status(query: RankedQuery, gold: Grades) -> QueryStatus:
    if query.relevance is None:
        return "no_gold"
    if not gold:
        return "no_relevant"
    return "measured" if query.ids else "no_ranking"


def _by_rank(queries: Sequence[RankedQuery], graded: Sequence[Grades]) -> Floats:
    """Return the relevance at each rank: shape (queries, longest ranking)."""
    table = np.zeros((len(queries), max(1, *(len(query.ids) for query in queries))))
    for row, (query, grades) in enumerate(zip(queries, graded, strict=True)):
        for name in grades.keys() & query.ids.keys():
            table[row, query.ids[name]] = grades[name]
    return table


def _rows(rows: Iterable[Sequence[float]], width: int = 1) -> Floats:
    """Return rows of different lengths as one table, filled up with 0."""
    rows = list(rows)
    table = np.zeros((len(rows), max(width, *map(len, rows))))
    for place, row in zip(table, rows, strict=True):
        place[: len(row)] = row
    return table


def _tokens(queries: Sequence[RankedQuery], rules: RankRules, width: int) -> Floats:
    """Return the tokens at each rank; NaN if the text is unknown.

    Under `prefix` all are NaN, because gold does not say which chunk of a document is relevant.
    """
    known = rules.gold_match != "prefix"

    def tokens(query: RankedQuery) -> list[float]:
        texts = [query.texts.get(name) for name in query.ids] if known and query.texts else []
        found = [estimate_tokens(text) if text else math.nan for text in texts[: rules.ks[-1]]]
        return found + [math.nan] * (len(query.ids) - len(found))

    return _rows(map(tokens, queries), width)


def mean_names(rules: RankRules) -> tuple[str, ...]:
    """Return the names of the means in a report by these rules."""
    return tuple(map(_mean_name, _Batch([RankedQuery("", {}, None)], rules).columns))


def _mean_name(measure: str) -> str:
    """Return the name of a measure's mean, such as `mrr@5` for `rr@5`."""
    name, at, k = measure.partition("@")
    return _MEANS.get(name, name) + at + k


class Meter:
    """Measures queries one by one, and keeps none of them.

    Args:
        rules: of the measures.
        order: how the rankings were ordered, `given` or by `score`; part of the signature.
        most: the maximum length of each list.
        each: receives the measures of each query, in order.
    """

    def __init__(self, rules: RankRules, order: str, most: int, each: QuerySink | None) -> None:
        self._rules, self._order, self._each = rules, order, each
        self._waiting: list[RankedQuery] = []
        self._means = StreamedMeans(mean_names(rules))
        self._lists = Lists(rules.ks[-1], most)
        self._statuses: dict[QueryStatus, int] = dict.fromkeys(get_args(QueryStatus), 0)
        self._listed: dict[QueryStatus, list[str]] = {status: [] for status in self._statuses}
        self._averaged = self._repeated = self._with_gold_id = self._conflicts = 0
        self._conflicting: list[str] = []
        self._ceilings = np.zeros((2, len(rules.ks)))
        """The sums of the highest possible recall and precision at each cut-off."""

    def add(self, query: RankedQuery) -> None:
        """Add a query."""
        self._waiting.append(query)
        if len(self._waiting) == _BATCH_QUERIES:
            self._measure()

    def _measure(self) -> None:
        if not self._waiting:
            return
        batch, self._waiting = _Batch(self._waiting, self._rules), []
        self._means.add_rows(batch.table[batch.averaged])
        for row, query in enumerate(batch.queries):
            self._count(query, batch.statuses[row])
            if batch.averaged[row]:
                self._add_averaged(batch, row)
            if self._each is not None:
                self._each(batch.ranks(row))

    def _count(self, query: RankedQuery, status: QueryStatus) -> None:
        self._statuses[status] += 1
        self._repeated += query.repeated
        self._with_gold_id += query.has_gold_id
        self._lists.remember(query)
        if query.evidence is not None:
            self._conflicts += 1
            self._conflicting += [query.qid] * (self._conflicts <= LISTED)
        if status != "measured" and len(self._listed[status]) < LISTED:
            self._listed[status].append(query.qid)

    def _add_averaged(self, batch: _Batch, row: int) -> None:
        query, gold, ks = batch.queries[row], batch.gold[row], np.array(self._rules.ks)
        self._averaged += 1
        within = np.minimum(len(gold), ks)
        self._ceilings += within / max(1, len(gold)), within / ks
        if gold:
            self._lists.add(batch.ranks(row), query, gold)

    def report(self) -> RankingReport:
        """Return the report on all queries.

        Raises:
            InputError: there is nothing to measure by.
        """
        self._measure()
        lists, means = self._lists, self._means
        _refuse_nothing(self._statuses, self._with_gold_id, self._rules)
        return RankingReport(
            signature=str(_signature(self._rules, self._order, apart=bool(self._conflicts))),
            queries=sum(self._statuses.values()),
            averaged=self._averaged,
            statuses=self._statuses,
            mean={name: means.mean(name) for name in means.names},
            ceiling={
                f"{measure}@{k}": float(most) / self._averaged
                for measure, row in zip(("recall", "precision"), self._ceilings, strict=True)
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
            worst=lists.worst,
            missed=lists.missed,
            topped=lists.topped,
            notes=NOTES,
            warnings=tuple(self._warnings()),
        )

    def _warnings(self) -> Iterator[str]:
        rules, lists, statuses = self._rules, self._lists, self._statuses
        ways = {"zero": "counted 0 in each mean but roc_auc's", "skip": "in no mean"}
        for count, what in (
            (statuses["no_gold"], "without gold: left out"),
            (statuses["no_relevant"], f"with nothing relevant: {ways[rules.no_relevant]}"),
            (statuses["no_ranking"], f"without a ranking: {ways[rules.no_ranking]}"),
            (
                self._repeated,
                "whose ranking names a chunk twice: it counts once, at its first place",
            ),
        ):
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
        counts = {k: self._means.count(f"{_WASTE}{k}") for k in rules.ks}
        k = min(rules.ks, key=counts.__getitem__)
        if any(counts.values()) and counts[k] < self._averaged:
            yield (
                f"waste@{k} is over {counts[k]} of {self._averaged} queries: the others have "
                "chunks without a text"
            )
        if lists.relevant_total and not lists.found_total:
            yield "not one relevant chunk is ranked; check that gold and rankings name them alike"


def _refuse_nothing(
    statuses: Mapping[QueryStatus, int], with_gold_id: int, rules: RankRules
) -> None:
    """Raise InputError if there is nothing to measure by.

    In `with_gold_id` queries the ranking contains an id that gold names.
    """
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
    if measured and not with_gold_id and rules.gold_match is None:
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
            f"judge:{__version__}",
        ),
    )
