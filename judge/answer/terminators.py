"""Where a sentence may end: stops with what belongs to them, and the rules of CJK punctuation."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from judge.text.fold import CJK_CHAR
from judge.text.words import abbreviations

_BRACKETS = r"\[\]［］【】〔〕"
_MARKER = (
    rf"(?:[\[［【〔](?=[^{_BRACKETS}\n]{{0,100}}?\d)"
    rf"(?:[,，;；、–-]\ |[^{_BRACKETS}\s]){{1,100}}+[\]］】〕](?!\()"
    r"|\([\w.-]{1,60}[#:][\w.#:-]{1,100}\)|[⁰¹²³⁴-⁹]{1,4}+"
    r"|\((?:[Pp]assage|[Dd]oc(?:ument)?|[Ss]ource|[Cc]hunk|[Rr]ef(?:erence)?)s?\.? [^()\n]{1,60}\)"
    r"|（(?:文档|资料|片段|段落|来源|见|参见)[^（）\n]{1,60}）)"
)
MARKER = re.compile(_MARKER)
"""What has the look of a citation marker. It holds a digit: `[sic]` and `【注意】` are text."""

_STOPS = ".!?…‼⁇⁈⁉。！？｡؟۔।"
_CLOSERS = "\"'”’»)\\]}*_`）】〉》」』〕］｝"
_OMISSION = r"[\[［](?:\.{3}|…)[\]］]"
_FACE = (
    r"[:;=8][-'^]?[()\[\]DPpOo|/](?!\w)|\^_?\^|<3(?!\d)"
    "|[\U0001f300-\U0001faff\u2600-\u27bf][\ufe0f\u200d\U0001f300-\U0001faff]*+"
)
_CANDIDATE = re.compile(
    rf"{_OMISSION}"
    rf"|(?P<stop>(?:\.(?:[ \xa0]\.){{2,}}+|[{_STOPS}])++)"
    rf"(?P<close>(?:[{_CLOSERS}]++[{_STOPS}]*+|[ ]++(?:''|[)）]))*+)"
    rf"(?:\s*+(?:{_MARKER}|{_OMISSION})|[ ]*+(?:{_FACE}))*+[{_STOPS}]*+"
    r"|；|(?<=[\u3400-\u9fff]);(?=[\u3400-\u9fff])"
)


class Candidate(NamedTuple):
    """A place where a sentence may end."""

    start: int
    """First character of the stop."""
    end: int
    """One past what belongs to the stop: closing quotes and brackets, citation markers."""
    stop: str
    """The stop itself: `.`, `?!`, `……`; empty for a semicolon."""
    close: str
    """Closing quotes and brackets directly behind it, and stops behind those."""


def candidates(text: str, *, spaced_marks: bool) -> Iterator[Candidate]:
    """Every stop of a text, in order.

    Args:
        text: running text.
        spaced_marks: whether a marker belongs to the stop before it across white space; not so
            where the text puts its markers in front of the sentences.

    Yields:
        Candidates that do not overlap.
    """
    notes = spaced_marks and not _NUMBER_FIRST.match(text)
    for found in _CANDIDATE.finditer(text):
        if found[0][0] in "[［":
            continue
        end = found.end()
        # A `；` has no closing marks, so there is no gap to look for behind them.
        marked = found["close"] is not None
        if marked and not spaced_marks and (gap := _GAP.search(text, found.end("close"), end)):
            end = gap.start()
        elif notes and found["stop"] == ".":
            end = _note_end(text, found.start(), end)
        yield Candidate(found.start(), end, found["stop"] or "", found["close"] or "")


_GAP = re.compile(r"\s")

_NUMBER_FIRST = re.compile(r"\d{1,3}\s")
_WORD_BEFORE = re.compile(r"\w+\W*$")
# Two spaces behind the number are what is left of an item of a list; "5 May" is a date.
_NOTE_NUMBER = re.compile(r" \d{1,3}(?= (?!May\b)([A-Z]\w*+))")


def _note_end(text: str, stop: int, end: int) -> int:
    """`end`, or behind it the end of a footnote's number: `It was late. 4 Even so they left`."""
    note = _NOTE_NUMBER.match(text, end)
    if not note:
        return end
    words = abbreviations()
    before = _WORD_BEFORE.search(text[max(0, stop - 40) : stop])
    word = before[0].rstrip(".").lower() if before else ""
    initial = len(word) == 1
    short = initial or word in words.before_number | words.never_end | words.may_end
    plain = word and not short and note[1].lower() in words.starters
    return note.end() if plain else end


