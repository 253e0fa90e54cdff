"""`judge recommend`: which measures fit the data, and why."""

import shlex
from typing import get_args

import typer

from judge.advice import records
from judge.advice.recommend import recommend_measures
from judge.advice.records import Wishes
from judge.cli.app import app
from judge.cli.options import MAX_LINE, SAMPLES, SKIP_BAD, chosen
from judge.cli.render.advice import markdown_page, print_advice
from judge.cli.terminal import output, say
from judge.errors import ConfigError
from judge.files.samples import Source
from judge.files.source import PIPED
from judge.files.tables import page_file
from judge.retrieval.records import DEEPEST
from judge.text.visible import clip


@app.command()
def recommend(
    samples: str = SAMPLES,
    *,
    # All are texts, numbers too: what is wrong is told in a line of ours and not in typer's four.
    missed_cost: str = typer.Option(
        "normal", metavar="normal|high", help="What a relevant one missed costs."
    ),
    noise_cost: str = typer.Option(
        "normal", metavar="normal|high", help="What an irrelevant one shown costs."
    ),
    depth: str | None = typer.Option(None, metavar="N", help="Only the first N are read."),
    corpus_size: str | None = typer.Option(
        None, metavar="N", help="Chunks there are to search [those of the ranking]."
    ),
    task: str | None = typer.Option(
        None, metavar="qa|passage", help="Name the practice of SQuAD, MS MARCO."
    ),
    markdown: str | None = typer.Option(
        None, metavar="FILE", help="Write the decision down; - prints it."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
    skip_bad_lines: bool = SKIP_BAD,
    max_line: float = MAX_LINE,
) -> None:
    """Say which measures fit the data, which mislead on it, and why.

    It looks at how much is relevant and how much is not, at what else the samples hold, and at
    what a miss or noise costs.

    Example: judge recommend samples.jsonl --corpus-size 100000 --missed-cost high
    """
    wishes = _wishes(missed_cost, noise_cost, depth, corpus_size, task)
    if as_json and markdown == PIPED:
        raise ConfigError("--json and --markdown - both print; give --markdown a file's name")
    source = Source(samples, (), skip_bad_lines=skip_bad_lines, max_line=max_line)
    written = None if markdown == PIPED else markdown
    with source.samples() as read, page_file(written, samples) as write:
        advice, name = recommend_measures(read, wishes), shlex.quote(samples)
        if write is not None:
            write(markdown_page(advice, name))
    if as_json:
        say(advice.model_dump_json())
    elif markdown == PIPED:
        say(markdown_page(advice, name))
    else:
        with output() as page:
            print_advice(advice, name, page, written)


def _wishes(
    missed_cost: str, noise_cost: str, depth: str | None, corpus_size: str | None, task: str | None
) -> Wishes:
    costs: tuple[records.Cost, ...] = get_args(records.Cost)
    missed = chosen("--missed-cost", missed_cost, costs)
    noise = chosen("--noise-cost", noise_cost, costs)
    if missed == noise == "high":
        message = "--missed-cost high --noise-cost high: what serves the one harms the other"
        raise ConfigError(f"{message}; say which of the two costs more")
    tasks: tuple[records.Task, ...] = get_args(records.Task)
    return records.Wishes(
        missed_cost=missed,
        noise_cost=noise,
        depth=_count("--depth", depth, DEEPEST // records.POOL),
        corpus_size=_count("--corpus-size", corpus_size, records.MOST_CHUNKS),
        task=None if task is None else chosen("--task", task, tasks),
    )


def _count(option: str, value: str | None, most: int) -> int | None:
    if value is None:
        return None
    # Length first: Python reads no number of some thousands of digits.
    digits = value.isascii() and value.isdigit() and len(value) <= len(str(most))
    if digits and 1 <= int(value) <= most:
        return int(value)
    raise ConfigError(f"{option} {clip(value, 60)!r}: give a whole number from 1 to {most}")
