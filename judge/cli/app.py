"""The command `judge`: its subcommands, and how errors and signals end it."""

import gc
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from types import FrameType
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from judge import __version__
from judge.errors import JudgeError, JudgeUnhealthy
from judge.text.visible import flat, visible

LOGGER: Final = logging.getLogger("judge")
USAGE: Final = 2
_UNHEALTHY: Final = 3
_BUG: Final = 70
SIGNALLED: Final = 128
"""The exit code of a command that a signal ended is this and the number of the signal."""
_OBJECTS_BETWEEN_COLLECTIONS: Final = 200_000
"""Collections by Python's own threshold would take an eighth of the time to start a command."""

COMMANDS: Final = {
    "score": "Score a file of answers into a run folder.",
    "show": "Show answers with the evidence for their labels, or list many.",
    "report": "Write a run as one HTML page.",
    "export": "Write a run as a table: a row for each sentence or answer.",
    "compare": "Say whether another configuration is better, and where it is worse.",
    "review": "Check a run by people: draw, import, promote.",
    "label": "Label the drawn sentences of a run on a page, by keys.",
    "retrieval": "Measure rankings against gold: hit, recall, MRR, MAP, nDCG.",
    "gold": "Make gold sets for retrieval: draw, import.",
    "overlap": "Compare answers with gold answers: BLEU, ROUGE, token F1.",
    "recommend": "Say which measures fit the data, which mislead on it, and why.",
    "perturb": "Write samples with changed contexts for your RAG to answer.",
    "doctor": "Check what a run needs: cache, disk, server, key, model.",
    "exam": "Measure how good the judge is, on items whose labels are known.",
    "batch": "Fill the cache by provider batches: write, send, read.",
    "cache": "Count or remove the verdicts that are kept: stats, clear.",
    "prompts": "Show the pinned prompts: list, verify, show.",
    "serve": "Serve HTTP: live answers, and whole files as batches.",
}
"""The help of each command. Its module in `judge.cli` is imported when the command is run."""


class _Commands(TyperGroup):
    """All commands; each is imported when it is used."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  as click calls it
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002  as click calls it
        return get_command(app_of(cmd_name)) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002  as click calls it
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,  # importing rich would take half of the time of judge --help
    context_settings={"help_option_names": ["-h", "--help"]},
)


def app_of(name: str) -> typer.Typer:
    """Return the app of a command: that of its module, or one with the function of its name."""
    module = import_module(f"judge.cli.{name}")
    command: typer.Typer = getattr(module, "app", typer.Typer(add_completion=False))
    if not hasattr(module, "app"):
        command.command()(getattr(module, name))
    return command


class Interrupted(KeyboardInterrupt):
    """A command was interrupted, and the message says what it has kept."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit; an error is one line on standard error."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may know too few characters
    log_to_stderr()
    code = _run(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        # Otherwise Python would flush again when it ends, and exit with 120.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or _report(error)
    gc.freeze()  # one more garbage collection would take a tenth of a second
    sys.exit(code)


def _run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    group = get_group(app)
    received = signal.SIGINT

    def terminate(_number: int, frame: FrameType | None) -> None:
        nonlocal received
        received = signal.SIGTERM
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler) or handler is _ignore:
            handler = signal.default_int_handler
        handler(signal.SIGINT, frame)

    usual = signal.signal(signal.SIGTERM, terminate)
    try:
        with group.make_context("judge", [*arguments]) as context:
            group.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    except SystemExit:  # rich raises it when the pipe of a help text is closed
        return 0
    except typer.Abort:  # Ctrl-C or the end of the input, instead of an answer
        _print_error("interrupted; nothing was changed")
        return SIGNALLED + received
    except KeyboardInterrupt as error:
        signal.signal(signal.SIGINT, _ignore)  # until the process has ended
        _print_error(f"interrupted; {str(error) or 'what is written stays; run it again'}")
        return SIGNALLED + received
    except Exception as error:  # noqa: BLE001  the last line of defence
        return _report(error)
    finally:
        signal.signal(signal.SIGTERM, usual)
    return 0


@contextmanager
def stopping(stop: Callable[[BaseException], bool]) -> Iterator[None]:
    """Hand the first interrupt to `stop`; if that returns False, it interrupts as usual.

    From the third on, interrupts are ignored: to interrupt the shutdown would leave worker
    processes running.
    """
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual):
        yield
        return

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, second)
        if not stop(KeyboardInterrupt()):
            second(number, frame)

    def second(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, _ignore)
        usual(number, frame)

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is not _ignore:
            signal.signal(signal.SIGINT, usual)


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Ignore a signal. With SIG_IGN, Python prints an error about one that it is just handling."""


def _report(error: Exception) -> int:
    """Print an error in one line, and return the exit code."""
    code = _UNHEALTHY if isinstance(error, JudgeUnhealthy) else USAGE
    match error:
        case BrokenPipeError():  # the reader has seen enough
            return 0
        case typer.TyperException():
            return _report_usage(error)
        case JudgeError():
            message = str(error)
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            message = f"{place}{error.strerror or error}; mend that, and run the same command again"
        case _:
            code, message = _BUG, "this is a bug in judge, not yours; please report the above"
    if code == _BUG or debugging():
        typer.echo(visible(traceback.format_exc().rstrip()), err=True)
    _print_error(message)
    return code


def _report_usage(error: typer.TyperException) -> int:
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":  # rich has printed its message, the help
        typer.echo(message, err=True, nl=bool(message))
        return USAGE
    context: typer.Context | None = getattr(error, "ctx", None)
    # Typer reads values with pydantic, which adds the prefix.
    message = flat(message.replace("Value error, ", "")).rstrip(".")
    command = context.command_path if context else "judge"
    _print_error(f"{message[:1].lower()}{message[1:]}; see {command} --help")
    return USAGE


def _print_error(message: str) -> None:
    typer.echo(visible(f"judge: {message}"), err=True)


def _print_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        typer.echo(f"judge {__version__}")
        raise typer.Exit


@app.callback()
def judge(
    *,
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Say which sentences of a RAG answer its chunks support, and how far to trust that verdict.

    Exit codes: 0 fine; 1 a gate failed; 2 bad usage, input, setting, key or model; 3 the judge is
    unhealthy, or a gate found nothing to measure; 4 the budget is spent; 70 a bug in judge; 130
    stopped by Ctrl-C; 143 by SIGTERM.
    """


class _StderrHandler(logging.Handler):
    """Writes to the present `sys.stderr`, which rich replaces while it shows a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # its reader may have gone
            sys.stderr.write(visible(f"judge: {record.getMessage()}\n"))


_HANDLER: Final = _StderrHandler()


def log_to_stderr() -> None:
    """Print what the package logs, from the level INFO."""
    LOGGER.setLevel(logging.INFO)
    LOGGER.addHandler(_HANDLER)


def debug(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    """Log more, until `log_to_stderr` is called again."""
    if wanted:
        LOGGER.setLevel(logging.DEBUG)


def debugging() -> bool:
    """Whether `--debug` was given."""
    return LOGGER.level == logging.DEBUG
