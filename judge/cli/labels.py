"""`judge review import`: what people answered."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.review import Language, Run, review


@review.command("import")
def import_(
    run: Run,
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEET...", help="CSV or XLSX.")],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let go of earlier labels that these do not have.")
    ] = False,
    lang: Language = "en",
) -> None:
    """Read labelled sheets: how good the judge is, and the score with its errors accounted for.

    Example: judge review import runs/today review.csv
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.render.agreement import print_agreement  # noqa: PLC0415
    from judge.cli.terminal import output, say  # noqa: PLC0415
    from judge.pages.agreement import page  # noqa: PLC0415
    from judge.review import import_labels  # noqa: PLC0415

    found = import_labels(run, sheets, replace=replace, page=partial(page, lang=lang))
    with output() as console:
        print_agreement(found.agreement, found.summary, run, console)
    if found.noted:
        say(f"{found.noted} rows have a note and no label: nothing was made of them")
