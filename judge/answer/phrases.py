"""Citations in words: `passage 2`, `passages 1 and 3`, `文档2`."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from judge.answer.markers import RANGE_SIGN, read_numbers
from judge.answer.shields import find_shields

_COUNT = (
    rf"[0-9０-９]{{1,9}}(?:\s*{RANGE_SIGN}\s*[0-9０-９]{{1,9}})?"
    rf"(?![A-Za-z0-9０-９_%％]|[.．][0-9a-z]|[-–~]\w|\s?[份个種种篇页張张人名位年月日天次元万亿倍])"
)
_EDGE = r"(?<![A-Za-z0-9_\#/.\-])"
_NOUN = r"(?:passage|document|doc|source|chunk|context|snippet|excerpt)"
_PROSE = re.compile(
    rf"{_EDGE}(?i:{_NOUN}s)\s?(?:\#\s?)?({_COUNT}"
    rf"(?:\s?,\s?{_COUNT})*(?:\s?,?\s?(?:and|&|or)\s{_COUNT})?)"
    rf"|{_EDGE}(?i:{_NOUN})\s?(?:\#\s?|[Nn]o\.\s?|number\s)?({_COUNT})"
    rf"|(?:文档|文段|段落|资料|来源|片段|材料|文献)\s?({_COUNT}(?:\s?[、和与及或]\s?{_COUNT})*)"
)
_PROSE_NUMBER = re.compile(rf"[0-9]+(?:\s*{RANGE_SIGN}\s*[0-9]+)?")


class Phrase(NamedTuple):
    """A citation in words, as in `passages 1 and 3`."""

    start: int
    end: int
    numbers: tuple[str, ...]


def find_phrases(text: str) -> Iterator[Phrase]:
    """Yield citations in words: `passage 2`, `passages 1, 2 and 3`, `文档1和3`; code is skipped."""
    shields = iter(find_shields(text))
    start, end = next(shields, (len(text), len(text)))
    for match in _PROSE.finditer(text):
        while end <= match.start():
            start, end = next(shields, (len(text), len(text) + 1))
        if match.end() <= start:
            listed = unicodedata.normalize("NFKC", match[match.lastindex or 0])
            parts = _PROSE_NUMBER.findall(listed)
            numbers = tuple(number for part in parts for number in read_numbers(part) or ())
            yield Phrase(match.start(), match.end(), numbers)
