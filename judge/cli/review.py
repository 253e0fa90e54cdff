"""`judge review`: verdicts sampled for people, and what their labels say."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from judge.cli.app import app
from judge.errors import ConfigError, RunError
from judge.text.visible import flat

if TYPE_CHECKING:
    from judge.records import Draw
    from judge.review.drawing import Drawing

review = typer.Typer(
    no_args_is_help=True, help="Spot-check by people: draw, import, plan, promote, drift."
)
app.add_typer(review, name="review")

_MOST_REVIEWERS: Final = 50


class By(StrEnum):
    """What is drawn."""

    SENTENCE = "sentence"
    ANSWER = "answer"


class Language(StrEnum):
    """Of headers and pages."""

    EN = "en"
    ZH = "zh"


Run = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")]
Lang = Annotated[Language, typer.Option("--lang", help="Language of what people read.")]
DrawnBy = Annotated[By, typer.Option("--by", help="Draw sentences, or whole answers.")]


@review.command()
def draw(  # noqa: PLR0913  each is an option of the command line
    run: Run,
    size: Annotated[
        int, typer.Option("-n", "--size", min=1, help="Sentences (or answers) to draw.")
    ] = 60,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="SHEET", help="CSV, or XLSX by its name.")
    ] = Path("review.csv"),
    *,
    by: DrawnBy = By.SENTENCE,
    seed: Annotated[int, typer.Option(min=0, help="Another seed draws others.")] = 0,
    reviewers: Annotated[
        str, typer.Option(metavar="N|NAMES", help="A sheet each: how many, or names with commas.")
    ] = "1",
    overlap: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many of them all reviewers get.")
    ] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Show the judge's verdict.")] = False,
    lang: Lang = Language.EN,
    force: Annotated[bool, typer.Option("--force", help="Replace sheets that are there.")] = False,
) -> None:
    """Draw sentences for people to label, more of the doubtful, into a sheet.

    Example: judge review draw runs/today -n 60 -o review.csv
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.terminal import say  # noqa: PLC0415
    from judge.review.drawing import take  # noqa: PLC0415
    from judge.runs.review import write_draw  # noqa: PLC0415

    names = _reviewers(reviewers)
    sheets = _sheets(output, len(names), force=force)
    drawing = take(run, by=by.value, size=size, seed=seed)
    kept = write_draw(run, drawing.draw)
    _write(drawing, list(zip(sheets, names, strict=True)), overlap, open_=open_, lang=lang)
    say(*_told(drawing.draw), *_next(run, kept, sheets))


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
    from judge.cli.agreed import print_agreement  # noqa: PLC0415
    from judge.cli.terminal import output  # noqa: PLC0415
    from judge.reports.agreement import page  # noqa: PLC0415
    from judge.review.findings import findings  # noqa: PLC0415
    from judge.review.joining import join  # noqa: PLC0415
    from judge.runs import read_summary  # noqa: PLC0415
    from judge.runs.review import write_agreement, write_labels, write_page  # noqa: PLC0415

    summary = read_summary(run)
    joined = join(run, sheets, replace=replace)
    found = findings(joined.draw, joined.labels, summary)
    write_labels(run, joined.draw.draw, joined.labels)
    write_agreement(run, found)
    write_page(run, page(found, summary, lang.value))
    with output() as console:
        print_agreement(found, summary, run, console)


@review.command()
def plan(
    run: Run,
    width: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Half the 95 % interval: 0.03 is ±0.03.")
    ] = 0.03,
    *,
    by: DrawnBy = By.SENTENCE,
) -> None:
    """Say how many labels the corrected score needs to be known to ± WIDTH.

    Example: judge review plan runs/today --width 0.03
    """
    from judge.cli.terminal import say  # noqa: PLC0415  heavy, and --help stays quick
    from judge.review.planning import plan as planned  # noqa: PLC0415  likewise

    found = planned(run, width, by.value)
    noun = "sentences" if by is By.SENTENCE else "answers"
    told = (
        f"spread learnt from {found.learnt} labelled {noun}"
        if found.learnt
        else "spread as expected before anybody has looked; import labels and plan again"
    )
    say(
        f"{found.total} {noun} for ±{width:g} ({told})",
        *(
            f"  {share.labels:>6} of {share.units:>7}  {_named(share.names)}  "
            f"(spread {share.spread:.2f})"
            for share in found.shares
        ),
        f"then: judge review draw {run} -n {found.total}" + f" --by {by.value}" * (by is By.ANSWER),
    )


def _reviewers(given: str) -> list[str]:
    """Their names: numbers where only how many is given, an empty one for a single reviewer."""
    names = [" ".join(name.split()) for name in given.replace("，", ",").split(",")]
    if len(names) == 1 and names[0].isdecimal():
        count = min(int(names[0]), _MOST_REVIEWERS + 1)
        names = [str(number) for number in range(1, count + 1)]
    if not names or not all(names) or len(set(names)) < len(names) or len(names) > _MOST_REVIEWERS:
        raise ConfigError(
            f"--reviewers {given!r}: a number from 1 to {_MOST_REVIEWERS}, "
            "or different names with commas between them"
        )
    return [""] if names == ["1"] else names


def _sheets(output: Path, count: int, *, force: bool) -> list[Path]:
    sheets = [
        output if count == 1 else output.with_stem(f"{output.stem}-{number}")
        for number in range(1, count + 1)
    ]
    there = [sheet for sheet in sheets if sheet.exists()]
    if there and not force:
        raise RunError(
            f"{there[0]}: is there and may hold labels; name another -o, or replace it with --force"
        )
    return sheets


def _write(
    drawing: "Drawing",
    sheets: list[tuple[Path, str]],
    overlap: int,
    *,
    open_: bool,
    lang: Language,
) -> None:
    from judge.review.dealing import deal  # noqa: PLC0415  heavy, and --help stays quick
    from judge.review.row import BLIND, OPEN  # noqa: PLC0415  likewise
    from judge.review.sheet import write_sheet  # noqa: PLC0415  likewise

    units = {s.review_id: s.qid for s in drawing.draw.sentences}
    whole = drawing.draw.by == "answer"
    hands = deal(
        drawing.rows,
        len(sheets),
        overlap,
        lambda row: units[row["review_id"]] if whole else row["review_id"],
    )
    for (sheet, name), rows in zip(sheets, hands, strict=True):
        named = ({**row, "reviewer": name} for row in rows)
        write_sheet(sheet, named, OPEN if open_ else BLIND, lang.value)


def _next(run: Path, kept: Path, sheets: list[Path]) -> list[str]:
    words = "full, partial, none, contradicted, no_claim; or yes, no"
    return [
        f"to label: {', '.join(map(str, sheets))} (column human_support: {words})",
        f"kept from reviewers: {kept}",
        f"then: judge review import {run} {' '.join(map(str, sheets))}",
    ]


def _told(draw: "Draw") -> list[str]:
    noun = "sentences" if draw.by == "sentence" else "answers"
    drawn = sum(stratum.drawn for stratum in draw.strata)
    of = sum(stratum.units for stratum in draw.strata)
    rows = "" if draw.by == "sentence" else f", {len(draw.sentences)} sentences"
    return [
        f"draw {draw.draw}: {drawn} of {of} {noun}{rows}, seed {draw.seed}",
        *(f"  {s.drawn:>4} of {s.units:>7}  {_named(s.names)}" for s in draw.strata),
    ]


def _named(names: tuple[str, ...]) -> str:
    return flat(" + ".join(name.replace("_", ", ") for name in names))
