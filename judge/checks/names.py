"""Names, and whether a text mentions one: `United Nations`, `《论语》`, `北京市`."""

import re
import tomllib
from collections.abc import Container, Iterator, Sequence
from functools import cache, cached_property
from importlib.resources import files
from typing import Final, NamedTuple

from judge.checks.values import Value, values
from judge.text.fold import CJK, CJK_CHAR
from judge.text.words import LIGHT, abbreviations, stem, weight, words

# The first word of a sentence, list item, heading or quotation is always capitalised.
_OPENING: Final = re.compile(r"""(?:\A|[.!?:;…。！？：；\n*#>•·|/"“‘«「『])[\s\-–—*_"'“‘(\[]*\Z""")
_REACH: Final = 12
_JOINT: Final = re.compile(
    r"(?:[ \u00a0-]|['’]s |[ ]?&[ ]?)(?:(?:of|the|de|la|van|von|del|al)[ -])?"
)
_DOTTED: Final = re.compile(r"[A-Z](?<![^\W_].)\.(?:[A-Z]\.){1,7}")
_TITLE: Final = re.compile(r"《([^《》\n]{1,60})》")
_PLACE: Final = re.compile(
    rf"([{CJK}]{{2}})(?:省|市|县|縣|大学|大學|先生|女士|小姐)(?![{CJK}]?[场場长長民级内外区])"
)
# Capitalised words that are no names: halves of the day, eras, quarters, units of data, ordinals,
# and Roman numbers, which a text may write out: `World War II`, `the Second World War`.
_NO_NAMES: Final = frozenset((
    "First", "Second", "Third", "Quarter", "II", "III", "IV", "VI", "VII", "VIII", "IX", "XI",
    "AM", "PM", "BC", "AD", "CE", "BCE", "BP", "Q1", "Q2", "Q3", "Q4", "KB", "MB", "GB", "TB",
))  # fmt: skip
# Characters that make a common noun of the word: `在大学`, `全市`, `超市`.
_FIRST: Final = frozenset("在是和与或及到从为有这那于由被将向的了去个所家各每该本此某一两几")
_LAST: Final = frozenset(
    "的城都超上股门夜花菜全本该此各外每某个多所名合等通立大小老中新行位节了着从把被在给让对到向至是"
)
_ROOT: Final = 4
"""The least letters that two forms of a name share: `Germany` and `German`."""
_FEW: Final = 2
"""An acronym of this many letters matches only capitalised words."""
_JOINED: Final = 3
"""The most words that may be written as one: `You Tube`."""
# Endings of stems: of places, and of the adjectives and peoples made from them.
_PLACES: Final = ("", "a", "e", "i", "o", "ia", "en", "ey", "land")
_PEOPLES: Final = ("n", "i", "s", "an", "en", "er", "es", "ic", "ian", "ean", "ese", "ish", "ist")


class Name(NamedTuple):
    """A name and its offsets."""

    written: str
    """The characters of the text."""
    parts: tuple[str, ...]
    """The stems of its content words; a Chinese name as written."""
    start: int
    end: int
    """The offset after the last character."""
    certain: bool
    """False for the first word of a sentence, which is always capitalised."""


def names(text: str, read: Sequence[Value] | None = None) -> list[Name]:
    """Return the names of a text in reading order, without values, honorifics and `I`.

    A run of capitalised words is one name: `United Nations`, `Bank of England`. `read` are the
    values of the text, if they are known.

    >>> [name.parts for name in names("In May the UN met Dr. Ana Silva. 北京市")]
    [('un',), ('ana', 'silva'), ('北京',)]
    """
    known = values(text) if read is None else read
    taken = {place for value in known for place in range(value.start, value.end)}
    dotted = {match.start(): match.end() for match in _DOTTED.finditer(text)}
    named = []
    for name in (*_capitalised(_undotted(text), taken), *_chinese(text)):
        end = max(name.end, dotted.get(name.start, 0))
        named.append(name._replace(written=text[name.start : end], end=end))
    return sorted(named, key=lambda name: name.start)


def _undotted(text: str) -> str:
    """Remove the dots of acronyms without moving other characters: `U.S. law` → `US   law`."""
    return _DOTTED.sub(lambda match: match[0].replace(".", "").ljust(len(match[0])), text)


def _capitalised(text: str, taken: Container[int]) -> list[Name]:
    """Return the runs of capitalised words, without the characters in `taken`."""
    titles = abbreviations().never_end
    chinese = not text.isascii() and CJK_CHAR.search(text) is not None
    found: list[Name] = []
    before = ""
    for key, start, end in zip(*words(text), strict=True):
        titled, before = before in titles, key
        name = end - start > 1 and text[start].isupper() and text[start + 1] not in "'’"
        if not name or start in taken or key in titles or text[start:end] in _NO_NAMES:
            continue
        if weight(key) > LIGHT:
            certain = chinese or titled or not _opens(text, start)
            last = found[-1] if found else None
            if last and certain and last.certain and _JOINT.fullmatch(text, last.end, start):
                found[-1] = Name("", (*last.parts, key), last.start, end, certain)
            else:
                found.append(Name("", (key,), start, end, certain))
    return found


