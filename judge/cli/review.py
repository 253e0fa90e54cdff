"""`judge review`: draw sentences for people to label, import the labels, write golden sets."""

from collections.abc import Iterator
from pathlib import Path

import typer

from judge import review
from judge.cli.app import COMMANDS
from judge.cli.options import FORCE, RUN, DrawOptions, takes_language
from judge.cli.render.agreement import print_agreement
from judge.cli.terminal import Page, say
from judge.errors import InputError
from judge.messages import Messages
from judge.pages.agreement import page
from judge.review.draws import DrawFiles
from judge.review.records import StratumName
from judge.review.sheet import choices, header
from judge.text.visible import counted, flat

app = typer.Typer(add_completion=False, no_args_is_help=True, help=COMMANDS["review"])


@app.command()
@takes_language
def draw(
    run: Path = RUN,
    size: int = typer.Option(60, "-n", "--size", min=1, help="Sentences to draw."),
    output: Path = typer.Option(
        Path("review.csv"), "-o", "--output", metavar="SHEET", help="A CSV."
    ),
    *,
    draw_options: DrawOptions,
) -> None:
    """Draw sentences for people to label, more of the doubtful, into a sheet.

    Example: judge review draw runs/today -n 60 -o review.csv
    """
    made = review.draw(
        run,
        output,
        size=size,
        seed=draw_options.seed,
        reviewers=draw_options.names,
        overlap=draw_options.overlap,
        force=draw_options.force,
    )
    say(*_summary_of(made, run))


@app.command()
def promote(
    run: Path = RUN,
    output: Path = typer.Option(
        ..., "-o", "--output", metavar="FILE", help="The golden set, JSONL."
    ),
    *,
    force: bool = FORCE,
) -> None:
    """Write a golden set of the sentences on which all reviewers agree.

    It is a file of samples that judge score reads. Each answer has its labels under `labels`, with
    the verdicts of the judge. Sentences on which reviewers disagree are listed and left out.

    Example: judge review promote runs/today -o golden.jsonl
    """
    found = review.promote(run, output, force=force)
    labels = sum(len(each.labels) for each in found.golden)
    say(
        f"{counted(labels, 'label')} on {counted(len(found.golden), 'answer')}",
        f"{counted(len(found.disagreed), 'sentence')} disagreed on",
        *(
            f"  {flat(each.review_id)}  {flat(each.qid)}, sentence {each.sentence + 1}"
            for each in found.disagreed
        ),
        f"written to {output}",
    )


@app.command("import")
@takes_language
def import_(
    run: Path = RUN,
    sheets: list[Path] | None = typer.Argument(
        None, metavar="[SHEET]...", help="CSV or XLSX; by default the last labels of judge label."
    ),
    *,
    replace: bool = typer.Option(
        False, "--replace", help="Drop earlier labels that these sheets lack."
    ),
) -> None:
    """Import labelled sheets, and print the quality of the judge and the corrected score.

    Without a sheet it imports the last labels from the page of judge label.

    Example: judge review import runs/today review.csv
    """
    if not sheets:
        if not (sheets := review.worksheets(run)):
            message = f"has no labels from a page; name sheets, or run judge label {run}"
            raise InputError(message, path=str(run))
        say(*map(str, sheets))
    found = review.import_labels(run, sheets, replace=replace, page=page)
    print_agreement(found.agreement, found.summary, run, Page())
    if found.skips:
        say(Messages.of("agreement", "terminal")("skipped", count=found.skips))


def _summary_of(made: DrawFiles, run: Path) -> Iterator[str]:
    words, draw, sheets = Messages.of("review", "draw"), made.draw, list(map(str, made.sheets))
    yield words(
        "title",
        draw=draw.draw,
        drawn=sum(stratum.drawn for stratum in draw.strata),
        of=sum(stratum.units for stratum in draw.strata),
        seed=draw.seed,
    )
    # Undecided claims need people most, and are listed first.
    for each in sorted(draw.strata, key=lambda each: StratumName.UNDECIDED not in each.names):
        names = " + ".join(map(Messages.of("review", "stratum"), each.names))
        yield words("stratum", drawn=each.drawn, units=each.units, names=names)
    yield words(
        "label",
        sheets=", ".join(sheets),
        column=header("human_support"),
        labels=words("joint").join(choices()),
        yes_no=Messages.of("sheet")("yes_or_no"),
    )
    yield words("kept", path=made.draw_path)
    yield words("next", run=run, sheets=" ".join(sheets))
