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
_STOPS: Final = (".", "!", "?", "。", "！", "？")
_TITLE: Final = re.compile(r"《([^《》\n]{1,60})》")
_PLACE: Final = re.compile(
    rf"([{CJK}]{{2}})(?:省|市|县|縣|大学|大學|先生|女士|小姐)(?![{CJK}]?[场场長长民级内外区])"
)
# Capitalised words that are no names: halves of the day, eras, quarters, units of data, ordinals,
# and Roman numbers, which a text may write out: `World War II`, `the Second World War`.
_NONE: Final = frozenset((
    "First", "Second", "Third", "Quarter", "II", "III", "IV", "VI", "VII", "VIII", "IX", "XI",
    "AM", "PM", "BC", "AD", "CE", "BCE", "BP", "Q1", "Q2", "Q3", "Q4", "KB", "MB", "GB", "TB",
))  # fmt: skip
# Characters that make a common noun of the word: `在大学`, `全市`, `超市`.
_FIRST: Final = frozenset("在是和与或及到从为有这那于由被将向的了去个所家各每该本此某一两几")
_LAST: Final = frozenset(
    "的城都超上股门夜花菜全本该此各外每某个多所名合等通立大小老中新行位节了着从把被在给让对到向至是"
)
# Words that may begin a sentence before a name: `Unlike India`, `Open Print Manager`.
_OPENERS: Final = (
    "unlike like despite besides versus via within throughout amid among per except including"
    " open close click select choose press go see use set enable disable type enter visit install"
    " run create add check contact call turn tap start launch download follow read ask find keep"
)
_ADVERB: Final = "ly"
"""The ending of an adverb before a name: `Recently Smith won`."""
_LONG: Final = 5
"""An uncapitalised word with at least this many letters shows that a text is no title."""
_SHORT: Final = 3
_GAP: Final = re.compile(r"[\W_]")
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
    """First character."""
    end: int
    """One past the last."""
    certain: bool
    """False for the first word of a sentence, which is capitalised anyway."""


def names(text: str, read: Sequence[Value] | None = None) -> list[Name]:
    """Find the names of a text, in reading order; days, months, honorifics and `I` are none.

    A run of capitalised words is one name: `United Nations`, `Bank of England`. `read` are the
    values of the text, where they are known already.

    >>> [name.parts for name in names("In May the UN met Dr. Ana Silva. 北京市")]
    [('un',), ('ana', 'silva'), ('北京',)]
    """
    known = values(text) if read is None else read
    taken = {place for value in known for place in range(value.start, value.end)}
    dotted = {match.start(): match.end() for match in _DOTTED.finditer(text)}
    named = []
    for name in (*_capitalised(_spread(text), taken), *_chinese(text)):
        end = max(name.end, dotted.get(name.start, 0))
        named.append(name._replace(written=text[name.start : end], end=end))
    return sorted(named, key=lambda name: name.start)


def _spread(text: str) -> str:
    """Close up dotted capitals, every other character in its place: `U.S. law` → `US   law`."""
    return _DOTTED.sub(lambda match: match[0].replace(".", "").ljust(len(match[0])), text)


def _capitalised(text: str, taken: Container[int]) -> list[Name]:
    """Return the capitalised runs of words that are no date, title or sentence beginning."""
    keys, starts, ends = words(text)
    titles, chinese = abbreviations().never_end, not text.isascii() and CJK_CHAR.search(text)
    tall = [at for at, start in enumerate(starts) if text[start].isupper()]
    telling = [at for at in tall if weight(keys[at]) > LIGHT]
    found: list[Name] = []
    for at in telling:
        key, start, end = keys[at], starts[at], ends[at]
        if end - start == 1 or key in titles or text[start:end] in _NONE:
            continue
        if text[start + 1] not in "'’" and start not in taken:
            behind_title = at > 0 and keys[at - 1] in titles
            certain = bool(chinese) or behind_title or not _opens(text, start)
            found.append(Name("", (key,), start, end, certain))
    if len(telling) >= _SHORT and not chinese and not text.rstrip().endswith(_STOPS):
        small = set(range(len(keys))).difference(tall)
        if all(ends[at] - starts[at] < _LONG for at in small):
            found = [name._replace(certain=False) for name in found]
    return _joined(found, text)


def _opens(text: str, start: int) -> bool:
    before = text[max(0, start - _REACH) : start]
    return _OPENING.search(before) is not None and (start < _REACH or before.strip() != "")


def _joined(found: list[Name], text: str) -> list[Name]:
    """Return the names with adjacent ones joined."""
    joined: list[Name] = []
    for name in found:
        last = joined[-1] if joined else None
        # `Mary Smith won`: the second is a name, and so is what stands right before it.
        joint = last and name.certain and _JOINT.fullmatch(text, last.end, name.start)
        if last and joint and (last.certain or (joint[0] == " " and _begins_name(last, text))):
            joined[-1] = name._replace(parts=(*last.parts, *name.parts), start=last.start)
        else:
            joined.append(name)
    return joined


