"""Finds citation markers in a text: brackets and phrases that may cite, and their numbers.

All functions take time linear in the text: no pattern scans past the next delimiter of its kind.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from itertools import islice
from typing import Final, NamedTuple

from judge.text.patterns import lazy_pattern

MOST_CHARACTERS_IN_BRACKETS: Final = 200
MOST_MARKERS: Final = 50_000
"""The most citations of one answer that are read."""
_MOST_BRACKETS: Final = 2 * MOST_MARKERS
"""The most brackets that are read, opening and closing ones."""
_MOST_NUMBERS_IN_RANGE: Final = 100

_BRACKETS = r"\[\]［］【】〔〕"
MARKER: Final = lazy_pattern(
    rf"(?:[\[［【〔](?=[^{_BRACKETS}\n]{{0,100}}?\d)"
    rf"(?:[,，;；、–-]\ |[^{_BRACKETS}\s]){{1,100}}+[\]］】〕](?!\()"
    r"|\([\w.-]{1,60}[#:][\w.#:-]{1,100}\)|[⁰¹²³⁴-⁹]{1,4}+"
    r"|[(（][\w./-]{1,60}\#[\w.#:/-]{1,100}(?:[,，;；、]\ ?[\w.#:/-]{1,100}){0,20}[)）]"
    r"|\((?:[Pp]assage|[Dd]oc(?:ument)?|[Ss]ource|[Cc]hunk|[Rr]ef(?:erence)?)s?\.? [^()\n]{1,60}\)"
    r"|（(?:文档|资料|片段|段落|来源|见|参见)[^（）\n]{1,60}）)"
)
"""A citation marker by its look. It holds a digit: `[sic]` and `【注意】` are text."""
_MARKER_BEGINS: Final = "[(［【〔（⁰¹²³⁴⁵⁶⁷⁸⁹"

_RANGE = r"[-–—−‐~～至到]"
_NUMBER = re.compile(rf"\s*+([0-9]{{1,200}}+)\s*+(?:{_RANGE}\s*+([0-9]{{1,200}}+)\s*+)?")
_SEPARATOR = re.compile(r"[,;、，；&和与及]|\band\b")


class Form(Enum):
    """The form of a marker, which decides what in it may cite."""

    SQUARE = auto()
    """`[…]`, `［…］`, `【…】`."""
    ROUND = auto()
    """`(…)`, `（…）`."""
    LINK = auto()
    """`[…](target)`, with its target."""
    TARGET = auto()
    """The `(target)` of a link."""
    NEVER = auto()
    """`《…》` and images, which never cite."""


class Marker(NamedTuple):
    """A pair of brackets that may be a citation."""

    start: int
    end: int
    content: str
    """The text between the brackets, without a footnote's `^` or a `†source` tail."""
    form: Form
    numeric: bool
    """Whether a number in it cites: not in `(1)`, `arr[0]`, `第[3]条`."""
    opaque: bool
    """Whether brackets inside are text too, unless the whole is a citation."""


def unmarked(text: str, fill: str = "") -> str:
    """Replace each character of what looks like a marker by `fill`."""
    begins = "[(" if text.isascii() else _MARKER_BEGINS
    if not any(map(text.__contains__, begins)):
        return text
    return MARKER.sub(lambda found: fill * len(found[0]), text)


def split_parts(content: str) -> list[str]:
    """Split the content of a marker at `,` `;` `、` `，` `；`, `and` and `和`."""
    return [part.strip() for part in _SEPARATOR.split(content)]


def read_numbers(part: str) -> tuple[str, ...] | None:
    """Read a number or a range as its digit strings, full-width digits included.

    None for anything else, for a reversed range, and for one of more than 100 numbers.

    >>> read_numbers("１"), read_numbers("2–4"), read_numbers("4-2"), read_numbers("1.5")
    (('1',), ('2', '3', '4'), None, None)
    """
    match = _NUMBER.fullmatch(unicodedata.normalize("NFKC", part))
    if match is None:
        return None
    low, high = match.groups()
    if high is None:
        return (low,)
    first, last = int(low), int(high)
    return (
        tuple(map(str, range(first, last + 1)))
        if 0 <= last - first < _MOST_NUMBERS_IN_RANGE
        else None
    )


# Brackets.

