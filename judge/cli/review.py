"""`judge review`: verdicts sampled for people, and what their labels say."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from judge.cli.app import app
from judge.errors import ConfigError
from judge.text.visible import flat

if TYPE_CHECKING:
    from judge.review.drawing import Drawing
    from judge.review.records import Draw

review = typer.Typer(
    no_args_is_help=True, help="Spot-check by people: draw, import, plan, promote, drift."
)
app.add_typer(review, name="review")

_MOST_REVIEWERS: Final = 50
_KINDS: Final = (".csv", ".xlsx")


class By(StrEnum):
    """What is drawn."""

    SENTENCE = "sentence"
    ANSWER = "answer"


class Language(StrEnum):
    """Of headers and pages."""

    EN = "en"
    ZH = "zh"


_YES_NO: Final = {Language.EN: "or yes, no", Language.ZH: "或 是、否"}

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")]
Lang = Annotated[Language, typer.Option("--lang", help="Language of the sheet or page.")]
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
    from judge.files.folder import hold  # noqa: PLC0415
    from judge.review.drawing import take  # noqa: PLC0415
    from judge.review.folder import write_draw  # noqa: PLC0415

    names = _reviewers(reviewers, overlap)
    sheets = _sheets(run, output, len(names), force=force)
    drawing = take(run, by=by.value, size=size, seed=seed)
    with hold(run):
        kept = write_draw(run, drawing.draw)
    filled = _write(run, drawing, dict(zip(sheets, names, strict=True)), overlap, open_, lang)
    say(*_told(drawing.draw, filled), *_next(run, kept, sheets, lang))


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
    noun = by.value if found.total == 1 else f"{by.value}s"
    told = (
        f"spread learnt from {found.learnt} labelled {by.value}s"
        if found.learnt
        else f"spread as expected, for no {by.value}s are labelled yet"
    )
    say(
        f"{found.total} {noun} for ±{width:g} ({told})",
        *(
            f"  {share.labels:>6} of {share.units:>7}  {_named(share.names)}  "
            f"(spread {share.spread:.2f})"
            for share in found.shares
        ),
        f"then: judge review draw {run} -n {found.total}" + f" --by {by.value}" * (by is By.ANSWER),
        *(["labels there are count: the new sheet comes filled in with them"] * bool(found.learnt)),
    )


def _reviewers(given: str, overlap: int) -> list[str]:
    """Their names: numbers where only how many is given, an empty one for a single reviewer."""
    names = [" ".join(name.split()) for name in given.replace("，", ",").split(",")]
    if len(names) == 1 and names[0].isdecimal():
        count = min(int(names[0]), _MOST_REVIEWERS + 1)
        names = [str(number) for number in range(1, count + 1)]
    elif len(names) == 1 and not any(map(str.isalpha, given)):
        names = []
    different = {name.casefold() for name in names}
    if not all(names) or not 0 < len(different) == len(names) <= _MOST_REVIEWERS:
        raise ConfigError(
            f"--reviewers {given!r}: a number from 1 to {_MOST_REVIEWERS}, "
            "or different names with commas between them"
        )
    if overlap and len(names) == 1:
        raise ConfigError(f"--overlap {overlap}: one reviewer shares with none; see --reviewers")
    return [""] if names == ["1"] else names


def _sheets(run: Path, output: Path, count: int, *, force: bool) -> list[Path]:
    from judge.files.runs import made_from  # noqa: PLC0415  likewise
    from judge.review.golden import check_output  # noqa: PLC0415  heavy, and --help stays quick

    if output.suffix.lower() not in _KINDS:
        raise ConfigError(f"-o {str(output)!r}: name a .csv or .xlsx file")
    sheets = [
        output if count == 1 else output.with_stem(f"{output.stem}-{number}")
        for number in range(1, count + 1)
    ]
    for sheet in sheets:
        check_output(sheet, made_from(run), force=force)
    return sheets


def _write(
    run: Path,
    drawing: "Drawing",
    sheets: dict[Path, str],
    overlap: int,
    open_: bool,  # noqa: FBT001
    lang: Language,
) -> int:
    """Write the sheets; returns how many rows come filled in."""
    from judge.review.carrying import carried  # noqa: PLC0415  heavy, and --help stays quick
    from judge.review.dealing import deal  # noqa: PLC0415  likewise
    from judge.review.sheet import BLIND, OPEN, write_sheet  # noqa: PLC0415  likewise

    # Several reviewers judge on their own.
    rows = carried(run, drawing, lang.value) if len(sheets) == 1 else drawing.rows
    units = {s.review_id: s.qid for s in drawing.draw.sentences}
    whole = drawing.draw.by == "answer"
    hands = deal(
        rows,
        len(sheets),
        overlap,
        lambda row: units[row["review_id"]] if whole else row["review_id"],
    )
    for (sheet, name), hand in zip(sheets.items(), hands, strict=True):
        named = ({**row, "reviewer": row.get("reviewer") or name} for row in hand)
        write_sheet(sheet, named, OPEN if open_ else BLIND, lang.value)
    return sum("human_support" in row for row in rows)


def _next(run: Path, kept: Path, sheets: list[Path], lang: Language) -> list[str]:
    from judge.review.words import choices, header  # noqa: PLC0415  heavy, and --help stays quick

    words = f"{', '.join(choices(lang.value))}; {_YES_NO[lang]}"
    column = header("human_support", lang.value)
    return [
        f"to label: {', '.join(map(str, sheets))} (column {column}: {words})",
        f"kept from reviewers: {kept}",
        f"then: judge review import {run} {' '.join(map(str, sheets))}",
    ]


def _told(draw: "Draw", filled: int) -> list[str]:
    noun = "sentences" if draw.by == "sentence" else "answers"
    drawn = sum(stratum.drawn for stratum in draw.strata)
    of = sum(stratum.units for stratum in draw.strata)
    rows = "" if draw.by == "sentence" else f", {len(draw.sentences)} sentences"
    return [
        f"draw {draw.draw}: {drawn} of {of} {noun}{rows}, seed {draw.seed}",
        *(f"  {s.drawn:>4} of {s.units:>7}  {_named(s.names)}" for s in draw.strata),
        *([f"filled in with earlier labels: {filled}"] * bool(filled)),
    ]


def _named(names: tuple[str, ...]) -> str:
    return flat(" + ".join(name.replace("_", ", ") for name in names))
