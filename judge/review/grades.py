"""Gold for retrieval: the chunks ranked first for some queries, drawn and graded by people."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from pydantic import Field

from judge.backends.hook import uniform
from judge.errors import InputError
from judge.inputs.files import MAX_LINE, spoken
from judge.inputs.runs import read_document
from judge.inputs.samples import Source
from judge.inputs.tables import as_json, check_output, write_whole
from judge.records import Document, Record, Sample
from judge.review.coefficients import krippendorff_alpha
from judge.review.draws import deal, digest, hand_out, sheets_of
from judge.review.golden import sample_line
from judge.review.labels import LONGEST, is_of, refuse
from judge.review.sheet import GRADED, READ_GRADES, Row, folded, read_grade, read_sheet
from judge.text.visible import clip

_TEXTS: Final = ("query", "chunk")
_APART: Final = 2
"""Grades that differ by this much are listed."""


class PooledChunk(Record):
    """A row of the sheet."""

    review_id: str
    """The id of the row."""
    chunk_ids: tuple[str, ...]
    """The ids of the chunk; several if chunks have the same text."""
    text: str
    """The text of the chunk."""


class PooledQuery(Record):
    """A chosen query, and what is graded for it."""

    sample: Sample
    """The sample as read from the input."""
    pool: tuple[PooledChunk, ...]
    """In the order of the sheet; empty where nothing is ranked."""


class Pool(Document):
    """A draw for a gold set; reviewers do not see it."""

    draw: str
    """The name of the draw, which is the first part of every `review_id`."""
    seed: int
    """The seed of the draw."""
    depth: int = Field(ge=1)
    """The number of first chunks taken from each ranking."""
    textless: tuple[str, ...] = ()
    """Pooled chunks whose text is not known: they cannot be graded, and stay unjudged."""
    queries: tuple[PooledQuery, ...]
    """In the order of the sheet."""


class DrawnPool(NamedTuple):
    """A pool and the files it was written to."""

    pool: Pool
    queries: int
    """The number of queries among the samples."""
    kept: Path
    """The file that holds the draw; reviewers do not see it."""
    sheets: tuple[Path, ...]
    """One for each reviewer."""


class Rater(NamedTuple):
    """A reviewer, and the grades by `review_id`."""

    name: str
    grades: dict[str, int]
    notes: dict[str, str]
    """Notes by `review_id`."""


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
    """The names of the reviewers."""
    shared: int
    """Rows that several graded."""
    equal: int
    """Shared rows on which all reviewers agree."""
    alpha: float | None
    """Krippendorff's α of the grades as numbers; null where it is not defined."""
    apart: tuple[GradedApart, ...]
    """Rows whose grades differ by two or more."""


class GoldReport(Document):
    """What came of the grades of a pool."""

    draw: str
    """Name of the draw."""
    gold_from: int
    """Least grade of `gold_evidence`."""
    rows: int
    """Rows that were drawn."""
    graded: int
    """Rows with a grade."""
    blank: tuple[str, ...]
    """Places of rows without any grade."""
    noted: tuple[str, ...] = ()
    """Places of the rows in the sheets with a note and no grade."""
    missing: int
    """Rows that are in none of the sheets."""
    queries: int
    """Queries of the gold set."""
    ungraded: tuple[str, ...]
    """Drawn queries of which nothing was graded; they are left out."""
    unanswered: tuple[str, ...]
    """Queries of which nothing was graded `gold_from` or more."""
    counts: dict[str, int]
    """Chunks by grade: the median of the reviewers'."""
    several: int = 0
    """Texts graded `gold_from` or more that have several ids."""
    agreement: GradeAgreement
    """How far reviewers agree."""


