"""Splits an answer into sentences, with their places in it."""

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterator, Sequence
from functools import cache, lru_cache, partial
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

from judge.answer.blocks import Block, blocks
from judge.answer.markers import MARKER, unmarked
from judge.records import MOST_SENTENCES, Sample, Sentence
from judge.text import toolkit
from judge.text.fold import CJK_CHAR
from judge.text.patterns import lazy_pattern
from judge.text.words import abbreviations

EDITION: Final = 7
"""The version of the rules for sentences and their kinds, part of every signature."""


def split(answer: str, most: int = MOST_SENTENCES) -> tuple[Sentence, ...]:
    """Cut an answer into sentences, in time linear in its length.

    Layout cuts first (lines, list items, table rows, headings, code fences). Inside these blocks,
    Latin script is cut by Punkt (Kiss and Strunk 2006) with this package's abbreviations, and CJK
    script at its stops. The sentences do not overlap, have no white space at their ends, and
    together hold every non-blank character; each has the kind `claim`. No sentence is too long, but
    an answer of more than `most` sentences is returned as one.

    >>> [s.text for s in split("Paris is big. [1] 人口为210万。面积不大。")]
    ['Paris is big. [1]', '人口为210万。', '面积不大。']
    """
    all_spans = (span for block in blocks(answer) for span in _spans(answer, block))
    spans = list(islice(all_spans, most + 1))
    if len(spans) > most:
        start = spans[0][0]
        spans = [(start, start + len(answer[start:].rstrip()))]
    return tuple(
        Sentence(index=index, start=start, end=end, text=answer[start:end])
        for index, (start, end) in enumerate(spans)
    )


def sentences_of(sample: Sample) -> tuple[Sentence, ...]:
    """Return the sentences that the sample lists, or else those of its split answer."""
    if sample.sentences is None:
        return split(sample.answer)
    return tuple(
        Sentence(index=n, start=at.start, end=at.end, text=sample.answer[at.start : at.end])
        for n, at in enumerate(sample.sentences)
    )


