"""Whether a text mentions a name, in whatever form: `UN`, `United Nations`; `German`, `Germany`."""

import tomllib
from functools import cache, cached_property
from importlib.resources import files
from typing import Final

from judge.text.names import Name, spread
from judge.text.words import LIGHT, stem, weight, words

_ROOT: Final = 4
"""Letters that two forms of one name share at least: `Germany` and `German`."""
_FEW: Final = 2
"""Letters of an acronym that any two words could spell: there they must be capitalised."""


class Mentions:
    """What a text mentions.

    Args:
        text: any.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def missing(self, name: Name) -> frozenset[str]:
        """The parts of a name that stand nowhere: `jane` of `Jane Silva` where only Ana Silva does.

        An acronym stands where its words do, and its words where the acronym does.
        """
        parts = name.parts
        lost = frozenset(part for part in parts if not self._mentioned(part))
        if not lost:
            return lost
        if len(parts) > 1:
            initials = "".join(part[0] for part in parts)
            if {initials, f"{initials}s"} & self._written or self._otherwise(" ".join(parts)):
                return frozenset()
        acronym, closed = name.written.removesuffix("s"), "".join(parts)
        held = (len(closed) >= _ROOT and closed in self._closed) or (
            acronym.isupper() and self._spelled_out(acronym.lower())
        )
        return frozenset() if held else lost

    def _mentioned(self, part: str) -> bool:
        if part in self._stems:
            return True
        if not part.isascii() and part in self._text:
            return True
        if len(part) >= _ROOT and part[:_ROOT] in self._roots:
            return True
        return self._otherwise(part)

    def _otherwise(self, name: str) -> bool:
        return any(f" {form} " in self._spaced for form in _forms().get(name, ()))

    @cached_property
    def _found(self) -> tuple[list[str], list[str]]:
        """Stems, and the words as they are written."""
        text = spread(self._text)
        stems, starts, ends = words(text)
        return stems, [text[start:end] for start, end in zip(starts, ends, strict=True)]

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(self._found[0])

    @cached_property
    def _written(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self._found[1])

    @cached_property
    def _roots(self) -> frozenset[str]:
        return frozenset(stem[:_ROOT] for stem in self._stems if len(stem) >= _ROOT)

    @cached_property
    def _closed(self) -> str:
        """All stems without a space between them: `you tube` holds `YouTube`."""
        return "".join(self._found[0])

    @cached_property
    def _spaced(self) -> str:
        return f" {' '.join(self._found[0])} "

    @cached_property
    def _initials(self) -> str:
        """First letters of the words that say something."""
        found = zip(*self._found, strict=True)
        return "".join(word[0] for stem, word in found if weight(stem) > LIGHT)

    def _spelled_out(self, acronym: str) -> bool:
        if len(acronym) > _FEW:
            return acronym in self._initials.lower()
        return len(acronym) == _FEW and acronym.upper() in self._initials


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    """For the stem of a demonym the other forms, a stem a word."""
    source = files("judge").joinpath("data", "demonyms.toml").read_text("utf-8")
    forms: dict[str, tuple[str, ...]] = {}
    for group in tomllib.loads(source)["groups"]:
        stems = tuple(" ".join(map(stem, form.split())) for form in group)
        forms |= dict.fromkeys(stems, stems)
    return forms
