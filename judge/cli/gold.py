"""`judge gold`: gold sets for retrieval, of chunks that people grade."""

from collections.abc import Iterator
from pathlib import Path

import typer

from judge import review
from judge.cli.app import COMMANDS
from judge.cli.options import FORCE, JSON, SAMPLES, SKIP_BAD, DrawOptions, takes_language
from judge.cli.terminal import Page, number, say, say_report, some
from judge.messages import Messages
from judge.review.grades import GoldDraw, GoldReport
from judge.review.sheet import header

app = typer.Typer(add_completion=False, no_args_is_help=True, help=COMMANDS["gold"])


@app.command()
@takes_language
def draw(
    samples: str = SAMPLES,
    *,
    size: int = typer.Option(50, "-n", "--size", min=1, help="Queries to choose."),
    depth: int = typer.Option(10, min=1, metavar="K", help="Pool the first K of each ranking."),
    output: Path = typer.Option(Path("gold.csv"), "-o", "--output", metavar="SHEET", help="A CSV."),
    draw_options: DrawOptions,
    skip_bad_lines: bool = SKIP_BAD,
) -> None:
    """Choose queries, pool the first chunks of their rankings, and write a sheet to grade them.

    Chunks are in random order, without their ranks.

    Example: judge gold draw samples.jsonl -n 50 --depth 10 -o gold.csv
    """
    made = review.draw_gold(
        samples,
        output,
        size=size,
        depth=depth,
        seed=draw_options.seed,
        reviewers=draw_options.names,
        overlap=draw_options.overlap,
        force=draw_options.force,
        skip_bad_lines=skip_bad_lines,
    )
    say(*_summary_of(made, samples, depth, draw_options.seed))


@app.command("import")
@takes_language
def import_(
    samples: str = typer.Argument(metavar="SAMPLES", help="The samples of the draw."),
    sheets: list[Path] = typer.Argument(metavar="SHEET...", help="CSV or XLSX, graded."),
    out: Path = typer.Option(
        Path("gold.jsonl"), "-o", "--output", metavar="FILE", help="The gold set, JSONL."
    ),
    *,
    gold_from: int = typer.Option(
        2, min=1, max=3, metavar="GRADE", help="Least grade of a chunk in gold_evidence."
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
    skip_bad_lines: bool = SKIP_BAD,
) -> None:
    """Read graded sheets, write the gold set, and report agreement and missing grades.

    The gold set is the samples with `relevance`, a grade by chunk, and `gold_evidence`. Where
    people differ, the median counts.

    Example: judge gold import samples.jsonl gold.csv -o gold.jsonl
    """
    found = review.import_gold(
        samples,
        sheets,
        out,
        gold_from=gold_from,
        force=force,
        skip_bad_lines=skip_bad_lines,
    )
    say_report(found, lambda page: _print(found, out, page), as_json=as_json)


def _summary_of(made: GoldDraw, samples: str, depth: int, seed: int) -> Iterator[str]:
    words, sheets = Messages.of("gold", "draw"), " ".join(map(str, made.sheets))
    yield words("title", queries=made.queries, rows=made.rows, depth=depth, seed=seed)
    if made.unranked:
        yield words("unranked", count=made.unranked)
    if made.textless:
        yield words("textless", count=made.textless)
    yield words("grade", sheets=sheets, column=header("human_grade"))
    yield words("next", samples=samples, sheets=sheets)


def _print(found: GoldReport, path: Path, page: Page) -> None:
    """Print counts, how far people agree, and where the gold set lies."""
    say, agreed = Messages.of("gold", "import"), found.agreement
    counts = ", ".join(say("count", grade=n, count=count) for n, count in found.counts.items())
    sizes = {"graded": found.graded, "rows": found.rows, "queries": found.queries}
    page.say(say("graded", **sizes, counts=counts), hang=2)
    if found.blank:
        page.say(say("blank", count=len(found.blank), places=some(found.blank)), hang=2)
    if qids := found.unanswered:
        values = {"count": len(qids), "qids": some(qids), "gold_from": found.gold_from}
        page.say(say("unanswered", **values), hang=2)
    alpha = say("undefined") if agreed.alpha is None else number(agreed.alpha)
    shared = {"equal": agreed.equal, "shared": agreed.shared, "alpha": alpha}
    page.say(say("shared", **shared) if agreed.shared else say("alone"), hang=2)
    page.copied(say("written", path=path))
    page.copied(say("next", path=path, gold_from=found.gold_from))
