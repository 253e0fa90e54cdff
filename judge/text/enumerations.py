"""Lists inside running text: `1) … 2) …`, `• … • …`, and rows of signs that part sections."""

import re

_NUMBERED = re.compile(r"(?<!\S)(?P<bullet>[•⁃]\s?)?(?P<number>\d{1,2})(?P<style>\.\)|\)|\.)(?=\s)")
_LETTERED = re.compile(r"(?<!\S)(?P<number>[a-z])(?P<style>\.\)|\)|\.)(?=\s)")
_BULLET = re.compile(r"(?<=\s)[•⁃▪●◦‣](?=\s)")
_RULE = re.compile(r"(?<!\S)(?:\*{3,}+|([-=_~*])\1{4,}+)(?!\S)")

_SAME_SENTENCE = re.compile(r"(?:,|\band|\bor|\bof|\bin)\s*$")
_URL_BEFORE_URL = re.compile(r"(?<!\S)https?://\S++\s++(?=https?://)")

_FACE_BEFORE_SENTENCE = re.compile(r"(?<=\w)\s++[:;]-?[)(DP]\s++(?=[A-Z])")

# One look tells most texts from lists, which the looks below would take apart at length.
_WORTH_A_LOOK = re.compile(
    r"[•⁃▪●◦‣]|\*{3}|([-=_~])\1{4}|https?://|(?<!\S)[2b]\.?[.)]|\s[:;]-?[)(DP]\s"
)


def items(text: str) -> list[int]:
    """Where the items of inline lists begin, the first item of a text left out.

    A numbered list counts only if its numbers follow one another and none stands behind a comma;
    a row of signs is an item, and so is what follows it.

    Args:
        text: running text without white space at its ends.

    Returns:
        Ascending places.

    >>> items("1) The first item 2) The second item")
    [18]
    """
    if not _WORTH_A_LOOK.search(text):
        return []
    places = {found.start() for found in _BULLET.finditer(text)}
    for found in _RULE.finditer(text):
        places.update(found.span())
    places.update(_sequence(text, list(_NUMBERED.finditer(text)), "1"))
    places.update(_sequence(text, list(_LETTERED.finditer(text)), "a"))
    places.update(found.end() for found in _URL_BEFORE_URL.finditer(text))
    places.update(found.end() for found in _FACE_BEFORE_SENTENCE.finditer(text))
    return sorted(place for place in places if 0 < place < len(text))


def _sequence(text: str, found: list[re.Match[str]], first: str) -> list[int]:
    """Beginnings of the enumerators that count on from the first of the text."""
    run: list[re.Match[str]] = []
    for enumerator in found:
        if run and _follows(run[-1], enumerator):
            run.append(enumerator)
        elif not run and _opens(text, enumerator, first):
            run = [enumerator]
    starts = [enumerator.start() for enumerator in run]
    listed = all(not _SAME_SENTENCE.search(text[max(0, at - 5) : at]) for at in starts)
    return starts if len(starts) > 1 and listed else []


def _opens(text: str, found: re.Match[str], first: str) -> bool:
    at_start = not found.start()
    counted = found["number"] == first or bool(at_start and found.groupdict().get("bullet"))
    # Behind a comma the numbers only count the parts of one sentence: 1) this, 2) that.
    apart = not text[max(0, found.start() - 3) : found.start()].rstrip().endswith((",", "("))
    return counted and (at_start or (apart and found["style"] != "."))


def _follows(one: re.Match[str], other: re.Match[str]) -> bool:
    same = one["style"] == other["style"]
    if one["number"].isdigit():
        return same and int(other["number"]) == int(one["number"]) + 1
    return same and ord(other["number"]) == ord(one["number"]) + 1
