"""Sides: which of two things a comparison or a verb puts on which side."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from judge.checks.clauses import TOKEN, Clause
from judge.checks.contrasts import lexicon
from judge.text.fold import CJK_CHAR
from judge.text.words import stem

_MOST: Final = 0.6
"""Two sides are the same where so much of the shorter one stands in the other."""
_WINDOW: Final = 7
"""Words between `more` and its `than`."""
_BETWEEN: Final = (
    "in on at for during over under by when while after before since with within from to about"
    " because and or"
)
_GRAMMAR: Final = (
    "a an the of that those this these one ones it its their his her is are was were be been being"
    " do does did has have had will would must may can could shall should also often not"
    " 的 了 是 在 也 还 要 会 其 该 这 那 更 所 得 地 均 都 则 将 们 常 于 就 应 须 可 能 给"
)
_UNGRADED: Final = "other rather whether either neither later never over"
_PREPOSITIONS: Final = frozenset((*_BETWEEN.split(), "as", "this", "last", "next"))
_LIGHT: Final = frozenset((*_BETWEEN.split(), *_GRAMMAR.split()))
_NO_ADJECTIVES: Final = frozenset(_UNGRADED.split())
_MANNERS: Final = frozenset(("well", "soon"))
_TIMES: Final = frozenset(("twice", "double", "thrice", "times"))
_MORE: Final = (
    "exceed exceeds exceeded outnumber outnumbers outnumbered outpace outpaces outpaced surpass"
    " surpasses surpassed outweigh outweighs outweighed outperform outperforms outperformed outsold"
)
_LESS: Final = "trail trails trailed undercut undercuts lagged"
_VERBS: Final = {each: sign for verbs, sign in ((_MORE, 1), (_LESS, -1)) for each in verbs.split()}
"""Verbs that compare what does it with what it is done to."""
_ORDER: Final = {"before": 1, "after": -1}
_COMPARING: Final = frozenset(("than", "short", "as", *_VERBS, *_ORDER))
"""One of them stands in every comparison."""
ORDER: Final = "order"
"""The scale of `before`, which a comparison may not be."""
AMOUNTS: Final = frozenset(
    ("up", "up-side", "high", "tall", "long", "more", "big", "wide", "deep", "heavy", "far")
)
"""Scales of how much there is of something."""
_GROUPS: Final = (AMOUNTS, frozenset((ORDER, "early")))
_FEW: Final = 1
"""Words before a comparison behind a comma that do not yet say what is compared."""
_NOT: Final = frozenset(("not", "t"))
"""The second as `isn't` is cut."""
_ER: Final = re.compile(r"(?P<root>\w{2,}?)(?P<double>[bdglmnprt])?(?P=double)?(?P<y>i)?er\Z")
_HAN_THAN: Final = re.compile(
    r"(?P<one>.+?)(?:(?P<less>不如|不及|没有|没|不比)|(?P<than>比(?![例较赛率重如分值价])))(?P<two>.+)"
)
_HAN_BESIDE: Final = re.compile(
    r"(?:(?:与|和|同|跟)(?P<two>[^，]+?)(?:相比|相较|比起来)|(?:相比于?|比起|相较于?)(?P<also>[^，]+?))[，,]"
    r"?(?P<one>.+?)更为?(?P<how>.+)"
)
_HAN_AHEAD: Final = re.compile(r"[^，；。]{1,30}(?:相比|相较|比起)[^，；。]{0,30}\Z")
_HAN_LIKE: Final = re.compile(
    r"(?P<one>.+?)(?:与|和|同|跟)(?P<two>.+?)(?:一样|同样|同等)(?P<how>.+)"
)
_HAN_TIMES: Final = re.compile(
    r"(?P<one>.+?)(?:是|为|只有|仅为|达到?|相当于)(?P<two>.+?)的?(?:(?P<half>一半|二分之一|半)|"
    r"[两二三四五六七八九十\d.]+倍)"
)
_HAN_SO: Final = re.compile(r"(?:那么|这么|那样|这样|更为?|还要?)")
_HAN_OVER: Final = ("于", "过")
_PASSED: Final = "通过"
_HAN_WORSE: Final = ("不如", "不及")
_HAN_BY: Final = re.compile(
    r"(?![型款版代号])(?:[了得很一些点多几约近不少许两三四五六七八九十\d倍分之].{0,6}|.{0,2})"
)
"""What may stand behind the word that tells a scale: `高得多`."""
_TELLS: Final = 2
"""Characters of a word that tells a scale and is on no list."""
_DEFAULT: Final = "good"
"""The scale of `不如`, which names none."""


class Comparison(NamedTuple):
    """What a clause compares."""

    one: frozenset[str]
    two: frozenset[str]
    """What it is compared with."""
    scale: str
    sign: int
    """1 where the first has more of the scale, -1 where it has less, 0 where as much."""
    start: int
    end: int
    """Its place in the clause."""


def tokens(text: str) -> frozenset[str]:
    """The words of a side, a Chinese character a word, without those of grammar."""
    found = TOKEN.findall(text)
    return frozenset(
        stem(each.lower())
        for at, each in enumerate(found)
        if each.lower() not in _LIGHT or (at and len(each) == 1 and each.isupper())
    )


def turned(
    one: frozenset[str], two: frozenset[str], there: frozenset[str], beyond: frozenset[str]
) -> bool | None:
    """Whether two sides stand the other way round elsewhere; None where they are other things."""
    if one and two and one != two and (one, two) in ((there, beyond), (beyond, there)):
        return one == beyond
    one, two, there, beyond = one - two, two - one, there - beyond, beyond - there
    if not (one and two and there and beyond):
        return None
    crossed = _alike(one, beyond) and _alike(two, there)
    straight = _alike(one, there) and _alike(two, beyond)
    return None if crossed == straight else crossed


def _alike(one: frozenset[str], two: frozenset[str]) -> bool:
    return len(one & two) >= _MOST * min(len(one), len(two))


def agree(own: Comparison, other: Comparison) -> bool | None:
    """Whether one comparison says what another does; None where they are of other things."""
    if own.scale != other.scale and not any(
        own.scale in group and other.scale in group for group in _GROUPS
    ):
        return None
    around = turned(own.one, own.two, other.one, other.two)
    if around is None:
        return None
    return own.sign == (-other.sign if around else other.sign)


def comparisons(clause: Clause) -> list[Comparison]:
    """What a clause compares: at most one thing."""
    said = clause.whole
    if ahead := _HAN_AHEAD.search(clause.text[: clause.start]):
        said = ahead[0] + said
    found = list(_chinese(said) if CJK_CHAR.search(said) else _english(said))
    # `…, lower than the other` says before the comma what is lower.
    ahead_of = tokens(clause.text[: clause.start]) if said.startswith(",") else frozenset()
    found = [
        each._replace(one=each.one | ahead_of) if len(each.one) <= _FEW else each for each in found
    ]
    return [each for each in found if each.one and each.two]


def _english(text: str) -> Iterator[Comparison]:
    if _COMPARING.isdisjoint(TOKEN.findall(text.lower())):
        return
    words = [(match[0].lower(), *match.span()) for match in TOKEN.finditer(text)]
    for at, (word, _, end) in enumerate(words):
        behind = end
        if word == "than":
            graded = _graded(words, at)
        elif word in _VERBS and at and at + 1 < len(words) and words[at + 1][0] != "by":
            graded = at, "more", _VERBS[word]
        elif word == "short" and at > 1 and words[at + 1 : at + 2] and words[at + 1][0] == "of":
            graded, behind = (at - 1, "more", -1), words[at + 1][2]
        elif word == "as" and at > 1:
            graded = _equal(words, at)
        elif word in _ORDER and 0 < at < len(words) - 1:
            graded = at, ORDER, _ORDER[word]
        else:
            continue
        if graded is not None:
            first, scale, sign = graded
            one = tokens(text[: words[first][1]] + text[words[first][2] : words[at][1]])
            last = _until(words, at + 1)
            yield Comparison(
                one, tokens(text[behind : words[last - 1][2]]), scale, sign, words[first][1],
                words[last - 1][2],
            )  # fmt: skip
            return


def _until(words: list[tuple[str, int, int]], at: int) -> int:
    """Where the thing behind `than` ends: before a preposition that does not begin it."""
    seen = False
    for place in range(at, len(words)):
        if seen and words[place][0] in _PREPOSITIONS:
            return place
        seen = seen or words[place][0] not in _LIGHT
    return len(words)


def _graded(words: list[tuple[str, int, int]], at: int) -> tuple[int, str, int] | None:
    """The word that `than` belongs to, its scale and its sign."""
    for place in range(at - 1, max(at - 1 - _WINDOW, 0) - 1, -1):
        word = words[place][0]
        if word in {"more", "less", "fewer"}:
            sign = 1 if word == "more" else -1
            if place == at - 2:
                scale, own = _scale(words[at - 1][0])
                return place, scale, sign * own
            return place, "more", sign
    for place in range(at - 1, max(at - 1 - _WINDOW, 0) - 1, -1):
        word = words[place][0]
        known = lexicon().pole(word)
        if known:
            return place, known.scale, -1 if known.end else 1
        if place and word not in _NO_ADJECTIVES and (found := _ER.match(word)):
            root = found["root"] + (found["double"] or "") + ("y" if found["y"] else "")
            return place, stem(root), 1
    return None


def _equal(words: list[tuple[str, int, int]], at: int) -> tuple[int, str, int] | None:
    """The same of `as … as`."""
    for place in range(at - 2, max(at - 1 - _WINDOW, 0) - 1, -1):
        if words[place][0] not in {"as", "so"}:
            continue
        if words[place + 1][0] in _MANNERS:
            return None
        before = words[place - 1][0] if place else ""
        if before == "half" or before in _TIMES:
            first = place - 2 if before == "times" and place > 1 else place - 1
            return first, "times", -1 if before == "half" else 1
        scale, sign = _scale(words[place + 1][0])
        denied = any(each[0] in _NOT for each in words[max(place - 3, 0) : place])
        return place, scale, -sign if denied else 0
    return None


def _scale(word: str) -> tuple[str, int]:
    known = lexicon().pole(word)
    return (known.scale, -1 if known.end else 1) if known else (stem(word.removesuffix("ly")), 1)


def _chinese(text: str) -> Iterator[Comparison]:
    if found := _HAN_BESIDE.search(text):
        two = found["two"] or found["also"]
        yield from _told(found, found["one"], two, found["how"], 1)
    elif found := _HAN_LIKE.search(text):
        yield from _told(found, found["one"], found["two"], found["how"], 0)
    elif found := _HAN_TIMES.search(text):
        sign = -1 if found["half"] else 1
        yield Comparison(tokens(found["one"]), tokens(found["two"]), "times", sign, *found.span())
    elif found := _HAN_THAN.search(text):
        yield from _told(found, found["one"], found["two"], None, -1 if found["less"] else 1)
    else:
        yield from _beside(text)


def _told(
    found: re.Match[str], one: str, two: str, how: str | None, sign: int
) -> Iterator[Comparison]:
    """A comparison whose scale stands last; where `how` is None, it stands behind the second."""
    so = _HAN_SO.search(two) if how is None else None
    told = (two if how is None else how).rstrip("。！")
    poles = lexicon().own_poles(told, compared=True)
    last = [each for each in poles if _HAN_BY.fullmatch(told, each[0].stop)]
    if last and (not so or so.end() <= last[-1][0].start):
        place, (own, *_) = last[-1]
        behind = two[: place.start] if how is None else two
        two, scale, sign = behind, own.scale, -sign if own.end else sign
    elif how is None and (cut := so.end() if so else two.find("有")) > 0:
        two, scale = two[:cut], told[cut:].removeprefix("有")
    elif found.re is _HAN_THAN and found["less"] in _HAN_WORSE:
        scale = _DEFAULT
    elif how is None and found["than"] and len(two) > _TELLS:
        two, scale = told[:-_TELLS], told[-_TELLS:]
    else:
        return
    two = _HAN_SO.split(two)[0]
    yield Comparison(tokens(one), tokens(two), scale, sign, *found.span())


def _beside(text: str) -> Iterator[Comparison]:
    """A comparison whose scale stands between the two: `高于`."""
    for place, (own, *_) in lexicon().own_poles(text, compared=True):
        start, end = place.start, place.stop
        if text[start:end] == _PASSED:
            continue
        if text[end - 1] in _HAN_OVER or text[end : end + 1] in _HAN_OVER:
            behind = end + (text[end - 1] not in _HAN_OVER)
            sign = -1 if own.end else 1
            yield Comparison(
                tokens(text[:start]), tokens(text[behind:]), own.scale, sign, 0, len(text)
            )
            return