def draw_gold(
    samples: str,
    sheet: str | Path = "gold.csv",
    *,
    size: int = 50,
    depth: int = 10,
    seed: int = 0,
    reviewers: Sequence[str] = ("",),
    overlap: int = 0,
    force: bool = False,
    skip_bad_lines: bool = False,
    max_line: float = MAX_LINE,
) -> DrawnPool:
    """Draw queries at random, pool their first chunks, and write sheets to grade these.

    The same arguments draw the same. Beside `gold.csv` stands `gold.draw.json`, which is not for
    reviewers.

    Args:
        samples: file of the queries and their rankings.
        sheet: a CSV; of several reviewers `gold-1.csv`, `gold-2.csv`, ….
        size: queries to choose; all, where there are fewer.
        depth: how many of each ranking are pooled.
        seed: of the draw.
        reviewers: their names, which stand in their sheets.
        overlap: how many of the queries all reviewers get; the rest is dealt out.
        force: whether files that are there are replaced.
        skip_bad_lines: tell of bad lines of samples, and go on.
        max_line: MB that a line may have.

    Raises:
        ConfigError: the sheet is no CSV by its name.
        InputError: the file cannot be read, nothing is ranked, or no pooled chunk has a text.
        RunError: a file is there already, or cannot be written.
    """
    sheets = sheets_of(Path(sheet), reviewers)
    kept = Path(sheet).with_suffix(".draw.json")
    for path in (*sheets, kept):
        check_output(path, [Path(samples)], force=force)
    source = Source(
        samples, ("query",), skip_bad_lines=skip_bad_lines, check=_check, max_line=max_line
    )
    queries = 0

    def place(sample: Sample) -> float:
        nonlocal queries
        queries += 1
        return uniform(seed, "gold query", sample.qid)

    with source.samples() as read:
        chosen = heapq.nsmallest(size, read, key=place)
    pool = _pooled(chosen, samples, seed, depth)
    hand_out(sheets, reviewers, _hands(pool, len(sheets), overlap), GRADED)
    write_whole(kept, [as_json(pool)])
    return DrawnPool(pool, queries, kept, sheets)


def _check(sample: Sample) -> None:
    if not sample.query.strip():
        raise InputError("is blank, and people cannot grade without it; fill it in", field="query")


def _pooled(chosen: Sequence[Sample], samples: str, seed: int, depth: int) -> Pool:
    """The first chunks for the chosen queries, in the order of the sheet."""
    ranked = [(sample, ranking_of(sample)[:depth]) for sample in chosen]
    if not any(names for _, names in ranked):
        message = "nothing is ranked; a ranking is retrieved, a list of ids, or else the chunks"
        raise InputError(message, path=spoken(samples))
    pooled = [(sample, names, _texts(sample)) for sample, names in ranked]
    textless = [name for _, names, texts in pooled for name in names if name not in texts]
    if len(textless) == sum(len(names) for _, names in ranked):
        some = ", ".join(clip(name, LONGEST) for name in textless[:3])
        message = f"no text is known of any pooled chunk, such as {some}; give chunks their texts"
        raise InputError(message, path=spoken(samples))
    rows = [(sample, {n: texts[n] for n in names if n in texts}) for sample, names, texts in pooled]
    parts = [part for sample, texts in rows for part in (sample.qid, *chain(*texts.items()))]
    draw = f"g{digest('gold', str(seed), str(depth), *parts)[:8]}"
    return Pool(
        draw=draw,
        seed=seed,
        depth=depth,
        textless=tuple(textless),
        queries=tuple(
            PooledQuery(sample=sample, pool=_rows(draw, seed, sample.qid, texts))
            for sample, texts in rows
        ),
    )


def ranking_of(sample: Sample) -> tuple[str, ...]:
    """The ids that a sample ranks, best first, each once."""
    ids = sample.retrieved
    if ids is None:
        ids = tuple(chunk.chunk_id for chunk in sample.chunks)
    return tuple(dict.fromkeys(ids))


def _texts(sample: Sample) -> dict[str, str]:
    """The texts of a sample's chunks by id, the first where an id has several."""
    texts: dict[str, str] = {}
    for chunk in sample.chunks:
        if chunk.text.strip():
            texts.setdefault(chunk.chunk_id, chunk.text)
    return texts


