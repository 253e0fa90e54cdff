"""`judge cache`: the verdicts that are kept."""

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from judge.cli.app import app
from judge.cli.options import CONFIG, SETTINGS, takes_settings
from judge.cli.terminal import say
from judge.errors import ConfigError, InputError
from judge.text.visible import clip, counted, flat, visible

if TYPE_CHECKING:
    from judge.config import Config
    from judge.judges.cached import Contents, Explained, Tally
    from judge.records import JudgeRequest

_WIDTH: Final = 60
"""Characters of a sentence that are enough to know it by."""
_MEGA: Final = 1_000_000
_FOUND: Final = {
    "hit": "kept",
    "not kept": "no verdict of it is kept, though its answer was asked about",
    "nothing": "nothing is kept of it, nor of anything like it",
    "differs": "would be asked: the nearest that is kept differs in",
}

cache = typer.Typer(no_args_is_help=True, help="The verdicts that are kept: stats, explain, clear.")
app.add_typer(cache, name="cache")

_CacheDir: TypeAlias = Annotated[Path | None, SETTINGS["cache_dir"].__metadata__[0]]
_CacheUrl: TypeAlias = Annotated[str | None, SETTINGS["cache_url"].__metadata__[0]]


@cache.command()
def stats(
    cache_dir: _CacheDir = None,
    cache_url: _CacheUrl = None,
    config: Annotated[Path | None, CONFIG] = None,
) -> None:
    """Count what is kept, by the signature of the judge that made it.

    Example: judge cache stats
    """
    from judge.backends.store.cache import open_keeper  # noqa: PLC0415  heavy, and --help stays quick
    from judge.judges.cached import contents  # noqa: PLC0415  likewise

    settings = _settings(cache_dir, cache_url, config)
    if not _kept(settings):
        return
    with closing(open_keeper(settings)) as store:
        kept, size, place = contents(store.rows()), store.size, store.place
    say(
        f"{place}  {size / _MEGA:.1f} MB",
        f"{_counts(kept)}, {counted(kept.answers, 'answer')}",
        *(
            f"\n{flat(name)}\n  {_counts(tally)}{_when(tally)}"
            for name, tally in kept.signatures.items()
        ),
    )


@cache.command()
@takes_settings
def explain(
    source: Path = typer.Argument(
        metavar="SAMPLES", help="JSONL, JSON, CSV, Parquet, Arrow or XLSX; a folder or a pattern."
    ),
    qid: str = typer.Argument(metavar="QID", help="Which answer."),
    *,
    settings: "Config",
) -> None:
    """Tell of each claim whether its verdict is kept, or what differs from what is kept.

    Takes the settings of `judge score`; asks nobody. It is about faithfulness alone, and not about
    what --correctness and --relevance ask.

    Example: judge cache explain samples.jsonl q_001 --model gpt-4.1-mini
    """
    # Heavy, and --help stays quick without them.
    from judge import compose  # noqa: PLC0415
    from judge.backends.store.cache import open_keeper  # noqa: PLC0415
    from judge.files.samples import read_samples  # noqa: PLC0415
    from judge.pipeline import asked  # noqa: PLC0415

    if not settings.asks_model:
        raise ConfigError("only a language model's verdicts are kept; name one with --model")
    if str(source) == "-":
        raise ConfigError("explain reads a file, not standard input; name one")
    limit, paths = settings.max_line, settings.map
    samples = read_samples(source, on_bad=lambda _: None, max_line=limit, mapping=paths)
    sample = next((each for each in samples if each.qid == qid), None)
    if sample is None:
        raise InputError(f"no answer {clip(qid, 80)!r}; name a qid of this file", path=str(source))
    would = asked(sample, settings.rules)
    if not _kept(settings):
        return
    with closing(open_keeper(settings)) as store:
        explained = compose.explain(settings, store, would)
    hits = sum(each.found == "hit" for each in explained)
    say(f"{flat(qid)}: {counted(len(explained), 'claim')}, {hits} kept", *_listed(explained, would))


@cache.command()
def clear(
    cache_dir: _CacheDir = None,
    cache_url: _CacheUrl = None,
    config: Annotated[Path | None, CONFIG] = None,
    *,
    yes: bool = typer.Option(False, "--yes", help="Do not ask first."),
) -> None:
    """Remove every verdict that is kept; the next run pays for them again.

    Example: judge cache clear --yes
    """
    from judge.backends.store import empty  # noqa: PLC0415  heavy, and --help stays quick
    from judge.backends.store.cache import open_keeper  # noqa: PLC0415  likewise

    settings = _settings(cache_dir, cache_url, config)
    if not _kept(settings):
        return
    place = _place(settings)
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise ConfigError(f"{place}: nobody is there to be asked; say --yes to empty it")
        if not typer.confirm(visible(f"Remove every verdict kept in {place}?")):
            say(f"nothing was removed from {place}")
            return
    if isinstance(place, Path):
        rows = empty(place)
    else:
        with closing(open_keeper(settings)) as store:
            rows = store.clear()
    what = "a database with an unknown number of rows" if rows is None else counted(rows, "row")
    say(f"removed {what} from {place}")


def _settings(folder: Path | None, url: str | None, file: Path | None) -> "Config":
    from judge.settings import load_config  # noqa: PLC0415  heavy, and --help stays quick

    # Which judge would judge, and whether its model is named, is nothing to the cache.
    named = {"judge": "similarity", "cache_dir": folder, "cache_url": url}
    given = {name: value for name, value in named.items() if value is not None}
    return load_config(given, file)


def _place(settings: "Config") -> Path | str:
    from judge.backends.store.cache import cache_folder  # noqa: PLC0415  heavy, and --help stays quick

    return settings.cache_url or cache_folder(settings)


def _kept(settings: "Config") -> bool:
    """Whether anything may be kept there; where not, nothing is made, and it is said."""
    from judge.backends.store import DATABASE  # noqa: PLC0415  heavy, and --help stays quick

    place = _place(settings)
    if isinstance(place, str):
        return True
    there = os.path.exists(place / DATABASE)  # noqa: PTH110  False, too, where one may not look
    if not there:
        say(f"nothing is kept in {place}")
    return there


def _listed(explained: Sequence["Explained"], would: "JudgeRequest") -> Iterable[str]:
    """The claims, those of one reason together under it as long as they follow one another."""
    for (found, apart), group in groupby(explained, lambda each: (each.found, each.differences)):
        yield f"\n{_FOUND[found]}"
        for part in apart:
            yield "  " + flat(f"{part.part}: kept {part.stored}, now {part.now}")
        for each in group:
            text = flat(would.sentences[each.sentence].text)
            yield f"  {each.sentence + 1:>3}  {clip(text, _WIDTH)}"


def _counts(kept: "Contents | Tally") -> str:
    return f"{counted(kept.verdicts, 'verdict')}, {counted(kept.replies, 'reply')}"


def _when(tally: "Tally") -> str:
    if tally.oldest is None or tally.newest is None:
        return ""
    first, last = (f"{when:%Y-%m-%d %H:%M}" for when in (tally.oldest, tally.newest))
    return f", {first} UTC" if first == last else f", {first} to {last} UTC"
