"""`judge score`: the batch job."""

import asyncio
import sys
from pathlib import Path
from typing import IO, Annotated

import typer

from judge.cli.app import app

INTERRUPTED = 130


@app.command()
def score(  # noqa: PLR0913  each is an option of the command line
    source: Annotated[
        str, typer.Argument(metavar="SAMPLES", help="JSONL or CSV, may be .gz; - for stdin.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="RUN", help="Run folder [runs/<name of SAMPLES>]."),
    ] = None,
    *,
    force: Annotated[bool, typer.Option(help="Replace a finished run.")] = False,
    skip_bad_lines: Annotated[
        bool, typer.Option(help="Write bad lines to rejected.jsonl and go on.")
    ] = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=X", help="Exit 1 if a score is under X; may be repeated."),
    ] = None,
    strict_gate: Annotated[
        bool, typer.Option(help="Gate on the lower 95 % limit, failures counted 0.")
    ] = False,
    max_unscored: Annotated[
        float, typer.Option(help="Share of unscored claims over which to exit 3.")
    ] = 0.05,
    prior: Annotated[
        float, typer.Option(help="Share of sentences expected to be supported (similarity).")
    ] = 0.9,
    prose_citations: Annotated[
        bool, typer.Option(help='Also read "passage 2", "文档2" as citations.')
    ] = False,
    citation_pattern: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="One more citation syntax; group 1 is the id."),
    ] = None,
    require_quotes: Annotated[
        bool, typer.Option(help="Count support without a verified quote as unscored.")
    ] = False,
    worst: Annotated[int, typer.Option(min=0, help="How many worst sentences to print.")] = 5,
) -> None:
    """Score a file of answers into a run folder.

    An interrupted run is taken up by the same command.

    Example: judge score samples.jsonl -o runs/today --fail-under faithfulness=0.9
    """
    from judge.cli.progress import Progress  # noqa: PLC0415  heavy, and --help stays quick
    from judge.cli.totals import print_totals  # noqa: PLC0415
    from judge.config import Config  # noqa: PLC0415
    from judge.job import Job  # noqa: PLC0415
    from judge.reports.gate import exit_code, hold, parse_gate  # noqa: PLC0415
    from judge.reports.worst import Worst  # noqa: PLC0415

    gates = [parse_gate(text) for text in fail_under or []]
    config = Config(
        prior=prior,
        max_unscored=max_unscored,
        prose_citations=prose_citations,
        citation_pattern=citation_pattern,
        require_quotes=require_quotes,
    )
    folder = output or _default_folder(source)
    stream: Path | IO[bytes] = sys.stdin.buffer if source == "-" else Path(source)
    job = Job(stream, folder, config, force=force, skip_bad_lines=skip_bad_lines)
    kept = Worst(worst)
    progress = Progress(also=kept.add)
    try:
        with progress:
            summary = asyncio.run(job.run(progress))
    except KeyboardInterrupt:
        typer.echo(f"judge: interrupted; {progress.said}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    results = [hold(gate, summary, strict=strict_gate) for gate in gates]
    print_totals(summary, kept.sentences(), results, folder)
    raise typer.Exit(exit_code(summary, results))


def _default_folder(source: str) -> Path:
    name = "stdin" if source == "-" else Path(source).name
    for ending in (".gz", ".jsonl", ".csv", ".json", ".tsv"):
        name = name.removesuffix(ending)
    return Path("runs") / (name or "run")
