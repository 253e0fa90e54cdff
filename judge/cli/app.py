"""The door of the command line: `judge` itself, its commands, and what becomes of errors."""

import errno
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from types import FrameType
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_group

from judge.errors import JudgeError, JudgeUnhealthy
from judge.signature import release
from judge.text.visible import flat, visible

LOGGER: Final = logging.getLogger("judge")
WRONG_USE: Final = 2
UNHEALTHY: Final = 3
OUR_BUG: Final = 70
SIGNALLED: Final = 128
"""And the signal's number."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
# In the order of `judge --help`, which lists single commands before groups of them.
COMMANDS: Final = {
    "compare": "Tell whether another configuration is better, and where worse.",
    "doctor": "Check all that a run needs: cache, disk, server, key, model.",
    "export": "Write a run as a table: a row for a sentence, or an answer.",
    "label": "Label the drawn sentences of a run on a page, by keys.",
    "overlap": "Hold answers against gold answers: BLEU, ROUGE, token F1.",
    "perturb": "Write variants of the samples' contexts for your RAG to answer.",
    "recommend": "Say which measures fit the data, which mislead on it, and why.",
    "report": "Write a run as one HTML page to look at and to send round.",
    "retrieval": "Measure rankings against gold: hit, recall, MRR, MAP, nDCG.",
    "score": "Score a file of answers into a run folder.",
    "serve": "Serve HTTP: live answers, and whole files as batches.",
    "show": "Show one answer and what its labels rest on, or list many.",
    "batch": "Provider batches: write, send, status, fetch, read; then score.",
    "cache": "The verdicts that are kept: stats, clear.",
    "exam": "Have the judge sit an exam whose right labels are known.",
    "gold": "Gold sets for retrieval: draw, import.",
    "review": "Spot-check by people: draw, import, promote.",
    "prompts": "The pinned prompts: list, verify, show.",
}
"""What each does, in a line: its module is imported once it is asked for."""

_BUG: Final = "this is a bug in judge, not yours; please report the above"
_NO_MORE_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE})
_MORE_FILES: Final = (
    "allow more (ulimit -n 1024) or name a smaller --concurrency; the same command goes on from "
    "what is done"
)


class _Commands(TyperGroup):
    """All of them, each loaded once it is asked for; one that is stopped says so."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  as click calls it
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401  likewise
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            import_module(f"judge.cli.{cmd_name}")
            self.commands = get_group(app).commands
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002  likewise
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  typer has a context of its own
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            typer.echo("judge: interrupted; what is written stays; run it again", err=True)
            raise typer.Exit(stopped_by(error)) from None
        except typer.Abort:  # a question that Ctrl-C or the end of the input answered
            typer.echo("judge: interrupted; nothing was changed", err=True)
            raise typer.Exit(stopped_by(KeyboardInterrupt())) from None


