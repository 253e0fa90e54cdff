"""Lists inside running text: `1) … 2) …`, `• … • …`, and rows of signs that part sections."""

import re
from typing import NamedTuple

_BEFORE = r"(?<![^\s：。！？；，、])"
_NUMBERED = re.compile(
    _BEFORE + r"(?P<bullet>[•⁃]\s?)?(?P<number>\d{1,2})(?P<style>\.\)|\)|\.)(?=\s)"
)
_LETTERED = re.compile(_BEFORE + r"(?P<number>[a-z])(?P<style>\.\)|\)|\.)(?=\s)")
# Capitals are most often initials: `A.` counts behind a colon, `B.` behind a stop.
_CAPITALS = re.compile(
    r"(?:(?<=[:.!?,]\s)|(?<=[：。！？；，、]))(?P<number>[A-Z])(?P<style>\.\)|\)|\.)(?=\s)"
)
_BULLET = re.compile(r"(?<=\s)[•⁃▪●◦‣](?=\s)")
_RULE = re.compile(r"(?<!\S)(?:\*{3,}+|([-=_~*])\1{4,}+)(?!\S)")

_SAME_SENTENCE = re.compile(r"(?:[,，、]|\band|\bor|\bof|\bin)\s*$")
_URL_BEFORE_URL = re.compile(r"(?<!\S)https?://\S++\s++(?=https?://)")

_FACE_BEFORE_SENTENCE = re.compile(r"(?<=\w)\s++[:;]-?[)(DP]\s++(?=[A-Z])")

# One look tells most texts from lists, which the looks below would take apart at length.
_WORTH_A_LOOK = re.compile(
    r"[•⁃▪●◦‣]|\*{3}|([-=_~])\1{4}|https?://|[2bB]\.?[.)]\s|\s[:;]-?[)(DP]\s"
)


class Items(NamedTuple):
    """Where the items of inline lists stand."""

    begin: list[int]
    """Ascending places, the beginning and the end of the text left out."""
    stops: frozenset[int]
    """Places of the signs that close their enumerators: `.` of `1.`. They end no sentence."""


def items(text: str) -> Items:
    """The items of inline lists.

    A list counts only if its numbers or letters follow one another; with full stops or in capitals,
    only if it also begins the text or stands behind a colon. Where one stands behind a comma or
    "and", they count the parts of one sentence, which begin no item. A row of signs is an item,
    and so is what follows it.

    Args:
        text: running text without white space at its ends.

    >>> items("Steps: 1. Wash it. 2. Dry it.")
    Items(begin=[7, 19], stops=frozenset({8, 20}))
    """
    if not _WORTH_A_LOOK.search(text):
        return Items([], frozenset())
    places = {found.start() for found in _BULLET.finditer(text)}
    for found in _RULE.finditer(text):
        places.update(found.span())
    stops: set[int] = set()
    for pattern, first in ((_NUMBERED, "1"), (_LETTERED, "a"), (_CAPITALS, "A")):
        run = _sequence(text, list(pattern.finditer(text)), first)
        stops.update(enumerator.start("style") for enumerator in run)
        places.update(_apart(text, run))
    places.update(found.end() for found in _URL_BEFORE_URL.finditer(text))
    places.update(found.end() for found in _FACE_BEFORE_SENTENCE.finditer(text))
    return Items(sorted(place for place in places if 0 < place < len(text)), frozenset(stops))


def _sequence(text: str, found: list[re.Match[str]], first: str) -> list[re.Match[str]]:
    """The enumerators that count on from the first of the text."""
    run: list[re.Match[str]] = []
    for enumerator in found:
        if run and _follows(run[-1], enumerator):
            run.append(enumerator)
        elif not run and _opens(text, enumerator, first):
            run = [enumerator]
    return run if len(run) > 1 else []


def _apart(text: str, run: list[re.Match[str]]) -> list[int]:
    """Where the items of a run begin; none where they are parts of one sentence."""
    starts = [enumerator.start() for enumerator in run]
    joined = any(_SAME_SENTENCE.search(text[max(0, at - 5) : at]) for at in starts)
    return [] if joined else starts


def _opens(text: str, found: re.Match[str], first: str) -> bool:
    at_start = not found.start()
    counted = found["number"] == first or bool(at_start and found.groupdict().get("bullet"))
    before = text[max(0, found.start() - 3) : found.start()].rstrip()
    if found["style"] == "." or first == "A":
        apart = before.endswith((":", "："))
    else:
        # Behind a comma the numbers only count the parts of one sentence: 1) this, 2) that.
        apart = not before.endswith((",", "("))
    return counted and (at_start or apart)


def _follows(one: re.Match[str], other: re.Match[str]) -> bool:
    same = one["style"] == other["style"]
    if one["number"].isdigit():
        return same and int(other["number"]) == int(one["number"]) + 1
    return same and ord(other["number"]) == ord(one["number"]) + 1
