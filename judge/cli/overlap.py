"""`judge overlap`: compare answers with gold answers word by word."""

from judge.cli.options import JSON, ROWS, SAMPLES, SKIP_BAD
from judge.cli.render.overlap import print_overlap
from judge.cli.terminal import output, say_json
from judge.inputs.samples import Source
from judge.inputs.tables import row_file
from judge.overlap import measure_overlap
from judge.overlap.evaluate import AnswerOverlap


def overlap(
    samples: str = SAMPLES,
    *,
    as_json: bool = JSON,
    rows: str | None = ROWS,
    skip_bad_lines: bool = SKIP_BAD,
) -> None:
    """Compare answers with gold answers: BLEU, ROUGE, exact match, token F1; Chinese too.

    These count common words. They do not show whether an answer is true or supported, and a
    paraphrase scores low. Samples without a gold_answer are listed and left out.

    Example: judge overlap samples.jsonl -o overlap.csv
    """

    def keep(row: AnswerOverlap) -> None:
        if write is not None:
            write(row.model_dump(exclude={"scores"}) | row.scores)

    source = Source(samples, ("answer",), skip_bad_lines=skip_bad_lines)
    with source.samples() as read, row_file(rows, samples) as write:
        report = measure_overlap(read, each=keep)
    if source.rejected:
        warning = f"lines that are no samples, and so left out: {source.rejected:,}"
        report = report.model_copy(update={"warnings": (*report.warnings, warning)})
    if as_json:
        say_json(report.model_dump_json())
        return
    with output() as page:
        print_overlap(report, page, rows)
