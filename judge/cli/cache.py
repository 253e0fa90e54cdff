"""`judge cache`: the verdicts that are kept."""

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from judge.backends.store.cache import DATABASE, DiskStore, cache_folder, empty
from judge.cli.app import COMMANDS
from judge.cli.options import CONFIG, setting
from judge.cli.terminal import say
from judge.config import load_config
from judge.errors import ConfigError
from judge.judges.cached import contents
from judge.text.visible import counted, flat, visible

_MEGA: Final = 1_000_000
_CACHE_DIR: Final = setting("cache_dir").__metadata__[0]

app = typer.Typer(add_completion=False, no_args_is_help=True, help=COMMANDS["cache"])


@app.command()
def stats(
    cache_dir: Annotated[Path | None, _CACHE_DIR] = None,
    config: Annotated[Path | None, CONFIG] = None,
) -> None:
    """Count what is kept, by the signature of the judge that made it.

    Example: judge cache stats
    """
    folder = _folder(cache_dir, config)
    if folder is None:
        return
    with DiskStore(folder) as store:
        store.warn_of_older_rows()
        signatures, answers = contents(store.rows())
        size = sum(path.stat().st_size for path in folder.glob(f"{DATABASE}*"))
    say(
        f"{folder}  {size / _MEGA:.1f} MB",
        f"{counted(signatures.total(), 'verdict')}, {counted(answers, 'answer')}",
        *(f"\n{flat(name)}\n  {counted(n, 'verdict')}" for name, n in signatures.items()),
    )


@app.command()
def clear(
    cache_dir: Annotated[Path | None, _CACHE_DIR] = None,
    config: Annotated[Path | None, CONFIG] = None,
    *,
    yes: bool = typer.Option(False, "--yes", help="Do not ask first."),
) -> None:
    """Remove every verdict that is kept; the next run pays for them again.

    Example: judge cache clear --yes
    """
    folder = _folder(cache_dir, config)
    if folder is None:
        return
    try:
        yes = yes or typer.confirm(visible(f"Remove every verdict kept in {folder}?"))
    except (typer.Abort, RuntimeError) as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise
        typer.echo()  # standard input is closed or at its end
        message = f"{folder}: nothing was removed, as no answer can be read; add --yes"
        raise ConfigError(message) from None
    if not yes:
        raise typer.Abort
    say(f"removed {empty(folder) / _MEGA:.1f} MB from {folder}")


def _folder(folder: Path | None, file: Path | None) -> Path | None:
    """Return the folder of the cache; say so and return None where nothing is kept there."""
    # Which judge would judge, and whether its model is named, does not matter to the cache.
    values = {"judge": "similarity"} | ({} if folder is None else {"cache_dir": folder})
    settings = load_config(values, file)
    if settings.cache_url is not None:
        raise ConfigError(f"{settings.cache_url}: a Redis server is looked into with redis-cli")
    place = cache_folder(settings)
    if not os.path.exists(place / DATABASE):  # noqa: PTH110  False, too, where one may not look
        say(f"nothing is kept in {place}")
        return None
    return place
