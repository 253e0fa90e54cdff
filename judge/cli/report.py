"""`judge report`: a run as one page, to look at in a browser and to send round."""

from pathlib import Path

import typer

from judge.cli.options import RUN, takes_language
from judge.cli.terminal import say
from judge.inputs.runs import made_from
from judge.inputs.tables import check_output, write_whole
from judge.pages.report import report as page


@takes_language
def report(
    run: Path = RUN,
    *,
    output: Path = typer.Option(
        ..., "-o", metavar="FILE", help="The page to write; an earlier one is replaced."
    ),
) -> None:
    """Write a run as one HTML page: scores, charts, and the answers to search, worst first.

    The page needs no network and no other file. It holds the texts of the answers, and of the
    chunks those that a sentence rests on or cites.

    Example: judge report runs/today -o report.html
    """
    check_output(output, made_from(run), force=True)
    write_whole(output, page(run))
    say(f"written to {output} ({output.stat().st_size / 1e6:,.1f} MB)")
