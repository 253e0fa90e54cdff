"""What `judge` tells beside its results: notes on standard error, and more of them on request."""

import logging
from typing import Final

import typer

from judge.text.visible import visible

LOGGER: Final = "judge"


class _Notes(logging.Handler):
    """Prints to whatever standard error is by then: a progress bar takes its place."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(visible(f"judge: {record.getMessage()}"), err=True)


def listen() -> None:
    """Print what the package logs from now on: each once, however often this is called."""
    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.INFO)
    if not any(isinstance(handler, _Notes) for handler in logger.handlers):
        logger.addHandler(_Notes())


def debug(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    """Say more, until `listen` is called again."""
    if wanted:
        logging.getLogger(LOGGER).setLevel(logging.DEBUG)


def debugging() -> bool:
    """Whether `--debug` was given."""
    return logging.getLogger(LOGGER).level == logging.DEBUG
