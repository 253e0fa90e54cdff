"""Polarity: contrasts between a claim and a near-copy of it, by the words of contrasts.toml."""

import re
import tomllib
from calendar import day_abbr, day_name, month_abbr, month_name
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from heapq import nsmallest
from importlib.resources import files
from itertools import chain
from typing import Final, NamedTuple

from judge.checks.values import DIGITS, HAN_NUMERALS, SEPARATORS, SPELLED
from judge.text.fold import CJK_CHAR
from judge.text.patterns import lazy_pattern
from judge.text.pieces import LONGEST, cached_by_text, segments
from judge.text.words import CONTENT, WORD, grammar, stem, stems, weight

NEAR: Final = 0.8
"""The least share of common words of near-copies."""
_SHARED: Final = 0.5
"""The least share of stems in common (Dice) of sentences that are compared word by word."""
_COMPARED: Final = 3
"""The number of most similar sentences that are compared with a claim word by word."""
_TOKEN: Final = lazy_pattern(rf"(?:{DIGITS})(?:[.,:]\d+)*|{WORD.pattern}", re.VERBOSE)
_VALUE_WEIGHT: Final = 0.5
"""The weight of a number, month or weekday."""
_LEAST_WEIGHT: Final = 1e-9
_DENYING: Final = frozenset(("deny", "deny-all"))
_RULES: Final = frozenset(("must", "must-not", "forbid", "may", "need-not"))
_EXCLUSIVE_RULES: Final = {
    frozenset({"must", "must-not"}),
    frozenset({"must", "need-not"}),
    frozenset({"may", "must-not"}),
    frozenset({"need-not", "must-not"}),
    frozenset({"must", "may"}),
}
_AGAINST: Final = _DENYING | {"must-not", "forbid", "need-not"}


class Pole(NamedTuple):
    """One end, 0 or 1, of a scale."""

    scale: str
    end: int


ALL: Final = Pole("some", 0)
SOME: Final = Pole("some", 1)
"""A statement about all implies the same about some."""


class Mark(NamedTuple):
    """A word of grammar that governs others, of a class of the table."""

    name: str
    start: int
    end: int


class Token(NamedTuple):
    """A word that says something, a number, or the end of the sentence."""

    key: str
    """The stem, or the digits of a number; empty for the end."""
    start: int
    end: int
    weight: float
    poles: tuple[Pole, ...]
    marks: tuple[Mark, ...]
    """The marks between the token before it and this one."""


class Contrast(NamedTuple):
    """The words of a claim, and those of its near-copy that contradict them."""

    words: str
    instead: str


class Sentence:
    """A claim or a sentence of the evidence, as tokens with their marks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tuple(_tokens(text))
        self.keys = [token.key for token in self.tokens]
        self.weight = sum(token.weight for token in self.tokens)

    def has(self, name: str) -> bool:
        """Return whether it has a mark of a class."""
        return any(mark.name == name for token in self.tokens for mark in token.marks)

    def phrase(self, token: Token, names: frozenset[str]) -> str:
        """Return the characters of a token, from its first mark of some classes on."""
        start = next((mark.start for mark in token.marks if mark.name in names), token.start)
        return self.text[start : token.end].strip()


class Copy(NamedTuple):
    """A sentence of the evidence that is a near-copy of a claim."""

    sentence: Sentence
    pairs: list[tuple[Token, Token]]
    """The aligned tokens of the claim and of the sentence."""
    share: float
    """The share of words in common, by weight."""


class Copies:
    """The sentences of some texts, found by the words they have in common with a claim."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._sentences = list(chain.from_iterable(map(_cut, texts)))
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)
        for at, (_, own) in enumerate(self._sentences):
            for each in own:
                self._by_stem[each].append(at)

    def near(self, claim: str) -> list[Copy]:
        """Return the near-copies of a claim, the nearest first."""
        if len(claim) > 2 * LONGEST:
            return []
        mine = frozenset(stems(claim))
        common = Counter(chain.from_iterable(self._by_stem.get(each, ()) for each in mine))
        shares = (
            (2 * many / (len(mine) + len(self._sentences[at][1])), at)
            for at, many in common.items()
        )
        likely = nsmallest(_COMPARED, ((-share, at) for share, at in shares if share >= _SHARED))
        found = [compare(read(claim), read(self._sentences[at][0])) for _, at in likely]
        return sorted((copy for copy in found if copy.share >= NEAR), key=lambda copy: -copy.share)


