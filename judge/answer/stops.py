"""Stops: where a sentence may end, and whether it does, in CJK and in Latin script."""

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

from judge.answer.markers import MARKER
from judge.text.fold import CJK_CHAR
from judge.text.words import abbreviations

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
    r"|(?<!`)`(?!`)[^`\n]{1,200}`(?!`)"
)
# A look for what each of them begins with is far quicker than a look for them.
_PAIR_SIGNS = "《〈（(“「『`"
_TWIN_SIGNS = "`*_"
# A sign that closes what the same sign opened: code and emphasis.
_TWINS = re.compile(
    "|".join(
        rf"(?<!{sign})(?P<{name}>{sign}{{1,2}}+)[^{sign}\n]{{1,200}}(?P={name})(?!{sign})"
        for name, sign in (("code", "`"), ("star", r"\*"), ("line", "_"))
    )
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
    """Yield every stop of running text, in order and apart.

    A marker belongs to the stop before it across white space if `spaced_marks`; not so where the
    text puts its markers in front of the sentences: there, unless it ends with one, no marker does.
    A backtick or asterisk that opens something belongs to what it opens.
    """
    if not _FIRST.search(text):
        return
    notes = spaced_marks and not _NUMBER_FIRST.match(text)
    glued = spaced_marks or text.rstrip().endswith(_MARKER_ENDS)
    twins = any(map(text.__contains__, _TWIN_SIGNS))
    opening = [found.start() for found in _TWINS.finditer(text)] if twins else []
    end = 0
    # Looking for one of its first characters is many times as quick as for a candidate.
    while first := _FIRST.search(text, end):
        found = _CANDIDATE.match(text, first.start())
        end = found.end() if found else first.end()
        if not found or found[0][0] in "[［":
            continue
        # A `；` has no closing marks, so there is no gap to look for behind them.
        stop, close = found["stop"] or "", found["close"] or ""
        shut, taken = found.end("close"), end
        twin = bisect_left(opening, found.end("stop")) if close else len(opening)
        if twin < len(opening) and opening[twin] < shut:
            taken = end = opening[twin]
            close = text[found.end("stop") : taken]
        elif stop and not glued:
            taken = shut
        elif stop and not spaced_marks and (gap := _GAP.search(text, shut, end)):
            taken = gap.start()
        elif notes and stop == ".":
            taken = _note_end(text, found.start(), end)
        yield Candidate(found.start(), taken, stop, close)


def _note_end(text: str, stop: int, end: int) -> int:
    """`end`, or behind it the end of a footnote's number: `It was late. 4 Even so they left`."""
    note, words = _NOTE_NUMBER.match(text, end), abbreviations()
    if not note or note[1].lower() not in words.starters:
        return end
    before = _WORD_BEFORE.search(text[max(0, stop - 40) : stop])
    word = before[0].rstrip(".").lower() if before else ""
    shortened = any(word in each for each in (words.before_number, words.never_end, words.may_end))
    return note.end() if len(word) > 1 and not shortened else end


def enclosed(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans of short bracketed or quoted matter, brackets included: no stop in one is an end.

    A quotation that is the whole text is left out: what it holds are the sentences.
    """
    if not any(map(text.__contains__, _PAIR_SIGNS)):
        return
    for found in _PAIRS.finditer(text):
        if len(found[0]) < len(text) or text[0] not in "“「":
            yield found.span()


class Place(NamedTuple):
    """A candidate and its surroundings."""

    text: str
    """The text it stands in."""
    candidate: Candidate
    """The stop."""
    since: int
    """Where its sentence begins."""

    @property
    def head(self) -> str:
        """The first characters of the sentence, as far as the stop."""
        return self.text[self.since : min(self.candidate.start, self.since + _HEAD)].lstrip()

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


def ends_sentence(place: Place, punkt: Callable[[], Container[int]]) -> bool:
    """Whether a sentence ends at a candidate that is not the end of the text.

    `punkt` gives the places behind the full stops at which Punkt ends a sentence of Latin script;
    it is called only where no word tells.
    """
    return _ends_cjk(*place) if _full_width(*place[:2]) else _ends_latin(place, punkt)


# CJK script: punctuation tells, and no word does.

_FULL_WIDTH = re.compile("[。！？｡]")
_GOES_ON = tuple("，、：；,:;)）》」』”’】]-–—～~·%％")
_BELOW_ZERO = re.compile(r"[-–]\d")
_TITLE = ("》", "〉")
_OPENERS = tuple('“「『"‘《（(【[')
_SPEECH = re.compile(
    r"\s*+[^，。！？：；、\s“”]{0,8}?(?:说|説|說|道[，。：]|问|問|喊|答|叫道|表示|指出|认为|認為|写道|称)"
)
_PARTICLE = tuple("的等是之而一与與和及或地")
_NEXT_ITEM = re.compile(
    r"\s*+(?:[（(](?:\d{1,2}|[一二三四五六七八九十]{1,3}|[a-z])[)）]|[①-⑳]|第[一二三四五六七八九十]"
    r"|[一二三四五六七八九十]{1,2}[、是]|\d{1,2}[.、)）](?!\d)|-(?!\d)|•)"
)
_LONG = 60
_LONG_CLAUSE = re.compile(rf"[^。！？；;\n]{{{_LONG}}}")
_PAUSE = 10


def _full_width(text: str, candidate: Candidate) -> bool:
    """Whether CJK rules, and not those of Latin script, settle this candidate."""
    stop, following = candidate.stop, text[candidate.end : candidate.end + 1]
    if not stop or _FULL_WIDTH.search(stop + candidate.close):
        return True
    before = text[max(0, candidate.start - 1) : candidate.start]
    if not CJK_CHAR.match(before.strip("”’」』）】》\"')") or before):
        return stop.startswith("…") and bool(CJK_CHAR.match(following))
    return stop[0] in "…!?" or stop.startswith("..") or bool(CJK_CHAR.match(following))


def _ends_cjk(text: str, candidate: Candidate, since: int) -> bool:
    """Whether a sentence of CJK text ends at a candidate.

    A quotation that is followed by who said it goes on; a semicolon ends a sentence before the
    next item of a list, or between two clauses of 60 characters.
    """
    _, end, stop, close = candidate
    following, length = text[end], candidate.start - since
    if not stop:
        long = length >= _LONG and _LONG_CLAUSE.match(text, end)
        return bool(long or _NEXT_ITEM.match(text, end))
    if following in _GOES_ON and not _BELOW_ZERO.match(text, end):
        return False
    if close.strip("*_`"):
        return close[-1] in _STOPS or _ends_behind_closing(text, candidate)
    # 约翰.史密斯 is a name; the point is a full stop only where the text ends in one.
    if stop == ".":
        return text.endswith(".") and bool(CJK_CHAR.match(text[-2:-1]))
    pause = stop[0] in "…." and not _FULL_WIDTH.search(stop)
    return not pause or length >= _PAUSE or following.isspace()


def _ends_behind_closing(text: str, candidate: Candidate) -> bool:
    following = text[candidate.end]
    if _SPEECH.match(text, candidate.end):
        return False
    if following.isspace() or following in _OPENERS:
        return True
    goes_on = candidate.close.startswith(_TITLE) or following in _PARTICLE
    return "。" in candidate.stop and not goes_on


# Latin script: the words on both sides tell, and Punkt where they do not.

_HEAD = 100
_LEAD_IN_WORDS = 4
# "At 5 a.m. Mr. Smith" is no sentence as far as the hour; with a few more words it is one.
_CLAUSE_WORDS = 4
_LAST_WORD = re.compile(r"(?<![^\s\"“”‘'«»(\[{*_`/])[^\s\"“”‘'«»(\[{*_`/]++$")
_NEXT_WORD = re.compile(r"[\s\"“”‘'’«»(\[{*_`]*+([^\s,.!?;:)\]}\"'”’*_`]*+)")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]{1,3}$")
_HOUR = re.compile(r"[ap]\.m$", re.IGNORECASE)
_NUMERAL = re.compile(r"[#§]?\d|[IVXLC]+\b|[A-Z]\b")
_ENUMERATOR = re.compile(r"\W{0,5}(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4}|PS)[.)]?")
# "5 in. wide", "Fig. 2. for more"; longer ones are years and telephone numbers.
_COUNT = re.compile(r"\d{1,3}")
_PREDICATE = re.compile(
    r"(?!(?:this|its|his|yes|thus|us|as)$)(?:\w{1,20}(?:s|ed)|had|will|would|can|could|may|might"
    r"|must|should|and|or|of)"
)
_BRAND = re.compile(r"[a-z]{1,2}[A-Z]")
_GLUED = re.compile(r"(?:I|[A-Z][a-z]+)(?=[\s,'’])")


def _ends_latin(place: Place, punkt: Callable[[], Container[int]]) -> bool:
    _, end, stop, close = place.candidate
    if _leads_in(place):
        return False
    if not place.text[end].isspace():
        return _ends_unspaced(place)
    next_word = _NEXT_WORD.match(place.behind)
    word = next_word[1] if next_word else ""
    lower = word[:1].islower() and not _BRAND.match(word)
    if stop == ".":
        quoted = bool(close.strip("*_`"))
        return not (quoted and lower) and _full_stop(place, word, lower=lower, punkt=punkt)
    if stop[0] == "…" or ".." in stop or ". ." in stop:
        return not lower or word.startswith("http")
    # Yahoo! in mid-sentence is a name, and so may be any capitalised word there; where the
    # sentence begins with it, only before a predicate.
    subject = stop == "!" and _PREDICATE.fullmatch(word)
    named = place.word[:1].isupper() and (" " in place.head or subject)
    return not (lower and (close or named))


def _leads_in(place: Place) -> bool:
    """Whether the stop closes a list marker (`1.`, `PS.`) or a bold title (`**Note.**`)."""
    head, candidate = place.head, place.candidate
    if candidate.stop == "." and _ENUMERATOR.fullmatch(head):
        return True
    bold = head.startswith("**") and candidate.close.startswith("**")
    return bold and len(head.split()) <= _LEAD_IN_WORDS


def _ends_unspaced(place: Place) -> bool:
    """The same where no white space follows: a new sentence only if it plainly is one."""
    text, (start, end, *_), _ = place
    before = text[max(0, start - 2) : start]
    if MARKER.search(text[start:end]):
        return not text[end].islower() and text[end].isalpha()
    if CJK_CHAR.match(text[end]):
        return not before[-1:].isdigit()
    found = _GLUED.match(text[end : end + 30])
    plain = before.isalpha() and before.islower()
    return bool(plain and found and found[0].lower() in abbreviations().starters)


def _full_stop(
    place: Place, following: str, *, lower: bool, punkt: Callable[[], Container[int]]
) -> bool:
    """A single full stop with white space behind it: the one case that abbreviations decide."""
    word, words = place.word.lower(), abbreviations()
    capital = following[:1].isupper()
    numbered = word in words.before_number and _NUMERAL.match(following)
    counts = lower and (word == "in" or _COUNT.fullmatch(word))
    if numbered or counts or word in words.never_end:
        return False
    if word in words.closes_list:
        return capital
    if _HOUR.search(word):
        bracket = place.behind[:2].strip() in {"(", "["}
        return capital and not bracket and len(place.head.split()) >= _CLAUSE_WORDS
    if _ACRONYM.match(word) or (len(word) == 1 and word.isalpha()):
        return capital and not lower and following.lower() in words.starters
    # Between plain words, the first no abbreviation, Punkt ends every sentence: it is not asked.
    bare = place.candidate.end == place.candidate.start + 1
    plain = bare and place.behind.lstrip()[:1].isalpha() and word.isalpha()
    if (plain and word not in words.may_end) or word[-1:].isdigit():
        return True
    return place.candidate.start + 1 in punkt()
