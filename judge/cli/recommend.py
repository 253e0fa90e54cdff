"""`judge recommend`: which measures fit the data, and why."""

import shlex
from collections.abc import Iterator
from typing import Final, get_args

import typer
from rich.text import Text

from judge.advice.recommend import (
    MOST_CHUNKS,
    PARTS,
    POOL,
    Advice,
    Cost,
    Profile,
    Role,
    Wishes,
    cutoff,
    figure,
    recommend_measures,
)
from judge.cli.options import JSON, SAMPLES, SKIP_BAD
from judge.cli.terminal import Page, say_report
from judge.errors import ConfigError
from judge.inputs.samples import Source
from judge.retrieval.records import DEEPEST

_FIGURES: Final = {
    "samples": "samples",
    "queries": "queries with something relevant",
    "relevant": "relevant a query, median",
    "irrelevant": "irrelevant a query, median",
    "ratio": "irrelevant for each relevant one",
}
"""The words for each field of a profile."""


def recommend(
    samples: str = SAMPLES,
    *,
    missed_cost: Cost = typer.Option("normal", help="The cost of missing a relevant chunk."),
    noise_cost: Cost = typer.Option("normal", help="The cost of showing an irrelevant chunk."),
    depth: int | None = typer.Option(
        None, metavar="N", min=1, max=DEEPEST // POOL, help="The number of ranks that are read."
    ),
    corpus_size: int | None = typer.Option(
        None, metavar="N", min=1, max=MOST_CHUNKS, help="The number of chunks to search."
    ),
    as_json: bool = JSON,
    skip_bad_lines: bool = SKIP_BAD,
) -> None:
    """Say which measures fit the data, which mislead on it, and why.

    The advice depends on the numbers of relevant and irrelevant chunks, on what else the samples
    contain, and on the costs of misses and noise. Without --corpus-size, the chunks of the rankings
    are counted.

    Example: judge recommend samples.jsonl --corpus-size 100000 --missed-cost high
    """
    if missed_cost == noise_cost == "high":
        message = "--missed-cost high --noise-cost high: reducing the one raises the other"
        raise ConfigError(f"{message}; say which of the two costs more")
    wishes = Wishes(
        missed_cost=missed_cost, noise_cost=noise_cost, depth=depth, corpus_size=corpus_size
    )
    source = Source(samples, (), skip_bad_lines=skip_bad_lines)
    with source.samples() as read:
        advice = recommend_measures(read, wishes)
    say_report(advice, lambda page: _print(advice, shlex.quote(samples), page), as_json=as_json)


def _print(advice: Advice, source: str, page: Page) -> None:
    """Print the scenario, the measures, and why."""
    for position, (title, items) in enumerate(_sections(advice).items()):
        if position:
            page.blank()
        page.say(title, style="bold")
        for name, text in items:
            line = Text(name, style="cyan").append("  " if name else "")
            page.say(line.append(text, style="default"), indent=2, hang=4)
    if cuts := {cut for each in advice.measures if (cut := cutoff(each.name)) is not None}:
        page.heading("To measure it")
        page.copied(f"  judge retrieval {source} -k {','.join(map(str, sorted(cuts)))}")


def _sections(advice: Advice) -> dict[str, list[tuple[str, str]]]:
    """Return the headings with their items: a name, which may be empty, and a sentence."""
    why = "so no measure of retrieval is advised; the reasons are below"
    reason = advice.fired[0].why if advice.scenario else why
    sections = {f"Scenario: {advice.scenario or 'not known'}": [("", reason)]}
    for role in get_args(Role):
        measures = [each for each in advice.measures if each.role == role]
        sections[role.capitalize()] = [(m.name, f"{m.why} ({m.rule})") for m in measures]
    sections |= {
        "Not to be used here": [(m.name, f"{m.why} ({m.rule})") for m in advice.avoided],
        "Beyond retrieval": [
            (f"{f.family}: {'fits' if f.fits else 'does not fit'}", f"{f.why} ({f.command})")
            for f in advice.families
        ],
        "Worth knowing": [("", note) for note in advice.notes],
        "The data": [("", line) for line in _profile(advice.profile)],
    }
    return {title: items for title, items in sections.items() if items}


def _profile(found: Profile) -> Iterator[str]:
    for name, words in _FIGURES.items():
        yield f"{words}: {figure(getattr(found, name))}"
    graded = "not known" if found.graded is None else "yes" if found.graded else "no"
    yield f"degrees of relevance: {graded}"
    for name in PARTS:
        yield f"with {name.replace('_', ' ')}: {100 * found.share[name]:.0f}%"