_PAIRS = re.compile(
    r"《[^《》]{1,100}》|〈[^〈〉]{1,100}〉|（[^（）]{1,200}）|\([^()]{1,200}\)"
    r"|“[^“”]{1,200}”|「[^「」]{1,120}」|『[^『』]{1,120}』"
)


def enclosed(text: str) -> Iterator[tuple[int, int]]:
    """Spans of short bracketed or quoted matter, brackets included; a stop in one is not an end.

    A quotation that is the whole text is left out: what it holds are the sentences.
    """
    for found in _PAIRS.finditer(text):
        if len(found[0]) < len(text) or text[0] not in "“「":
            yield found.span()


_FULL_WIDTH = re.compile("[。！？｡]")
_GOES_ON = tuple("，、：；,;:)）》」』”’]】-–—~～·%％")
_TITLE = ("》", "〉")
_OPENERS = tuple('“「『"‘《（(【[')
_SPEECH = re.compile(
    r"\s*[^，。！？：；、\s“”]{0,8}?(?:说|説|說|道[，。：]|问|問|喊|答|叫道|表示|指出|认为|認為|写道|称)"
)
_PARTICLE = tuple("的等是之而一与與和及或地")
_NEXT_ITEM = re.compile(
    r"\s*(?:[（(](?:\d{1,2}|[一二三四五六七八九十]{1,3}|[a-z])[)）]|[①-⑳]|第[一二三四五六七八九十]"
    r"|[一二三四五六七八九十]{1,2}[、是]|\d{1,2}[.、)）](?!\d)|[-•])"
)
_LONG = 60
_LONG_CLAUSE = re.compile(rf"[^。！？；;\n]{{{_LONG}}}")
_PAUSE = 10


def full_width(text: str, candidate: Candidate) -> bool:
    """Whether CJK rules, and not those of Latin script, settle this candidate."""
    stop, following = candidate.stop, text[candidate.end : candidate.end + 1]
    if not stop or _FULL_WIDTH.search(stop + candidate.close):
        return True
    before = text[max(0, candidate.start - 1) : candidate.start]
    if not CJK_CHAR.match(before.strip("”’」』）】》\"')") or before):
        return stop.startswith("…") and bool(CJK_CHAR.match(following))
    return stop[0] in "…!?" or stop.startswith("..") or bool(CJK_CHAR.match(following))


def ends_sentence(text: str, candidate: Candidate, since: int) -> bool:
    """Whether a sentence of CJK text ends at a candidate.

    Args:
        text: the text.
        candidate: a stop for which `full_width` holds.
        since: where the sentence begins.

    Returns:
        True for an end. A quotation that is followed by who said it goes on; a semicolon ends a
        sentence before the next item of a list, or between two clauses of 60 characters.
    """
    following = text[candidate.end : candidate.end + 1]
    if not following:
        return True
    if not candidate.stop:
        long = candidate.start - since >= _LONG and _LONG_CLAUSE.match(text, candidate.end)
        return bool(long or _NEXT_ITEM.match(text, candidate.end))
    if following in _GOES_ON:
        return False
    if candidate.close.strip("*_`"):
        return _ends_behind_closing(text, candidate, following)
    # 约翰.史密斯 is a name; the point is a full stop only where the text ends in one.
    pointed = text.endswith(".") and bool(CJK_CHAR.match(text[-2:-1]))
    pause = candidate.stop[0] in "…." and not _FULL_WIDTH.search(candidate.stop)
    paused = candidate.start - since >= _PAUSE or following.isspace()
    return pointed if candidate.stop == "." else paused or not pause


def _ends_behind_closing(text: str, candidate: Candidate, following: str) -> bool:
    close = candidate.close
    if close[-1] in _STOPS:
        return True
    if _SPEECH.match(text, candidate.end):
        return False
    if following.isspace() or following in _OPENERS:
        return True
    if close.startswith(_TITLE) or following in _PARTICLE:
        return False
    return "。" in candidate.stop