def _opens(text: str, start: int) -> bool:
    """Return whether a word is the first one of a sentence, heading or quotation."""
    before = text[max(0, start - _REACH) : start]
    return _OPENING.search(before) is not None and (start < _REACH or before.strip() != "")


def _chinese(text: str) -> Iterator[Name]:
    if text.isascii():
        return
    for match in _TITLE.finditer(text):
        if title := match[1].strip():
            yield Name("", (title,), *match.span(), certain=True)
    for match in _PLACE.finditer(text):
        certain = match[1][0] not in _FIRST and match[1][1] not in _LAST
        yield Name("", (match[1],), *match.span(), certain)


class Mentions:
    """The names that a text mentions.

    A name that only its capitals distinguish from a word, such as `US`, must be capitalised in the
    text, unless the text has no capitals at all.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._flat = text == text.lower()
        plain = _undotted(text)
        self._stems, self._starts, self._ends = words(plain)
        self._forms = [plain[low:high] for low, high in zip(self._starts, self._ends, strict=True)]
        self._tall = {at for at, form in enumerate(self._forms) if self._flat or form[0].isupper()}
        """The positions of the capitalised words; of all words if the text has no capitals."""
        self._known = frozenset(self._stems)

    def lacks(self, name: Name) -> bool:
        """Return whether the text has neither the name nor another form of it.

        Other forms are all its parts, an acronym for its words, and its words for an acronym.
        """
        if name.written in self._text or all(map(self._has, name.parts)):
            return False
        initials, acronym = "".join(part[0] for part in name.parts), name.written.removesuffix("s")
        closed = stem(re.sub(r"[\W_]", "", name.written))
        return not (
            (len(initials) > 1 and self._has_acronym(initials))
            or not self._groups.isdisjoint(_demonyms().get(" ".join(name.parts), ()))
            or (len(closed) >= _ROOT and closed in self._closed)
            or (acronym.isupper() and self._spells(acronym.lower()))
        )

    def _has(self, part: str) -> bool:
        return (
            part in self._known
            or (not part.isascii() and part in self._text)
            or any((root, not people) in self._roots for root, people in _roots(part))
            or not self._groups.isdisjoint(_demonyms().get(part, ()))
        )

    def _has_acronym(self, initials: str) -> bool:
        written = {form.removesuffix("s") for form in self._forms}
        if self._flat:
            return len(initials) > _FEW and initials in written
        return initials.upper() in written

    def _spells(self, acronym: str) -> bool:
        """Return whether the first letters of content words in a row spell an acronym."""
        pairs = zip(self._stems, self._forms, strict=True)
        initials = "".join(form[0] for key, form in pairs if weight(key) > LIGHT)
        if self._flat or len(acronym) > _FEW:
            return acronym in initials.lower()
        return len(acronym) == _FEW and acronym.upper() in initials

    @cached_property
    def _roots(self) -> frozenset[tuple[str, bool]]:
        """The roots of capitalised words, each with whether its ending is that of a people."""
        tall = {self._stems[at] for at in self._tall}
        return frozenset(root for own in tall for root in _roots(own))

    @cached_property
    def _closed(self) -> frozenset[str]:
        """The stems of capitalised neighbours written as one word: `youtub` for `You Tube`."""
        closed: set[str] = set()
        for first in self._tall:
            written, end = "", self._starts[first]
            for at in range(first, first + _JOINED):
                if at not in self._tall or self._starts[at] - end > 1:
                    break
                written, end = written + self._forms[at], self._ends[at]
                closed.add(stem(written))
        return frozenset(closed)

    @cached_property
    def _groups(self) -> frozenset[int]:
        """The groups of demonyms with a form in the text; short forms need capitals."""
        found: set[int] = set()
        keys = [*self._stems, ""]
        for at in self._tall:
            if self._flat or len(self._forms[at]) > _JOINED or self._forms[at].isupper():
                found.update(_demonyms().get(keys[at], ()))
            found.update(_demonyms().get(f"{keys[at]} {keys[at + 1]}", ()))
        return frozenset(found)


def _roots(own: str) -> Iterator[tuple[str, bool]]:
    """Yield the roots of a stem, and whether the ending is that of a people."""
    for endings, people in ((_PLACES, False), (_PEOPLES, True)):
        for ending in endings:
            if own.endswith(ending) and len(own) - len(ending) >= _ROOT:
                yield own.removesuffix(ending), people


@cache
def _demonyms() -> dict[str, frozenset[int]]:
    """Return the groups of each demonym, by the stems of its words."""
    source = files("judge").joinpath("data", "demonyms.toml").read_text("utf-8")
    groups: dict[str, frozenset[int]] = {}
    for place, group in enumerate(tomllib.loads(source)["groups"]):
        for form in group:
            written = " ".join(map(stem, form.split()))
            groups[written] = groups.get(written, frozenset()) | {place}
    return groups
