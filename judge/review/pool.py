"""A pool: the first chunks that several systems rank for chosen queries, for people to grade.

Source: K. Sparck Jones and C. J. van Rijsbergen (1975), Report on the need for and provision of an
"ideal" information retrieval test collection, Cambridge.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from judge.backends.hook import uniform
from judge.errors import ConfigError, InputError, RunError
from judge.files.runs import parse
from judge.files.source import MAX_LINE, PIPED, spoken
from judge.messages import Lang
from judge.records import Document, Record, Sample
from judge.retrieval import check_key
from judge.retrieval.records import DEEPEST, Cutoff
from judge.review.draws import deal, digest, hand_out, sheets_of
from judge.review.folder import as_json, check_output, write_whole
from judge.review.sheet import GRADED
from judge.review.spread import Asked, Chosen, choose
from judge.review.systems import Ranked, Reader, System, plain, read_system, texts_of
from judge.text.visible import clip

_SHOWN: Final = 60
_NAMED: Final = 3


class PooledChunk(Record):
    """A row of the sheet."""

    review_id: str
    """Of the row."""
    chunk_ids: tuple[str, ...]
    """What systems call it; several where they have the very same text."""
    text: str
    """Of the chunk."""


class PooledQuery(Record):
    """A chosen query, and what is graded for it."""

    sample: Sample
    """As it stands in the samples."""
    stratum: str = ""
    """Its value of the key that strata are made by."""
    rankings: dict[str, tuple[str, ...]]
    """By system, best first; of those that have the query."""
    pool: tuple[PooledChunk, ...]
    """In the order of the sheet; empty where nothing is ranked."""


class Pool(Document):
    """A draw for a gold set; reviewers do not see it."""

    draw: str
    """Its name, with which review ids begin."""
    seed: int
    """Of the draw."""
    depth: Cutoff
    """How many of each ranking are pooled."""
    by: str | None
    """The key that strata are made by."""
    systems: tuple[str, ...]
    """Whose rankings are pooled."""
    idle: tuple[str, ...] = ()
    """Systems that have queries of the samples', and rank nothing for the chosen ones."""
    textless: tuple[str, ...] = ()
    """Pooled chunks whose text is not known: they cannot be graded, and stay unjudged."""
    queries: tuple[PooledQuery, ...]
    """In the order of the sheet."""


class DrawnPool(NamedTuple):
    """A pool and the files it was written to."""

    pool: Pool
    chosen: tuple[Chosen, ...]
    """By stratum."""
    kept: Path
    """The file that holds the draw; reviewers do not see it."""
    sheets: tuple[Path, ...]
    """One for each reviewer."""


def draw_gold(
    samples: str,
    sheet: str | Path = "gold.csv",
    *,
    systems: Sequence[System] = (),
    corpus: str | None = None,
    size: int = 50,
    depth: int = 10,
    by: str | None = None,
    seed: int = 0,
    reviewers: Sequence[str] = ("",),
    overlap: int = 0,
    lang: Lang = "en",
    force: bool = False,
    skip_bad_lines: bool = False,
    max_line: float = MAX_LINE,
) -> DrawnPool:
    """Choose queries, pool what systems rank first for them, and write sheets to grade it in.

    The same arguments draw the same. Beside `gold.csv` stands `gold.draw.json`, which is not for
    reviewers.

    Args:
        samples: file of the queries; a system, too, where it has rankings.
        sheet: a CSV; of several reviewers `gold-1.csv`, `gold-2.csv`, ….
        systems: whose rankings are pooled, too.
        corpus: JSONL of chunks, `chunk_id` (or `id`, `_id`) and `text`, that no sample has.
        size: queries to choose; all, where there are fewer.
        depth: how many of each ranking are pooled.
        by: metadata key; each of its values gets its share of the queries.
        seed: of the draw.
        reviewers: their names, which stand in their sheets.
        overlap: how many of the queries all reviewers get; the rest is dealt out.
        lang: of the headers.
        force: whether files that are there are replaced.
        skip_bad_lines: tell of bad lines of samples, and go on.
        max_line: MB that a line may have.

    Raises:
        ConfigError: the sheet is no CSV by its name, two systems have
            one name, standard input is named, or `depth` is no rank.
        InputError: a file cannot be read, nothing is ranked, no pooled chunk has a text, or one
            has two.
        RunError: a file is there already, or cannot be written.
    """
    check_depth("--depth", depth)
    sheets = sheets_of(Path(sheet), reviewers)
    kept = Path(sheet).with_suffix(".draw.json")
    systems = (System(Path(samples.removesuffix(".gz")).stem, samples), *systems)
    _check_files(systems, corpus, (*sheets, kept), force=force)
    reader = Reader(skip_bad_lines, max_line)
    asked = _asked(samples, by, reader)
    chosen = choose(asked, size, seed)
    wanted = {qid for each in chosen for qid in each.qids}
    read = [read_system(system, wanted, reader) for system in systems]
    _refuse_strangers(read, {each.qid for each in asked})
    pool = _pooled(chosen, read, corpus, reader, (seed, depth, by))
    hand_out(sheets, reviewers, _hands(pool, len(sheets), overlap), GRADED, lang)
    write_whole(kept, [as_json(pool)])
    return DrawnPool(pool, tuple(chosen), kept, sheets)


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


