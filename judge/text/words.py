"""Words with their places: stems in alphabetic scripts, single characters in CJK."""

import json
import math
import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources
from typing import Final, NamedTuple

from judge.text.fold import CJK, CJK_CHAR
from judge.text.patterns import lazy_pattern
from judge.text.toolkit import english_stem

LIGHT: Final = 0.1
"""The weight of function words, and of words about passages and answers."""
CONTENT: Final = 0.2
"""A content word has a higher weight."""
_UNLISTED: Final = 0.8

LATIN: Final = r"[A-Za-z][A-Za-z0-9]*+(?![\w'’])"
"""Most words, and none that `WORD` would not find without it: it is tried first, for its speed."""
WORD: Final = lazy_pattern(rf"{LATIN}|[{CJK}]|[^\W\d_{CJK}](?:[^\W_{CJK}]|['’](?=[^\W\d_{CJK}]))*")
# No bracket and no second `#` inside a run: each stretch is walked once, however long the text.
_INSIDE: Final = r"[^\[\]()【】（）［］\s#]"
_MARKUP: Final = lazy_pattern(
    rf"""
      [\[【［] \^? \d{{1,3}} (?: [ ]?[,，、–-][ ]?\d{{1,3}} )*
        (?: † [^\[\]【】\n]{{0,80}} )? [\]】］]
    | [\[(【（［] {_INSIDE}{{0,80}} (?: \# {_INSIDE}{{1,80}} ){{1,8}} [\])】）］]
    | (?<![^\W_]) (?i:passage|document|source|chunk|context|reference)s? [ ]? \#?
        \d{{1,3}} (?![.\d]?\d) (?: :\d{{1,3}} )? (?: [ ]?(?:,|and|&|-|–)[ ]? \d{{1,3}} (?![\w%]) )*
    | (?:段落|文档|文件|资料|来源|材料|片段) [ ]? \d{{1,3}} (?!\d)
    | ^ [ \t]* (?: \d{{1,3}}[.)、．] (?!\d) | \(\d{{1,3}}\) ) (?= [ \t]* \S )
    """,
    re.VERBOSE | re.MULTILINE,
)
# Every markup contains one of these signs, so that they are a fast test before the pattern.
_SIGN: Final = re.compile(r"[\[【［(（#段文资来材片ſ\n]")
_SOURCES: Final = ("passage", "document", "source", "chunk", "context", "reference")


class Words(NamedTuple):
    """The words of a text in reading order, as lists of one length."""

    stems: list[str]
    """The common stem of a word's spellings; a CJK character is its own stem."""
    starts: list[int]
    ends: list[int]


def words(text: str) -> Words:
    """Find the words of a text; numbers are no words, `B12` is.

    >>> words("Dr. Müller’s cafés: 周五, 12 B12").stems
    ['dr', 'muller', 'cafe', '周', '五', 'b12']
    """
    found = list(WORD.finditer(text))
    return Words(
        [stem(match[0]) for match in found],
        [match.start() for match in found],
        [match.end() for match in found],
    )


def stems(text: str) -> list[str]:
    """Return the stems of a text in the order of `words`, in a third of the time."""
    return [stem(word) for word in WORD.findall(text)]


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Overwrite spans of a text with spaces; the spans ascend and do not overlap."""
    kept, last = [], 0
    for start, end in spans:
        kept += [text[last:start], " " * (end - start)]
        last = end
    return "".join([*kept, text[last:]])


def blank_markup(text: str) -> str:
    """Overwrite citations, `passage 2` too, and the numbers of list items with spaces."""
    signs = _SIGN.search(text) or text.lstrip(" \t")[:1].isdecimal()
    if not signs and not any(map(text.lower().__contains__, _SOURCES)):
        return text
    return _MARKUP.sub(lambda match: " " * len(match.group()), text)


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Fold width, case and accents, then take the English stem of what is left in a-z.

    >>> [stem(word) for word in ("Reporting", "ＲＥＰＯＲＴＳ", "Łódź", "报")]
    ['report', 'report', 'łodz', '报']
    """
    plain = unicodedata.normalize("NFKC", word).casefold().replace("’", "'")
    if not plain.isascii():
        parts = unicodedata.normalize("NFKD", plain)
        base = "".join(part for part in parts if not unicodedata.combining(part))
        plain = unicodedata.normalize("NFC", parts if CJK_CHAR.match(plain) else base)
    return english_stem()(plain) if plain.isascii() else plain


