"""Clauses: the words of a text with what governs them, by `judge/data/contrasts.toml`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from judge.checks.contrasts import Mark, Pole, lexicon, marks_of
from judge.checks.numbers import numbers
from judge.text.fold import CJK, CJK_CHAR
from judge.text.senses import Sense, rivals, senses
from judge.text.words import CONTENT, Words, grammar, stem, weight, words

_NEAR: Final = 2
"""Telling words that a noun's negation, such as `without`, denies; twice that in Chinese."""
_FIGURE: Final = 0.5
"""Weight of a figure, which is compared by itself: `judge.checks.mismatch`."""
_LISTED: Final = 0.8
"""Weight of a Chinese word of several characters."""
_SAME: Final = 4
"""Of a word that a clause repeats only the first few are compared, or each would be with each."""
_MOST: Final = 1200
"""Characters of one text that are read; what is longer is no sentence."""
_BREAK: Final = re.compile(r"[，；;、（）()—]|[,:：](?!\d)")
_FRAGMENT: Final = re.compile(
    r"(?:\A|(?P<start>, ))(?i:of|in|on|at|by|for|from|during|under|over|within|throughout|as of"
    r"|according to|with|between|despite|after|before|since|until|following|because of|due to"
    r"|besides|thanks to|unlike|compared (?:with|to))"
    r"(?: (?!(?:is|are|was|were|has|have|had|will|can|may|must)\b)"
    r"[^\s,;:()]+){1,7}(?P<end>,)(?= )"
)
_SHARE: Final = re.compile(
    r"(?P<of> (?:out )?of (?:the |its |our |their )?)"
    r"|[^，。；]{1,12}[中里][，,]?(?:共|只|仅|已)?有?"
    r"|(?: [A-Za-z-]{1,20}){1,5}, (?:only |just |at least )?"
)
"""Between the numbers of a part: `two of the nine`, `of the nine men, two`, `十二家中有五家`."""
_OF: Final = re.compile(r"(?:\A|[^\w])(?:out )?of (?:the |its |our |their )?\Z", re.IGNORECASE)
TOKEN: Final = re.compile(rf"[^\W_{CJK}]+|[{CJK}]")
"""A word, or a Chinese character."""
_DENYING: Final = frozenset(("deny", "deny-also", "deny-near", "deny-all", "forbid", "must-not"))
_ADJECTIVE: Final = re.compile(r"(?:able|ible|al|ent|ant|ive|ate|ary|ous|ect|ete|ure|ar)\Z")
_ROOT: Final = 4
"""Letters that a root has at least."""
_ENDING: Final = re.compile(
    r"(?:at(?:ion)?|it(?:ion)?|ion|ment|anc|enc|ant|ent|abl|ibl|al|er|or|ur|iti|iv|ous|i|e|y)\Z"
)
"""Behind a stem, what makes of a word one of another kind."""
_PREFIXED: Final = 7
"""Letters of a word that a prefix may deny."""
_RULES: Final = frozenset(("must", "must-not", "may", "need-not"))


class Word(NamedTuple):
    """A word that says something."""

    key: str
    """Its stem."""
    start: int
    end: int
    weight: float
    sense: Sense | None
    poles: tuple[Pole, ...]
    denied: bool = False
    """Whether it stands within reach of a negation."""
    prefixed: bool = False
    """Whether its prefix denies what its stem says: `ineligible`."""
    times: int = 0
    """How many negations reach it: two deny nothing."""
    focus: bool = False
    """Whether it is the first of those that a negation denies."""


@lru_cache(maxsize=1 << 14)
def root(key: str) -> str:
    """What a stem shares with those of other kinds of word; empty where that is too little.

    >>> root("complianc") == root("compli"), root("signatur") == root("sign"), root("hen")
    (True, True, '')
    """
    if len(key) < _ROOT or not key.isascii() or not key.isalpha():
        return ""
    while found := _ENDING.search(key, _ROOT):
        key = key[: found.start()]
    return key[:-1] if key[-2:-1] == key[-1] else key


def excludes(one: Word, two: Word) -> bool:
    """Whether a word does not hold where another stands in its place."""
    known = lexicon()
    for mine in one.poles:
        for other in two.poles:
            if mine.scale == other.scale and mine.end != other.end:
                return not (mine.scale in known.falling and mine.end)
    if one.sense is None or two.sense is None or not one.sense.excludes & two.sense.implies:
        return False
    return not known.sets.isdisjoint(rivals(one.sense, two.sense))


def _apart(one: Word, two: Word) -> bool:
    ends = dict(two.poles)
    return any(ends.get(pole.scale, pole.end) != pole.end for pole in one.poles)


