"""Gold sets for retrieval: drawn queries whose first chunks people grade."""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pydantic import Field

from judge.backends.hook import uniform
from judge.errors import InputError
from judge.inputs.files import MAX_LINE, input_name
from judge.inputs.runs import read_document
from judge.inputs.samples import Source
from judge.inputs.tables import as_json, check_output, write_whole
from judge.records import Document, Record, Sample
from judge.review.coefficients import krippendorff_alpha
from judge.review.draws import digest
from judge.review.golden import sample_line
from judge.review.labels import ID_CHARACTERS, answers_of, check_text
from judge.review.sheet import (
    GRADED,
    READ_GRADES,
    SheetRow,
    read_grade,
    read_sheet,
    sheets_of,
    write_sheets,
)
from judge.text.visible import clip


class PooledChunk(Record):
    """A row of the sheet."""

    review_id: str
    """The id of the row."""
    chunk_id: str
    """The id of the chunk."""
    text: str
    """The text of the chunk."""


class PooledQuery(Record):
    """A drawn query and its chunks to grade."""

    sample: Sample
    """The sample as read from the input."""
    pool: tuple[PooledChunk, ...]
    """The chunks in the order of the sheet; empty if the sample ranks nothing."""


class Pool(Document):
    """A draw for a gold set; reviewers do not see it."""

    draw: str
    """The name of the draw, which is the first part of every `review_id`."""
    seed: int
    """The seed of the draw."""
    depth: int = Field(ge=1)
    """The number of first chunks taken from each ranking."""
    textless: int = 0
    """The number of pooled chunks without a text, which cannot be graded."""
    queries: tuple[PooledQuery, ...]
    """The drawn queries in the order of the sheet."""


class PoolFiles(NamedTuple):
    """A pool and the files it was written to."""

    pool: Pool
    queries: int
    """The number of queries among the samples."""
    draw_path: Path
    """The file that holds the draw; reviewers do not see it."""
    sheets: tuple[Path, ...]
    """One for each reviewer."""


class GradeAgreement(Record):
    """How far reviewers agree with each other."""

    reviewers: tuple[str, ...]
    """The names of the reviewers."""
    shared: int
    """Rows that several reviewers graded."""
    equal: int
    """Shared rows on which all reviewers agree."""
    alpha: float | None
    """Krippendorff's α of the grades as numbers; null if it is not defined."""


class GoldReport(Document):
    """The result of an import of grades."""

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
    missing: int
    """Rows that are in none of the sheets."""
    queries: int
    """Queries of the gold set."""
    ungraded: tuple[str, ...]
    """Drawn queries without any grade; they are left out."""
    unanswered: tuple[str, ...]
    """Queries without a chunk graded `gold_from` or more."""
    counts: dict[str, int]
    """Chunks by grade, which is the median of the reviewers' grades."""
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
) -> PoolFiles:
    """Draw queries at random, pool their first chunks, and write sheets to grade these.

    The same arguments draw the same queries. The draw itself is written beside the sheet, as
    `gold.draw.json`, which reviewers should not see.

    Args:
        samples: file of the queries and their rankings.
        sheet: a CSV file; for several reviewers `gold-1.csv`, `gold-2.csv`, ….
        size: the number of queries to draw.
        depth: the number of first chunks to pool from each ranking.
        seed: seed of the draw.
        reviewers: the names to write into the sheets.
        overlap: the number of queries that all reviewers get; the others are dealt out.
        force: whether existing files are replaced.
        skip_bad_lines: whether bad lines of samples are reported and skipped.
        max_line: maximum size of a line, in MB.

    Raises:
        ConfigError: the sheet is no CSV by its name.
        InputError: the file cannot be read, nothing is ranked, or no pooled chunk has a text.
        RunError: a file exists or cannot be written.
    """
    sheets = sheets_of(Path(sheet), reviewers)
    draw_path = Path(sheet).with_suffix(".draw.json")
    for path in (*sheets, draw_path):
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
    units = [
        [
            {"review_id": row.review_id, "query": query.sample.query, "chunk": row.text}
            for row in query.pool
        ]
        for query in pool.queries
        if query.pool
    ]
    write_sheets(sheets, reviewers, units, overlap, GRADED)
    write_whole(draw_path, [as_json(pool)])
    return PoolFiles(pool, queries, draw_path, sheets)


def _check(sample: Sample) -> None:
    if not sample.query.strip():
        raise InputError("is blank, and people cannot grade without it; fill it in", field="query")


def _pooled(chosen: Sequence[Sample], samples: str, seed: int, depth: int) -> Pool:
    """Return the first chunks of the chosen queries, in the order of the sheet."""
    pooled, textless = [], 0
    for sample in chosen:
        ids, texts = ranking_of(sample)[:depth], _texts(sample)
        pooled.append((sample, {name: texts[name] for name in ids if name in texts}))
        textless += sum(name not in texts for name in ids)
    if not any(texts for _, texts in pooled):
        why = "no text is known of any pooled chunk; give chunks their texts"
        if not textless:
            why = "nothing is ranked; a ranking is retrieved, a list of ids, or else the chunks"
        raise InputError(why, path=input_name(samples))
    parts = [part for sample, texts in pooled for part in (sample.qid, *chain(*texts.items()))]
    draw = f"g{digest('gold', str(seed), str(depth), *parts)[:8]}"
    return Pool(
        draw=draw,
        seed=seed,
        depth=depth,
        textless=textless,
        queries=tuple(
            PooledQuery(sample=sample, pool=_rows(draw, seed, sample.qid, texts))
            for sample, texts in pooled
        ),
    )


