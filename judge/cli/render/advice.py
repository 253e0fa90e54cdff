"""Advice on measures, laid out for a terminal and as a Markdown page."""

from collections.abc import Iterator
from typing import Final, TypeAlias, get_args

from rich.text import Text

from judge.advice.recommend import PARTS, cutoff, figure
from judge.advice.records import Advice, AdvisedMeasure, Profile, Role, Wishes
from judge.cli.terminal import Page
from judge.text.visible import plural

_Item: TypeAlias = tuple[str, str]
"""A name, which may be empty, and a sentence about it."""
_FIGURES: Final = {
    "samples": "samples",
    "queries": "queries with something relevant",
    "relevant": "relevant a query, median",
    "irrelevant": "irrelevant a query, median",
    "ratio": "irrelevant for each relevant one",
    "longest": "longest ranking",
    "without_relevant": "queries of which gold says that nothing is relevant (left out)",
}
"""The words for each field of a profile. The last is left out where it is 0."""
_SHARES: Final = {
    "query": "a query",
    "answer": "an answer",
    "gold_answer": "a gold answer",
    "gold": "gold evidence or relevance",
    "chunks": "chunks",
    "retrieved": "a ranking",
    "citations": "citations in the answer",
}


def print_advice(advice: Advice, source: str, page: Page) -> None:
    """Print the scenario, the measures, and why.

    The source is the name of the samples as a shell takes it.
    """
    for position, (title, items) in enumerate(_sections(advice)):
        if position:
            page.blank()
        page.say(title, style="bold")
        for name, text in items:
            line = Text(name, style="cyan").append("  " if name else "")
            page.say(line.append(text, style="default"), indent=2, hang=4)
    if to_run := _command(advice, source):
        page.blank()
        page.say("To measure it", style="bold")
        page.copied(f"  {to_run}")


def _command(advice: Advice, source: str) -> str | None:
    """Return the command that computes the advised measures, if there are any."""
    cuts = {cut for each in advice.measures if (cut := cutoff(each.name)) is not None}
    if not cuts:
        return None
    return f"judge retrieval {source} -k {','.join(map(str, sorted(cuts)))}"


def _sections(advice: Advice) -> Iterator[tuple[str, list[_Item]]]:
    """Yield the headings with their items; those without items are left out."""
    why = "so no measure of retrieval is advised; the reasons are below"
    families = [
        (f"{each.family}: {'fits' if each.fits else 'does not fit'}", each.why, each.command)
        for each in advice.families
    ]
    avoided = [(each.name, each.why, each.rule) for each in advice.avoided]
    all_of: list[tuple[str, list[_Item]]] = [
        (
            f"Scenario: {advice.scenario or 'not known'}",
            [("", advice.fired[0].why if advice.scenario else why)],
        ),
        *((role.capitalize(), list(_measures(advice, role))) for role in get_args(Role)),
        ("Not to be used here", [(name, f"{said} ({rule})") for name, said, rule in avoided]),
        ("Beyond retrieval", [(name, f"{said} ({to_run})") for name, said, to_run in families]),
        ("Worth knowing", [("", note) for note in advice.notes]),
        ("The data", [("", line) for line in _profile(advice.profile, advice.wishes)]),
        ("Rules that fired", [(each.rule, each.why) for each in advice.fired]),
    ]
    return ((title, items) for title, items in all_of if items)


def _measures(advice: Advice, role: Role) -> Iterator[_Item]:
    return (_measure(each) for each in advice.measures if each.role == role)


def _measure(each: AdvisedMeasure) -> _Item:
    return each.name, f"{each.why} ({each.rule})"


def _profile(found: Profile, wishes: Wishes) -> Iterator[str]:
    for name, said in _FIGURES.items():
        value = getattr(found, name)
        if value or name != "without_relevant":
            yield f"{said}: {figure(value)}"
    graded = "not known" if found.graded is None else "yes" if found.graded else "no"
    yield f"degrees of relevance: {graded}"
    for name in PARTS:
        yield f"with {_SHARES[name]}: {100 * found.share[name]:.0f}%"
    if asked := "; ".join(_asked(wishes)):
        yield f"asked for: {asked}"


def _asked(wishes: Wishes) -> Iterator[str]:
    if wishes.missed_cost == "high":
        yield "missed cost high"
    if wishes.noise_cost == "high":
        yield "noise cost high"
    if wishes.depth is not None:
        yield f"only the first {figure(wishes.depth)} are read"
    if (size := wishes.corpus_size) is not None:
        yield f"{figure(size)} {plural(size, 'chunk')} to search"
