"""Grades of pooled chunks, read back: the gold set, agreement, and how complete the pool is."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from pydantic import Field

from judge.errors import InputError
from judge.records import Document, Record, Sample
from judge.retrieval import Comparison, sample_query
from judge.retrieval.records import Cutoff, RankRules, RunsReport
from judge.review.agreement import krippendorff_alpha, weighted_kappa
from judge.review.folder import check_output, write_whole
from judge.review.golden import sample_line
from judge.review.labels import LONGEST, folded, is_of, refuse
from judge.review.pool import Pool, PooledQuery, check_depth, read_pool
from judge.review.sheet import READ_GRADES, Row, read_grade, read_sheet
from judge.text.visible import clip

_TEXTS: Final = ("query", "chunk")
_APART: Final = 2
"""Grades that differ by this much are listed."""


class Rater(NamedTuple):
    """A reviewer, and the grades by `review_id`."""

    name: str
    grades: dict[str, int]
    notes: dict[str, str]
    """Likewise; of the rows that have one."""


class PairAgreement(Record):
    """How far two reviewers agree."""

    reviewers: tuple[str, str]
    """Their names."""
    shared: int
    """Rows that both graded."""
    kappa: float | None
    """Cohen's κ with quadratic weights; null where both always give one and the same grade."""


class GradedApart(Record):
    """A row that reviewers grade far from each other."""

    review_id: str
    qid: str
    grades: dict[str, int]
    """By reviewer."""
    notes: dict[str, str] = Field(default_factory=dict)
    """What reviewers noted beside the grade; of those who did."""


class GradeAgreement(Record):
    """How far reviewers agree."""

    reviewers: tuple[str, ...]
    """Their names."""
    shared: int
    """Rows that several graded."""
    equal: int
    """Rows of these on which all are of one mind."""
    alpha: float | None
    """Krippendorff's α of the grades as numbers; null where it is not defined."""
    pairs: tuple[PairAgreement, ...]
    """Each two reviewers who share rows, the least agreeing first."""
    apart: tuple[GradedApart, ...]
    """Rows graded two apart or more."""


class PooledSystem(Record):
    """How much of a system's first chunks was graded."""

    name: str
    """Of the system."""
    queries: int
    """Queries of the gold set for which it ranks something; each of the others counts 0."""
    ranked: int
    """Chunks among its first k, over these, each text once."""
    unjudged: int
    """Those of them that nobody graded."""


class GoldReport(Document):
    """What came of the grades of a pool."""

    draw: str
    """Name of the draw."""
    gold_from: int
    """Least grade of `gold_evidence`."""
    rows: int
    """Rows that were drawn."""
    graded: int
    """Those with a grade."""
    blank: tuple[str, ...]
    """Places of the rows in the sheets without a grade, which nobody else graded."""
    noted: tuple[str, ...] = ()
    """Places of the rows in the sheets with a note and no grade."""
    missing: int
    """Rows that stand in none of the sheets."""
    queries: int
    """Queries of the gold set."""
    ungraded: tuple[str, ...]
    """Drawn queries of which nothing was graded; they are left out."""
    unanswered: tuple[str, ...]
    """Queries of which nothing was graded `gold_from` or more."""
    counts: dict[str, int]
    """Chunks by grade: the median of the reviewers'."""
    several: int = 0
    """Texts graded `gold_from` or more that have several ids. `measures` count each once."""
    agreement: GradeAgreement
    """How far reviewers agree."""
    k: Cutoff
    """How many of each ranking are looked at."""
    systems: tuple[PooledSystem, ...]
    """In the order in which they were pooled."""
    measures: RunsReport | None = None
    """The systems by the gold set; null where nothing is graded `gold_from` or more."""

    @property
    def complete(self) -> bool:
        """Whether all that the systems rank among their first k was graded."""
        return not any(system.unjudged for system in self.systems)


def import_gold(
    draw: str | Path,
    sheets: Sequence[str | Path],
    output: str | Path,
    *,
    gold_from: int = 2,
    k: int | None = None,
    force: bool = False,
) -> GoldReport:
    """Read graded sheets, and write the samples with `relevance` and `gold_evidence`.

    Where reviewers differ the median of their grades counts. Nothing is written where any row
    cannot be right.

    Args:
        draw: the file that `draw_gold` kept.
        sheets: CSV or XLSX; several where reviewers had one each.
        output: the gold set, JSONL.
        gold_from: least grade of what stands in `gold_evidence`.
        k: how many of each ranking to look at; as many as were pooled where left out.
        force: whether a file that is there is replaced.

    Raises:
        ConfigError: `k` is no rank.
        InputError: a sheet cannot be read, or rows of it cannot be right; all are named.
        RunError: the draw cannot be read, or the gold set not be written.
    """
    output = Path(output)
    if k is not None:
        check_depth("-k", k)
    check_output(output, [Path(draw), *map(Path, sheets)], force=force)
    pool = read_pool(draw)
    rows = [row for path in sheets for row in read_sheet(path, READ_GRADES)]
    _refuse_another(pool, rows)
    raters = grades_of(pool, rows)
    if not raters:
        message = "no row has a grade; fill in human_grade, 0 to 3"
        raise InputError(message, path=", ".join(map(str, sheets)))
    samples, report = _report(pool, rows, raters, gold_from, pool.depth if k is None else k)
    write_whole(output, map(sample_line, samples))
    return report