app = typer.Typer(
    cls=_Commands,
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
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may know too few characters
    listen()
    with _heard():
        code = _outcome(arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        # Else Python itself would try again, and end with a code of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or _told(error)
    sys.exit(code)


def _outcome(arguments: Sequence[str] | None) -> int | str | None:
    """Run the command, and say in a line what went wrong; returns the exit code."""
    try:
        _run(arguments)
    except SystemExit as ended:
        return ended.code
    except Exception as error:  # noqa: BLE001  the last line of defence
        return _told(error)


def _told(error: Exception) -> int:
    """Say in a line what went wrong; returns the exit code."""
    if isinstance(error, BrokenPipeError):
        return 0  # the reader has seen enough
    told = _trouble(error)
    trace = traceback.format_exc() if told is _BUG or debugging() else ""
    typer.echo(visible(f"{trace}judge: {told}"), err=True)
    if isinstance(error, JudgeUnhealthy):
        return UNHEALTHY
    return OUR_BUG if told is _BUG else WRONG_USE


def _trouble(error: Exception) -> str:
    """What went wrong, and what to do about it."""
    told = _BUG
    match error:
        case JudgeError():
            told = str(error)
        case RecursionError():
            told = "something in the input stands too deep in itself; flatten it"
        case OSError(errno=number) if number in _NO_MORE_FILES:
            told = f"{error.strerror}; {_MORE_FILES}"
        case OSError():
            # What is nobody's in particular.
            place = f"{error.filename}: " if error.filename else ""
            told = f"{place}{error.strerror or error}; mend that, and run the same command again"
    return told


class Stopped(KeyboardInterrupt):
    """A signal that asks for an end; `number` is which."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def stopped_by(error: KeyboardInterrupt) -> int:
    """The shell's code for a command that a signal ended: 130 for Ctrl-C."""
    return SIGNALLED + (error.number if isinstance(error, Stopped) else signal.SIGINT)


def _handlers() -> dict[signal.Signals, Any]:
    """Who handles the signals that ask for an end; nobody may change that on another thread."""
    main = threading.current_thread() is threading.main_thread()
    return {each: signal.getsignal(each) for each in _SIGNALS} if main else {}


@contextmanager
def _heard() -> Iterator[None]:
    """SIGTERM ends a command as Ctrl-C does, and a second of them ends it at once.

    One that is ignored, or that is somebody else's to handle, stays so.
    """
    usual = {signal.SIG_DFL, signal.default_int_handler}
    before = {each: old for each, old in _handlers().items() if old in usual}

    def stop(number: int, _: object) -> None:
        from asyncio import get_running_loop  # noqa: PLC0415  heavy, and --help stays quick

        def end() -> None:
            raise Stopped(number)

        for each in before:
            signal.signal(each, signal.SIG_DFL)
        try:
            # Between two steps of it, so that nothing is cut off half done.
            get_running_loop().call_soon_threadsafe(end)
        except RuntimeError:
            end()

    for each in before:
        signal.signal(each, stop)
    try:
        yield
    finally:
        for each, old in before.items():
            signal.signal(each, old)


@contextmanager
def stopping(stop: Callable[[Stopped], bool]) -> Iterator[None]:
    """Hand the first signal to `stop`; where that says no it acts as ever, as does the next."""
    before = {each: old for each, old in _handlers().items() if callable(old)}

    def first(number: int, frame: FrameType | None) -> None:
        for each, old in before.items():
            signal.signal(each, old)
        if not stop(Stopped(number)):
            before[signal.Signals(number)](number, frame)

    for each in before:
        signal.signal(each, first)
    try:
        yield
    finally:
        for each, old in before.items():
            if signal.getsignal(each) is first:
                signal.signal(each, old)


def _run(arguments: Sequence[str] | None) -> NoReturn:
    try:
        raise SystemExit(get_group(app)(arguments, prog_name="judge", standalone_mode=False) or 0)
    except typer.TyperException as error:
        context: typer.Context | None = getattr(error, "ctx", None)
        # Before its own words pydantic says that a value is wrong, which is known by then.
        told = error.format_message().replace("Value error, ", "")
        command = context.command_path if context else "judge"
        if context is None or told != context.get_help():  # which is what no argument at all gets
            told = f"judge: {flat(told[:1].lower() + told[1:]).rstrip('.')}; see {command} --help"
        typer.echo(visible(told), err=True)
        raise SystemExit(WRONG_USE) from None


def _version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        typer.echo(f"judge {release('judge')}")
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
    3 the judge is unhealthy, or a gate found nothing to measure; 4 a budget ran out; 70 a bug of
    ours; 130 stopped by Ctrl-C; 143 by SIGTERM.
    """


class _Notes(logging.Handler):
    """Prints to whatever standard error is by then: a progress bar takes its place.

    `typer.echo` would look for the stream beneath, and glue the line onto the bar.
    """

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # its reader may have gone
            sys.stderr.write(visible(f"judge: {record.getMessage()}\n"))


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
