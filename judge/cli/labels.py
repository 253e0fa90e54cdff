"""`judge review import`: what people answered."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.review import Lang, Language, Run, review

if TYPE_CHECKING:
    from judge.records import Summary
    from judge.review.records import Agreement


@review.command("import")
def import_(
    run: Run,
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEET...", help="CSV or XLSX.")],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let go of earlier labels that these do not have.")
    ] = False,
    lang: Lang = Language.EN,
) -> None:
    """Read labelled sheets: how good the judge is, and the score with its errors accounted for.

    Example: judge review import runs/today review.csv
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.render.agreement import print_agreement  # noqa: PLC0415
    from judge.cli.terminal import output, say  # noqa: PLC0415

    found, summary, noted = _imported(run, sheets, replace=replace, lang=lang)
    with output() as console:
        print_agreement(found, summary, run, console)
    if noted:
        say(f"{noted} rows have a note and no label: nothing was made of them")


def _imported(
    run: Path, sheets: list[Path], *, replace: bool, lang: Language
) -> tuple["Agreement", "Summary", int]:
    from judge.files.folder import hold  # noqa: PLC0415
    from judge.files.runs import read_summary  # noqa: PLC0415
    from judge.pages.agreement import page  # noqa: PLC0415
    from judge.review.findings import findings  # noqa: PLC0415
    from judge.review.folder import discard_findings, write_agreement, write_labels, write_page  # noqa: PLC0415
    from judge.review.joining import join  # noqa: PLC0415

    with hold(run):
        joined = join(run, sheets, replace=replace)
        summary = read_summary(run)
        found = findings(joined.draw, joined.labels, summary)
        text = page(found, summary, lang.value)
        # Whatever stops this halfway, no finding is left that other labels made.
        discard_findings(run)
        write_labels(run, joined.draw.draw, joined.labels)
        write_agreement(run, found)
        write_page(run, text)
    return found, summary, joined.noted