def _spans(answer: str, block: Block) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences of one block, into the answer."""
    if block.whole:
        yield block.start, block.end
        return
    text = answer[block.start : block.end]
    for start, end in pairwise((0, *_ends(text), len(text))):
        part = text[start:end]
        if stripped := part.strip():
            first = block.start + start + len(part) - len(part.lstrip())
            yield first, first + len(stripped)


def _ends(text: str) -> Iterator[int]:
    """Yield where sentences end in running text, ascending, without the end of the text itself."""
    items, enumerators = _inline_items(text)
    stops = list(_candidates(text, spaced_marks=not MARKER.match(text)))
    if not stops:
        yield from items
        return
    enclosed = list(_enclosed(text))
    punkt = partial(_punkt_ends, text)
    since = closing = item = 0
    for candidate in stops:
        while item < len(items) and items[item] <= candidate.start:
            if items[item] > since:
                since = items[item]
                yield since
            item += 1
        while closing < len(enclosed) and enclosed[closing][1] <= candidate.end:
            closing += 1
        inside = closing < len(enclosed) and enclosed[closing][0] < candidate.start
        if inside or candidate.start in enumerators:
            continue
        if candidate.end == len(text):
            break
        boundary = _Boundary(text, candidate, since)
        by_stop = _full_width(text, candidate)
        if _ends_cjk(*boundary) if by_stop else _ends_latin(boundary, punkt):
            since = candidate.end
            yield since
    yield from (boundary for boundary in items[item:] if boundary > since)


# Punkt.

_PUNKT_CHARACTERS = 20_000
_MASKED = str.maketrans(dict.fromkeys('"“”‘«»()[]{}*_`', " "))
_QUOTE_BEHIND = re.compile("(?<=[.!?])['’]")


@lru_cache(maxsize=2)  # two threads may split
def _punkt_ends(text: str) -> frozenset[int]:
    """Return the places where Punkt ends sentences in a text without quotes, brackets and markers.

    Punkt gives up after five seconds, so it is given pieces that are cut at white space.
    """
    masked = _QUOTE_BEHIND.sub(" ", unmarked(text, " ").translate(_MASKED))
    found: list[int] = []
    start = 0
    while start < len(masked):
        stop = _cut(masked, start)
        spans = _tokenizer().span_tokenize(masked[start:stop], realign_boundaries=False)
        found += [start + end for _, end in spans][:-1]
        start = stop
    return frozenset(found)


@cache
def _tokenizer() -> Any:  # noqa: ANN401  nltk ships no types
    words = abbreviations()
    return toolkit.punkt(words.never_end | words.may_end, words.starters)


def _cut(text: str, start: int) -> int:
    """Return the end of the piece that begins at `start`: white space with no stop before it."""
    limit = start + _PUNKT_CHARACTERS
    if limit >= len(text):
        return len(text)
    space = max(text.rfind(" ", start, limit), text.rfind("\n", start, limit))
    while space > start and text[space - 1] in ".!? \n":
        space -= 1
        if text[space] not in " \n":
            space = max(text.rfind(" ", start, space), text.rfind("\n", start, space))
    return space if space > start else limit


# Lists inside running text: `1) … 2) …`, and rows of signs between sections.

_BEFORE = r"(?<![^\s：。！？；，、])"
_NUMBERED = re.compile(
    _BEFORE + r"(?P<bullet>[•⁃]\s?)?(?P<number>\d{1,2})(?P<style>\.\)|\)|\.)(?=\s)"
)
# The look-behind comes after the first character, because `re` finds a literal start quickly.
_RULE = re.compile(r"([-=_~*])(?<!\S.)(?:(?<=\*)\*{2,}+|\1{4,}+)(?!\S)")
_SAME_SENTENCE = re.compile(r"(?:[,，、]|\band|\bor|\bof|\bin)\s*+$")
_URL_BEFORE_URL = re.compile(r"h(?<!\S.)ttps?://\S++\s++(?=https?://)")


def _inline_items(text: str) -> tuple[list[int], frozenset[int]]:
    """Return where the items of inline lists begin, ascending, and the stops of their enumerators.

    "Steps: 1. Wash it. 2. Dry it." gives [7, 19] and {8, 20}. A list counts only if its numbers
    follow one another; with full stops, only if it also begins the text or follows a colon.
    Numbers behind a comma or "and" count the parts of one sentence and begin no item. A row of
    signs is an item, and so is what follows it.
    """
    places = {boundary for found in _RULE.finditer(text) for boundary in found.span()}
    places.update(found.end() for found in _URL_BEFORE_URL.finditer(text))
    numbers = _sequence(text)
    starts = [number.start() for number in numbers]
    if not any(_SAME_SENTENCE.search(text[max(0, at - 5) : at]) for at in starts):
        places.update(starts)
    stops = frozenset(number.start("style") for number in numbers)
    return sorted(boundary for boundary in places if 0 < boundary < len(text)), stops


def _sequence(text: str) -> Sequence[re.Match[str]]:
    """Return the numbers that count up from the first one of a list."""
    run: list[re.Match[str]] = []
    for number in _NUMBERED.finditer(text):
        if run:
            same_style = number["style"] == run[-1]["style"]
            if same_style and int(number["number"]) == int(run[-1]["number"]) + 1:
                run.append(number)
        elif _opens(text, number):
            run = [number]
    return run if len(run) > 1 else ()


def _opens(text: str, found: re.Match[str]) -> bool:
    """Return whether a number begins a list."""
    at_start = not found.start()
    if found["number"] != "1" and not (at_start and found["bullet"]):
        return False
    before = text[max(0, found.start() - 3) : found.start()].rstrip()
    if found["style"] == ".":
        return at_start or before.endswith((":", "："))
    # Numbers that follow a comma only count the parts of one sentence: 1) this, 2) that.
    return at_start or not before.endswith((",", "("))


# Stops: places where a sentence may end.

_STOPS = ".!?…‼⁇⁈⁉。！？｡؟۔।"
_CLOSERS = "\"'”’»)\\]}*_`）】〉》」』〕］｝"
_OMISSION = r"[\[［](?:\.{3}|…)[\]］]"
_FACE = (
    r"[:;=8][-'^]?[()\[\]DPpOo|/](?!\w)|\^_?\^|<3(?!\d)"
    "|[\U0001f300-\U0001faff\u2600-\u27bf][\ufe0f\u200d\U0001f300-\U0001faff]*+"
)
_CANDIDATE = lazy_pattern(
    rf"{_OMISSION}"
    rf"|(?P<stop>(?:\.(?:[ \xa0]\.){{2,}}+|[{_STOPS}])++)"
    rf"(?P<close>(?:[{_CLOSERS}]++[{_STOPS}]*+|[ ]++(?:''|[)）]))*+)"
    rf"(?:\s*+(?:{MARKER.pattern}|{_OMISSION})|[ ]*+(?:{_FACE}))*+[{_STOPS}]*+"
    r"|；|(?<=[\u3400-\u9fff]);(?=[\u3400-\u9fff])"
)
_FIRST = re.compile(rf"[{_STOPS}；;\[［]")
_GAP = re.compile(r"\s")
_MARKER_ENDS = tuple("])］】）〕")
_NUMBER_FIRST = re.compile(r"\d{1,3}\s")
_WORD_BEFORE = re.compile(r"(?<!\w)\w++\W*+$")
# Two spaces behind the number are what is left of an item of a list; "5 May" is a date.
_NOTE_NUMBER = re.compile(r" \d{1,3}(?= (?!May\b)([A-Z]\w*+))")
_PAIRS = re.compile(
    r"《[^《》]{1,100}》|〈[^〈〉]{1,100}〉|（[^（）]{1,200}）|\([^()]{1,200}\)"
    r"|“[^“”]{1,200}”|「[^「」]{1,120}」|『[^『』]{1,120}』"
    r"|`(?<!``)(?!`)[^`\n]{1,200}`(?!`)"
)
# A sign that closes what the same sign opened: code and emphasis.
_TWINS = re.compile(r"(?P<sign>(?P<one>[`*_])(?P=one)?)(?!(?P=one))[^`*_\n]{1,200}(?P=sign)")


class _Candidate(NamedTuple):
    """A stop where a sentence may end."""

    start: int
    end: int
    """One past what belongs to the stop: closing quotes and brackets, citation markers."""
    stop: str
    """The stop itself: `.`, `?!`, `……`; empty for a semicolon."""
    close: str
    """Closing quotes and brackets directly behind it, and stops behind those."""


def _candidates(text: str, *, spaced_marks: bool) -> Iterator[_Candidate]:
    """Yield every stop of running text, in order and without overlap.

    With `spaced_marks` a marker belongs to the stop before it even across white space. Without,
    the text puts its markers in front of the sentences, and a marker belongs to the stop before it
    only if the text also ends with a marker. A backtick or asterisk belongs to what it opens.
    """
    if not _FIRST.search(text):
        return
    notes = spaced_marks and not _NUMBER_FIRST.match(text)
    glued = spaced_marks or text.rstrip().endswith(_MARKER_ENDS)
    opening = [found.start() for found in _TWINS.finditer(text)]
    end = 0
    # A search for the first characters is many times faster than one for candidates.
    while first := _FIRST.search(text, end):
        found = _CANDIDATE.match(text, first.start())
        end = found.end() if found else first.end()
        if not found or found[0][0] in "[［":
            continue
        # A `；` has no closing marks, so no gap can follow them.
        stop, close = found["stop"] or "", found["close"] or ""
        closing, last = found.end("close"), end
        twin = bisect_left(opening, found.end("stop")) if close else len(opening)
        if twin < len(opening) and opening[twin] < closing:
            last = end = opening[twin]
            close = text[found.end("stop") : last]
        elif stop and not glued:
            last = closing
        elif stop and not spaced_marks and (gap := _GAP.search(text, closing, end)):
            last = gap.start()
        elif notes and stop == ".":
            last = _note_end(text, found.start(), end)
        yield _Candidate(found.start(), last, stop, close)


def _note_end(text: str, stop: int, end: int) -> int:
    """Return `end`, or the end of a footnote number behind it: `He left. 4 Even so they stayed`."""
    note, words = _NOTE_NUMBER.match(text, end), abbreviations()
    if not note or note[1].lower() not in words.starters:
        return end
    before = _WORD_BEFORE.search(text[max(0, stop - 40) : stop])
    word = before[0].rstrip(".").lower() if before else ""
    shortened = any(word in each for each in (words.before_number, words.never_end, words.may_end))
    return note.end() if len(word) > 1 and not shortened else end


def _enclosed(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of short bracketed or quoted passages, in which no stop ends a sentence."""
    for found in _PAIRS.finditer(text):
        if len(found[0]) < len(text) or text[0] not in "“「":
            yield found.span()