def _rows(draw: str, seed: int, qid: str, texts: Mapping[str, str]) -> tuple[PooledChunk, ...]:
    """Return a row for each text, in random order, so that places reveal no ranks."""
    same: dict[str, list[str]] = {}
    for name, text in sorted(texts.items()):
        same.setdefault(" ".join(text.split()), []).append(name)
    rows = [
        PooledChunk(
            review_id=f"{draw}-{digest(draw, qid, *names)}",
            chunk_ids=tuple(names),
            text=texts[names[0]],
        )
        for names in same.values()
    ]
    return tuple(sorted(rows, key=lambda row: uniform(seed, "gold row", row.review_id)))


def _hands(pool: Pool, hands: int, overlap: int) -> list[list[dict[str, str]]]:
    """The rows that each reviewer gets; a query stays together."""
    ranked = [query for query in pool.queries if query.pool]
    return [
        [
            {"review_id": row.review_id, "query": query.sample.query, "chunk": row.text}
            for query in dealt
            for row in query.pool
        ]
        for dealt in deal(ranked, hands, overlap)
    ]


def import_gold(
    draw: str | Path,
    sheets: Sequence[str | Path],
    output: str | Path,
    *,
    gold_from: int = 2,
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
        force: whether a file that is there is replaced.

    Raises:
        InputError: a sheet cannot be read, or rows of it cannot be right; all are named.
        RunError: the draw cannot be read, or the gold set not be written.
    """
    output = Path(output)
    check_output(output, [Path(draw), *map(Path, sheets)], force=force)
    step = "name the .draw.json that judge gold draw wrote beside the sheet"
    pool = read_document(Path(draw), Pool, step)
    rows = [row for path in sheets for row in read_sheet(path, READ_GRADES)]
    raters = _grades_of(pool, rows)
    if not raters:
        message = "no row has a grade; fill in human_grade, 0 to 3"
        raise InputError(message, path=", ".join(map(str, sheets)))
    samples, report = _report(pool, rows, raters, gold_from)
    write_whole(output, map(sample_line, samples))
    return report


def _report(
    pool: Pool, rows: Sequence[Row], raters: Sequence[Rater], gold_from: int
) -> tuple[list[Sample], GoldReport]:
    """The gold set, and what is to be said of it."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for rater in raters:
        for name, grade in rater.grades.items():
            found[name].append(grade)
    grades = {name: float(median(given)) for name, given in found.items()}
    made = [_with_gold(query, grades, gold_from) for query in pool.queries]
    samples = [sample for sample in made if sample is not None]
    there: dict[str, Row] = {}
    for row in rows:
        there.setdefault(row.cell("review_id"), row)
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
        ungraded=tuple(
            query.sample.qid
            for query, sample in zip(pool.queries, made, strict=True)
            if sample is None
        ),
        unanswered=tuple(each.qid for each in samples if not each.gold_evidence),
        counts={f"{grade:g}": n for grade, n in sorted(Counter(grades.values()).items())},
        several=sum(
            len(each.chunk_ids) > 1 and grades.get(each.review_id, 0) >= gold_from
            for query in pool.queries
            for each in query.pool
        ),
        agreement=_agreement(pool, raters, found),
    )
    return samples, report


def _grades_of(pool: Pool, rows: Sequence[Row]) -> list[Rater]:
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


def _with_gold(query: PooledQuery, grades: Mapping[str, float], gold_from: int) -> Sample | None:
    """Return the sample with the new gold; None without any grade."""
    relevance = {
        name: grades[each.review_id]
        for each in query.pool
        if each.review_id in grades
        for name in each.chunk_ids
    }
    evidence = tuple(name for name, grade in relevance.items() if grade >= gold_from)
    gold = {"relevance": relevance, "gold_evidence": evidence}
    return query.sample.model_copy(update=gold) if relevance else None


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
        apart=tuple(apart),
    )
