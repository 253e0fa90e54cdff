"""Text in a spreadsheet's cell: no formula, not too long, nothing a file cannot hold."""

import re
import unicodedata
from typing import Final

from judge.review.words import Lang, cut_mark
from judge.text.visible import visible

LONGEST: Final = 30_000
"""Characters in a cell, the mark of a cut included."""

MOST_UNITS: Final = 32_767
"""UTF-16 code units that Excel keeps of a cell; an emoji is two."""

_QUOTE: Final = "'"
# Spreadsheets skip white space before a sign, and East Asian ones take its full-width form.
_FORMULA: Final = re.compile(r"'*+(?:\s*+[=+\-@＝＋－＠]|[\t\r\n])")
_LINE_END: Final = re.compile(r"\r\n?")
# XML, and so XLSX, cannot hold these, nor most of what `visible` shows.
_NO_XML: Final = dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd")
_JOINER: Final = "\u200d"
_SKIN: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
# Longer than any emoji or stacked letter that means something.
_LONGEST_CLUSTER: Final = 32


def cell(text: str, lang: Lang) -> str:
    """The text as it stands in a cell: `legible`, `fit`, and neutralised."""
    return neutralise(fit(legible(text), lang))


def neutralise(text: str) -> str:
    """The text, behind an apostrophe if a spreadsheet could take it for a formula.

    >>> neutralise("=1+1"), neutralise("3 - 1"), neutralise("'=1")
    ("'=1+1", '3 - 1', "''=1")
    """
    return _QUOTE + text if _FORMULA.match(text) else text


def restore(text: str) -> str:
    """What `neutralise` was given, for any text.

    A cell whose apostrophe a spreadsheet has swallowed comes back whole, too.

    >>> restore("'=1+1"), restore("=1+1"), restore("'tis")
    ('=1+1', '=1+1', "'tis")
    """
    return text[1:] if text.startswith(_QUOTE) and _FORMULA.match(text, 1) else text


def legible(text: str) -> str:
    r"""The text as a file can hold it and a person reads it, a second time the same.

    Line ends become `\n`, control characters their pictures, lone surrogates, C1 controls and
    bidirectional overrides U+FFFD.

    >>> legible("a\r\nb\x00")
    'a\nb␀'
    """
    return visible(_LINE_END.sub("\n", text)).translate(_NO_XML)


def fit(text: str, lang: Lang, longest: int = LONGEST) -> str:
    """The text, or as much of it as a cell holds, and a mark that says how much is missing.

    What comes out fits: at most `longest` characters, and in Excel, neutralised or not. Letters
    are not parted from their accents, nor emoji in the middle.

    Args:
        text: legible text.
        lang: language of the mark.
        longest: characters, the mark included; at least 100.
    """
    room = MOST_UNITS - len(_QUOTE)
    if len(text) <= longest and _units(text) <= room:
        return text
    mark = len(cut_mark(len(text), lang))
    head = text[: longest - mark]
    if (over := _units(head) - (room - mark)) > 0:
        head = _encoded(head)[: -2 * over].decode("utf-16-le", errors="ignore")
    edge = _edge(text, len(head))
    return text[:edge] + cut_mark(len(text) - edge, lang)


def _units(text: str) -> int:
    return len(_encoded(text)) // 2


def _encoded(text: str) -> bytes:
    return text.encode("utf-16-le", errors="surrogatepass")


def _edge(text: str, cut: int) -> int:
    """The last place not after `cut` that parts no cluster; `cut` where there is none near."""
    for edge in range(cut, max(cut - _LONGEST_CLUSTER, 0), -1):
        if not _joins(text[edge]) and text[edge - 1] != _JOINER:
            return edge
    return cut


def _joins(character: str) -> bool:
    return (
        character == _JOINER
        or character in _SKIN
        or unicodedata.category(character) in {"Mn", "Mc", "Me"}
    )