def _begins_name(name: Name, text: str) -> bool:
    starts = name.parts[0] in abbreviations().starters or name.parts[0] in _openers()
    return not starts and not text.endswith(_ADVERB, name.start, name.end)


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
        self.text = text
        self._flat = text == text.lower()
        plain = _spread(text)
        self._stems, starts, ends = words(plain)
        self._starts, self._ends = starts, ends
        self._forms = [plain[start:end] for start, end in zip(starts, ends, strict=True)]
        """The words as they are written."""
        self._tall = {at for at, form in enumerate(self._forms) if self._flat or form[0].isupper()}
        """Which of the words have a capital; all of a text that has none."""
        self.stems = frozenset(self._stems)

    def missing(self, name: Name) -> frozenset[str]:
        """Return the parts of a name that the text lacks: `jane` of `Jane Silva` for `Ana Silva`.

        An acronym matches its words, and the words match the acronym.
        """
        lost = frozenset(part for part in name.parts if not self._has(part))
        return frozenset() if lost and self._has_whole(name) else lost

    def lacks(self, name: Name) -> bool:
        """Return whether the text has neither the name as written nor all of its parts."""
        return name.written not in self.text and bool(self.missing(name))

    def _has(self, part: str) -> bool:
        return (
            part in self.stems
            or (not part.isascii() and part in self.text)
            or any((root, not people) in self.roots for root, people in _roots(part))
            or not self.groups.isdisjoint(_forms().get(part, ()))
        )

    def _has_whole(self, name: Name) -> bool:
        """Return whether the text has it as an acronym, spelled out, or spaced differently."""
        initials = "".join(part[0] for part in name.parts)
        acronym, closed = name.written.removesuffix("s"), stem(_GAP.sub("", name.written))
        return (
            (len(initials) > 1 and self._has_acronym(initials))
            or not self.groups.isdisjoint(_forms().get(" ".join(name.parts), ()))
            or (len(closed) >= _ROOT and closed in self.closed)
            or (acronym.isupper() and self._spells(acronym.lower()))
        )

    def _has_acronym(self, initials: str) -> bool:
        if self._flat:
            return len(initials) > _FEW and initials in self.written
        return initials.upper() in self.written

    def _spells(self, acronym: str) -> bool:
        if self._flat or len(acronym) > _FEW:
            return acronym in self.initials.lower()
        return len(acronym) == _FEW and acronym.upper() in self.initials

    @cached_property
    def written(self) -> frozenset[str]:
        """The words, without the s of a plural."""
        return frozenset(form.removesuffix("s") for form in self._forms)

    @cached_property
    def initials(self) -> str:
        """The first letters of the content words."""
        own = zip(self._stems, self._forms, strict=True)
        return "".join(form[0] for key, form in own if weight(key) > LIGHT)

    @cached_property
    def roots(self) -> frozenset[tuple[str, bool]]:
        """The roots of capitalised words, and whether their ending is that of a people."""
        tall = {self._stems[at] for at in self._tall}
        return frozenset(root for own in tall for root in _roots(own))

    @cached_property
    def closed(self) -> frozenset[str]:
        """Capitalised words side by side, written as one."""
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
    def groups(self) -> frozenset[int]:
        """The groups of demonyms with a form in the text; short forms need capitals."""
        found: set[int] = set()
        keys, forms = [*self._stems, ""], self._forms
        for at in self._tall:
            if self._flat or len(forms[at]) > _JOINED or forms[at].isupper():
                found.update(_forms().get(keys[at], ()))
            found.update(_forms().get(f"{keys[at]} {keys[at + 1]}", ()))
        return frozenset(found)


def _roots(own: str) -> Iterator[tuple[str, bool]]:
    """Yield the roots of a stem, and whether the ending is that of a people."""
    for endings, people in ((_PLACES, False), (_PEOPLES, True)):
        for ending in endings:
            if own.endswith(ending) and len(own) - len(ending) >= _ROOT:
                yield own.removesuffix(ending), people


@cache
def _openers() -> frozenset[str]:
    return frozenset(map(stem, _OPENERS.split()))


@cache
def _forms() -> dict[str, frozenset[int]]:
    """Return the groups of each demonym, by the stems of its words."""
    source = files("judge").joinpath("data", "demonyms.toml").read_text("utf-8")
    groups: dict[str, frozenset[int]] = {}
    for number, group in enumerate(tomllib.loads(source)["groups"]):
        for form in group:
            written = " ".join(map(stem, form.split()))
            groups[written] = groups.get(written, frozenset()) | {number}
    return groups