_HEAD_CHARACTERS = 100


class _Boundary(NamedTuple):
    """A candidate and its surroundings."""

    text: str
    candidate: _Candidate
    since: int
    """Start of the sentence that the stop may end."""

    @property
    def head(self) -> str:
        """The first characters of the sentence, as far as the stop."""
        end = min(self.candidate.start, self.since + _HEAD_CHARACTERS)
        return self.text[self.since : end].lstrip()

    @property
    def word(self) -> str:
        """The word before the stop."""
        start = self.candidate.start
        found = _LAST_WORD.search(self.text[max(self.since, start - 40) : start])
        return found[0] if found else ""

    @property
    def behind(self) -> str:
        """The first characters behind the stop."""
        return self.text[self.candidate.end : self.candidate.end + 60]


# CJK script: only punctuation decides.

_FULL_WIDTH = re.compile("[。！？｡]")
_GOES_ON = tuple("，、：；,:;)）》」』”’】]-–—～~·%％")
_BELOW_ZERO = re.compile(r"[-–]\d")
_TITLE = ("》", "〉")
_OPENERS = tuple('“「『"‘《（(【[')
_SPEECH = re.compile(
    r"\s*+[^，。！？：；、\s“”]{0,8}?(?:说|説|說|道[，。：]|问|問|喊|答|叫道|表示|指出|认为|認為|写道|称)"
)
_PARTICLE = tuple("的等是之而一与與和及或地")
_NEXT_ITEM = lazy_pattern(
    r"\s*+(?:[（(](?:\d{1,2}|[一二三四五六七八九十]{1,3}|[a-z])[)）]|[①-⑳]|第[一二三四五六七八九十]"
    r"|[一二三四五六七八九十]{1,2}[、是]|\d{1,2}[.、)）](?!\d)|-(?!\d)|•)"
)
_SHORT_BEFORE_PAUSE = 10


