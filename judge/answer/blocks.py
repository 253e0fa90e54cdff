"""Cuts a text at its layout into blocks, which no sentence crosses.

A line break cuts unless the next line clearly continues a sentence.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from judge.text.fold import CJK_CHAR
from judge.text.patterns import lazy_pattern


class Block(NamedTuple):
    """A part of the text, without white space at its ends."""

    start: int
    end: int
    whole: bool
    """Whether it is never cut further: a heading, a table row, a code fence, a rule."""


class _Line(NamedTuple):
    start: int
    end: int
    text: str


FENCE = re.compile(r"(?:>\s*+)*+(?:[-*+]\s++|\d{1,3}[.)]\s++)?(`{3,}+(?![^`]*+`)|~{3,}+)")
_RULE = re.compile(r"([-=_*~—])(?:\s*+\1){2,}+$")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
SEPARATOR_ROW = re.compile(r"(?=[^|]*+\|)(?=[^-]*+-)[\s|:+-]++$")
_BOLD_LINE = re.compile(r"(\*\*|__)(?:(?!\1).)++\1[:：]?$")
ITEM = lazy_pattern(
    r"""(?:
      [-*+•‣◦▪▸►●○■□·∙⁃–—✓✔✅❌➢➤](?:\s++|(?<=[•‣◦▪●○■□⁃✓✔✅❌➢➤]))  # bullet
    )?(?:
      [(（](?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5}|[一二三四五六七八九十]{1,3})[)）]\s*+
    | \d{1,3}(?:[.．]?[)）]|[、．]|[.](?=[\s*A-Z\u3400-\u9fff]))\s*+
    | [①-⑳⑴-⒇⒈-⒛㈠-㈩❶-❿➀-➓]\s*+
    | [一二三四五六七八九十]{1,3}[、.．]\s*+
    | (?:[a-zA-Z]|[ivxIVX]{1,5})(?:\.?\)|\.)\s++
    )?""",
    re.VERBOSE,
)
"""The list marker at the beginning of a line, or an empty match."""
_LINE_ENDS = tuple(".!?:;。！？：；…")
_CLOSING = "\"'”’»)]}*_）】》」』"
_OPEN_ENDS = lazy_pattern(
    r"(?:[,，、(（]|\b(?:a|an|and|as|at|by|for|from|in|is|of|on|or|that|the|to|was|with))$"
)
# A narrower line was broken on purpose.
_NARROWEST, _NARROWEST_CJK = 30, 16
_LONGEST_BOLD_LINE = 130


def blocks(text: str) -> tuple[Block, ...]:
    """Cut a text into blocks that together hold every non-blank character."""
    found: list[Block] = []
    paragraph: list[_Line] = []
    fence = ""
    for line in _lines(text):
        if fence:
            if line.text:
                found[-1] = Block(found[-1].start, line.end, whole=True)
            if line.text.startswith(fence) and not line.text.strip(fence[0]):
                fence = ""
            continue
        opening = FENCE.match(line.text)
        if line.text and not opening:
            paragraph.append(line)
            continue
        found.extend(_paragraph(paragraph))
        paragraph = []
        if opening:
            fence = opening[1]
            found.append(Block(line.start, line.end, whole=True))
    found.extend(_paragraph(paragraph))
    return tuple(found)


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines without white space at their ends; all line breaks of Unicode count."""
    place = 0
    for raw in text.splitlines(keepends=True):
        stripped = raw.strip()
        start = place + (len(raw) - len(raw.lstrip()) if stripped else 0)
        yield _Line(start, start + len(stripped), stripped)
        place += len(raw)


def _paragraph(lines: list[_Line]) -> Iterator[Block]:
    """Yield the blocks of consecutive lines that are not blank."""
    table = _in_table(lines)
    run: list[_Line] = []
    for number, line in enumerate(lines):
        if number in table or _stands_alone(line.text):
            yield from _running(run)
            yield Block(line.start, line.end, whole=True)
            run = []
        else:
            run.append(line)
    yield from _running(run)


def _stands_alone(text: str) -> bool:
    bold = len(text) <= _LONGEST_BOLD_LINE and _BOLD_LINE.match(text)
    return bool(bold or _HEADING.match(text) or _RULE.match(text))


def _in_table(lines: list[_Line]) -> set[int]:
    """Return the numbers of the lines that are rows of a table."""
    rows = {number for number, line in enumerate(lines) if line.text.startswith("|")}
    for number, line in enumerate(lines):
        if not SEPARATOR_ROW.match(line.text):
            continue
        rows.add(number)
        if number and "|" in lines[number - 1].text:
            rows.add(number - 1)
        below = number + 1
        while below < len(lines) and below not in rows and "|" in lines[below].text:
            rows.add(below)
            below += 1
    return rows


def list_marker(text: str) -> int:
    """Return the length of the list marker at the beginning of a line; or 0."""
    found = ITEM.match(text)
    return found.end() if found else 0


def _running(lines: list[_Line]) -> Iterator[Block]:
    """Yield the blocks of running text; a line that continues a sentence is joined to it."""
    if not lines:
        return
    start = lines[0].start
    for above, line in pairwise(lines):
        if not _continues(above.text, line.text):
            yield Block(start, above.end, whole=False)
            start = line.start
    yield Block(start, lines[-1].end, whole=False)


def _continues(above: str, text: str) -> bool:
    """Return whether a wrapped line ended above in mid-sentence, which `text` continues."""
    if above.rstrip(_CLOSING).endswith(_LINE_ENDS):
        return False
    if list_marker(text) or text.startswith((">", "[^")):
        return False
    if len(above) < (_NARROWEST_CJK if CJK_CHAR.match(text) else _NARROWEST):
        return False
    return text[0].islower() or bool(_OPEN_ENDS.search(above[-12:]))
