"""`judge export`: a run as a table, for a spreadsheet, a notebook or another program."""

import sys
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
from judge.reports.rows import COLUMNS, Level, rows_of
from judge.text.visible import escaped


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
    level: Level = typer.Option(
        "sentences", metavar="sentences|answers", help="The unit of a row."
    ),
) -> None:
    """Write a run as a table: a row for each sentence, or for each answer.

    An earlier file is replaced, by a whole one or not at all.
    In CSV no cell is a formula, and a text of over 30 000 characters is cut; the other forms hold
    all of it.

    Example: judge export runs/today --csv sentences.csv

    Example: judge export runs/today --level answers --parquet answers.parquet
    """
    files = {"csv": csv, "parquet": parquet, "json": json}
    forms = [(form, name) for form, name in files.items() if name]
    if len(forms) != 1 or forms[0] == ("parquet", PIPED):
        raise ConfigError("name one file to write: --csv FILE, --parquet FILE or --json FILE")
    form, name = forms[0]
    path = Path(name)
    found, _ = finished_run(run)
    rows = (row for result in found.results for row in rows_of(result, level))
    if form == "parquet":
        check_output(path, made_from(run), force=True, option="--parquet")
        with replacing(path, "name another --parquet") as part:
            part.parent.mkdir(parents=True, exist_ok=True)
            write_parquet(part, COLUMNS[level], rows)
        say(f"written to {path}")
        return
    texts = csv_lines(list(COLUMNS[level]), rows) if form == "csv" else map(json_line, rows)
    if name == PIPED:
        sys.stdout.writelines(texts if form == "csv" else map(escaped, texts))
        return
    check_output(path, made_from(run), force=True, option=f"--{form}")
    write_whole(path, chain([BOM], texts) if form == "csv" else texts, f"--{form}")
    say(f"written to {path}")