def ranking_of(sample: Sample) -> tuple[str, ...]:
    """Return the ids that a sample ranks, best first, each once."""
    ids = sample.retrieved
    if ids is None:
        ids = tuple(chunk.chunk_id for chunk in sample.chunks)
    return tuple(dict.fromkeys(ids))


def _texts(sample: Sample) -> dict[str, str]:
    """Return the texts of a sample's chunks by id; the first if an id has several."""
    texts: dict[str, str] = {}
    for chunk in sample.chunks:
        if chunk.text.strip():
            texts.setdefault(chunk.chunk_id, chunk.text)
    return texts


def _rows(draw: str, seed: int, qid: str, texts: Mapping[str, str]) -> tuple[PooledChunk, ...]:
    """Return a row for each chunk, in a random order that reveals no ranks."""
    rows = [
        PooledChunk(review_id=f"{draw}-{digest(draw, qid, name)}", chunk_id=name, text=text)
        for name, text in texts.items()
    ]
    return tuple(sorted(rows, key=lambda row: uniform(seed, "gold row", row.review_id)))


def import_gold(
    draw: str | Path,
    sheets: Sequence[str | Path],
    output: str | Path,
    *,
    gold_from: int = 2,
    force: bool = False,
) -> GoldReport:
    """Read graded sheets, and write the samples with `relevance` and `gold_evidence`.

    A chunk's grade is the median of the reviewers' grades. Nothing is written if any row is wrong.

    Args:
        draw: the file of the draw, which `draw_gold` wrote beside the sheet.
        sheets: CSV or XLSX files of one or several reviewers.
        output: the gold set, JSONL.
        gold_from: least grade of a chunk in `gold_evidence`.
        force: whether an existing file is replaced.

    Raises:
        InputError: a sheet cannot be read, or rows of it are wrong; the message names them.
        RunError: the draw cannot be read, or the gold set cannot be written.
    """
    output = Path(output)
    check_output(output, [Path(draw), *map(Path, sheets)], force=force)
    step = "name the .draw.json that judge gold draw wrote beside the sheet"
    pool = read_document(Path(draw), Pool, step)
    rows = [row for path in sheets for row in read_sheet(path, READ_GRADES)]
    grades = _grades_of(pool, rows)
    if not grades:
        message = "no row has a grade; fill in human_grade, 0 to 3"
        raise InputError(message, path=", ".join(map(str, sheets)))
    samples, report = _report(pool, rows, grades, gold_from)
    write_whole(output, map(sample_line, samples))
    return report


def _grades_of(pool: Pool, rows: Sequence[SheetRow]) -> dict[str, dict[str, int]]:
    """Return the grades by `review_id` and reviewer; raise InputError with all wrong rows."""
    texts = {each.review_id: (q.sample.query, each.text) for q in pool.queries for each in q.pool}

    def read(row: SheetRow) -> int | None:
        name = row.cell("review_id")
        if name not in texts:
            why = "is empty beside a grade; put the row's own back"
            if name:
                why = f"is no row of draw {pool.draw}; name the draw it was written with"
            raise ValueError(f"review_id {clip(name, ID_CHARACTERS)!r} {why}")
        query, chunk = texts[name]
        check_text(row, "query", query)
        check_text(row, "chunk", chunk)
        return read_grade(row.cell("human_grade"))

    names: dict[str, str] = {}
    grades: dict[str, dict[str, int]] = {}
    for (review_id, reviewer), (row, grade) in answers_of(rows, "human_grade", read).items():
        name = names.setdefault(reviewer, " ".join(row.cell("reviewer").split()))
        grades.setdefault(review_id, {})[name] = grade
    return grades


def _report(
    pool: Pool, rows: Sequence[SheetRow], grades: Mapping[str, Mapping[str, int]], gold_from: int
) -> tuple[list[Sample], GoldReport]:
    """Return the samples of the gold set, and the report on them."""
    medians = {name: float(median(each.values())) for name, each in grades.items()}
    chunks = [each.review_id for query in pool.queries for each in query.pool]
    gold = {query.sample.qid: _with_gold(query, medians, gold_from) for query in pool.queries}
    samples = [sample for sample in gold.values() if sample is not None]
    places = {name: row for row in reversed(rows) if (name := row.cell("review_id"))}
    shared = [list(each.values()) for each in grades.values() if len(each) > 1]
    report = GoldReport(
        draw=pool.draw,
        gold_from=gold_from,
        rows=len(chunks),
        graded=len(grades),
        blank=tuple(str(places[name]) for name in chunks if name in places.keys() - grades.keys()),
        missing=sum(name not in places for name in chunks),
        queries=len(samples),
        ungraded=tuple(qid for qid, sample in gold.items() if sample is None),
        unanswered=tuple(each.qid for each in samples if not each.gold_evidence),
        counts={f"{grade:g}": n for grade, n in sorted(Counter(medians.values()).items())},
        agreement=GradeAgreement(
            reviewers=tuple(dict.fromkeys(name for each in grades.values() for name in each)),
            shared=len(shared),
            equal=sum(len(set(each)) == 1 for each in shared),
            alpha=krippendorff_alpha(shared, squared=True),
        ),
    )
    return samples, report


def _with_gold(query: PooledQuery, grades: Mapping[str, float], gold_from: int) -> Sample | None:
    """Return the sample with the new gold, None without any grade."""
    graded = [each for each in query.pool if each.review_id in grades]
    relevance = {each.chunk_id: grades[each.review_id] for each in graded}
    evidence = tuple(name for name, grade in relevance.items() if grade >= gold_from)
    gold = {"relevance": relevance, "gold_evidence": evidence}
    return query.sample.model_copy(update=gold) if relevance else None
