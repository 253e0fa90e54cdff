"""`judge review draw` and `judge review plan`: verdicts sampled for people."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from judge.cli.root import app
from judge.errors import ConfigError
from judge.messages import Lang
from judge.text.visible import flat

if TYPE_CHECKING:
    from judge.review import Drawn

review = typer.Typer(
    no_args_is_help=True, help="Spot-check by people: draw, import, plan, promote, drift."
)
app.add_typer(review, name="review")

_MOST_REVIEWERS: Final = 50


class By(StrEnum):
    """The unit of a draw."""

    SENTENCE = "sentence"
    ANSWER = "answer"


Run = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")]
Language = Annotated[Lang, typer.Option("--lang", help="Language of the sheet or page.")]
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
    lang: Language = "en",
    force: Annotated[bool, typer.Option("--force", help="Replace sheets that are there.")] = False,
) -> None:
    """Draw sentences for people to label, more of the doubtful, into a sheet.

    Example: judge review draw runs/today -n 60 -o review.csv
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.terminal import say  # noqa: PLC0415
    from judge.review import draw as drawn  # noqa: PLC0415

    made = drawn(
        run,
        output,
        size=size,
        by=by.value,
        seed=seed,
        reviewers=_reviewers(reviewers, overlap),
        overlap=overlap,
        verdicts=open_,
        lang=lang,
        force=force,
    )
    say(*_told(made), *_next(run, made, lang))


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
    from judge.review import plan as planned  # noqa: PLC0415  likewise

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
            f"  {quota.labels:>6} of {quota.units:>7}  {_named(quota.names)}  "
            f"(spread {quota.spread:.2f})"
            for quota in found.quotas
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


def _told(made: "Drawn") -> list[str]:
    draw = made.draw
    noun = "sentences" if draw.by == "sentence" else "answers"
    drawn = sum(stratum.drawn for stratum in draw.strata)
    of = sum(stratum.units for stratum in draw.strata)
    rows = "" if draw.by == "sentence" else f", {len(draw.sentences)} sentences"
    return [
        f"draw {draw.draw}: {drawn} of {of} {noun}{rows}, seed {draw.seed}",
        *(f"  {s.drawn:>4} of {s.units:>7}  {_named(s.names)}" for s in draw.strata),
        *([f"filled in with earlier labels: {made.filled}"] * bool(made.filled)),
    ]


def _next(run: Path, made: "Drawn", lang: Lang) -> list[str]:
    from judge.messages import Messages  # noqa: PLC0415  heavy, and --help stays quick
    from judge.review.sheet import choices, header  # noqa: PLC0415  likewise

    words = f"{', '.join(choices(lang))}; {Messages.of('sheet')('yes_or_no', lang)}"
    column = header("human_support", lang)
    return [
        f"to label: {', '.join(map(str, made.sheets))} (column {column}: {words})",
        f"kept from reviewers: {made.kept}",
        f"then: judge review import {run} {' '.join(map(str, made.sheets))}",
    ]


def _named(names: tuple[str, ...]) -> str:
    return flat(" + ".join(name.replace("_", ", ") for name in names))
