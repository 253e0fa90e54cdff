"""`judge doctor`: whether a run can begin."""

import asyncio
from typing import Final

import typer

from judge.cli.app import USAGE
from judge.cli.options import takes_options
from judge.cli.terminal import Page
from judge.config import Config
from judge.jobs.doctor import examine
from judge.text.visible import counted

_MARKS: Final = {"passed": "✓", "failed": "✗", "skipped": "–"}


@takes_options
def doctor(*, settings: Config) -> None:
    """Check all that a run needs: cache, disk, server, key, model, context length.

    The settings are those of judge score. Exit code 2 means that a check failed. A language model
    is sent about three requests, one of them long; nothing is kept of them.

    Example: judge doctor --model gpt-5-mini
    """

    async def run() -> int:
        failed, page = 0, Page()
        async for name, state, text in examine(settings):
            page.say(f"{_MARKS[state]} {name}, {state}: {text}", hang=2)
            failed += state == "failed"
        mend = "mend that first" if failed == 1 else "mend those first"
        lost = f"{counted(failed, 'check')} failed: {mend}."
        page.say(lost if failed else "All is well: a run can begin.")
        return failed

    raise typer.Exit(USAGE if asyncio.run(run()) else 0)