def _check_files(
    systems: Sequence[System], corpus: str | None, outputs: Sequence[Path], *, force: bool
) -> None:
    """See that all can be read and written; errors as of `draw_gold`."""
    read = [*(system.file for system in systems), *([] if corpus is None else [corpus])]
    if PIPED in read:
        raise ConfigError("-: a draw reads its files more than once; save it, and name the file")
    for path in outputs:
        check_output(path, map(Path, read), force=force)
    names = [system.name for system in systems]
    for name in (name for name in names if names.count(name) > 1):
        raise ConfigError(f"two systems are called {name!r}; name each, as --pool NAME=FILE")


def check_depth(option: str, depth: int) -> None:
    """Refuse, with ConfigError, what is no rank."""
    if not 1 <= depth <= DEEPEST:
        raise ConfigError(f"{option} {depth}: give a whole number from 1 to {DEEPEST}")


def read_pool(path: str | Path) -> Pool:
    """The draw that `draw_gold` kept; RunError where there is none, or it is damaged."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = "name the .draw.json that judge gold draw wrote beside the sheet"
        raise RunError(f"{path}: cannot be read ({error.strerror}); {hint}") from None
    return parse(data, Pool, str(path), "name what judge gold draw wrote, or make the draw again")


def _asked(samples: str, by: str | None, reader: Reader) -> list[Asked]:
    """The queries that may be chosen."""
    with reader.source(samples, ("query",), partial(_check, by=by)).samples() as read:
        found = [Asked(each.qid, each.query, _stratum(each, by)) for each in read]
        if not found:
            raise InputError("holds no sample; give each a query, and a ranking")
    return found


def _stratum(sample: Sample, by: str | None) -> str:
    value = "" if by is None else sample.metadata[by]
    return value if isinstance(value, str) else json.dumps(value)


def _check(sample: Sample, by: str | None) -> None:
    if not sample.query.strip():
        raise InputError("is blank, and people cannot grade without it; fill it in", field="query")
    if by is not None:
        check_key(sample, by)


def _pooled(
    chosen: Sequence[Chosen],
    read: Sequence[Ranked],
    corpus: str | None,
    reader: Reader,
    how: tuple[int, int, str | None],
) -> Pool:
    """The first chunks of all systems for the chosen queries, in the order of the sheet."""
    seed, depth, by = how
    strata = {qid: each.stratum for each in chosen for qid in each.qids}
    first = read[0]
    ranked = [each for each in read if any(each.rankings.values())]
    if not ranked:
        message = "nothing is ranked; a ranking is retrieved, a list of ids, or else the chunks; "
        raise InputError(message + "name other systems' files with --pool", path=first.system.file)
    pooled = {
        qid: dict.fromkeys(n for e in ranked for n in e.rankings.get(qid, ())[:depth])
        for qid in strata
    }
    wanted = [(qid, name) for qid, names in pooled.items() for name in names]
    texts = texts_of(set(wanted), read, corpus, reader)
    textless = [name for qid, name in wanted if (qid, name) not in texts]
    if len(textless) == len(wanted):
        some = ", ".join(clip(name, _SHOWN) for name in textless[:_NAMED])
        message = f"no text is known of any pooled chunk, such as {some}; give samples chunks with "
        raise InputError(message + "text, or name a file of chunks with --corpus")
    parts = [*strata, *(part for place in sorted(texts) for part in (*place, texts[place]))]
    draw = f"g{digest('gold', str(seed), str(depth), *parts)[:8]}"
    order = sorted(strata, key=lambda qid: uniform(seed, "gold query", qid))
    return Pool(
        draw=draw,
        seed=seed,
        depth=depth,
        by=by,
        systems=tuple(each.system.name for each in ranked),
        idle=tuple(each.system.name for each in read[1:] if not any(each.rankings.values())),
        textless=tuple(textless),
        queries=tuple(
            PooledQuery(
                sample=first.samples[qid],
                stratum=strata[qid],
                rankings={e.system.name: e.rankings[qid] for e in ranked if qid in e.rankings},
                pool=_rows(
                    draw, seed, qid, {n: texts[qid, n] for n in pooled[qid] if (qid, n) in texts}
                ),
            )
            for qid in order
        ),
    )


def _rows(draw: str, seed: int, qid: str, texts: Mapping[str, str]) -> tuple[PooledChunk, ...]:
    """A row for each text, in random order: where it stands says nothing of who ranked it where."""
    same: dict[str, list[str]] = {}
    for name, text in sorted(texts.items()):
        same.setdefault(plain(text), []).append(name)
    rows = [
        PooledChunk(
            review_id=f"{draw}-{digest(draw, qid, *names)}",
            chunk_ids=tuple(names),
            text=texts[names[0]],
        )
        for names in same.values()
    ]
    return tuple(sorted(rows, key=lambda row: uniform(seed, "gold row", row.review_id)))


def _refuse_strangers(read: Sequence[Ranked], asked: set[str]) -> None:
    """Refuse files of other queries than the samples', the first, which are `asked`."""
    first, *others = read
    for other in others:
        path = spoken(other.system.file)
        if asked.isdisjoint(other.qids):
            message = f"has no query of {first.system.file}; see that the qids are the same"
            raise InputError(message, path=path)
        for qid, sample in other.samples.items():
            own = first.samples[qid].query
            if sample.query.strip() and plain(sample.query) != plain(own):
                message = (
                    f"query {clip(qid, _SHOWN)!r} reads otherwise than in {first.system.file}; "
                )
                raise InputError(message + "give each query one qid in all files", path=path)
