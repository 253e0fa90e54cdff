"""The door of the command line: every command, and what becomes of errors."""

import sys
import traceback
from collections.abc import Sequence
from typing import Final, NoReturn

import typer

from judge.cli.root import app, debugging, listen
from judge.errors import JudgeError
from judge.text.visible import visible

WRONG_USE: Final = 2
OUR_BUG: Final = 70


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; a user's mistake is one line, never a traceback.

    Args:
        arguments: those of the process where left out.
    """
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
    except Exception:  # noqa: BLE001  the last line of defence
        message = "judge: this is a bug in judge, not yours; please report the above"
        _stop(f"{traceback.format_exc()}\n{message}", OUR_BUG)
    sys.exit(0)


def register() -> None:
    """Add every command to `app`, which importing it does."""
    from judge.cli import (  # noqa: PLC0415
        cache,  # noqa: F401
        golden,  # noqa: F401
        labels,  # noqa: F401
        overlap,  # noqa: F401
        prompts,  # noqa: F401
        recommend,  # noqa: F401
        retrieval,  # noqa: F401
        review,  # noqa: F401
        score,  # noqa: F401
        show,  # noqa: F401
    )


def _stop(message: str, code: int) -> NoReturn:
    typer.echo(visible(message), err=True)
    sys.exit(code)
