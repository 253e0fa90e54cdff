"""Advice as headings and items, for whoever lays them out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, get_args

from judge.advice.recommend.advising import cutoff
from judge.advice.recommend.figures import figure
from judge.advice.recommend.profile import HELD
from judge.advice.recommend.table import Words, table
from judge.advice.records import Advice, AdvisedMeasure, Role

_COLON: Final = {"en": ": ", "zh": "："}
_OPEN: Final = {"en": " (", "zh": "（"}
_CLOSE: Final = {"en": ")", "zh": "）"}
_STOP: Final = {"en": "; ", "zh": "；"}


@dataclass(frozen=True, slots=True)
class Item:
    """A name, and what is to be said of it."""

    name: str
    """May be empty."""
    said: str
    """In a sentence."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its items."""

    title: str
    """The heading."""
    items: tuple[Item, ...]
    """At least one."""


def sections(advice: Advice) -> tuple[Section, ...]:
    """The advice in the order to be read; what has no items is left out."""
    laid = _Laid(advice)
    scenario = advice.scenario or "unknown"
    first = laid.word("scenario", name=laid.word(scenario))
    roles = [(laid.word(role), laid.measures(role)) for role in get_args(Role)]
    avoided = [Item(each.name, laid.told(each.why, each.rule)) for each in advice.avoided]
    families = [
        Item(
            laid.word("fits" if each.fits else "lacks", name=each.family),
            laid.told(each.why, each.command),
        )
        for each in advice.families
    ]
    why = advice.fired[0].why if advice.scenario else laid.word("untold")
    all_of = [
        (first, [Item("", why)]),
        *roles,
        (laid.word("avoid"), avoided),
        (laid.word("families"), families),
        (laid.word("notes"), [Item("", note) for note in advice.notes]),
        (laid.word("profile"), list(laid.profile())),
        (laid.word("fired"), [Item(each.rule, each.why) for each in advice.fired]),
    ]
    return tuple(Section(title, tuple(items)) for title, items in all_of if items)


def title(advice: Advice) -> str:
    """Of the whole."""
    return _Laid(advice).word("title")


def command(advice: Advice, source: str) -> str | None:
    """What measures the advised, given a shell's word for the samples; None where nothing is."""
    cuts = {cut for each in advice.measures if (cut := cutoff(each.name)) is not None}
    if not cuts:
        return None
    return f"judge retrieval {source} -k {','.join(map(str, sorted(cuts)))}"


class _Laid:
    def __init__(self, advice: Advice) -> None:
        self._advice = advice
        self._lang = advice.lang
        self._words: dict[str, Words] = table().words

    def word(self, key: str, /, **values: object) -> str:
        return self._words[key].of(self._lang, **values)

    def told(self, said: str, aside: str) -> str:
        return f"{said}{_OPEN[self._lang]}{aside}{_CLOSE[self._lang]}"

    def measures(self, role: Role) -> list[Item]:
        return [self._measure(each) for each in self._advice.measures if each.role == role]

    def _measure(self, each: AdvisedMeasure) -> Item:
        name = self.word("between", name=each.name) if each.difference else each.name
        most = [] if each.most is None else [self.word("most", most=figure(each.most))]
        return Item(name, self.told(_STOP[self._lang].join([each.why, *most]), each.rule))

    def profile(self) -> Iterator[Item]:
        found = self._advice.profile
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
            yield Item("", f"{self.word(name)}{_COLON[self._lang]}{figure(value)}")
        graded = "unknown" if found.graded is None else "yes" if found.graded else "no"
        yield Item("", f"{self.word('graded')}{_COLON[self._lang]}{self.word(graded)}")
        for name in HELD:
            said = self.word(f"share_{name}")
            yield Item("", f"{said}{_COLON[self._lang]}{100 * found.share[name]:.0f}%")
        if asked := _STOP[self._lang].join(self._asked()):
            yield Item("", f"{self.word('asked')}{_COLON[self._lang]}{asked}")

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
