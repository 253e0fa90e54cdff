"""Advice on measures, laid out for a terminal and as a Markdown page."""

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Final, NamedTuple, get_args

from rich.console import Console
from rich.text import Text

from judge.advice.profile import HELD
from judge.advice.recommend import cutoff, figure
from judge.advice.records import Advice, AdvisedMeasure, Role
from judge.cli.render.page import wrap
from judge.messages import Messages
from judge.text.visible import flat, visible

_COLON: Final = {"en": ": ", "zh": "："}
_OPEN: Final = {"en": " (", "zh": "（"}
_CLOSE: Final = {"en": ")", "zh": "）"}
_STOP: Final = {"en": "; ", "zh": "；"}
_MARKS: Final = re.compile(r"([\\`*_{}\[\]<>#|~])")


class Item(NamedTuple):
    """A name, which may be empty, and what is to be said of it in a sentence."""

    name: str
    said: str


class Section(NamedTuple):
    """A heading with its items."""

    title: str
    items: tuple[Item, ...]


def print_advice(advice: Advice, source: str, console: Console, written: str | None) -> None:
    """Print the scenario, the measures, and why.

    Args:
        advice: what was found.
        source: a shell's word for the samples.
        console: where to.
        written: name of the page that was written, if one was.
    """
    layout = _Layout(advice)
    for number, section in enumerate(layout.sections()):
        if number:
            console.print()
        console.print(wrap(Text(section.title, style="bold"), console.width), soft_wrap=True)
        for item in section.items:
            line = Text(item.name, style="cyan").append("  " if item.name else "")
            line.append(item.said, style="default")
            console.print(wrap(line, console.width, indent=2, hang=4), soft_wrap=True)
    if to_run := command(advice, source):
        console.print()
        title = Text(layout.word("measure"), style="bold")
        console.print(wrap(title, console.width), soft_wrap=True)
        # A command is copied: it is not broken into lines.
        console.print(Text(f"  {visible(to_run)}"), soft_wrap=True)
    if written is not None:
        console.print(Text(layout.word("written", name=visible(written))), soft_wrap=True)


def page(advice: Advice, source: str) -> str:
    """The whole advice as a Markdown page, to be kept beside what was decided on.

    Args:
        advice: what was found.
        source: a shell's word for the samples.
    """
    layout = _Layout(advice)
    made = layout.word("made", source=source, version=version("judge"))
    lines = [f"# {_plain(layout.word('title'))}", "", _plain(made), ""]
    for section in layout.sections():
        lines += [f"## {_plain(section.title)}", ""]
        for item in section.items:
            said = _plain(item.said)
            lines.append(f"- **{_plain(item.name)}** {said}" if item.name else f"- {said}")
        lines.append("")
    if line := command(advice, source):
        title = _plain(layout.word("measure"))
        lines += [f"## {title}", "", "```bash", flat(line), "```", ""]
    return "\n".join(lines)


def command(advice: Advice, source: str) -> str | None:
    """What measures the advised, given a shell's word for the samples; None where nothing is."""
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

    def word(self, key: str, /, **values: object) -> str:
        return Messages.of("recommend")(f"words.{key}", self._lang, **values)

    def sections(self) -> tuple[Section, ...]:
        """The advice in the order to be read; what has no items is left out."""
        advice = self._advice
        why = advice.fired[0].why if advice.scenario else self.word("untold")
        avoided = [Item(each.name, self._told(each.why, each.rule)) for each in advice.avoided]
        families = [
            Item(
                self.word("fits" if each.fits else "lacks", name=each.family),
                self._told(each.why, each.command),
            )
            for each in advice.families
        ]
        scenario = self.word(advice.scenario or "unknown")
        all_of = [
            (self.word("scenario", name=scenario), [Item("", why)]),
            *((self.word(role), self._measures(role)) for role in get_args(Role)),
            (self.word("avoid"), avoided),
            (self.word("families"), families),
            (self.word("notes"), [Item("", note) for note in advice.notes]),
            (self.word("profile"), [Item("", line) for line in self._profile()]),
            (self.word("fired"), [Item(each.rule, each.why) for each in advice.fired]),
        ]
        return tuple(Section(title, tuple(items)) for title, items in all_of if items)

    def _told(self, said: str, aside: str) -> str:
        return f"{said}{_OPEN[self._lang]}{aside}{_CLOSE[self._lang]}"

    def _measures(self, role: Role) -> list[Item]:
        return [self._measure(each) for each in self._advice.measures if each.role == role]

    def _measure(self, each: AdvisedMeasure) -> Item:
        name = self.word("between", name=each.name) if each.difference else each.name
        most = [] if each.most is None else [self.word("most", most=figure(each.most))]
        return Item(name, self._told(_STOP[self._lang].join([each.why, *most]), each.rule))

    def _profile(self) -> Iterator[str]:
        found, colon = self._advice.profile, _COLON[self._lang]
        figures = {
            "samples": found.samples,
            "queries": found.queries,
            "relevant": found.relevant,
            "irrelevant": found.irrelevant,
            "ratio": found.ratio,
            "ranked": found.longest,
        }
        if found.without_relevant:
            figures["without_relevant"] = found.without_relevant
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