def _report(
    pool: Pool, rows: Sequence[Row], raters: Sequence[Rater], gold_from: int, k: int
) -> tuple[list[Sample], GoldReport]:
    """The gold set, and what is to be said of it."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for rater in raters:
        for name, grade in rater.grades.items():
            found[name].append(grade)
    grades = {name: float(median(given)) for name, given in found.items()}
    gold = {q.sample.qid: each for q in pool.queries if (each := relevance_of(q, grades))}
    drawn = {query.sample.qid: query.sample for query in pool.queries}
    samples = [with_gold(drawn[qid], gold[qid], gold_from) for qid in gold]
    there: dict[str, Row] = {}
    for row in rows:
        there.setdefault(row.cell("review_id"), row)
    systems = tuple(_systems(pool, gold, k))
    report = GoldReport(
        draw=pool.draw,
        gold_from=gold_from,
        rows=sum(len(query.pool) for query in pool.queries),
        graded=len(grades),
        blank=tuple(str(row) for name, row in there.items() if name and name not in grades),
        noted=tuple(
            str(row) for row in rows if row.cell("human_note") and not row.cell("human_grade")
        ),
        missing=sum(each.review_id not in there for q in pool.queries for each in q.pool),
        queries=len(samples),
        ungraded=tuple(qid for qid in drawn if qid not in gold),
        unanswered=tuple(each.qid for each in samples if not each.gold_evidence),
        counts={f"{grade:g}": n for grade, n in sorted(Counter(grades.values()).items())},
        several=sum(
            len(each.chunk_ids) > 1 and grades.get(each.review_id, 0) >= gold_from
            for query in pool.queries
            for each in query.pool
        ),
        agreement=_agreement(pool, raters, found),
        k=k,
        systems=systems,
        measures=_measures(pool, samples, gold_from, systems, k),
    )
    return samples, report


def grades_of(pool: Pool, rows: Sequence[Row]) -> list[Rater]:
    """The reviewers and their grades; InputError names all rows that cannot be right."""
    drawn = {each.review_id: (q.sample.query, each.text) for q in pool.queries for each in q.pool}
    raters: dict[str, Rater] = {}
    places: dict[tuple[str, str], Row] = {}
    problems: list[str] = []
    for row in rows:
        try:
            grade = _grade(row, drawn, pool.draw)
            if grade is None:
                continue
            name, reviewer = row.cell("review_id"), " ".join(row.cell("reviewer").split())
            rater = raters.setdefault(folded(reviewer), Rater(reviewer, {}, {}))
            first = places.setdefault((folded(reviewer), name), row)
            if rater.grades.setdefault(name, grade) != grade:
                who = f"reviewer {reviewer!r}" if reviewer else "a nameless reviewer"
                step = "keep one" if reviewer else "keep one, or fill in the column reviewer"
                said = f"{name!r} is {grade} and in {first} {rater.grades[name]}, both of {who}"
                raise ValueError(f"{said}; {step}")  # noqa: TRY301  all rows are told of together
            if note := row.cell("human_note"):
                rater.notes[name] = note
        except ValueError as error:
            problems.append(f"{row}: {error}")
    refuse(problems)
    return list(raters.values())


def relevance_of(query: PooledQuery, grades: Mapping[str, float]) -> dict[str, float]:
    """The grades of a query's chunks, by chunk id; what nobody graded is left out."""
    return {
        name: grades[each.review_id]
        for each in query.pool
        if each.review_id in grades
        for name in each.chunk_ids
    }


def with_gold(sample: Sample, relevance: dict[str, float], gold_from: int) -> Sample:
    """The sample with this gold, in place of what it had."""
    evidence = tuple(name for name, grade in relevance.items() if grade >= gold_from)
    return sample.model_copy(update={"relevance": relevance, "gold_evidence": evidence})


def _refuse_another(pool: Pool, rows: Sequence[Row]) -> None:
    """Refuse sheets that hold no row of this draw."""
    names = {name for row in rows if (name := row.cell("review_id"))}
    if names and not any(name.startswith(f"{pool.draw}-") for name in names):
        name = clip(min(names), LONGEST)
        message = f"no row is of draw {pool.draw}, such as {name!r}; name the .draw.json "
        paths = ", ".join(dict.fromkeys(str(row.path) for row in rows))
        raise InputError(message + "that was written with these sheets", path=paths)


