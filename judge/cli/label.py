"""`judge label`: a page on this machine to label a drawn sample on."""

import asyncio
import logging
import threading
import webbrowser
from pathlib import Path
from shlex import quote
from typing import Final
from urllib.parse import urlencode

import typer

from judge.cli.app import SIGNALLED
from judge.cli.options import RUN, takes_language
from judge.cli.terminal import say
from judge.config import Config
from judge.errors import ConfigError, extra
from judge.messages import LANGUAGE, Messages
from judge.review.worksheet import Questions, Worksheet, draw_to_label

_NAME_CHARACTERS: Final = 100


@takes_language
def label(
    run: Path = RUN,
    *,
    reviewer: str = typer.Option("", metavar="NAME", help="The name of the reviewer."),
    draw: str | None = typer.Option(None, metavar="DRAW", help="The draw, by default the last."),
    port: int = typer.Option(0, min=0, max=65535, help="Port of the page; 0 for a free one."),
    open_: bool = typer.Option(True, "--open/--no-open", help="Open the page in a browser."),
) -> None:
    """Label the drawn sentences of a run on a page, with the keys 1 to 5.

    The page shows one sentence at a time, and no verdict of the judge. Each label is at once on
    disk, in a sheet in RUN/review that judge review import RUN reads. Ctrl-C ends. If nothing was
    drawn yet, 60 sentences are. Each of several people needs a --reviewer NAME. It needs the
    extra `service`.

    Example: judge label runs/today --reviewer Ann
    """
    with extra("service", "the page"):
        from judge.service.app import label_application, serve  # noqa: PLC0415  heavy, and an extra
    reviewer = " ".join(reviewer.split())
    if len(reviewer) > _NAME_CHARACTERS or not reviewer.isprintable():
        raise ConfigError(f"--reviewer: up to {_NAME_CHARACTERS} characters that can be printed")
    words = Messages.of("label", "command")
    sample, fresh = draw_to_label(run, draw)
    if fresh:
        say(words("drawn", run=run, count=len(sample.sentences), name=sample.draw))
    Questions(run, sample)  # raises an error now if the samples are gone
    parameters = {"reviewer": reviewer, "draw": sample.draw, "lang": LANGUAGE.get()}
    logging.getLogger("judge.service").setLevel(logging.WARNING)  # no line a request

    def started(url: str) -> None:
        page = f"{url}/label?{urlencode(parameters)}"
        say(words("serving", url=page))
        if open_:
            # A browser in the terminal returns only when it is closed.
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

    ended = asyncio.run(serve(label_application(run), Config(), "127.0.0.1", port, started))
    sheet = Worksheet(run, sample, reviewer)
    entries = sheet.entries().values()
    count = len(sample.sentences)
    done = sum(bool(entry.label) for entry in entries)
    skipped = sum(bool(entry.skip) for entry in entries)
    say("", words("done", done=done, count=count, skipped=skipped))
    if done:
        say(words("sheet", path=sheet.path), words("next", run=run))
    if done + skipped < count:
        options = f" --reviewer {quote(reviewer)}" if reviewer else ""
        say(words("more", run=run, options=options))
    raise typer.Exit(SIGNALLED + ended)