class Clause:
    """Part of a text between two breaks."""

    def __init__(
        self, text: str, start: int, end: int, said: Sequence[Word], marks: Sequence[Mark]
    ) -> None:
        self.text, self.start = text, start
        self.whole = text[start:end]
        self.marks = marks
        self.words = tuple(_governed(said, marks))

    @cached_property
    def latin(self) -> bool:
        """Whether its text has no Chinese character; it may have accents and curly quotes."""
        return self.text.isascii() or CJK_CHAR.search(self.text) is None

    @cached_property
    def keys(self) -> dict[str, list[Word]]:
        """Its words, by stem and by each meaning that they imply."""
        found: dict[str, list[Word]] = {}
        for word in self.words:
            said = (*(word.sense.implies if word.sense else ()), *word.poles)
            for key in (word.key, *(f"@{each}" for each in said)):
                own = found.setdefault(key, [])
                if len(own) < _SAME:
                    own.append(word)
        return found

    @cached_property
    def roots(self) -> dict[str, list[Word]]:
        """Its words, by what is left of them without the endings that make one word of another."""
        found: dict[str, list[Word]] = {}
        for word in self.words:
            if kin := root(word.key):
                found.setdefault(kin, []).append(word)
        return found

    @cached_property
    def places(self) -> dict[int, int]:
        """Which of its words begins at a character."""
        return {word.start: at for at, word in enumerate(self.words)}

    def having(self, word: Word) -> list[Word]:
        """Its words that say what a word does."""
        own = self.keys.get(word.key, [])
        if not own and (kin := root(word.key)):
            own = self.roots.get(kin, [])
        if not own and word.sense is not None:
            own = self.keys.get(f"@{word.sense.concept}", [])
        if not own and word.poles:
            own = self.keys.get(f"@{word.poles[0]}", [])
            own = [each for each in own if not _apart(word, each)]
        return own

    @cached_property
    def weight(self) -> float:
        """Of all its words."""
        return sum(word.weight for word in self.words)

    @cached_property
    def rule(self) -> str | None:
        """The class of its rule, such as `must-not`."""
        rules = [mark.name for mark in self.marks if mark.name in _RULES]
        # `May optionally be` frees, as `need not` does.
        return (
            "need-not" if rules[:1] == ["may"] and "need-not" in rules else next(iter(rules), None)
        )

    @cached_property
    def governed(self) -> Word | None:
        """The first word that its rule speaks of; None where the rule stands last."""
        ruling = self.mark(str(self.rule))
        if ruling is None:
            return None
        return next((word for word in self.words if word.start >= ruling.end), None)

    @cached_property
    def denies(self) -> bool:
        """Whether it has a negation; not one that another within its reach takes back."""
        count = sum(
            (mark.name in _DENYING and mark.name != "deny-also") or mark.name == "need-not"
            for mark in self.marks
        ) + sum(word.prefixed for word in self.words)
        return bool(count % 2 if self.nested else count)

    @cached_property
    def prefixed(self) -> bool:
        """Whether a word of it has a prefix that denies."""
        return any(word.prefixed for word in self.words)

    @cached_property
    def tokens(self) -> list[str]:
        """The stems of all its words, those of grammar too."""
        return list(map(stem, TOKEN.findall(self.whole.lower())))

    @cached_property
    def nested(self) -> bool:
        """Whether a negation denies another."""
        return any(word.times > 1 for word in self.words)

    def between(self, name: str, start: int, end: int) -> bool:
        """Whether a mark of a class stands between two places of the text."""
        return any(m.name == name and start <= m.start and m.end <= end for m in self.marks)

    def passive(self, word: Word) -> bool:
        """Whether an auxiliary stands right before a word."""
        behind = max((each.end for each in self.words if each.end <= word.start), default=0)
        return self.between("auxiliary", behind, word.start)

    def written(self, *parts: str) -> str:
        """From the first of some parts to the end of the last."""
        places = [self.whole.find(part) for part in parts]
        end = max(place + len(part) for place, part in zip(places, parts, strict=True))
        return self.whole[min(places) : end]

    @cached_property
    def conditional(self) -> bool:
        """Whether it holds on a condition alone, or not of what it says but of what it prevents."""
        return self.has("apart") or self.has("only")

    def mark(self, name: str) -> Mark | None:
        """Its first mark of a class."""
        return next((mark for mark in self.marks if mark.name == name), None)

    def has(self, name: str) -> bool:
        """Whether it has a mark of a class."""
        return any(mark.name == name for mark in self.marks)


def share(own: Iterable[Clause], sentence: Sequence[Clause]) -> float:
    """How much of what some clauses say a sentence has, by weight."""
    words = [word for clause in own for word in clause.words]
    had = sum(word.weight for word in words if any(clause.having(word) for clause in sentence))
    return had / max(sum(word.weight for word in words), 1e-9)


