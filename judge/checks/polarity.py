"""Polarity: contrasts between a claim and a near-copy of it, by the words of contrasts.toml."""

import re
import tomllib
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from judge.checks.values import SPELLED
from judge.text.fold import CJK, CJK_CHAR
from judge.text.pieces import LONGEST, segments
from judge.text.words import CONTENT, LATIN, grammar, stem, stems, weight

NEAR: Final = 0.8
"""The least share of common words of near-copies."""
_ASKED: Final = 0.4
"""The least share of common words of an answer and its question."""
SHARED: Final = 0.5
"""The least share of stems in common (Dice) of sentences that are compared word by word."""
_COMPARED: Final = 5
"""The number of most similar sentences that are compared with a claim word by word."""
_TOKEN: Final = re.compile(
    rf"\d+(?:[.,:]\d+)*|{LATIN}|[{CJK}]|[^\W\d_{CJK}](?:[^\W_{CJK}]|['’](?=[^\W\d_{CJK}]))*"
)
_NUMBER: Final = 0.5
"""Weight of a number."""
_PREFIXED: Final = 7
"""The least letters of a word with a denying prefix, such as `unsafe`."""
_ADJECTIVE: Final = re.compile(r"(?:able|ible|al|ent|ant|ive|ate|ary|ous|ect|ete|ure|ar)\Z")
_NOT_MEANT: Final = re.compile(r"May(?![^\W_])|No\.|[Bb]y \w{1,20}ing(?!\w)")
"""The month, `No. 3`, and `by doing so`."""
_DENYING: Final = frozenset(("deny", "deny-near", "deny-all"))
_RULES: Final = frozenset(("must", "must-not", "forbid", "may", "need-not"))
_OTHERWISE: Final = frozenset(
    map(
        frozenset,
        (
            ("must", "must-not"),
            ("must", "need-not"),
            ("may", "must-not"),
            ("need-not", "must-not"),
            ("must", "may"),
        ),
    )
)
"""Pairs of rules that exclude each other."""
_AGAINST: Final = _DENYING | {"must-not", "forbid", "need-not"}
_BEFORE: Final = frozenset(("deny-near", "deny-all"))
"""Marks that deny only the words after them."""


class Pole(NamedTuple):
    """One end of a scale."""

    scale: str
    end: int
    """0 or 1."""


ALL: Final = Pole("some", 0)
SOME: Final = Pole("some", 1)
"""A statement about all implies the same about some."""


class Mark(NamedTuple):
    """A word of grammar that governs others."""

    name: str
    """Its class in the table."""
    start: int
    end: int


class Token(NamedTuple):
    """A word that says something, a number, or the end of the sentence."""

    key: str
    """Its stem; of a number its digits; empty for the end."""
    start: int
    end: int
    weight: float
    poles: tuple[Pole, ...]
    """The ends of scales that it is."""
    marks: tuple[Mark, ...]
    """The marks between the token before it and this one."""


class Contrast(NamedTuple):
    """What a claim says, and what its near-copy says in that place."""

    said: str
    instead: str


class Sentence:
    """A claim or a sentence of the evidence, as tokens with their marks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tuple(_tokens(text))
        self.keys = [token.key for token in self.tokens]
        self.weight = sum(token.weight for token in self.tokens)

    def has(self, name: str) -> bool:
        """Whether it has a mark of a class."""
        return any(mark.name == name for token in self.tokens for mark in token.marks)

    def phrase(self, token: Token, names: frozenset[str]) -> str:
        """A token, from its first mark of some classes on."""
        start = next((mark.start for mark in token.marks if mark.name in names), token.start)
        return self.text[start : token.end].strip()


class Copy(NamedTuple):
    """A sentence of the evidence that is a near-copy of a claim."""

    sentence: Sentence
    pairs: list[tuple[Token, Token]]
    """The tokens of the claim, and those of the sentence that stand in their places."""
    share: float
    """Of the words in common, by weight, 0 to 1."""


class Copies:
    """The sentences of some texts, found by the words they have in common with a claim."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._sentences = [text[start:end] for text in texts for start, end in segments(text)]
        self._stems = [frozenset(stems(sentence)) for sentence in self._sentences]

    def near(self, claim: str) -> list[Copy]:
        """Return the near-copies of a claim, the nearest first."""
        if len(claim) > 2 * LONGEST:
            return []
        mine = frozenset(stems(claim))
        size = len(mine)
        shares = [2 * len(mine & each) / (size + len(each) or 1) for each in self._stems]
        likely = [at for at, share in enumerate(shares) if share >= SHARED]
        best = sorted(likely, key=lambda at: -shares[at])[:_COMPARED]
        found = [compare(read(claim), read(self._sentences[at])) for at in best]
        return sorted((copy for copy in found if copy.share >= NEAR), key=lambda copy: -copy.share)


