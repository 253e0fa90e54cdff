"""`judge overlap`: answers against gold answers, word by word."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.root import app
from judge.files.tables import Write, row_file

if TYPE_CHECKING:
    from judge.overlap.records import AnswerOverlap

Samples = Annotated[
    str, typer.Argument(metavar="SAMPLES", help="JSONL or CSV, may be .gz; - for stdin.")
]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Each answer's figures: .jsonl or .csv."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
WorstCount = Annotated[
    int, typer.Option(metavar="N", min=0, help="How many of the lowest answers to print.")
]
Stem = Annotated[bool, typer.Option("--stem", help="ROUGE of English stems (not ROUGE-W).")]
Seed = Annotated[int, typer.Option(min=0, help="Of the bootstrap intervals.")]
Skip = Annotated[bool, typer.Option("--skip-bad-lines", help="Tell of bad lines, and go on.")]


@app.command()
def overlap(
    samples: Samples,
    *,
    worst: WorstCount = 5,
    stem: Stem = False,
    seed: Seed = 0,
    as_json: Json = False,
    rows: Output = None,
    skip_bad_lines: Skip = False,
) -> None:
    """Hold answers against gold answers: BLEU, ROUGE, exact match, token F1; Chinese too.

    These count the words that both have. Whether an answer is true or supported they do not see,
    and a paraphrase scores low. Samples without a gold_answer are listed and left out.

    Example: judge overlap samples.jsonl -o overlap.csv
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.render.overlap import print_overlap  # noqa: PLC0415
    from judge.cli.terminal import output, say_json  # noqa: PLC0415
    from judge.files.samples import Source  # noqa: PLC0415
    from judge.overlap import measure_overlap, with_bad_lines  # noqa: PLC0415

    source = Source(samples, ("answer",), skip_bad_lines=skip_bad_lines)
    with source.samples() as read, row_file(rows, samples) as write:
        report = measure_overlap(read, worst=worst, stem=stem, seed=seed, each=_each(write))
    report = with_bad_lines(report, source.rejected)
    if as_json:
        say_json(report.model_dump_json())
        return
    with output() as console:
        print_overlap(report, console, rows)


def _each(write: Write | None) -> Callable[["AnswerOverlap"], None] | None:
    if write is None:
        return None
    # Too long is what has figures but for ROUGE-L: a file of values needs no flag for it.
    return lambda row: write(row.model_dump(exclude={"scores", "too_long"}) | row.scores)
