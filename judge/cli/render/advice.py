"""Advice on measures, laid out for a terminal and as a Markdown page."""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias, get_args

from rich.text import Text

from judge.advice.recommend import HELD, cutoff, figure
from judge.advice.records import Advice, AdvisedMeasure, Role
from judge.cli.terminal import Page, words
from judge.signature import release
from judge.text.visible import flat

_COLON: Final = {"en": ": ", "zh": "："}
_ASIDE: Final = {"en": " ({})", "zh": "（{}）"}
_STOP: Final = {"en": "; ", "zh": "；"}
_Item: TypeAlias = tuple[str, str]
"""A name, which may be empty, and what is to be said of it in a sentence."""
_MARKS: Final = re.compile(r"([\\`*_{}\[\]<>#|~])")


def print_advice(advice: Advice, source: str, page: Page, written: str | None) -> None:
    """Print the scenario, the measures, why, and the name of the page if one was written.

    The source is a shell's word for the samples, here and below.
    """
    layout = _Layout(advice)
    for number, (title, items) in enumerate(layout.sections()):
        if number:
            page.blank()
        page.say(title, style="bold")
        for name, said in items:
            line = Text(name, style="cyan").append("  " if name else "")
            page.say(line.append(said, style="default"), indent=2, hang=4)
    if to_run := command(advice, source):
        page.blank()
        page.say(layout.word("measure"), style="bold")
        page.copied(f"  {to_run}")
    if written is not None:
        page.copied(layout.word("written", name=written))


def markdown_page(advice: Advice, source: str) -> str:
    """The whole advice as a Markdown page, to be kept beside what was decided on."""
    layout = _Layout(advice)
    made = layout.word("made", source=source, version=release("judge"))
    lines = [f"# {_plain(layout.word('title'))}", "", _plain(made), ""]
    for heading, items in layout.sections():
        lines += [f"## {_plain(heading)}", ""]
        for name, said in items:
            lines.append("- " + (f"**{_plain(name)}** " if name else "") + _plain(said))
        lines.append("")
    if line := command(advice, source):
        title = _plain(layout.word("measure"))
        lines += [f"## {title}", "", "```bash", flat(line), "```", ""]
    return "\n".join(lines)


def command(advice: Advice, source: str) -> str | None:
    """What measures the advised; None where nothing is."""
    cuts = {cut for each in advice.measures if (cut := cutoff(each.name)) is not None}
    if not cuts:
        return None
    return f"judge retrieval {source} -k {','.join(map(str, sorted(cuts)))}"


def _plain(text: str) -> str:
    """Text in which Markdown sees no marks."""
    return _MARKS.sub(r"\\\1", flat(text))


class _Layout:
    def __init__(self, advice: Advice) -> None:
        self._advice = advice
        self._lang = advice.lang
        self.word = words("recommend", "words", advice.lang)

    def sections(self) -> Iterator[tuple[str, list[_Item]]]:
        """Headings with their items in the order to be read; what has no items is left out."""
        advice, word = self._advice, self.word
        why = advice.fired[0].why if advice.scenario else word("untold")
        families = [
            (word("fits" if each.fits else "lacks", name=each.family), each.why, each.command)
            for each in advice.families
        ]
        avoided = [(each.name, each.why, each.rule) for each in advice.avoided]
        all_of: list[tuple[str, list[_Item]]] = [
            (word("scenario", name=word(advice.scenario or "unknown")), [("", why)]),
            *((word(role), self._measures(role)) for role in get_args(Role)),
            (word("avoid"), [(name, self._told(*rest)) for name, *rest in avoided]),
            (word("families"), [(name, self._told(*rest)) for name, *rest in families]),
            (word("notes"), [("", note) for note in advice.notes]),
            (word("profile"), [("", line) for line in self._profile()]),
            (word("fired"), [(each.rule, each.why) for each in advice.fired]),
        ]
        return ((title, items) for title, items in all_of if items)

    def _told(self, said: str, aside: str) -> str:
        return said + _ASIDE[self._lang].format(aside)

    def _measures(self, role: Role) -> list[_Item]:
        return [self._measure(each) for each in self._advice.measures if each.role == role]

    def _measure(self, each: AdvisedMeasure) -> _Item:
        name = self.word("between", name=each.name) if each.difference else each.name
        most = [] if each.most is None else [self.word("most", most=figure(each.most))]
        return (name, self._told(_STOP[self._lang].join([each.why, *most]), each.rule))

    def _profile(self) -> Iterator[str]:
        found, colon = self._advice.profile, _COLON[self._lang]
        names = ("samples", "queries", "relevant", "irrelevant", "ratio")
        figures = {name: getattr(found, name) for name in names} | {"ranked": found.longest}
        if found.without_relevant:
            figures["without_relevant"] = found.without_relevant
        if found.differing:
            figures["differing"] = found.differing
        for name, value in figures.items():
            yield f"{self.word(name)}{colon}{figure(value)}"
        graded = "unknown" if found.graded is None else "yes" if found.graded else "no"
        yield f"{self.word('graded')}{colon}{self.word(graded)}"
        for name in HELD:
            yield f"{self.word(f'share_{name}')}{colon}{100 * found.share[name]:.0f}%"
        if asked := _STOP[self._lang].join(self._asked()):
            yield f"{self.word('asked')}{colon}{asked}"

    def _asked(self) -> Iterator[str]:
        wishes = self._advice.wishes
        if wishes.missed_cost == "high":
            yield self.word("missed")
        if wishes.noise_cost == "high":
            yield self.word("noise")
        if wishes.depth is not None:
            yield self.word("depth", depth=figure(wishes.depth))
        if wishes.corpus_size is not None:
            yield self.word("corpus", corpus=figure(wishes.corpus_size))
        if wishes.task is not None:
            yield f"--task {wishes.task}"
