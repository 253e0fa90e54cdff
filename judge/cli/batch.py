"""`judge batch`: fill the cache by a provider's batches, at half the price."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

import typer
from pydantic import JsonValue

from judge.backends.store.cache import cache_folder
from judge.cli.app import COMMANDS
from judge.cli.options import takes_options
from judge.cli.terminal import say
from judge.compose import address, open_provider, settled
from judge.config import Config, load_config
from judge.errors import ConfigError, InputError
from judge.inputs.samples import check_samples
from judge.inputs.tables import writing
from judge.jobs.batch import MEND, OVER, BatchFolder, RequestFile
from judge.jobs.fill import Filled, fill
from judge.records.run import RunInput
from judge.text.visible import clip, counted, flat

_MEGA: Final = 1_000_000
_MAX_PROBLEMS: Final = 5
_MAX_PROBLEM: Final = 160

app = typer.Typer(add_completion=False, no_args_is_help=True, help=COMMANDS["batch"])

_FOLDER: Final = typer.Argument(metavar="DIR", help="Batch folder.")


@app.command()
@takes_options
def write(
    source: Path = typer.Argument(
        metavar="SAMPLES", help="JSONL, JSON, CSV, Parquet, Arrow or XLSX; a folder or a pattern."
    ),
    output: Path = typer.Option(..., "-o", "--output", metavar="DIR", help="Batch folder."),
    *,
    skip_bad_lines: bool = typer.Option(False, "--skip-bad-lines", help="Leave bad lines out."),
    probe: bool = typer.Option(
        True,
        "--probe/--no-probe",
        help="Find out what the server accepts, unless an earlier run did.",
    ),
    max_requests: int = typer.Option(
        50_000, metavar="N", min=1, help="The maximum number of requests in a file."
    ),
    max_size: float = typer.Option(
        190, metavar="MB", min=0.001, help="The maximum size of a file."
    ),
    settings: Config,
) -> None:
    """Write the requests that the cache misses, as OpenAI's Batch API and vLLM read them.

    Takes the settings of judge score. Run it again after judge batch read: it writes what is to be
    asked once more, until nothing is left; then judge score asks only about what got no verdict.

    Example: judge batch write samples.jsonl -o night --model gpt-5-mini
    """
    _check(source, settings)
    limit = settings.max_line
    on_bad = (lambda _: None) if skip_bad_lines else None
    checked = check_samples(source, on_bad=on_bad, max_line=limit, mapping=settings.map)
    made_from = RunInput(
        path=str(source.absolute()),
        sha256=checked.sha256,
        samples=checked.samples,
        rejected=checked.rejected,
    )
    # The other steps may be taken elsewhere, in another environment.
    cache = None if settings.cache_url else cache_folder(settings).absolute()
    settings = settings.model_copy(update={"base_url": address(settings), "cache_dir": cache})

    def settle() -> dict[str, JsonValue]:
        takes = asyncio.run(settled(settings, ask=probe))
        if settings.repeat > 1 and not takes["seed"]:
            raise ConfigError(
                f"repeat {settings.repeat}: {settings.model} takes no seed, and a repeat would be "
                "given the reply of the first; leave it out here, and repeat in judge score"
            )
        return takes

    with (
        BatchFolder.made(output, settings, made_from, settle) as folder,
        folder.writer(requests=max_requests, size=int(max_size * _MEGA)) as writer,
    ):
        filled = fill(folder, writer.add)
    say(*_progress(filled))
    _print_written(writer.written, filled, output, source)


def _print_written(
    written: Sequence[RequestFile], filled: Filled, output: Path, source: Path
) -> None:
    for file in written:
        holds = f"{counted(file.requests, 'request')}, {file.size / _MEGA:.1f} MB"
        say(f"wrote {output / file.name}: {holds}")
    if written:
        say(f"next: judge batch send {output}, or have {output}/requests-*.jsonl answered")
    elif filled.asked:
        say(f"nothing to write: {counted(filled.asked, 'request')} of before may still be answered")
    else:
        say(f"nothing is left to ask: judge score {source} with the same settings")


def _check(source: Path, settings: Config) -> None:
    if not settings.asks_model:
        raise ConfigError("only a language model is asked in batches; name one with --model")
    if not settings.cache:
        raise ConfigError("a batch fills the cache; leave out --no-cache")
    if str(source) == "-":
        raise ConfigError("a batch is read from a file, not standard input; name one")


@app.command()
def send(folder: Path = _FOLDER) -> None:
    """Send the files that were written to the provider; a file is never sent twice.

    Example: judge batch send night
    """

    async def run(there: BatchFolder) -> None:
        async with open_provider(_settings(there)) as provider:
            for file in there.record.files:
                if file.batch or file.answered:
                    continue
                path, known = there.bytes_of(file), {each.batch for each in there.record.files}
                found = await provider.find(file.sha256, known)
                asked = there.config().endpoint
                sent = found or await provider.send(path, file.sha256, known, asked)
                there.save(file.model_copy(update={"batch": sent.id, "state": sent.status}))
                how = "was sent before" if found else "sent"
                named = f"{flat(sent.id)} at {provider.base_url}"
                say(f"{file.name}: {how}, {counted(file.requests, 'request')}, {named}")

    with BatchFolder.held(folder) as there:
        new = any(not file.batch and not file.answered for file in there.record.files)
        asyncio.run(run(there))
    say(f"next: judge batch status {folder}" if new else "nothing to send")


@app.command()
def status(
    folder: Path = _FOLDER,
    *,
    wait: bool = typer.Option(False, "--wait", help="Ask again until all batches are done."),
    every: float = typer.Option(
        60, metavar="SECONDS", min=0.01, help="The time between two requests, in seconds."
    ),
) -> None:
    """Ask the provider for the state of its batches.

    Example: judge batch status night --wait
    """

    async def run(there: BatchFolder) -> None:
        async with open_provider(_settings(there)) as provider:
            while True:
                for file in there.record.files:
                    if not file.batch or file.state in OVER:
                        continue
                    now = await provider.status(file.batch)
                    done, failed = now.counts
                    told = {"state": now.status, "done": done, "failed": failed}
                    told |= {"outputs": now.outputs, "why": provider.why(now)}
                    there.save(file.model_copy(update=told))
                sent = [file for file in there.record.files if file.batch]
                if not wait or all(file.state in OVER for file in sent):
                    return
                say(*map(_state, sent))
                await asyncio.sleep(every)

    with BatchFolder.held(folder) as there:
        asyncio.run(run(there))
    files = there.record.files
    say(*map(_state, files))
    if any(file.state in OVER and not file.answered for file in files):
        say(f"next: judge batch fetch {folder}")


@app.command()
def fetch(folder: Path = _FOLDER) -> None:
    """Fetch the replies of the batches that are done.

    Example: judge batch fetch night
    """
    odd = Counter[str]()

    async def run(there: BatchFolder) -> tuple[int, bool]:
        came, over = 0, False
        async with open_provider(_settings(there)) as provider:
            for file in there.record.files:
                if file.answered or file.state not in OVER:
                    continue
                for output in file.outputs:
                    with writing(there.path, MEND), TemporaryFile(dir=there.path) as copy:
                        await provider.fetch(output, copy)
                        copy.seek(0)
                        name = f"{file.name.removesuffix('.jsonl')}-{_word(output)}"
                        try:
                            odd.update(there.take(name, copy)[1])
                        except InputError as error:  # and the other files may be of use
                            say(f"{file.name}: {flat(output)}: {error}")
                    came += 1
                there.save(file.model_copy(update={"answered": True}))
                over = True
        return came, over

    with BatchFolder.held(folder) as there:
        came, over = asyncio.run(run(there))
    say(f"fetched {counted(came, 'file')}")
    _print_problems(odd)
    say(f"next: judge batch {'read' if over else 'status'} {folder}")


@app.command()
def read(
    folder: Path = _FOLDER,
    files: list[Path] | None = typer.Argument(
        None, metavar="[FILES]", help="Replies from elsewhere, one a line."
    ),
) -> None:
    """Read the replies into the cache, and list what the provider failed at.

    Example: judge batch read night output.jsonl
    """
    odd = Counter[str]()
    with BatchFolder.held(folder) as there:
        for path in files or ():
            try:
                with path.open("rb") as lines:
                    digest = hashlib.file_digest(lines, "sha256").hexdigest()[:16]
                    lines.seek(0)
                    of, others = there.take(f"given-{digest}-{_word(path.stem)}", lines)
            except OSError as error:
                raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
            except InputError as error:
                raise InputError(f"{path}: {error}") from None
            odd.update(others)
            # Where a provider has a file, it is to be fetched all the same.
            whole = (each for each in there.record.files if each.name in of and not each.batch)
            there.save(*(each.model_copy(update={"answered": True}) for each in whole))
        filled = fill(there, lambda *_: None)
        waiting = len(there.waiting())
    say(*_progress(filled))
    _print_problems(filled.troubles + odd)
    source = there.record.input.path
    if waiting:
        say(f"{counted(waiting, 'request')} may still be answered: judge batch status {folder}")
    elif filled.asked:
        say(f"next: judge batch write {source} -o {folder}, which asks for those once more")
    else:
        say(f"nothing is left to ask: judge score {source} with the same settings")


def _print_problems(problems: Counter[str]) -> None:
    for problem, count in problems.most_common(_MAX_PROBLEMS):
        say(f"  {count:,} × {clip(flat(problem), _MAX_PROBLEM)}")


def _progress(filled: Filled) -> list[str]:
    asked = counted(filled.asked, "request")
    count = f"{counted(filled.answers, 'answer')}, {counted(filled.claims, 'claim')}"
    lines = [f"{count}: {filled.judged:,} judged, {filled.waiting:,} wait for {asked}"]
    if filled.unscored:
        reasons = ", ".join(f"{name} {n:,}" for name, n in filled.unscored.most_common())
        lines.append(f"without a verdict, and asked again by judge score alone: {reasons}")
    return lines


def _state(file: RequestFile) -> str:
    done = f"{file.done:,} of {file.requests:,} answered, {file.failed:,} failed"
    came = " · fetched" if file.answered else ""
    why = f" · {flat(file.why)}" if file.why else ""
    return f"{file.name}  {flat(file.state)}: {done}{came}{why}"


def _word(name: str) -> str:
    """Return a safe file name that is made of a provider's name."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name)[-60:] + ".jsonl"


def _settings(folder: BatchFolder) -> Config:
    """Return the settings of a folder, with headers of the environment, which no file keeps."""
    here, config = load_config({"judge": "similarity"}), folder.config()
    timeout = max(config.timeout, here.timeout)
    return config.model_copy(update={"headers": here.headers, "timeout": timeout})
