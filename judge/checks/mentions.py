"""Whether a text mentions a name, in whatever form: `UN`, `United Nations`; `German`, `Germany`."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache, cached_property
from importlib.resources import files
from typing import Final, NamedTuple

from judge.checks.names import Name, spread
from judge.checks.spoken import ORDINALS
from judge.text.words import LIGHT, stem, weight, words

_GAP: Final = re.compile(r"[\W_]")
_ROOT: Final = 4
"""Letters that two forms of one name share at least: `Germany` and `German`."""
_FEW: Final = 2
"""Letters of an acronym that any two words could spell: there they must be capitalised."""
_JOINED: Final = 3
"""Words that may be written as one: `You Tube`."""
# Of stems: what a place may end with, and what makes an adjective or a people of it.
_PLACES: Final = ("", "a", "e", "i", "o", "ia", "en", "ey", "land")
_PEOPLES: Final = ("n", "i", "s", "an", "en", "er", "es", "ic", "ian", "ean", "ese", "ish", "ist")
_ROMAN: Final = dict(
    zip(("ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"), list(ORDINALS)[1:], strict=False)
)


class Mentions:
    """What a text mentions.

    A capital must stand in it where only that tells a name from a word, as in `US`, unless it has
    none at all.

    Args:
        text: any.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._flat = text == text.lower()
        self._known: dict[tuple[str, tuple[str, ...]], frozenset[str]] = {}

    def missing(self, name: Name) -> frozenset[str]:
        """The parts of a name that stand nowhere: `jane` of `Jane Silva` where only Ana Silva does.

        An acronym stands where its words do, and its words where the acronym does.
        """
        key = name.written, name.parts
        if key not in self._known:
            self._known[key] = self._missing(name)
        return self._known[key]

    @cached_property
    def lower(self) -> frozenset[str]:
        """Stems of the words that are written without a capital."""
        return frozenset(word.stem for word in self._found if word.written[0].islower())

    def _missing(self, name: Name) -> frozenset[str]:
        parts = name.parts
        lost = frozenset(part for part in parts if not self._mentioned(part))
        if not lost:
            return lost
        if len(parts) > 1:
            initials = "".join(part[0] for part in parts)
            if self._capitals(initials) or self._otherwise(" ".join(parts)):
                return frozenset()
        acronym, closed = name.written.removesuffix("s"), stem(_GAP.sub("", name.written))
        held = (len(closed) >= _ROOT and closed in self._closed) or (
            acronym.isupper() and self._spelled_out(acronym.lower())
        )
        return frozenset() if held else lost

    def _mentioned(self, part: str) -> bool:
        if part in self._stems or _ROMAN.get(part) in self._stems:
            return True
        if not part.isascii() and part in self._text:
            return True
        if any(kin in self._roots for kin in _kin(part)):
            return True
        return self._otherwise(part)

    def _otherwise(self, name: str) -> bool:
        return bool(_forms().get(name, frozenset()) & self._groups)

    def _capitals(self, initials: str) -> bool:
        if self._flat:
            return len(initials) > _FEW and initials in self._written
        return initials.upper() in self._written

    @cached_property
    def _found(self) -> list["_Word"]:
        text = spread(self._text)
        stems, starts, ends = words(text)
        return [
            _Word(own, text[start:end], start, end, self._flat or text[start].isupper())
            for own, start, end in zip(stems, starts, ends, strict=True)
        ]

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self._found)

    @cached_property
    def _written(self) -> frozenset[str]:
        """The words as they are written, an acronym without the s of its plural."""
        return frozenset(
            form for word in self._found for form in (word.written, word.written.removesuffix("s"))
        )

    @cached_property
    def _roots(self) -> frozenset[tuple[str, bool]]:
        return frozenset(
            root for own in {word.stem for word in self._found if word.tall} for root in _roots(own)
        )

    @cached_property
    def _runs(self) -> list[list["_Word"]]:
        """For each capitalised word, it and those right behind it."""
        runs = []
        for place, word in enumerate(self._found):
            run = [word]
            for other in self._found[place + 1 : place + _JOINED]:
                if other.start - run[-1].end > 1:
                    break
                run.append(other)
            runs += [run] if word.tall else []
        return runs

    @cached_property
    def _closed(self) -> frozenset[str]:
        """Capitalised words without a space between them: `You Tube` holds `YouTube`."""
        closed: set[str] = set()
        for run in self._runs:
            written = ""
            for word in run:
                if not word.tall:
                    break
                written += word.written
                closed.add(stem(written))
        return frozenset(closed)

    @cached_property
    def _groups(self) -> frozenset[int]:
        """Which groups of forms have one in the text; a short one is written in capitals."""
        found: set[int] = set()
        for run in self._runs:
            stems = [word.stem for word in run]
            one = run[0].written
            if self._flat or len(one) > _JOINED or one.isupper():
                found |= _forms().get(stems[0], frozenset())
            found |= _forms().get(" ".join(stems[:2]), frozenset())
        return frozenset(found)

    @cached_property
    def _initials(self) -> str:
        """First letters of the words that say something."""
        return "".join(word.written[0] for word in self._found if weight(word.stem) > LIGHT)

    def _spelled_out(self, acronym: str) -> bool:
        if len(acronym) > _FEW or self._flat:
            return acronym in self._initials.lower()
        return len(acronym) == _FEW and acronym.upper() in self._initials


class _Word(NamedTuple):
    stem: str
    written: str
    start: int
    end: int
    tall: bool


def _roots(own: str) -> Iterator[tuple[str, bool]]:
    """What is left of a stem without an ending, and whether that is one of a people."""
    for endings, people in ((_PLACES, False), (_PEOPLES, True)):
        for ending in endings:
            if own.endswith(ending) and len(own) - len(ending) >= _ROOT:
                yield own.removesuffix(ending), people


def _kin(own: str) -> Iterator[tuple[str, bool]]:
    """The roots that a text has if it has a form of this name: a people's of a place, and back."""
    return ((root, not people) for root, people in _roots(own))


@cache
def _forms() -> dict[str, frozenset[int]]:
    """By form of a demonym, a stem a word: the groups it stands in."""
    source = files("judge").joinpath("data", "demonyms.toml").read_text("utf-8")
    groups: dict[str, frozenset[int]] = {}
    for number, group in enumerate(tomllib.loads(source)["groups"]):
        for form in group:
            written = " ".join(map(stem, form.split()))
            groups[written] = groups.get(written, frozenset()) | {number}
    return groups