def _grade(row: Row, drawn: Mapping[str, tuple[str, str]], draw: str) -> int | None:
    """The grade of a row; None where it is blank, ValueError where it cannot be right."""
    name = row.cell("review_id")
    if not name and not row.cell("human_grade"):
        return None
    if name not in drawn:
        why = "is empty beside a grade; put the row's own back"
        if name:
            why = f"is no row of draw {draw}; name the draw it was written with"
        raise ValueError(f"review_id {clip(name, LONGEST)!r} {why}")
    for column, text in zip(_TEXTS, drawn[name], strict=True):
        if not is_of(row.cells.get(column, ""), text):
            # Somebody sorted the texts, and left the ids where they were.
            raise ValueError(
                f"holds another {column} than {name!r} was drawn for; put its own back"
            )
    return read_grade(row.cell("human_grade"))


def _agreement(
    pool: Pool, raters: Sequence[Rater], found: Mapping[str, Sequence[int]]
) -> GradeAgreement:
    several = {name: given for name, given in found.items() if len(given) > 1}
    pairs = []
    for one, other in combinations(raters, 2):
        if both := one.grades.keys() & other.grades.keys():
            kappa = weighted_kappa(*([each.grades[name] for name in both] for each in (one, other)))
            names = (one.name, other.name)
            pairs.append(PairAgreement(reviewers=names, shared=len(both), kappa=kappa))
    apart = [
        GradedApart(
            review_id=each.review_id,
            qid=query.sample.qid,
            grades={
                rater.name: rater.grades[each.review_id]
                for rater in raters
                if each.review_id in rater.grades
            },
            notes={
                rater.name: rater.notes[each.review_id]
                for rater in raters
                if each.review_id in rater.notes
            },
        )
        for query in pool.queries
        for each in query.pool
        if (given := several.get(each.review_id)) and max(given) - min(given) >= _APART
    ]
    return GradeAgreement(
        reviewers=tuple(rater.name for rater in raters),
        shared=len(several),
        equal=sum(len(set(given)) == 1 for given in several.values()),
        alpha=krippendorff_alpha(list(several.values()), squared=True),
        pairs=tuple(sorted(pairs, key=lambda pair: 1.0 if pair.kappa is None else pair.kappa)),
        apart=tuple(apart),
    )


def _first_ids(query: PooledQuery) -> dict[str, str]:
    """The first id of each pooled id's text: systems may name one text by different ids."""
    return {name: each.chunk_ids[0] for each in query.pool for name in each.chunk_ids}


def _ranking(query: PooledQuery, system: str) -> tuple[str, ...]:
    """What a system ranks, each text once, by its first id; empty where it lacks the query."""
    first = _first_ids(query)
    return tuple(dict.fromkeys(first.get(n, n) for n in query.rankings.get(system, ())))


def _systems(pool: Pool, gold: Mapping[str, Mapping[str, float]], k: int) -> Iterator[PooledSystem]:
    for name in pool.systems:
        own = [
            (ids[:k], gold[query.sample.qid])
            for query in pool.queries
            if query.sample.qid in gold and (ids := _ranking(query, name))
        ]
        yield PooledSystem(
            name=name,
            queries=len(own),
            ranked=sum(len(ids) for ids, _ in own),
            unjudged=sum(each not in graded for ids, graded in own for each in ids),
        )


def _measures(
    pool: Pool, samples: Sequence[Sample], gold_from: int, systems: Sequence[PooledSystem], k: int
) -> RunsReport | None:
    """The systems by the gold set; without those that rank nothing where anything is relevant."""
    if not any(sample.gold_evidence for sample in samples):
        return None
    rules = RankRules(
        ks=(k,),
        relevance_level=gold_from,
        gold_match="exact",
        condensed=any(system.unjudged for system in systems),
    )
    comparison = Comparison(rules, most=0)
    queries = {query.sample.qid: query for query in pool.queries}
    once = []
    for sample in samples:
        first = _first_ids(queries[sample.qid])
        relevance = {n: grade for n, grade in (sample.relevance or {}).items() if first[n] == n}
        once.append(with_gold(sample, relevance, gold_from))
    for system in systems:
        ranked = [(each, _ranking(queries[each.qid], system.name)) for each in once]
        if any(each.gold_evidence and ids for each, ids in ranked):
            for each, ids in ranked:
                run = each.model_copy(update={"retrieved": ids, "chunks": ()})
                comparison.add(system.name, sample_query(run, rules))
    return comparison.report()