def _full_width(text: str, candidate: _Candidate) -> bool:
    """Return whether the rules of CJK script, not those of Latin script, decide a candidate."""
    stop, following = candidate.stop, text[candidate.end : candidate.end + 1]
    if not stop or _FULL_WIDTH.search(stop + candidate.close):
        return True
    before = text[max(0, candidate.start - 1) : candidate.start]
    if not CJK_CHAR.match(before.strip("”’」』）】》\"')") or before):
        return stop.startswith("…") and bool(CJK_CHAR.match(following))
    return stop[0] in "…!?" or stop.startswith("..") or bool(CJK_CHAR.match(following))


def _ends_cjk(text: str, candidate: _Candidate, since: int) -> bool:
    """Return whether a sentence of CJK text ends at a candidate; in “你好！”他说 none does."""
    _, end, stop, close = candidate
    following = text[end]
    if not stop:
        return bool(_NEXT_ITEM.match(text, end))
    if following in _GOES_ON and not _BELOW_ZERO.match(text, end):
        return False
    if close.strip("*_`"):
        return close[-1] in _STOPS or _ends_behind_closing(text, candidate)
    # 约翰.史密斯 is a name; the point is a full stop only where the text ends in one.
    if stop == ".":
        return text.endswith(".") and bool(CJK_CHAR.match(text[-2:-1]))
    pause = stop[0] in "…." and not _FULL_WIDTH.search(stop)
    return not pause or candidate.start - since >= _SHORT_BEFORE_PAUSE or following.isspace()