_BRACKET = re.compile(r"\\?[\[\]()]|[［］【】（）《》]")
_FAMILY: Final = {
    **dict.fromkeys("[］［]", "["),
    **dict.fromkeys("(（）)", "("),
    **dict.fromkeys("【】", "【"),
    **dict.fromkeys("《》", "《"),
    **dict.fromkeys(("\\[", "\\]"), "\\["),
    **dict.fromkeys(("\\(", "\\)"), "\\("),
}
_OPENERS: Final = frozenset(("[", "［", "(", "（", "【", "《", "\\[", "\\("))
_OPAQUE: Final = frozenset(("《", "\\[", "\\("))
_OPAQUE_LIMIT: Final = 2000

_TITLE = r"""(?:"[^"]*+"|'[^']*+')"""
_DESTINATION = re.compile(rf"\s*+(?:<[^<>\n]*+>|[^\s<>]*+)(?:\s++{_TITLE})?+\s*+|\s++{_TITLE}\s*+")
_ARRAY = re.compile(
    r"arr|args|array|argv|bool|buf|byte|char|cols|df|dict|double|elems?|float|idx|img|int|kwargs"
    r"|lst|mat|nums|obj|params|ptr|rows|str|tmp|tup|vec"
)
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_]*+\Z")
_NAME_LIMIT: Final = 64


class _Pair(NamedTuple):
    start: int
    end: int
    family: str


def may_cite(text: str) -> bool:
    """Return whether a text has an opening bracket, as each marker has."""
    return any(map(text.__contains__, "[(［（【《"))


def has_unread_brackets(text: str) -> bool:
    """Return whether a text has more brackets than `find_markers` reads."""
    if sum(map(text.count, "[]()［］【】（）《》")) <= _MOST_BRACKETS:  # most, and no search
        return False
    return any(True for _ in islice(_unshielded(text, _BRACKET), _MOST_BRACKETS, None))


def find_markers(text: str, limit: int = MOST_CHARACTERS_IN_BRACKETS) -> Iterator[Marker]:
    """Yield every pair of brackets of at most `limit` characters outside code and addresses.

    An outer pair comes before an inner one.
    """
    pairs = _pairs(text)
    ends = {pair.start: pair.end for pair in pairs if pair.family == "("}
    for pair in pairs:
        opaque = pair.family in _OPAQUE
        if pair.end - pair.start > (max(limit, _OPAQUE_LIMIT) if opaque else limit + 2):
            continue
        form, end = _form(text, pair, ends)
        width = len(pair.family)
        content = text[pair.start + width : pair.end - width].strip()
        numeric = (
            (form is Form.SQUARE or form is Form.LINK)
            and not (pair.family == "[" and _is_index(text, pair))
            and not text[max(0, pair.start - 4) : pair.start].rstrip(" ").endswith("第")
        )
        content = content.removeprefix("^").partition("†")[0].strip()
        yield Marker(pair.start, end, content, form, numeric, opaque or form is Form.NEVER)


def _pairs(text: str) -> list[_Pair]:
    """Match brackets with one stack per family, so that a stray one affects no other family."""
    stacks: dict[str, list[int]] = {family: [] for family in _FAMILY.values()}
    found: list[_Pair] = []
    for token in islice(_unshielded(text, _BRACKET), _MOST_BRACKETS):
        bracket = token[0]
        family = _FAMILY[bracket]
        if bracket in _OPENERS:
            stacks[family].append(token.start())
        elif stacks[family]:
            found.append(_Pair(stacks[family].pop(), token.end(), family))
    return sorted(found)


def _form(text: str, pair: _Pair, ends: Mapping[int, int]) -> tuple[Form, int]:
    """Return the form of a pair, and the end of its marker: behind the target if it is a link."""
    if pair.family == "《":
        return Form.NEVER, pair.end
    if pair.family in {"(", "\\("}:
        return (Form.TARGET if text[pair.start - 1 : pair.start] == "]" else Form.ROUND), pair.end
    close = ends.get(pair.end, 0)
    if pair.family != "[" or text[pair.end : pair.end + 1] != "(" or not close:
        return Form.SQUARE, pair.end
    target = text[pair.end + 1 : min(close - 1, pair.end + _OPAQUE_LIMIT)]
    address = not target or any(sign in target for sign in ":/.#")
    if not (address and _DESTINATION.fullmatch(target)):
        return Form.SQUARE, pair.end
    return (Form.NEVER if text[pair.start - 1 : pair.start] == "!" else Form.LINK), close


def _is_index(text: str, pair: _Pair) -> bool:
    """Return whether a bracket is an index: `arr[0]`, `my_list[3]`, `x[1]`; not in `CO2[1]`."""
    start = pair.start
    name = _name(text, start)
    if not name or name[0].isdigit():
        return False
    if len(name) == 1:
        # The s of "company's" and the g of "e.g" are no variables; the C of "vitamin C" neither.
        return name.islower() and text[start - 2 : start - 1] not in {"'", "’", ".", "-"}
    return (
        "_" in name
        or _ARRAY.fullmatch(name) is not None
        or (name[0].islower() and name[-1].isdigit())
        or text[start + 1 : pair.end - 1].strip() == "0"
    )


