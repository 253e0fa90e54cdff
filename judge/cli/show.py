"""`judge show`: one answer and why."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.app import app


@app.command()
def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    qid: Annotated[
        str | None, typer.Argument(metavar="[QID]", help="Which answer; the worst where left out.")
    ] = None,
) -> None:
    """Show one answer: each sentence's support, the evidence, the citations.

    Example: judge show runs/today q_001
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.answer import print_answer  # noqa: PLC0415
    from judge.cli.terminal import output  # noqa: PLC0415
    from judge.errors import RunError  # noqa: PLC0415
    from judge.reports.origin import origin  # noqa: PLC0415
    from judge.reports.worst import worst_answer  # noqa: PLC0415
    from judge.runs import read_results  # noqa: PLC0415

    results = read_results(run)
    if qid is None:
        result = worst_answer(results)
        if result is None:
            raise RunError(f"{run}: no answer claims anything; name one: judge show {run} QID")
    else:
        result = next((result for result in results if result.qid == qid), None)
        if result is None:
            raise RunError(f"{run}: no answer {qid!r}; without one, the worst is shown")
    sample = origin(run, result)
    with output() as console:
        print_answer(result, sample, console)
