"""`judge compare`: the answers of a run side by side, by what was done to their contexts."""

from pathlib import Path
from typing import Final

import typer

from judge.cli.app import app
from judge.cli.options import JSON, chosen, language
from judge.cli.terminal import output, say_json
from judge.errors import ConfigError, RunError
from judge.files.source import placed

_RUNS: Final = typer.Argument(
    metavar="RUN", help="Run folder, scored with --correctness; several one after another."
)


@app.command()
def compare(
    runs: list[Path] = _RUNS,
    *,
    by: str = typer.Option(
        ..., "--by", metavar="variant", help="What tells answers apart: the variants of perturb."
    ),
    as_json: bool = JSON,
    lang: str | None = typer.Option(
        None, metavar="<en|zh>", help="Language of what is printed [en]."
    ),
) -> None:
    """Read how robust answers are: to noise, to a new fact, to another order, to no evidence.

    The samples are those of judge perturb, answered by your RAG and scored with --correctness. Each
    variant is paired with the original context, question by question.

    Example: judge compare runs/perturbed --by variant
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.render.robustness import print_robustness  # noqa: PLC0415
    from judge.files.runs import read_run  # noqa: PLC0415
    from judge.records import Rules  # noqa: PLC0415
    from judge.reports.robustness import RobustnessReport, robustness  # noqa: PLC0415

    chosen("--by", by, ("variant",))
    if as_json and lang is not None:
        raise ConfigError(f"--lang {lang!r} and --json: names in JSON are English; leave out one")
    spoken_in = language(lang or "en")
    found = []
    for folder in runs:
        run = read_run(folder)
        if run.record.finished is None:
            raise RunError(f"{folder}: is unfinished; finish it with the same judge score")
        rules = Rules.model_validate({"correct_from": run.record.config.get("correct_from", 0.8)})
        with placed(str(folder)):
            found.append(robustness(str(folder), run.results, rules))
    if as_json:
        say_json(RobustnessReport(runs=tuple(found)).model_dump_json())
        return
    with output(spoken_in) as page:
        for each in found:
            print_robustness(each, page)