def compare(own: Sentence, other: Sentence) -> Copy:
    """Two sentences, word by word in their order; words that exclude each other are in common."""
    pairs: list[tuple[Token, Token]] = []
    matcher = SequenceMatcher(None, own.keys, other.keys, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            pairs += zip(own.tokens[a:b], other.tokens[c:d], strict=True)
        elif tag == "replace":
            pairs += _replaced(own.tokens[a:b], other.tokens[c:d])
    common = sum(one.weight + two.weight for one, two in pairs)
    return Copy(other, pairs, common / max(own.weight + other.weight, 1e-9))


def _replaced(one: Sequence[Token], two: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """The words of a few that exclude others, with these; values with values."""
    for word in one:
        for each in two:
            if excludes(word, each) or (_is_value(word) and _is_value(each)):
                yield word, each
                break


def _is_value(token: Token) -> bool:
    """Whether it is a number, a month or a weekday, which `judge.checks.mismatch` compares."""
    return token.key[:1].isdigit() or token.key in _values()


@cache
def _values() -> frozenset[str]:
    names = (*month_name, *month_abbr, *day_name, *day_abbr, *SPELLED.keys() - {"one"})
    return frozenset((*map(stem, filter(None, names)), *"零〇一二两三四五六七八九十百千万亿"))


def excludes(one: Token, two: Token) -> bool:
    """Whether a word does not hold where another stands in its place."""
    return any(
        mine.scale == other.scale and mine.end != other.end and mine != SOME
        for mine in one.poles
        for other in two.poles
    )


def contrast(own: Sentence, copy: Copy) -> Contrast | None:
    """Return the words of a claim that a near-copy contradicts, and its own; None if none.

    >>> own, other = read("Staff must share passwords."), read("Staff must not share passwords.")
    >>> contrast(own, compare(own, other))
    Contrast(said='must share', instead='must not share')
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
    if rules in _OTHERWISE and denials % 2 == 0:
        return _worded(own, other, pairs, _RULES)
    if denials % 2 and not (None in rules and "need-not" in rules):
        if against:
            one, two = against[0]
            return Contrast(own.phrase(one, _DENYING), other.phrase(two, _DENYING))
        return _worded(own, other, pairs, _DENYING | _RULES)
    if not denials:
        if every := _only(own, other):
            return every
        if every := _only(other, own):
            return Contrast(every.instead, every.said)
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


def denies(claim: str, question: str) -> bool:
    """Return whether a short answer denies its question, or asserts what the question denies.

    >>> denies("Children may take aspirin.", "Which drug may children not take?")
    True
    """
    own, other = read(claim), read(question)
    copy = compare(own, other)
    if copy.share < _ASKED:
        return False
    against = sum(excludes(one, two) for one, two in copy.pairs)
    forbidding = sum(_rule(each.tokens) in {"must-not", "need-not"} for each in (own, other))
    return (_denials(own.tokens) + _denials(other.tokens) + forbidding + against) % 2 == 1


def _worded(
    own: Sentence, other: Sentence, pairs: Sequence[tuple[Token, Token]], names: frozenset[str]
) -> Contrast:
    """Return the first common words whose marks of the classes `names` differ."""
    for one, two in pairs:
        mine, theirs = ([m.name for m in each.marks if m.name in names] for each in (one, two))
        if mine != theirs:
            return Contrast(own.phrase(one, names), other.phrase(two, names))
    return Contrast(own.text.strip(), other.text.strip())


@lru_cache(maxsize=1 << 12)
def read(text: str) -> Sentence:
    """Return a sentence as tokens."""
    return Sentence(text)


def _tokens(text: str) -> Iterator[Token]:
    known = lexicon()
    found = list(_TOKEN.finditer(text))
    light = {place for span in grammar(text) for place in range(*span)}
    marks: list[Mark] = []
    at = 0
    while at < len(found):
        start = found[at].start()
        name, poles, many = known.look_up(text, found, at)
        end = found[at + many - 1].end()
        key, weighs = _weighed(found[at : at + many], poles)
        at += many
        if name:
            if name != "plain":
                marks.append(Mark(name, start, end))
        elif poles or (weighs > CONTENT and start not in light):
            if bare := _prefix(text[start:end]):
                marks.append(Mark("deny", start, start))
                key = bare
            yield Token(key, start, end, weighs, poles, tuple(marks))
            marks = []
    end = marks[-1].end if marks else len(text)
    yield Token("", end, end, 0.0, (), tuple(mark for mark in marks if mark.name not in _BEFORE))


def _weighed(found: Sequence[re.Match[str]], poles: tuple[Pole, ...]) -> tuple[str, float]:
    """Return the key and the weight of a token."""
    if len(found) > 1:
        return "".join(match[0] for match in found), max(weight(stem(m[0])) for m in found)
    word = found[0][0]
    if word[0].isdigit():
        return word.replace(",", ""), _NUMBER
    key = stem(word)
    return key, max(weight(key), CONTENT if poles else 0.0, _NUMBER if key in _values() else 0.0)


class Lexicon(NamedTuple):
    """The table of contrasts.toml, indexed for look-ups."""

    english: dict[str, list[tuple[list[str], str]]]
    """By first word: the words of a mark and its class, the longest first."""
    poles: dict[str, tuple[Pole, ...]]
    """By stem; a word that is matched by its letters has `=` behind it, and two have a blank."""
    han: dict[str, list[tuple[str, str, tuple[Pole, ...]]]]
    """By first character: a word, the class of the mark that it is, or its poles; longest first."""
    prefixes: tuple[str, ...]
    of_adjectives: tuple[str, ...]
    """Those that only words which look like adjectives have."""
    unprefixed: tuple[str, ...]

    def look_up(
        self, text: str, found: Sequence[re.Match[str]], at: int
    ) -> tuple[str, tuple[Pole, ...], int]:
        """Return the mark class or the poles that begin at a word, and their number of words."""
        start = found[at].start()
        if CJK_CHAR.match(text, start):
            for word, name, poles in self.han.get(text[start], ()):
                if text.startswith(word, start):
                    return name, poles, len(word)
            return "", (), 1
        written = _written(found[at][0])
        for spelled, name in self.english.get(written, ()):
            behind = [_written(match[0]) for match in found[at : at + len(spelled)]]
            if behind == spelled and not _NOT_MEANT.match(text, start):
                return name, (), len(spelled)
        key = stem(written)
        if at + 1 < len(found) and (own := self.poles.get(f"{key} {stem(found[at + 1][0])}")):
            return "", own, 2
        return "", self.poles.get(f"{written}=", ()) + self.poles.get(key, ()), 1


def _written(word: str) -> str:
    low = word.lower().replace("’", "'")
    return "not" if low.endswith("n't") else low


@lru_cache(maxsize=1 << 12)
def _prefix(word: str) -> str:
    """Return the stem without a denying prefix, `safe` for `unsafe`; empty if there is none."""
    known, low = lexicon(), word.lower()
    if len(low) < _PREFIXED or low.startswith(known.unprefixed):
        return ""
    formed = known.of_adjectives if _ADJECTIVE.search(low) else ()
    for each in known.prefixes + formed:
        rest = stem(low.removeprefix(each))
        if low.startswith(each) and (weight(rest) < 1 or (formed and each in known.prefixes)):
            return rest
    return ""


@cache
def lexicon() -> Lexicon:
    """Return the table, read once."""
    source = files("judge").joinpath("data", "contrasts.toml").read_text("utf-8")
    raw = tomllib.loads(source)
    english: dict[str, list[tuple[list[str], str]]] = {}
    han: dict[str, tuple[str, tuple[Pole, ...]]] = {}
    poles: dict[str, tuple[Pole, ...]] = {}
    own: tuple[Pole, ...]
    for scale, entry in raw["poles"].items():
        for end in (0, 1):
            own = (Pole(scale, end),)
            for each in entry["en"][end].split():
                key = each if each.endswith("=") else " ".join(map(stem, each.split("_")))
                poles[key] = poles.get(key, ()) + own
            for each in entry["zh"][end].split():
                if not each.endswith("="):
                    han[each] = ("", han.get(each, ("", ()))[1] + own)
    for name, entry in raw["marks"].items():
        for spelling in entry.get("en", "").split():
            spelled = spelling.split("_")
            english.setdefault(spelled[0], []).append((spelled, name))
        han.update(dict.fromkeys(entry.get("zh", "").split(), (name, ())))
    for spellings in english.values():
        spellings.sort(key=lambda each: -len(each[0]))
    begins: dict[str, list[tuple[str, str, tuple[Pole, ...]]]] = {}
    for word, (name, own) in sorted(han.items(), key=lambda each: -len(each[0])):
        begins.setdefault(word[0], []).append((word, name, own))
    return Lexicon(
        english=english,
        poles=poles,
        han=begins,
        prefixes=tuple(raw["prefixes"]["any"].split()),
        of_adjectives=tuple(raw["prefixes"]["adjectives"].split()),
        unprefixed=tuple(raw["prefixes"]["not"].split()),
    )
