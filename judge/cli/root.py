"""The command `judge` itself, which every command hangs on, and what it tells beside results."""

import logging
from typing import Annotated, Final

import typer

from judge.text.visible import visible

LOGGER: Final = "judge"

app = typer.Typer(
    name="judge",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415  only this option needs it

        typer.echo(f"judge {version('judge')}")
        raise typer.Exit


@app.callback()
def judge(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Which sentences of a RAG answer its chunks support, and how far to trust that verdict.

    Exit codes: 0 fine; 1 a --fail-under gate failed; 2 bad usage, input, setting, key or model;
    3 the judge is unhealthy, or a gate found nothing to measure; 70 a bug of ours; 130 stopped by
    Ctrl-C.
    """


class _Notes(logging.Handler):
    """Prints to whatever standard error is by then: a progress bar takes its place."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(visible(f"judge: {record.getMessage()}"), err=True)


_NOTES: Final = _Notes()


def listen() -> None:
    """Print what the package logs from now on: each once, however often this is called."""
    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.INFO)
    logger.addHandler(_NOTES)


def debug(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    """Say more, until `listen` is called again."""
    if wanted:
        logging.getLogger(LOGGER).setLevel(logging.DEBUG)


def debugging() -> bool:
    """Whether `--debug` was given."""
    return logging.getLogger(LOGGER).level == logging.DEBUG
