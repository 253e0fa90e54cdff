"""Citation markers as text: the brackets that may cite, and the numbers that stand in them.

What a bracket resolves to needs the chunks and is settled one floor up. Everything here takes
time linear in the text: no pattern can scan past the next delimiter of its own kind.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple

from judge.answer.shields import find_shields

CONTENT_LIMIT: Final = 200
"""Characters between two brackets beyond which they hold prose, not a citation."""
RANGE_LIMIT: Final = 100
"""Numbers a range may stand for; a wider one is text."""

RANGE_SIGN: Final = r"[-–—−‐~～至到]"
"""What may stand between the ends of a range, as a regular expression."""

_OPAQUE_LIMIT: Final = 2000
_NAME_LIMIT: Final = 64


class Form(Enum):
    """How a marker is written, which decides what in it may cite."""

    SQUARE = auto()
    """`[…]`, `［…］`, `【…】`."""
    ROUND = auto()
    """`(…)`, `（…）`."""
    LINK = auto()
    """`[…](target)`, target included."""
    TARGET = auto()
    """The `(target)` of a link."""
    NEVER = auto()
    """`《…》` and images: whatever stands inside is text."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A pair of brackets that may be a citation."""

    start: int
    """First character, into the text."""
    end: int
    """One past the last."""
    content: str
    """What stands between the brackets, without a footnote's `^` or a `†source` tail."""
    form: Form
    """How it is written."""
    numeric: bool
    """False where a number is no citation: `(1)`, `arr[0]`, `第[3]条`, `∈ [0, 1]`."""
    opaque: bool
    """True where brackets inside are text too, unless the whole is a citation."""


class _Pair(NamedTuple):
    start: int
    end: int
    family: str


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

_DESTINATION = re.compile(r"""\s*(?:<[^<>\n]*+>|[^\s<>]*+)(?:\s+(?:"[^"]*+"|'[^']*+'))?\s*""")
_PLURAL = re.compile(r"(?:s|es|ies|d|r|n)")
_CAMEL = re.compile(r"(?!(?:ar|bio|med)R?[Xx]iv)[a-z]{2,}[A-Z][a-z]")
_ARRAY = re.compile(
    r"arr|args|array|argv|bool|buf|byte|char|cols|df|dict|double|elems?|float|idx|img|int|kwargs"
    r"|lst|mat|nums|obj|params|ptr|rows|str|tmp|tup|vec"
)
_CODE_AFTER = re.compile(r"[ \t]*(?:[-+*/:]?=|\+\+)|\.[a-z_]")
_INTERVAL = re.compile(
    r"(?:∈|\b(?:intervals?|ranges?)(?:\s+of)?|区间|范围)\s*[为是在:：]?\s*$", re.IGNORECASE
)

_NUMBER = re.compile(rf"\s*([0-9]{{1,200}})\s*(?:{RANGE_SIGN}\s*([0-9]{{1,200}})\s*)?")
_SEPARATOR = re.compile(r"[,;、，；&和与及]|\band\b")


def find_markers(text: str, limit: int = CONTENT_LIMIT) -> Iterator[Marker]:
    """Yield every pair of brackets that may cite, by start: an outer pair before an inner.

    Code spans, fenced blocks, `$…$` and addresses are passed over.

    Args:
        text: any text; offsets are characters into it.
        limit: longest content, in characters.
    """
    pairs = _pairs(text)
    ends = {pair.start: pair.end for pair in pairs if pair.family == "("}
    calls = {pair.end: pair.start for pair in pairs if pair.family == "("}
    indexed: set[int] = set()
    for pair in pairs:
        opaque = pair.family in {"《", "\\[", "\\("}
        if pair.end - pair.start > (max(limit, _OPAQUE_LIMIT) if opaque else limit + 2):
            continue
        index = pair.family == "[" and _is_index(text, pair, indexed, calls)
        if index:
            indexed.add(pair.end)
        form, end = _form(text, pair, ends)
        width = len(pair.family)
        content = text[pair.start + width : pair.end - width].strip()
        numeric = (
            form in {Form.SQUARE, Form.LINK}
            and not index
            and not text[max(0, pair.start - 4) : pair.start].rstrip(" ").endswith("第")
            and not _is_interval(text, pair.start, content)
        )
        content = content.removeprefix("^").partition("†")[0].strip()
        yield Marker(pair.start, end, content, form, numeric, opaque or form is Form.NEVER)


