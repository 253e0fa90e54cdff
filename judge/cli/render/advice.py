"""Print advice on measures."""

from collections.abc import Iterator
from typing import Final, TypeAlias, get_args

from rich.text import Text

from judge.advice.recommend import PARTS, Advice, Profile, Role, cutoff, figure
from judge.cli.terminal import Page

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
    if cuts := {cut for each in advice.measures if (cut := cutoff(each.name)) is not None}:
        page.blank()
        page.say("To measure it", style="bold")
        page.copied(f"  judge retrieval {source} -k {','.join(map(str, sorted(cuts)))}")


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
        *(
            (
                role.capitalize(),
                [(m.name, f"{m.why} ({m.rule})") for m in advice.measures if m.role == role],
            )
            for role in get_args(Role)
        ),
        ("Not to be used here", [(name, f"{reason} ({rule})") for name, reason, rule in avoided]),
        ("Beyond retrieval", [(name, f"{reason} ({to_run})") for name, reason, to_run in families]),
        ("Worth knowing", [("", note) for note in advice.notes]),
        ("The data", [("", line) for line in _profile(advice.profile)]),
    ]
    return ((title, items) for title, items in all_of if items)


def _profile(found: Profile) -> Iterator[str]:
    for name, words in _FIGURES.items():
        value = getattr(found, name)
        if value or name != "without_relevant":
            yield f"{words}: {figure(value)}"
    graded = "not known" if found.graded is None else "yes" if found.graded else "no"
    yield f"degrees of relevance: {graded}"
    for name in PARTS:
        yield f"with {name.replace('_', ' ')}: {100 * found.share[name]:.0f}%"
