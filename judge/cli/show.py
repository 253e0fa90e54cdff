"""`judge show`: one answer and why, or the answers of a cell."""

from pathlib import Path
from typing import Annotated, Final

import typer

from judge.cli.app import app
from judge.cli.choice import chosen
from judge.messages import LANGS

WORDS: Final = (
    "The words: answerable, unanswerable; retrieved, missed; answered, abstained, silent; "
    "faithful, unfaithful, unjudged; correct, wrong, uncompared."
)
Words = Annotated[
    str | None,
    typer.Option(
        "--cell",
        metavar="WORDS",
        help=f"Answers of a cell: words such as retrieved,wrong; all hold. {WORDS}",
    ),
]
Count = Annotated[
    int | None, typer.Option("-n", metavar="N", min=1, help="With --cell: how many [1].")
]
Skip = Annotated[
    int | None,
    typer.Option("--skip", metavar="N", min=0, help="With --cell: how many to pass over [0]."),
]
Lang = Annotated[str, typer.Option(metavar="en|zh", help="Language in which a cell is read.")]


@app.command()
def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    qid: Annotated[
        str | None, typer.Argument(metavar="[QID]", help="Which answer; the worst where left out.")
    ] = None,
    *,
    cell: Words = None,
    count: Count = None,
    skip: Skip = None,
    lang: Lang = "en",
) -> None:
    """Show one answer: each sentence's support, the evidence, the citations.

    With --cell, the answers of one cell of the table that judge score prints where samples have
    gold evidence: one at a time, in input order, and how to go on to the next.

    Example: judge show runs/today q_001

    Example: judge show runs/today --cell retrieved,wrong
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.shown import parse_cell, show_answer, show_cell  # noqa: PLC0415
    from judge.errors import ConfigError  # noqa: PLC0415

    if (cell is None or qid is not None) and (count is not None or skip is not None):
        raise ConfigError("-n and --skip go with --cell, and without a QID")
    words = None if cell is None else parse_cell(cell)
    language = chosen("--lang", lang, LANGS)
    if words is None or qid is not None:
        show_answer(run, qid, words or frozenset(), language)
    else:
        show_cell(run, words, count=count or 1, skip=skip or 0, lang=language)
