"""Where sentences of Latin script end."""

import re
from collections.abc import Container
from typing import NamedTuple

from judge.answer.terminators import MARKER, Candidate
from judge.text.fold import CJK_CHAR
from judge.text.words import abbreviations

_HEAD = 100
_LEAD_IN_WORDS = 4
# "At 5 a.m. Mr. Smith" is no sentence as far as the hour; with a few more words it is one.
_CLAUSE_WORDS = 4
_LAST_WORD = re.compile(r"[^\s\"“”‘'«»(\[{*_`/]+$")
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


class Place(NamedTuple):
    """A candidate and its surroundings."""

    text: str
    candidate: Candidate
    since: int

    @property
    def head(self) -> str:
        """The beginning of the sentence, as far as the stop."""
        start = self.candidate.start
        return self.text[self.since : min(start, self.since + _HEAD)].lstrip()

    @property
    def leads_in(self) -> bool:
        """Whether the stop closes a list marker (`1.`, `PS.`) or a bold title (`**Note.**`)."""
        head, candidate = self.head, self.candidate
        if candidate.stop == "." and _ENUMERATOR.fullmatch(head):
            return True
        bold = head.startswith("**") and candidate.close.startswith("**")
        return bold and len(head.split()) <= _LEAD_IN_WORDS

    @property
    def word(self) -> str:
        """The word before the stop."""
        start = self.candidate.start
        found = _LAST_WORD.search(self.text[max(self.since, start - 40) : start])
        return found[0] if found else ""

    @property
    def next_word(self) -> str:
        """The word behind it, opening quotes and brackets left out."""
        end = self.candidate.end
        found = _NEXT_WORD.match(self.text[end : end + 60])
        return found[1] if found else ""


def latin_end(place: Place, punkt: Container[int]) -> bool:
    """Whether a sentence of Latin script ends at a candidate that is not the end of the text."""
    candidate = place.candidate
    following = place.text[candidate.end]
    if place.leads_in:
        return False
    if not following.isspace():
        return _ends_unspaced(place, following)
    word = place.next_word
    lower = word[:1].islower() and not _BRAND.match(word)
    if candidate.stop == ".":
        quoted = bool(candidate.close.strip("*_`"))
        return not (quoted and lower) and _full_stop(place, word, lower=lower, punkt=punkt)
    if candidate.stop[0] == "…" or ".." in candidate.stop or ". ." in candidate.stop:
        return not lower or word.startswith("http")
    # Yahoo! in mid-sentence is a name, and so may be any capitalised word there; where the
    # sentence begins with it, only before a predicate.
    subject = candidate.stop == "!" and _PREDICATE.fullmatch(word)
    named = place.word[:1].isupper() and (" " in place.head or subject)
    return not (lower and (candidate.close or named))


def _ends_unspaced(place: Place, following: str) -> bool:
    """The same where no white space follows: a new sentence only if it plainly is one."""
    text, candidate, _ = place
    before = text[max(0, candidate.start - 2) : candidate.start]
    if MARKER.search(text[candidate.start : candidate.end]):
        return not following.islower() and following.isalpha()
    if CJK_CHAR.match(following):
        return not before[-1:].isdigit()
    found = _GLUED.match(text[candidate.end : candidate.end + 30])
    plain = before.isalpha() and before.islower()
    return bool(plain and found and found[0].lower() in abbreviations().starters)


def _full_stop(place: Place, following: str, *, lower: bool, punkt: Container[int]) -> bool:
    """A single full stop with white space behind it: the one case that abbreviations decide."""
    word = place.word.lower()
    words = abbreviations()
    starter = not lower and following.lower() in words.starters and following[:1].isupper()
    numbered = word in words.before_number and _NUMERAL.match(following)
    counts = lower and (word == "in" or _COUNT.fullmatch(word))
    if numbered or counts or word in words.never_end:
        return False
    if word in words.closes_list:
        return following[:1].isupper()
    if _HOUR.search(word):
        bracket = place.text[place.candidate.end : place.candidate.end + 2].strip() in {"(", "["}
        return following[:1].isupper() and not bracket and len(place.head.split()) >= _CLAUSE_WORDS
    if _ACRONYM.match(word) or (len(word) == 1 and word.isalpha()):
        return starter
    if word[-1:].isdigit():
        return True
    return place.candidate.start + 1 in punkt
