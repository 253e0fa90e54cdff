"""`judge batch`: fill the cache by a provider's batches, at half the price."""

import asyncio
import time
from pathlib import Path
from typing import Final

import typer

from judge.cli.app import COMMANDS
from judge.cli.options import SAMPLES, takes_options
from judge.cli.terminal import say
from judge.config import Config
from judge.jobs.batch import (
    OVER,
    BatchFolder,
    BatchState,
    Filled,
    fetch_replies,
    fill,
    send_files,
    take_replies,
    write_requests,
)
from judge.text.visible import clip, counted, flat

_MEGA: Final = 1_000_000
_MAX_BYTES: Final = 190 * _MEGA
_MAX_PROBLEMS: Final = 5
_MAX_PROBLEM: Final = 160

app = typer.Typer(add_completion=False, no_args_is_help=True, help=COMMANDS["batch"])

_FOLDER: Final = typer.Argument(metavar="DIR", help="Batch folder.")


@app.command()
@takes_options
def write(
    source: str = SAMPLES,
    output: Path = typer.Option(..., "-o", "--output", metavar="DIR", help="Batch folder."),
    *,
    skip_bad_lines: bool = typer.Option(False, "--skip-bad-lines", help="Leave bad lines out."),
    probe: bool = typer.Option(
        True, "--probe/--no-probe", help="Find out what the server accepts, if it is not known."
    ),
    max_requests: int = typer.Option(
        50_000, metavar="N", min=1, help="The maximum number of requests in a file."
    ),
    settings: Config,
) -> None:
    """Write the requests that the cache misses, as OpenAI's Batch API and vLLM read them.

    The settings are those of judge score. Run it again after judge batch read: it writes the
    requests that are still open, until none is left; judge score then asks only about claims
    without a verdict.

    Example: judge batch write samples.jsonl -o night --model gpt-5-mini
    """
    written, filled = write_requests(
        Path(source),
        output,
        settings,
        skip_bad_lines=skip_bad_lines,
        probe=probe,
        max_requests=max_requests,
        max_bytes=_MAX_BYTES,
    )
    say(*_progress(filled))
    for file in written:
        size = f"{counted(file.requests, 'request')}, {file.size / _MEGA:.1f} MB"
        say(f"wrote {output / file.name}: {size}")
    if written:
        say(f"next: judge batch send {output}, or have {output}/requests-*.jsonl answered")
    elif filled.asked:
        say(f"nothing to write: {counted(filled.asked, 'request')} of before may still be answered")
    else:
        say(f"nothing is left to ask: judge score {source} with the same settings")


@app.command()
def send(folder: Path = _FOLDER) -> None:
    """Send the files that were written to the provider; a file is never sent twice.

    Example: judge batch send night
    """
    sent = 0

    async def run(there: BatchFolder) -> None:
        nonlocal sent
        async for file, was_sent, server in send_files(there):
            sent += 1
            how = "was sent before" if was_sent else "sent"
            requests = counted(file.requests, "request")
            say(f"{file.name}: {how}, {requests}, {flat(file.batch)} at {server}")

    with BatchFolder.hold(folder) as there:
        asyncio.run(run(there))
    say(f"next: judge batch read {folder}" if sent else "nothing to send")


@app.command()
def read(
    folder: Path = _FOLDER,
    files: list[Path] | None = typer.Argument(
        None, metavar="[FILES]", help="Replies from elsewhere, one a line."
    ),
    *,
    wait: bool = typer.Option(False, "--wait", help="Wait until all batches are done."),
    every: float = typer.Option(
        60, metavar="SECONDS", min=0.01, help="The time between two checks, in seconds."
    ),
) -> None:
    """Fetch the replies of the batches that are done, and read them into the cache.

    Requests at which the provider failed are listed.

    Example: judge batch read night --wait
    """
    with BatchFolder.hold(folder) as there:
        for path in files or ():
            take_replies(there, path)
        states = asyncio.run(fetch_replies(there))
        while wait and any(each.batch.status not in OVER for each in states):
            say(*map(_state, states))
            time.sleep(every)
            states = asyncio.run(fetch_replies(there))
        filled = fill(there, lambda *_: None)
        waiting = len(there.waiting())
    say(*map(_state, states), *_progress(filled))
    for problem, count in filled.troubles.most_common(_MAX_PROBLEMS):
        first = flat(filled.first[problem])
        say(f"  {count:,} × {clip(flat(problem), _MAX_PROBLEM)}, first in {first}")
    source = there.record.input.path
    if waiting:
        say(f"{counted(waiting, 'request')} may still be answered: judge batch read {folder}")
    elif filled.asked:
        say(f"next: judge batch write {source} -o {folder}, which asks for those once more")
    else:
        say(f"nothing is left to ask: judge score {source} with the same settings")


def _progress(filled: Filled) -> list[str]:
    asked = counted(filled.asked, "request")
    count = f"{counted(filled.answers, 'answer')}, {counted(filled.claims, 'claim')}"
    lines = [f"{count}: {filled.judged:,} judged, {filled.waiting:,} wait for {asked}"]
    if filled.unscored:
        reasons = ", ".join(f"{name} {n:,}" for name, n in filled.unscored.most_common())
        lines.append(f"without a verdict, and asked again by judge score alone: {reasons}")
    return lines


def _state(state: BatchState) -> str:
    batch, file = state.batch, state.file
    counts = batch.request_counts
    completed, failed = (counts.completed or 0, counts.failed or 0) if counts else (0, 0)
    done = f"{completed:,} of {file.requests:,} answered, {failed:,} failed"
    why = f" · {flat(state.why)}" if state.why else ""
    return f"{file.name}  {flat(batch.status or 'no state')}: {done}{why}"