def _ends_behind_closing(text: str, candidate: _Candidate) -> bool:
    following = text[candidate.end]
    if _SPEECH.match(text, candidate.end):
        return False
    if following.isspace() or following in _OPENERS:
        return True
    goes_on = candidate.close.startswith(_TITLE) or following in _PARTICLE
    return "。" in candidate.stop and not goes_on


# Latin script: the words on both sides decide, and Punkt where they do not.

_TITLE_WORDS = 4
# "At 5 a.m. Mr. Smith" is no sentence as far as the hour; with a few more words it is one.
_CLAUSE_WORDS = 4
_LAST_WORD = re.compile(r"(?<![^\s\"“”‘'«»(\[{*_`/])[^\s\"“”‘'«»(\[{*_`/]++$")
_NEXT_WORD = re.compile(r"[\s\"“”‘'’«»(\[{*_`]*+([^\s,.!?;:)\]}\"'”’*_`]*+)")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]{1,3}$")
_HOUR = re.compile(r"[ap]\.m$", re.IGNORECASE)
_NUMERAL = re.compile(r"[#§]?\d|[IVXLC]+\b|[A-Z]\b")
_ENUMERATOR = re.compile(r"\W{0,5}(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4}|PS)[.)]?")


def _ends_latin(boundary: _Boundary, punkt: Callable[[], Container[int]]) -> bool:
    """Return whether a sentence of Latin script ends at a candidate within the text.

    `punkt` returns the places where Punkt ends sentences. It is called only if the words around the
    stop do not decide. Without white space a sentence ends only between a marker and a capital
    ("big.[1]It"), and before CJK text unless the stop follows a digit.
    """
    start, end, stop, close = boundary.candidate
    following = boundary.text[end]
    if _leads_in(boundary):
        return False
    if not following.isspace():
        if MARKER.search(boundary.text[start:end]):
            return following.isalpha() and not following.islower()
        return bool(CJK_CHAR.match(following)) and not boundary.text[start - 1 : start].isdigit()
    next_word = _NEXT_WORD.match(boundary.behind)
    word = next_word[1] if next_word else ""
    lower = word[:1].islower()
    if stop == ".":
        quoted = bool(close.strip("*_`"))
        return not (quoted and lower) and _full_stop(boundary, word, lower=lower, punkt=punkt)
    if stop[0] == "…" or ".." in stop or ". ." in stop:
        return not lower or word.startswith("http")
    # A capitalised word in mid-sentence may be a name: "She works at Yahoo! in accounting".
    may_be_name = boundary.word[:1].isupper() and " " in boundary.head
    return not (lower and (close or may_be_name))


def _leads_in(boundary: _Boundary) -> bool:
    """Return whether the stop closes a list marker (`1.`, `PS.`) or a bold title (`**Note.**`)."""
    head, candidate = boundary.head, boundary.candidate
    if candidate.stop == "." and _ENUMERATOR.fullmatch(head):
        return True
    bold = head.startswith("**") and candidate.close.startswith("**")
    return bold and len(head.split()) <= _TITLE_WORDS


def _full_stop(
    boundary: _Boundary, following: str, *, lower: bool, punkt: Callable[[], Container[int]]
) -> bool:
    """Return whether a single full stop before white space ends a sentence, by abbreviations."""
    word, words = boundary.word.lower(), abbreviations()
    capital = following[:1].isupper()
    numbered = word in words.before_number and _NUMERAL.match(following)
    if numbered or word in words.never_end:
        return False
    if word in words.closes_list:
        return capital
    if _HOUR.search(word):
        bracket = boundary.behind[:2].strip() in {"(", "["}
        return capital and not bracket and len(boundary.head.split()) >= _CLAUSE_WORDS
    if _ACRONYM.match(word) or (len(word) == 1 and word.isalpha()):
        return capital and not lower and following.lower() in words.starters
    # Between plain words, of which the first is no abbreviation, Punkt ends every sentence.
    is_single = boundary.candidate.end == boundary.candidate.start + 1
    plain = is_single and boundary.behind.lstrip()[:1].isalpha() and word.isalpha()
    if (plain and word not in words.may_end) or word[-1:].isdigit():
        return True
    return boundary.candidate.start + 1 in punkt()