@lru_cache(maxsize=1 << 17)
def weight(stemmed: str) -> float:
    """Return the weight of a stem, from `LIGHT` to 1.

    Function words weigh `LIGHT`. Other alphabetic stems weigh their inverse document frequency,
    ln((N + 1) / (df + ½)) / ln(2 (N + 1)), with df the number of the N background passages that
    have them. The weight of a CJK character rises with ln(1 + rank) by frequency, up to 0.8.
    """
    lists = _lists()
    if stemmed in lists.light:
        return LIGHT
    if CJK_CHAR.match(stemmed):
        rarity = math.log1p(lists.rank.get(stemmed, len(lists.rank))) / math.log1p(len(lists.rank))
        return LIGHT + (_UNLISTED - LIGHT) * rarity
    passages, counts = _background()
    return math.log((passages + 1) / (counts.get(stemmed, 0) + 0.5)) / math.log(2 * (passages + 1))


def negation() -> frozenset[str]:
    """Return the stems of negations: `not`, `didn't`, `without`, `没`."""
    return _lists().negation


def grammar(text: str) -> list[tuple[int, int]]:
    """Return spans of Chinese function words: `正在`, `这些`, `个` behind `三`."""
    return [] if text.isascii() else [found.span() for found in _lists().grammar.finditer(text)]


class Abbreviations(NamedTuple):
    """The sections of `judge/data/abbreviations.txt`, lower case, without the final stop."""

    never_end: frozenset[str]
    """Titles and the like: what follows always belongs to them."""
    may_end: frozenset[str]
    """Also the last word of a sentence, if a word of `starters` follows."""
    closes_list: frozenset[str]
    """The last word of a sentence, if any capitalised word follows."""
    before_number: frozenset[str]
    """Abbreviations only if a number follows."""
    starters: frozenset[str]
    """Words that, capitalised, begin a sentence rather than go on with a name."""


@cache
def abbreviations() -> Abbreviations:
    """Return the word lists, read once."""
    sections: dict[str, set[str]] = {}
    section: set[str] = set()
    for line in map(str.strip, _data("abbreviations.txt").splitlines()):
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), set())
        elif line and not line.startswith("#"):
            section.add(line)
    return Abbreviations(**{name: frozenset(words) for name, words in sections.items()})


class _Lists(NamedTuple):
    light: frozenset[str]
    negation: frozenset[str]
    rank: dict[str, int]
    grammar: re.Pattern[str]


@cache
def _lists() -> _Lists:
    raw: dict[str, str] = json.loads(_data("words.json"))
    light = frozenset(map(stem, f"{raw['stop']} {raw['frame']}".split()))
    light_zh = "|".join(sorted(raw["grammar_zh"].split(), key=len, reverse=True))
    return _Lists(
        light=light | frozenset(raw["stop_zh"] + raw["frame_zh"]),
        negation=frozenset(map(stem, raw["negation"].split())) | frozenset(raw["negation_zh"]),
        rank={char: rank for rank, char in enumerate(raw["common_zh"])},
        grammar=re.compile(f"(?<=[{raw['counting_zh']}])[{raw['classifiers_zh']}]|{light_zh}"),
    )


@cache
def _background() -> tuple[int, dict[str, int]]:
    raw = json.loads(_data("background.json"))
    return raw["passages"], raw["counts"]


def _data(name: str) -> str:
    return resources.files("judge").joinpath("data", name).read_text("utf-8")
