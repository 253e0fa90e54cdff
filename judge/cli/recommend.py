"""`judge recommend`: which measures fit the data, and why."""

import shlex

import typer

from judge.advice.recommend import recommend_measures
from judge.advice.records import MOST_CHUNKS, POOL, Cost, Task, Wishes
from judge.cli.options import JSON, MAX_LINE, SAMPLES, SKIP_BAD
from judge.cli.render.advice import markdown_page, print_advice
from judge.cli.terminal import output, say
from judge.errors import ConfigError
from judge.inputs.files import PIPED
from judge.inputs.samples import Source
from judge.inputs.tables import page_file
from judge.retrieval.records import DEEPEST

app = typer.Typer(add_completion=False)


@app.command()
def recommend(
    samples: str = SAMPLES,
    *,
    missed_cost: Cost = typer.Option("normal", help="The cost of missing a relevant chunk."),
    noise_cost: Cost = typer.Option("normal", help="The cost of showing an irrelevant chunk."),
    depth: int | None = typer.Option(
        None, metavar="N", min=1, max=DEEPEST // POOL, help="The number of ranks that are read."
    ),
    corpus_size: int | None = typer.Option(
        None,
        metavar="N",
        min=1,
        max=MOST_CHUNKS,
        help="The number of chunks to search. Without it, those of the rankings count.",
    ),
    task: Task | None = typer.Option(
        None, help="Name the measures that SQuAD (qa) or MS MARCO (passage) report."
    ),
    markdown: str | None = typer.Option(
        None, metavar="FILE", help="Write the advice as Markdown; - prints it."
    ),
    as_json: bool = JSON,
    skip_bad_lines: bool = SKIP_BAD,
    max_line: float = MAX_LINE,
) -> None:
    """Say which measures fit the data, which mislead on it, and why.

    The advice depends on the numbers of relevant and irrelevant chunks, on what else the samples
    contain, and on the costs of misses and noise.

    Example: judge recommend samples.jsonl --corpus-size 100000 --missed-cost high
    """
    if missed_cost == noise_cost == "high":
        message = "--missed-cost high --noise-cost high: reducing the one raises the other"
        raise ConfigError(f"{message}; say which of the two costs more")
    wishes = Wishes(
        missed_cost=missed_cost,
        noise_cost=noise_cost,
        depth=depth,
        corpus_size=corpus_size,
        task=task,
    )
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
