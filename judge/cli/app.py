"""The door of the command line: `judge` itself, its commands, and what becomes of errors."""

import errno
import logging
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Final, NoReturn

import typer

from judge.errors import JudgeError
from judge.text.visible import visible

LOGGER: Final = logging.getLogger("judge")
WRONG_USE: Final = 2
OUR_BUG: Final = 70
# In the order of `judge --help`, which lists single commands before groups of them.
_COMMANDS: Final = ["overlap", "recommend", "retrieval", "score", "show"]
_GROUPS: Final = ["cache", "review", "prompts"]

_NO_MORE_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE})
_MORE_FILES: Final = (
    "allow more (ulimit -n 1024) or name a smaller --concurrency; the same command goes on from "
    "what is done"
)

app = typer.Typer(
    name="judge",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; a user's mistake is one line, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character shows a question mark, and the run goes on.
            stream.reconfigure(errors="replace")
    listen()
    try:
        register()
        app(arguments, prog_name="judge")
    except JudgeError as error:
        trace = traceback.format_exc() if debugging() else ""
        _stop(f"{trace}judge: {error}", WRONG_USE)
    except Exception as error:  # noqa: BLE001  the last line of defence
        if isinstance(error, OSError) and error.errno in _NO_MORE_FILES:
            _stop(f"judge: {error.strerror}; {_MORE_FILES}", WRONG_USE)
        message = "judge: this is a bug in judge, not yours; please report the above"
        _stop(f"{traceback.format_exc()}\n{message}", OUR_BUG)
    sys.exit(0)


def register() -> None:
    """Add every command to `app`, which importing it does."""
    for name in _COMMANDS + _GROUPS:
        import_module(f"judge.cli.{name}")


def _stop(message: str, code: int) -> NoReturn:
    typer.echo(visible(message), err=True)
    sys.exit(code)


def _version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        typer.echo(f"judge {version('judge')}")
        raise typer.Exit


@app.callback()
def judge(
    *,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
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
    LOGGER.setLevel(logging.INFO)
    LOGGER.addHandler(_NOTES)


def debug(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    """Say more, until `listen` is called again."""
    if wanted:
        LOGGER.setLevel(logging.DEBUG)


def debugging() -> bool:
    """Whether `--debug` was given."""
    return LOGGER.level == logging.DEBUG