def _name(text: str, end: int) -> str:
    """Return the ASCII letters, digits and underscores that end at `end`, or an empty text."""
    if not text[end - 1 : end].isalnum() and text[end - 1 : end] != "_":  # most, and no search
        return ""
    found = _NAME_BEFORE.search(text, max(0, end - _NAME_LIMIT), end)
    return found[0] if found else ""


# Citations in words.

_COUNT = (
    rf"[0-9０-９]{{1,9}}(?:\s*{_RANGE}\s*[0-9０-９]{{1,9}})?"
    rf"(?![A-Za-z0-9０-９_%％]|[.．][0-9a-z]|[-–~]\w|\s?[份个種种篇页張张人名位年月日天次元万亿倍])"
)
_EDGE = r"(?<![A-Za-z0-9_\#/.\-])"
_NOUN = r"(?:passage|document|doc|source|chunk|context|snippet|excerpt)"
_PHRASE = lazy_pattern(
    rf"{_EDGE}(?i:{_NOUN}s)\s?(?:\#\s?)?({_COUNT}"
    rf"(?:\s?,\s?{_COUNT})*(?:\s?,?\s?(?:and|&|or)\s{_COUNT})?)"
    rf"|{_EDGE}(?i:{_NOUN})\s?(?:\#\s?|[Nn]o\.\s?|number\s)?({_COUNT})"
    rf"|(?:文档|文段|段落|资料|来源|片段|材料|文献)\s?({_COUNT}(?:\s?[、和与及或]\s?{_COUNT})*)"
)
_PHRASE_NUMBER = re.compile(rf"[0-9]++(?:\s*+{_RANGE}\s*+[0-9]++)?")


def find_phrases(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield start, end and numbers of citations in words outside code: `passages 1 and 3`."""
    for match in _unshielded(text, _PHRASE):
        numerals = unicodedata.normalize("NFKC", match[match.lastindex or 0])
        parts = _PHRASE_NUMBER.findall(numerals)
        numbers = tuple(number for part in parts for number in read_numbers(part) or ())
        yield *match.span(), numbers


# Shields: code, formulas and addresses, in which nothing cites.

_CODE_FENCE = re.compile(r"^[ \t>]*+(?:[-*+][ \t]++)?(`{3,}+|~{3,}+)([^\n]*+)$", re.MULTILINE)
_SHIELD_SIGNS: Final = ("`", "~~~", "$", "http", "www.")
# A dollar before a digit is a price; a bracket at the very end of an address is a citation.
_SHIELD = re.compile(
    r"""
    (?<!`)``(?!`)(?:[^`\n]++|`(?!`))++``(?!`)
    | (?<!`)`(?!`)[^`\n]++`(?!`)
    | \$\$[^$]++\$\$
    | (?<![\\$])\$(?![\s$0-9])[^$\n]*+(?<=\S)\$(?![0-9])
    | (?:https?://|www\.)
      (?:[A-Za-z0-9\-._~:/?\#@!$&'*+,;=%|]++|(?:\[\w*+\])++(?=[A-Za-z0-9_/=&?\#%]|\.\w))*+
    """,
    re.VERBOSE,
)


def _unshielded(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern outside code, formulas and addresses."""
    shields = iter(_shields(text))
    start, end = next(shields, (len(text), len(text)))
    for match in pattern.finditer(text):
        while end <= match.start():
            start, end = next(shields, (len(text), len(text) + 1))
        if match.end() <= start:
            yield match


def _shields(text: str) -> list[tuple[int, int]]:
    """Find fenced blocks, code spans, formulas and web addresses, in order and without overlap."""
    if not any(sign in text for sign in _SHIELD_SIGNS):
        return []
    spans: list[tuple[int, int]] = []
    fence: re.Match[str] | None = None
    done = 0
    for line in _CODE_FENCE.finditer(text):
        mark, info = line.groups()
        if fence is None:
            if mark[0] in info:
                continue
            spans += (match.span() for match in _SHIELD.finditer(text, done, line.start()))
            fence = line
        elif mark.startswith(fence[1]) and not info.strip():
            spans.append((fence.start(), line.end()))
            done, fence = line.end(), None
    if fence is not None:
        return [*spans, (fence.start(), len(text))]
    return [*spans, *(match.span() for match in _SHIELD.finditer(text, done))]