@lru_cache(maxsize=1 << 12)
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a sentence that say anything, in reading order."""
    text = text[:_MOST]
    said = words(text)
    marks = marks_of(text, said)
    told = _told(text, said, marks)
    cuts = {match.start() for match in _BREAK.finditer(text)} - _fragments(text)
    cuts |= {mark.start for mark in marks if mark.name == "split"}
    edges = [0, *sorted(cuts - {0}), len(text)]
    found = []
    for start, end in pairwise(edges):
        own = [each for each in told if start <= each.start < end]
        if own:
            found.append(
                Clause(text, start, end, own, [each for each in marks if start <= each.start < end])
            )
    return tuple(found)


def _told(text: str, said: Words, marks: Sequence[Mark]) -> list[Word]:
    """The words that say something: no marks, no grammar."""
    known = lexicon()
    meanings = senses(text, said)
    meant = {places[0]: sense for sense, places in meanings}
    light = {place for span in grammar(text) for place in range(*span)}
    light.update(place for mark in marks for place in range(mark.start, mark.end))
    # A Chinese word of a list is one word, and no character of it another.
    han: dict[int, tuple[int, tuple[Pole, ...]]] = {
        places[0]: (places[-1] + 1, ()) for _, places in meanings if isinstance(places, range)
    }
    if not text.isascii():
        compared = any(mark.name == "than" for mark in marks)
        for place, own in known.own_poles(text, compared=compared):
            if any(at < place.start < end for at, (end, _) in han.items()):
                # `吃饭后` is 吃 and 饭后.
                han = {
                    at: (min(end, place.start) if at < place.start else end, poles)
                    for at, (end, poles) in han.items()
                }
            han[place.start] = place.stop, own
    found = _figures(text)
    numbered = {place for each in found for place in range(each.start, each.end)}
    past = 0
    behind = [*said.stems, ""][1:]
    for (key, start, end), after in zip(zip(*said, strict=True), behind, strict=True):
        if start < past or start in numbered:
            continue
        if start in han:
            past, poles = han[start]
            if poles or start not in light:
                found.append(Word(text[start:past], start, past, _LISTED, meant.get(start), poles))
            continue
        written = text[start:end].lower()
        poles = known.poles.get(f"{key} {after}") or (
            known.poles.get(f"{written}=", ()) + known.poles.get(key, ())
        )
        prefixed = not poles and start not in meant and start not in light and _prefix(written)
        stemmed = stem(written[prefixed:]) if prefixed else key
        weighs = weight(stemmed)
        if (start not in light and (weighs > CONTENT or start in meant)) or poles:
            sense = meant.get(start)
            found.append(Word(stemmed, start, end, weighs, sense, poles, prefixed=bool(prefixed)))
    return sorted(found, key=lambda word: word.start)


def _fragments(text: str) -> set[int]:
    """The commas beside a phrase that is no clause: `On Monday, …`."""
    found: set[int] = set()
    for match in _FRAGMENT.finditer(text):
        found.update(range(*match.span("end")))
        if match["start"]:
            found.update(range(*match.span("start")))
    return found


@lru_cache(maxsize=1 << 12)
def _prefix(word: str) -> int:
    """How many letters of a word deny the others, which are a word of their own."""
    known = lexicon()
    if len(word) < _PREFIXED or any(word.startswith(each) for each in known.unprefixed):
        return 0
    formed = _ADJECTIVE.search(word) is not None
    for each in known.prefixes + (known.of_adjectives if formed else ()):
        common = weight(stem(word[len(each) :])) < 1
        if word.startswith(each) and (common or (formed and each in known.prefixes)):
            return len(each)
    return 0


def _figures(text: str) -> list[Word]:
    """The numbers of a text as words of their values."""
    found = [
        Word(f"{each.value:.15g}", each.start, each.end, _FIGURE, None, ())
        for each in numbers(text)
        if each.certain
    ]
    for at, (one, two) in enumerate(pairwise(found)):
        if share := _SHARE.fullmatch(text[one.end : two.start]):
            part = at if share["of"] else at + 1
            if text.isascii() and not share["of"] and not _OF.search(text[: one.start]):
                continue
            found[part] = found[part]._replace(poles=(Pole("some", 1),))
    return found


def _governed(own: Sequence[Word], marks: Sequence[Mark]) -> Iterator[Word]:
    """The words, with what is denied of them."""
    times = [int(word.prefixed) for word in own]
    focus: set[int] = set()
    starts = [
        mark.start
        for mark in marks
        if mark.name in _RULES or mark.name in ("auxiliary", "deny", "deny-also")
    ]
    for mark in marks:
        if mark.name not in _DENYING:
            continue
        behind = [at for at, each in enumerate(own) if each.start >= mark.end]
        if mark.name == "deny-near":
            many = 2 * _NEAR if behind and CJK_CHAR.match(own[behind[0]].key) else _NEAR
            reached = behind[:many]
        elif mark.name == "forbid":
            reached = list(range(len(own)))
        elif mark.name == "deny-all" or not behind:
            reached = behind
        else:
            first = own[behind[0]].start
            until = next((start for start in starts if start > first), None)
            reached = [at for at in behind if until is None or own[at].start < until]
        if mark.name == "deny-also":
            reached = [at for at in reached if not times[at]]
        for at in reached:
            times[at] += 1
        focus.update(behind[:1] or reached[-1:])
    for at, word in enumerate(own):
        here = at in focus or word.prefixed
        yield word._replace(denied=times[at] % 2 > 0, times=times[at], focus=here)
