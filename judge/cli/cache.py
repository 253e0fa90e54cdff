"""`judge cache`: the verdicts that are kept."""

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

from judge.backends.store import DATABASE, empty
from judge.backends.store.cache import cache_folder, open_keeper
from judge.cli.app import COMMANDS, app
from judge.cli.options import CONFIG, SETTINGS
from judge.cli.terminal import say
from judge.config import Config, load_config
from judge.errors import ConfigError
from judge.judges.cached import Contents, Tally, contents
from judge.text.visible import counted, flat, visible

_MEGA: Final = 1_000_000

cache = typer.Typer(no_args_is_help=True, help=COMMANDS["cache"])
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


def _settings(folder: Path | None, url: str | None, file: Path | None) -> Config:
    # Which judge would judge, and whether its model is named, is nothing to the cache.
    named = {"judge": "similarity", "cache_dir": folder, "cache_url": url}
    given = {name: value for name, value in named.items() if value is not None}
    return load_config(given, file)


def _place(settings: Config) -> Path | str:
    return settings.cache_url or cache_folder(settings)


def _kept(settings: Config) -> bool:
    """Whether anything may be kept there; where not, nothing is made, and it is said."""
    place = _place(settings)
    if isinstance(place, str):
        return True
    there = os.path.exists(place / DATABASE)  # noqa: PTH110  False, too, where one may not look
    if not there:
        say(f"nothing is kept in {place}")
    return there


def _counts(kept: Contents | Tally) -> str:
    return f"{counted(kept.verdicts, 'verdict')}, {counted(kept.replies, 'reply')}"


def _when(tally: Tally) -> str:
    if tally.oldest is None or tally.newest is None:
        return ""
    first, last = (f"{when:%Y-%m-%d %H:%M}" for when in (tally.oldest, tally.newest))
    return f", {first} UTC" if first == last else f", {first} to {last} UTC"
