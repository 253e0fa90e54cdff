"""`judge export`: a run as a table, for a spreadsheet, a notebook or another program."""

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import typer

from judge.cli.options import RUN
from judge.cli.terminal import say
from judge.errors import ConfigError
from judge.inputs.files import PIPED
from judge.inputs.runs import finished_run, made_from
from judge.inputs.tables import (
    BOM,
    check_output,
    csv_lines,
    json_line,
    replacing,
    write_parquet,
    write_whole,
)
from judge.reports.rows import COLUMNS, Cell, Level, rows_of
from judge.text.visible import escaped, plural


def export(
    run: Path = RUN,
    *,
    csv: str | None = typer.Option(
        None, metavar="FILE", help="Write CSV, which spreadsheets open; - for standard output."
    ),
    parquet: str | None = typer.Option(
        None, metavar="FILE", help="Write Parquet; it needs the extra data."
    ),
    json: str | None = typer.Option(
        None, metavar="FILE", help="Write JSON lines; - for standard output."
    ),
    level: Level = typer.Option("sentences", metavar="sentences|answers", help="What a row is of."),
) -> None:
    """Write a run as a table: a row for each sentence, or for each answer.

    An earlier file is replaced, by a whole one or not at all.
    In CSV no cell is a formula, and a text of over 30 000 characters is cut; the other forms hold
    all of it.

    Example: judge export runs/today --csv sentences.csv

    Example: judge export runs/today --level answers --parquet answers.parquet
    """
    form, name = _chosen_form({"csv": csv, "parquet": parquet, "json": json})
    found, _ = finished_run(run)
    written = 0

    def rows() -> Iterator[dict[str, Cell]]:
        nonlocal written
        for result in found.results:
            for row in rows_of(result, level):
                written += 1
                yield row

    is_csv = form == "csv"
    texts = csv_lines(list(COLUMNS[level]), rows()) if is_csv else map(json_line, rows())
    if name == PIPED:
        sys.stdout.writelines(texts if is_csv else map(escaped, texts))
        return
    path = Path(name)
    check_output(path, made_from(run), force=True, option=f"--{form}")
    if form == "parquet":
        with replacing(path, f"name another --{form}") as part:
            part.parent.mkdir(parents=True, exist_ok=True)
            write_parquet(part, COLUMNS[level], rows())
    else:
        write_whole(path, chain([BOM], texts) if is_csv else texts, f"--{form}")
    say(f"written to {path} ({written:,} {plural(written, 'row')})")


def _chosen_form(files: dict[str, str | None]) -> tuple[str, str]:
    """Return the one form that is given, and its file."""
    forms = [(form, name) for form, name in files.items() if name]
    if len(forms) != 1 or forms[0] == ("parquet", PIPED):
        raise ConfigError("name one file to write: --csv FILE, --parquet FILE or --json FILE")
    return forms[0]
