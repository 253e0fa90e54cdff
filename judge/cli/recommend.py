"""`judge recommend`: which measures fit the data, and why."""

import shlex

import typer

from judge.advice.recommend import MOST_CHUNKS, POOL, Cost, Wishes, recommend_measures
from judge.cli.options import JSON, SAMPLES, SKIP_BAD
from judge.cli.render.advice import print_advice
from judge.cli.terminal import output, say_json
from judge.errors import ConfigError
from judge.inputs.samples import Source
from judge.retrieval.records import DEEPEST


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
    as_json: bool = JSON,
    skip_bad_lines: bool = SKIP_BAD,
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
    )
    source = Source(samples, (), skip_bad_lines=skip_bad_lines)
    with source.samples() as read:
        advice = recommend_measures(read, wishes)
    if as_json:
        say_json(advice.model_dump_json())
        return
    with output() as page:
        print_advice(advice, shlex.quote(samples), page)