def split_parts(content: str) -> list[str]:
    """Split the content of a marker at `,` `;` `、` `，` `；`, `and` and `和`, blanks removed."""
    return [part.strip() for part in _SEPARATOR.split(content)]


def read_numbers(part: str) -> tuple[str, ...] | None:
    """Read a number or a range as the digit strings it stands for, full-width digits included.

    Returns:
        The digits as written, one entry a number; null for anything else, a reversed range, or
        one of more than `RANGE_LIMIT` numbers.

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
    return tuple(map(str, range(first, last + 1))) if 0 <= last - first < RANGE_LIMIT else None


def _pairs(text: str) -> list[_Pair]:
    """Match brackets, each family on a stack of its own, so that a stray one spoils no other."""
    shields = iter(find_shields(text))
    start, end = next(shields, (len(text), len(text)))
    stacks: dict[str, list[int]] = {family: [] for family in _FAMILY.values()}
    found: list[_Pair] = []
    for token in _BRACKET.finditer(text):
        while end <= token.start():
            start, end = next(shields, (len(text), len(text) + 1))
        if start <= token.start():
            continue
        bracket = token.group()
        stack = stacks[_FAMILY[bracket]]
        if bracket in _OPENERS:
            stack.append(token.start())
        elif stack:
            found.append(_Pair(stack.pop(), token.end(), _FAMILY[bracket]))
    return sorted(found)


def _form(text: str, pair: _Pair, ends: dict[int, int]) -> tuple[Form, int]:
    """How the pair is written, and where the marker ends: behind its target if it is a link."""
    if pair.family == "《":
        return Form.NEVER, pair.end
    if pair.family in {"(", "\\("}:
        return (Form.TARGET if text[pair.start - 1 : pair.start] == "]" else Form.ROUND), pair.end
    close = ends.get(pair.end, pair.end)
    target = text[pair.end + 1 : min(close - 1, pair.end + _OPAQUE_LIMIT)]
    is_link = (
        pair.family == "["
        and text[pair.end : pair.end + 1] == "("
        and close > pair.end
        and (not target or any(sign in target for sign in ":/.#"))
        and _DESTINATION.fullmatch(target) is not None
    )
    if not is_link:
        return Form.SQUARE, pair.end
    return (Form.NEVER if text[pair.start - 1 : pair.start] == "!" else Form.LINK), close


def _is_interval(text: str, start: int, content: str) -> bool:
    """`∈ [0, 1]`, `range [1-3]`, `区间[0, 1]`: two bounds behind a word that announces them."""
    if not content[:1].isdigit() or len(_SEPARATOR.split(content)) > 2:  # noqa: PLR2004 - bounds
        return False
    return not content.isdigit() and bool(_INTERVAL.search(text[max(0, start - 20) : start]))


def _is_index(text: str, pair: _Pair, indexed: set[int], calls: dict[int, int]) -> bool:
    """`arr[0]`, `my_list[3]`, `f(x)[1]`, `m[1][2]`; but "the policy[1]." and "CO2[1]" cite."""
    start = pair.start
    if start in indexed:
        return True
    before = calls.get(start)
    if before is not None:
        name = _name(text, before)
        return name[:1].islower() and not _PLURAL.fullmatch(text[before + 1 : start - 1])
    name = _name(text, start)
    if not name or name[0].isdigit():
        return False
    if len(name) == 1:
        # The s of "company's" and the g of "e.g" are no variables; the C of "vitamin C" neither.
        return name.islower() and text[start - 2 : start - 1] not in {"'", "’", ".", "-"}
    return (
        "_" in name
        or _ARRAY.fullmatch(name) is not None
        or _CAMEL.match(name) is not None
        or (name[0].islower() and any(map(str.isdigit, name)))
        or text[start + 1 : pair.end - 1].strip() == "0"
        or _CODE_AFTER.match(text, pair.end) is not None
    )


def _name(text: str, end: int) -> str:
    """The run of ASCII letters, digits and underscores that ends at `end`, or nothing."""
    start = end
    while start > max(0, end - _NAME_LIMIT):
        char = text[start - 1]
        if not (char == "_" or (char.isascii() and char.isalnum())):
            break
        start -= 1
    return text[start:end]
