"""What a sentence says, as terms that can be looked up in a passage. No language is known here.

A word is an alphabetic word, a number or one CJK character; a pair is two of them side by side, a
skip two that say something with at most one such word between them. `judge/data/senses.toml` knows
which words mean the same, which imply another, and which exclude one another.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final, NamedTuple

from judge.checks.numbers import SPELLED, numbers
from judge.text.fold import CJK
from judge.text.words import CONTENT, LATIN, LIGHT, WORD, Words, grammar, stem, stems, weight

GAP: Final = 3
"""Words at most so many characters apart make a pair, whatever stands between."""
_SKIPS: Final = (1, 2)
# A "sentence" beyond that is a text without full stops; its words are all looked up.
_FOLLOWED: Final = 5000

_HAN: Final = "零〇一二两三四五六七八九十百千万亿"
# `26, 000` and `1. 1 million` stand in text that was cut into tokens; no list goes on like that.
_TOKEN: Final = re.compile(
    rf"""{LATIN} | (?<![^\W_{CJK}]) (?:
        \d{{1,3}} (?:[,，]\d{{3}}|,[ ]0\d\d)+ (?!\d) (?:\.\d+)?
      | \d+ (?: \.\d+ | \.[ ]\d{{1,2}}(?=[ ](?:million|billion|trillion|per[ ]?cent)) )? )
    | (?!十分|万一|千万) [{_HAN}]{{2,20}}
    | {WORD.pattern}""",
    re.VERBOSE,
)
_BETWEEN_DIGITS: Final = str.maketrans("", "", ",， ")


class Sense(NamedTuple):
    """What a word of the table says.

    A word of a passage supports one of a sentence if `said.concept in found.implies`, and denies
    it, standing in its place, if `said.excludes & found.implies`.
    """

    concept: str
    """Its name in the table."""
    implies: frozenset[str]
    """Itself and every broader concept."""
    excludes: frozenset[str]
    """Concepts that deny this one, standing in its place: those that do not hold where it does, and
    those that fall short of it."""


class Kind(IntEnum):
    """What a term is."""

    WORD = 0
    PAIR = 1
    SKIP = 2


class Term(NamedTuple):
    """Something a sentence says that can be looked up in a passage."""

    key: str
    """What is looked up; equal keys are equal terms, whatever their kind."""
    kind: Kind
    weight: float
    """How much it tells, 0 to 1."""
    start: int
    """First character, into the sentence."""
    end: int
    """One past the last."""
    name: bool = False
    """Whether it is a number, or a capitalised word that does not open the sentence."""
    sense: Sense | None = None
    """What the word means, where the table of meanings knows it."""


def tokens(text: str) -> Words:
    """The words and numbers of a text, a number by its digits.

    >>> tokens("Forty of 1,200 men, 三十天").stems
    ['40', 'of', '1200', 'men', '30', '天']
    """
    found = list(_TOKEN.finditer(text))
    return Words(
        [_key(match[0]) for match in found],
        [match.start() for match in found],
        [match.end() for match in found],
    )


def terms(sentence: str) -> list[Term]:
    """Break a sentence, of which the markup is blank, into distinct terms.

    >>> ", ".join(term.key for term in terms("Rain: 45 days."))
    'rain, 45, day, rain 45, 45 day, rain…45, 45…day, rain…day'
    """
    plain = list(_plain(sentence))
    found: dict[str, Term] = {}
    for term in plain:
        if term.key not in found or (term.name and not found[term.key].name):
            found[term.key] = term
    head = plain[:_FOLLOWED]
    telling = [term for term in head if term.weight > CONTENT]
    near = [two for two in pairwise(head) if two[1].start - two[0].end <= GAP]
    skips = [two for step in _SKIPS for two in zip(telling, telling[step:], strict=False)]
    for kind, mark, couples in ((Kind.PAIR, " ", near), (Kind.SKIP, "…", skips)):
        for before, after in couples:
            key = f"{before.key}{mark}{after.key}"
            if key not in found and (kind is Kind.PAIR or before.key != after.key):
                mean = (before.weight + after.weight) / 2
                found[key] = Term(key, kind, mean, after.start, after.end)
    return list(found.values())


@lru_cache(maxsize=1 << 17)
def _key(written: str) -> str:
    if written[0].isdigit():
        return stem(written.translate(_BETWEEN_DIGITS))
    if len(written) > 1 and written[0] in _HAN:
        return next((f"{each.value:.15g}" for each in numbers(written)), written)
    # `one` is an article as much as a count.
    value = SPELLED.get(written.lower(), 1)
    return stem(written) if value == 1 else str(value)


def _plain(text: str) -> Iterator[Term]:
    """The words and numbers in reading order, as often as they stand there."""
    said = tokens(text)
    meant = {place: sense for sense, places in senses(text, said) for place in places}
    light = {place for span in grammar(text) for place in range(*span)}
    for at, (key, start, end) in enumerate(zip(*said, strict=True)):
        own = LIGHT if start in light else weight(key)
        name = key[0].isdigit() or (at > 0 and own > CONTENT and text[start].isupper())
        yield Term(key, Kind.WORD, own, start, end, name, meant.get(start))


def senses(text: str, said: Words) -> list[tuple[Sense, Sequence[int]]]:
    """The senses of a text's words, each with the characters at which its words begin.

    Where a longer and a shorter spelling begin at one place, the longer is read; none overlap.
    Every character of a Chinese word counts as a word. First come the alphabetic words. `said` are
    the tokens of the text.

    >>> text = "The United States bought it, 两个男孩马上坐下"
    >>> [(sense.concept, *places) for sense, places in senses(text, tokens(text))]
    [('america', 4, 11), ('buy', 18), ('boy', 31, 32), ('sit', 35, 36)]
    """
    english, han, begins_han = _table()
    found: list[tuple[Sense, Sequence[int]]] = []
    past = 0
    for at in [place for place, first in enumerate(said.stems) if first in english]:
        for spelled, sense in english[said.stems[at]] if at >= past else ():
            if said.stems[at : at + len(spelled)] == spelled:
                past = at + len(spelled)
                found.append((sense, said.starts[at:past]))
                break
    if text.isascii():
        return found
    past = 0
    while first := begins_han.search(text, past):
        start = first.start()
        past = start + 1
        for word, own in han[first[0]]:
            if text.startswith(word, start):
                past = start + len(word)
                if own is not None:
                    found.append((own, range(start, past)))
                break
    return found


class _Table(NamedTuple):
    """By their first stem, or first character: words and their senses, the longest first."""

    english: dict[str, list[tuple[list[str], Sense]]]
    han: dict[str, list[tuple[str, Sense | None]]]
    """None: a word that hides the shorter ones in it."""
    begins_han: re.Pattern[str]
    """Any character that begins a Chinese word of the table."""


@cache
def _table() -> _Table:
    raw = tomllib.loads(files("judge").joinpath("data", "senses.toml").read_text("utf-8"))
    exclusive = [frozenset(group.split()) for group in raw["exclusive"].values()]
    english: dict[str, list[tuple[list[str], Sense]]] = {}
    spelled: list[tuple[str, Sense | None]] = [(word, None) for word in raw["other"]["zh"].split()]
    for name, entry in raw["concepts"].items():
        implies = _implied(name, raw["concepts"])
        rivals = frozenset[str]().union(*(group for group in exclusive if group & implies))
        less = entry.get("less", "").split()
        sense = Sense(name, implies, (rivals - implies).union(less))
        for spelling in entry.get("en", "").split():
            words = stems(spelling.replace("_", " "))
            english.setdefault(words[0], []).append((words, sense))
        spelled += [(word, sense) for word in entry.get("zh", "").split()]
    for spellings in english.values():
        spellings.sort(key=lambda each: -len(each[0]))
    han: dict[str, list[tuple[str, Sense | None]]] = {}
    for word, own in sorted(spelled, key=lambda each: -len(each[0])):
        han.setdefault(word[0], []).append((word, own))
    return _Table(english, han, re.compile(f"[{''.join(map(re.escape, han))}]"))


def _implied(name: str, concepts: dict[str, dict[str, str]]) -> frozenset[str]:
    above = concepts[name].get("under", "").split()
    return frozenset({name}).union(*(_implied(each, concepts) for each in above))
