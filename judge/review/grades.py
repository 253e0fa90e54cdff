"""Gold sets for retrieval: drawn queries whose first chunks people grade."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from judge.backends.hook import uniform
from judge.errors import InputError
from judge.inputs.files import input_name
from judge.inputs.samples import Source
from judge.inputs.tables import check_output, write_whole
from judge.records import Document, Record, Sample
from judge.review.coefficients import krippendorff_alpha
from judge.review.draws import digest
from judge.review.golden import sample_line
from judge.review.labels import answers_of
from judge.review.sheet import (
    GRADED,
    READ_GRADES,
    read_grade,
    read_sheet,
    sheets_of,
    write_sheets,
)


class GoldDraw(NamedTuple):
    """The size of a draw for a gold set, and the files it was written to."""

    queries: int
    rows: int
    """The number of chunks to grade."""
    unranked: int
    """The number of drawn queries without a ranked chunk whose text is known."""
    textless: int
    """The number of pooled chunks without a text, which cannot be graded."""
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

    gold_from: int
    """Least grade of `gold_evidence`."""
    rows: int
    """Chunks in the sheets."""
    graded: int
    """Chunks with a grade."""
    blank: tuple[str, ...]
    """Places of chunks without any grade, such as `gold.csv, row 3`."""
    queries: int
    """Queries of the gold set."""
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
) -> GoldDraw:
    """Draw queries at random, pool their first chunks, and write sheets to grade these.

    The same arguments draw the same queries.

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

    Raises:
        ConfigError: the sheet is no CSV by its name.
        InputError: the file cannot be read, nothing is ranked, or no pooled chunk has a text.
        RunError: a file exists or cannot be written.
    """
    sheets = sheets_of(Path(sheet), reviewers, [Path(samples)], force=force)
    source = Source(samples, ("query",), skip_bad_lines=skip_bad_lines, check=_check)
    with source.samples() as read:
        chosen = heapq.nsmallest(size, read, key=lambda each: uniform(seed, "gold", each.qid))
    units, textless = [], 0
    for sample in chosen:
        ids, texts = _ranking(sample)[:depth], _texts(sample)
        pool = [
            {"review_id": _review_id(sample, name), "query": sample.query, "chunk": texts[name]}
            for name in ids
            if name in texts
        ]
        # The ids are hashes, so that this order does not reveal the ranks.
        units.append(sorted(pool, key=lambda row: row["review_id"]))
        textless += len(ids) - len(pool)
    if not any(units):
        why = "no text is known of any pooled chunk; give chunks their texts"
        if not textless:
            why = "nothing is ranked; a ranking is retrieved, a list of ids, or else the chunks"
        raise InputError(why, path=input_name(samples))
    pooled = [unit for unit in units if unit]
    write_sheets(sheets, reviewers, pooled, overlap, GRADED)
    return GoldDraw(
        queries=len(units),
        rows=sum(map(len, units)),
        unranked=len(units) - len(pooled),
        textless=textless,
        sheets=sheets,
    )


def import_gold(
    samples: str,
    sheets: Sequence[str | Path],
    output: str | Path,
    *,
    gold_from: int = 2,
    force: bool = False,
    skip_bad_lines: bool = False,
) -> GoldReport:
    """Read graded sheets, and write their samples with `relevance` and `gold_evidence`.

    A chunk's grade is the median of the reviewers' grades. Nothing is written if any row is wrong.

    Args:
        samples: the file that the sheets were drawn from.
        sheets: CSV or XLSX files of one or several reviewers.
        output: the gold set, JSONL.
        gold_from: least grade of a chunk in `gold_evidence`.
        force: whether an existing file is replaced.
        skip_bad_lines: whether bad lines of samples are reported and skipped.

    Raises:
        InputError: a file cannot be read, or rows of it are wrong; the message names them.
        RunError: the gold set cannot be written.
    """
    output = Path(output)
    check_output(output, [Path(samples), *map(Path, sheets)], force=force)
    rows = [row for path in sheets for row in read_sheet(path, READ_GRADES)]
    wanted = {row.cell("review_id") for row in rows}
    originals: dict[str, dict[str, str]] = {}
    places: dict[str, tuple[Sample, str]] = {}
    source = Source(samples, ("query",), skip_bad_lines=skip_bad_lines)
    with source.samples() as read:
        for sample in read:
            for name, text in _texts(sample).items():
                if (review_id := _review_id(sample, name)) in wanted:
                    originals[review_id] = {"query": sample.query, "chunk": text}
                    places[review_id] = sample, name
    names: dict[str, str] = {}
    grades: defaultdict[str, dict[str, int]] = defaultdict(dict)
    answers = answers_of(rows, "human_grade", originals, read_grade)
    for (review_id, reviewer), (row, grade) in answers.items():
        name = names.setdefault(reviewer, " ".join(row.cell("reviewer").split()))
        grades[review_id][name] = grade
    if not grades:
        message = "no row has a grade; fill in human_grade, 0 to 3"
        raise InputError(message, path=", ".join(map(str, sheets)))
    medians = {name: float(median(each.values())) for name, each in grades.items()}
    gold = _with_gold(places, medians, gold_from)
    write_whole(output, map(sample_line, gold))
    firsts: dict[str, str] = {}
    for row in rows:
        if name := row.cell("review_id"):
            firsts.setdefault(name, str(row))
    return GoldReport(
        gold_from=gold_from,
        rows=len(firsts),
        graded=len(grades),
        blank=tuple(place for name, place in firsts.items() if name not in grades),
        queries=len(gold),
        unanswered=tuple(each.qid for each in gold if not each.gold_evidence),
        counts={f"{grade:g}": n for grade, n in sorted(Counter(medians.values()).items())},
        agreement=_agreement(list(grades.values())),
    )


def _check(sample: Sample) -> None:
    if not sample.query.strip():
        raise InputError("is blank, and people cannot grade without it; fill it in", field="query")


def _ranking(sample: Sample) -> tuple[str, ...]:
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


def _review_id(sample: Sample, chunk_id: str) -> str:
    """Return the id of a row, which begins with a letter so that no spreadsheet reads a number."""
    return f"g{digest(sample.qid, chunk_id)}"


def _with_gold(
    places: Mapping[str, tuple[Sample, str]], grades: Mapping[str, float], gold_from: int
) -> list[Sample]:
    """Return the samples that have a grade, with the new gold."""
    samples: dict[str, Sample] = {}
    relevance: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for review_id, (sample, chunk_id) in places.items():
        if review_id in grades:
            samples[sample.qid] = sample
            relevance[sample.qid][chunk_id] = grades[review_id]
    gold = []
    for qid, found in relevance.items():
        evidence = tuple(name for name, grade in found.items() if grade >= gold_from)
        update = {"relevance": found, "gold_evidence": evidence}
        gold.append(samples[qid].model_copy(update=update))
    return gold


def _agreement(grades: Sequence[Mapping[str, int]]) -> GradeAgreement:
    """Return how far reviewers agree, by the grades of each chunk by reviewer."""
    shared = [list(each.values()) for each in grades if len(each) > 1]
    return GradeAgreement(
        reviewers=tuple(dict.fromkeys(name for each in grades for name in each)),
        shared=len(shared),
        equal=sum(len(set(each)) == 1 for each in shared),
        alpha=krippendorff_alpha(shared, squared=True),
    )
