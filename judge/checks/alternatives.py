"""Alternatives: sentences that offer several answers without a choice."""

import re
from collections.abc import Iterator
from typing import Final

_MOST: Final = 2000
"""The most characters of a sentence that are read."""
_REACH: Final = 80
"""The characters on either side of a span that are read."""
_POINT: Final = re.compile(r"(?<=\d)[.,:](?=\d)|(?<=\b[A-Z])\.")
_STOP: Final = ",、，。;；:：."

# Some words behind "or" make a limit, a correction or a synonym instead of an alternative.
_JOINT: Final = re.compile(
    r"""
      (?<! / ) \b or \b (?= \s+ \w ) (?! \s+ (?: more | less | fewer | so | later | earlier | above
        | below | over | under | higher | lower | older | younger | longer | shorter | greater
        | better | worse | beyond | not | else | otherwise | rather | even | others? | any | similar
        | equivalent | such | roughly | about | around | approximately | nearly | thereabouts
        | both | all | after | before | in\ other\ words ) \b )
    | \s / (?= \s+ \w )
    | (?<! [间可] ) 或 (?: 者是? | 是 )? (?! [许以更多少其缺将会能有可] )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The words and signs between two alternatives."""
_GOVERNED: Final = re.compile(
    r"""
      \b (?: no | not (?! \s+ (?: sure | certain | clear ) ) | never | neither | without | cannot
        | any | if | unless | regardless | (?<! sure\ ) (?<! certain\ ) (?<! clear\ ) whether ) \b
    | n['’]t \b (?! \s+ (?: sure | certain | clear ) )
    | 无论 | 不管 | 不论 | 是否 | 没有 | 不得 | 不能 | 不可 | 如果 | 禁止
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Words before alternatives in their clause that make them a condition, or deny them all."""
_HEDGE: Final = (
    r"(?: maybe | perhaps | possibly | probably | (?: could | might | may ) (?: \s also )? \s be )"
)
_HEDGE_ZH: Final = r"(?: 可能 | 也许 | 或许 | 大概 )"
_PAIR: Final = re.compile(
    rf"""
      \b either \b [^.;:]{{1,80}} \b or \b [^{_STOP}]{{1,40}}
    | \b {_HEDGE} \s+ [^{_STOP}]{{1,40}} [,;] \s* (?: (?: or | and | but ) \s )? (?: it \s )?
      {_HEDGE} \s+ [^{_STOP}]{{1,40}}
    | {_HEDGE_ZH} [^{_STOP}]{{1,20}} [，,；;、] \s* [也还又亦]? 有? {_HEDGE_ZH} [^{_STOP}]{{1,20}}
    | 要么 [^。；;]{{1,30}} 要么 [^{_STOP}]{{1,20}}
    | 不是 [^。；;]{{1,20}} 就是 [^{_STOP}]{{1,20}}
    | (?<! 不 ) 是 [^{_STOP}]{{1,20}} 还是 [^{_STOP}]{{1,20}}
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Alternatives that each have a word such as `either` or `maybe` before them."""
_HEDGED: Final = re.compile(rf"\b {_HEDGE} \b | {_HEDGE_ZH}", re.VERBOSE | re.IGNORECASE)
_NAME: Final = rf"""
    (?! (?: near | in | at | by | on | with | which | who | where | and | but | as ) \b )
    [^\s{_STOP}]+
"""
_BEHIND: Final = re.compile(
    rf"""\s? [^\w\s{_STOP}(（]{{0,2}}
      (?: [,、] \s* {_NAME} (?: \s {_NAME} ){{0,2}} )* [,、]? \s*""",
    re.VERBOSE | re.IGNORECASE,
)
"""Other alternatives between a place and the last joint."""
_BEFORE: Final = re.compile(
    r"""
      \s* (?: (?: in | at | by | on | to | from | maybe | perhaps | even | the | an? | it | is | was
        | that | [“‘"'] | 在 | 是 | 为 | 可能 ) \s* ){0,3}
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Between a joint and a place behind it."""
_NAMED_SO: Final = re.compile(rf"[^{_STOP}]{{1,40}},")


def offered(sentence: str, *, alone: bool = True) -> bool:
    """Return whether a sentence offers alternatives as the answer.

    A plain "or" counts only where the sentence is the whole answer (`alone`). In a longer answer,
    where "use a rag or a sponge" is a statement, the sentence must also express doubt.

    >>> offered("It could be Paris, London, Berlin or Madrid."), offered("It takes 3 days or more.")
    (True, False)
    >>> offered("可能是北京，也可能是上海。"), offered("或许是北京。")
    (True, False)
    """
    text = _level(sentence[:_MOST])
    if _PAIR.search(text):
        return True
    return bool(alone or _HEDGED.search(text)) and any(_joints(text))


def among(sentence: str, start: int, end: int) -> bool:
    """Return whether the characters from `start` to `end` are one alternative of several.

    All alternatives together are not one, nor is a name with its synonym: "aspirin, or ASA, is …".

    >>> text = "Paris or Lyon, by train or bus"
    >>> among(text, 0, 5), among(text, 0, 13)
    (True, False)
    """
    if offered(sentence[start:end]):
        return False
    low, high = max(0, start - _REACH), end + _REACH
    text, start, end = _level(sentence[low:high]), start - low, end - low
    if any(pair.start() < end and start < pair.end() for pair in _PAIR.finditer(text)):
        return True
    for left, right in _joints(text):
        if right <= start and _BEFORE.fullmatch(text, right, start):
            return True
        if end <= left and _BEHIND.fullmatch(text, end, left):
            return not (text[end:left].strip() == "," and _NAMED_SO.match(text, right))
    return False


def _level(text: str) -> str:
    """Return the text with the points inside numbers and after initials replaced."""
    return _POINT.sub("·", text)


def _joints(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words that join alternatives."""
    for joint in _JOINT.finditer(text):
        clause = re.split(f"[{_STOP}]", text[max(0, joint.start() - _REACH) : joint.start()])[-1]
        if not _GOVERNED.search(clause):
            yield joint.span()