@cached_by_text
def _cut(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return the sentences of a text and their stems."""
    sentences = [text[start:end] for start, end in segments(text)]
    return [(sentence, frozenset(stems(sentence))) for sentence in sentences]


def compare(own: Sentence, other: Sentence) -> Copy:
    """Align two sentences word by word; words that exclude each other count as common."""
    pairs: list[tuple[Token, Token]] = []
    matcher = SequenceMatcher(None, own.keys, other.keys, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            pairs += zip(own.tokens[a:b], other.tokens[c:d], strict=True)
        elif tag == "replace":
            pairs += _replaced(own.tokens[a:b], other.tokens[c:d])
    common = sum(one.weight + two.weight for one, two in pairs)
    return Copy(other, pairs, common / max(own.weight + other.weight, _LEAST_WEIGHT))


def _replaced(one: Sequence[Token], two: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield the words that exclude each other, and the values that replace each other."""
    for word in one:
        for each in two:
            if excludes(word, each) or (_is_value(word) and _is_value(each)):
                yield word, each
                break


def _is_value(token: Token) -> bool:
    """Return whether a token is a number, a month or a weekday, which `mismatch` compares."""
    return token.key[:1].isdigit() or token.key in _values()


@cache
def _values() -> frozenset[str]:
    names = (*month_name, *month_abbr, *day_name, *day_abbr, *SPELLED.keys() - {"one"})
    return frozenset((*map(stem, filter(None, names)), *HAN_NUMERALS))


def excludes(one: Token, two: Token) -> bool:
    """Return whether a word contradicts another one in its place: `rose` and `fell`."""
    return any(
        mine.scale == other.scale and mine.end != other.end and mine != SOME
        for mine in one.poles
        for other in two.poles
    )


def contrast(own: Sentence, copy: Copy) -> Contrast | None:
    """Return the words of a claim that a near-copy contradicts, and its own; None if none.

    >>> own, other = read("Staff must share passwords."), read("Staff must not share passwords.")
    >>> contrast(own, compare(own, other))
    Contrast(words='must share', instead='must not share')
    """
    other, pairs = copy.sentence, copy.pairs
    against = [(one, two) for one, two in pairs if excludes(one, two)]
    if own.has("apart") != other.has("apart") or any(
        one.key != two.key for one, two in pairs if (one, two) not in against
    ):
        return None
    common = {token for pair in pairs for token in pair}
    alone = [token for each in (own, other) for token in each.tokens if token not in common]
    if any(mark.name in _AGAINST for token in alone for mark in token.marks):
        return None  # one sentence denies something that the other does not mention
    mine, theirs = ([pair[side] for pair in pairs] for side in (0, 1))
    rules = frozenset((_rule(mine), _rule(theirs)))
    denials = _denials(mine) + _denials(theirs) + len(against)
    denials += None in rules and "must-not" in rules
    if denials % 2 and not against and any(token.poles for token in alone):
        return None  # `has ended` may stand for `no longer is`.
    if rules in _EXCLUSIVE_RULES and denials % 2 == 0:
        return _worded(own, copy, _RULES)
    if denials % 2 and not (None in rules and "need-not" in rules):
        if against:
            one, two = against[0]
            return Contrast(own.phrase(one, _DENYING), other.phrase(two, _DENYING))
        return _worded(own, copy, _DENYING | _RULES)
    if not denials:
        if every := _only(own, other):
            return every
        if every := _only(other, own):
            return Contrast(every.instead, every.words)
    return None


def _only(every: Sentence, one: Sentence) -> Contrast | None:
    """Return the words for `all` of one sentence if the other has `only` in their place."""
    found = next((token for token in every.tokens if ALL in token.poles), None)
    only = next((m for token in one.tokens for m in token.marks if m.name == "only"), None)
    if found is None or only is None or every.has("only"):
        return None
    return Contrast(every.text[found.start : found.end], one.text[only.start : only.end])


def _denials(tokens: Sequence[Token]) -> int:
    """Return the number of denying marks; `no` beside `must` is part of that rule."""
    marks = [mark.name for token in tokens for mark in token.marks]
    return sum(name in _DENYING and not (name == "deny-all" and "must" in marks) for name in marks)


def _rule(tokens: Iterable[Token]) -> str | None:
    """Return the class of the first rule of the tokens; `forbid` counts as `must-not`."""
    marks = [mark.name for token in tokens for mark in token.marks]
    names = [name for name in marks if name in _RULES]
    if names[:1] == ["may"] and "need-not" in names:  # `may optionally be`
        return "need-not"
    if names[:1] == ["must"] and "deny-all" in marks:  # `requires no effort`
        return "need-not"
    return "must-not" if names[:1] == ["forbid"] else next(iter(names), None)


def _worded(own: Sentence, copy: Copy, names: frozenset[str]) -> Contrast:
    """Return the first common words whose marks of the classes `names` differ."""
    for one, two in copy.pairs:
        mine, theirs = ([m.name for m in each.marks if m.name in names] for each in (one, two))
        if mine != theirs:
            return Contrast(own.phrase(one, names), copy.sentence.phrase(two, names))
    return Contrast(own.text.strip(), copy.sentence.text.strip())


@lru_cache(maxsize=1 << 12)
def read(text: str) -> Sentence:
    """Return a sentence as tokens."""
    return Sentence(text)


def _tokens(text: str) -> Iterator[Token]:
    found = [(match[0], match.start()) for match in _TOKEN.finditer(text)]
    light = {place for span in grammar(text) for place in range(*span)}
    marks: list[Mark] = []
    past = 0
    for at, (_, start) in enumerate(found):
        if start < past:
            continue
        entry, many = _look_up(text, found, at)
        last, begin = found[at + many - 1]
        past = begin + len(last)
        if entry.mark:
            marks += [Mark(entry.mark, start, past)] * (entry.mark != "plain")
        elif entry.poles or (entry.weight > CONTENT and start not in light):
            key = text[start:past] if many > 1 else entry.key
            yield Token(key, start, past, entry.weight, entry.poles, tuple(marks))
            marks = []
    end = marks[-1].end if marks else len(text)
    yield Token("", end, end, 0.0, (), tuple(marks))


class Entry(NamedTuple):
    """A word or phrase of the table, or any other word."""

    key: str
    """The stem, or the digits of a number."""
    weight: float
    mark: str = ""
    poles: tuple[Pole, ...] = ()


def _look_up(text: str, found: Sequence[tuple[str, int]], at: int) -> tuple[Entry, int]:
    """Return what begins at a token of a text, and its number of tokens."""
    written, start = found[at]
    known = lexicon()
    if CJK_CHAR.match(written):
        for word, entry in known.han.get(written, ()):
            if text.startswith(word, start):
                return entry, len(word)
    elif written != "May" and _spelled(written) in known.first_words:
        words = [_spelled(each) for each, _ in found[at : at + known.longest]]
        for many in range(len(words), 0, -1):
            phrase = known.english.get(" ".join(words[:many]))
            if phrase:
                return phrase, many
    return _word(written), 1


@lru_cache(maxsize=1 << 14)
def _spelled(word: str) -> str:
    low = word.lower().replace("’", "'")
    return "not" if low.endswith("n't") else low


@lru_cache(maxsize=1 << 14)
def _word(written: str) -> Entry:
    """Return a single word with its weight and its poles."""
    if written[0].isdigit():
        return Entry(written.translate(SEPARATORS), _VALUE_WEIGHT)
    key, low = stem(written), _spelled(written)
    poles = lexicon().poles.get(f"{low}=", ()) + lexicon().poles.get(key, ())
    least = CONTENT if poles else _VALUE_WEIGHT if key in _values() else 0.0
    return Entry(key, max(weight(key), least), "", poles)


class Lexicon(NamedTuple):
    """The table of contrasts.toml, indexed for look-ups."""

    english: dict[str, Entry]
    """The marks and the phrases, by their words."""
    first_words: frozenset[str]
    longest: int
    """The most words of a mark or phrase."""
    poles: dict[str, tuple[Pole, ...]]
    """By stem; a word that is matched by its letters has `=` behind it."""
    han: dict[str, list[tuple[str, Entry]]]
    """The Chinese words by their first character, the longest first."""


@cache
def lexicon() -> Lexicon:
    """Return the table, read once."""
    raw = tomllib.loads(files("judge").joinpath("data", "contrasts.toml").read_text("utf-8"))
    english: dict[str, Entry] = {}
    poles: dict[str, tuple[Pole, ...]] = {}
    han: dict[str, Entry] = {}
    for scale, entry in raw["poles"].items():
        for end in (0, 1):
            own = (Pole(scale, end),)
            for each in entry["en"][end].split():
                if "_" in each:
                    english[each.replace("_", " ")] = Entry(each, 1.0, "", own)
                else:
                    key = each if each.endswith("=") else stem(each)
                    poles[key] = poles.get(key, ()) + own
            for each in entry["zh"][end].split():
                poles_so_far = han.get(each, Entry(each, _heaviest(each))).poles
                han[each] = Entry(each, _heaviest(each), "", poles_so_far + own)
    for name, spellings in raw["marks"].items():
        for each in spellings.get("en", "").split():
            english[each.replace("_", " ")] = Entry(each, 0.0, name)
        han.update((each, Entry(each, 0.0, name)) for each in spellings.get("zh", "").split())
    begins: dict[str, list[tuple[str, Entry]]] = {}
    for word, found in sorted(han.items(), key=lambda each: -len(each[0])):
        begins.setdefault(word[0], []).append((word, found))
    first = frozenset(each.partition(" ")[0] for each in english)
    return Lexicon(english, first, max(each.count(" ") + 1 for each in english), poles, begins)


def _heaviest(word: str) -> float:
    return max(CONTENT, *map(weight, word))
