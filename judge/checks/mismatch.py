"""Mismatches: what a `full` of an offline judge says, and the chunks do not."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from judge.checks.contradictions import contradiction
from judge.checks.figures import Match
from judge.checks.grounds import Grounds
from judge.checks.names import Amid, Name
from judge.checks.places import COUNT
from judge.checks.quantities import Quantity, counted
from judge.checks.quotes import repeats
from judge.checks.statement import Statement, read
from judge.records import JudgeOutcome, JudgeRequest, Support, Verdict
from judge.text.words import blank_markup

_MOST: Final = 200
"""So many figures, dates or names of one sentence are looked up: more are a table, and a square."""
_LIST: Final = r"\d{1,3}(?![\d%％])(?:\s?(?:,|，|、|-|–|and|&|和)\s?\d{1,3}(?![\d%％]))*"
# Numbers that name a source, or the place in a list. What is possessive here would
# go back over a long run of spaces from each of them.
_LABEL: Final = re.compile(
    rf"""
      (?<![^\W_]) (?i:passage|document|doc|source|chunk|context|reference|ref|excerpt|snippet
        |paragraph|para|quote)s? (?:\.|:)? \s? [(\#]? {_LIST} (?!\.\d|[^\W_])
    # Words that also stand in titles and in plain speech: a capital, and no `Article 2 of`.
    | (?<![^\W_]) (?:Article|Text|Result|Review|Evidence|Note|Item)s? \s {_LIST}
        (?!\.\d|[^\W_]|\sof(?![^\W_]))
    | 第\s?(?:\d{{1,3}}|[一二三四五六七八九十]{{1,3}})\s?个?
        (?:段落|片段|段|文档|文件|资料|来源|材料|文章|摘录|篇)
    | (?:段落|片段|文档|文件|资料|来源|材料|摘录|文献)\s?[（(]?\s?{_LIST}
    | ^ [ \t]*+ [*_\#>•·-]{{1,6}}+ [ \t]*+ \d{{1,3}} [.)、．:：] (?!\d)
    | ^ [ \t]*+ (?: [*_\#>•·-]{{1,6}}+ [ \t]*+ )?
        \d{{1,2}} (?:\.\d{{1,2}}){{1,4}} \.? [ \t]+ (?=[*_A-Z])
    | [0-9]\ufe0f?\u20e3
    | [(（\[] [^\W\d_]{{0,20}} ,?\s? [12]\d{{3}} [a-z]? [)）\]]
    | (?<![^\W_]) (?:https?://|www\.) [^\s，。；）)]+
    """,
    re.VERBOSE | re.MULTILINE,
)


EDITION: Final = "5"
"""Bumped with every change that finds another mismatch, one of a word list too."""
_COMMA: Final = re.compile(r",(?<=\d,)(?=\d)")
_CUT: Final = re.compile(r"(?:,(?<=\d,)[ ]?|([.])(?<=\d\.)[ ])(?=\d)")
_DIGITS: Final = re.compile(r"\d{2,}(?:\.\d+)?|\d\.\d+")

MismatchKind = Literal["number", "unit", "date", "name", "contradiction"]


class Mismatch(NamedTuple):
    """What one `full` says and its evidence does not."""

    kind: MismatchKind
    sentence: int
    """Its index in the answer."""
    said: str
    """The words of the claim."""
    instead: str | None
    """What the nearest sentence of the evidence has in its place; None where it merely lacks it."""

    @property
    def support(self) -> Support:
        """The label of the sentence with this mismatch.

        A name that the evidence merely lacks may stand in a heading that nobody handed in.
        """
        if self.instead is not None:
            return Support.CONTRADICTED
        return Support.FULL if self.kind == "name" else Support.NONE


def mismatches(
    request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome], shelf: "Shelf | None" = None
) -> dict[int, Mismatch]:
    """The weightiest mismatch of each `full` that has one, by sentence.

    `shelf` is what was read of the request before.
    """
    shelf = shelf or Shelf(request)
    lacking: Iterable[Mismatch] = differences(request, outcomes, shelf)
    if any(each.kind in ("number", "unit") for each in lacking):
        texts = [(_CUT.sub(r"\1", text), _COMMA.sub("", text)) for text in shelf.texts]
        lacking = [
            each
            for each in lacking
            if each.kind not in ("number", "unit")
            or not any(_cut(each.said, *text) for text in texts)
        ]
    found: dict[int, Mismatch] = {}
    order = (Support.CONTRADICTED, Support.NONE, Support.FULL)
    for each in (*_contradictions(shelf, outcomes), *lacking):
        best = found.get(each.sentence)
        if best is None or order.index(each.support) < order.index(best.support):
            found[each.sentence] = each
    return found


def _cut(said: str, joined: str, plain: str) -> bool:
    """Whether a text has a figure only in pieces: `3, 800`, where it was cut into words."""
    digits = _DIGITS.search(_COMMA.sub("", said))
    return digits is not None and digits[0] in joined and digits[0] not in plain


def _contradictions(shelf: "Shelf", outcomes: Mapping[int, JudgeOutcome]) -> Iterator[Mismatch]:
    for index, outcome in shelf.unrepeated(outcomes):
        claim, quotes = shelf.bare(index), [each.quote for each in outcome.evidence]
        # What is said as near elsewhere may bear it out.
        if contradiction(claim, quotes) and (found := contradiction(claim, shelf.texts)):
            yield Mismatch("contradiction", index, found.said, found.instead)


def differences(
    request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome], shelf: "Shelf | None" = None
) -> tuple[Mismatch, ...]:
    """All that a `full` says and its evidence does not, in the order of the sentences.

    Figures, dates and units must stand in a sentence that a found quote touches, or in the
    question; names anywhere in a chunk that is quoted or said to support, or in the question.
    Where no quote was found, the chunks said to support are the evidence; where there are none
    either, nothing can be compared. Similarity quotes no more than its best window, a classifier of
    tokens nothing, and both were told of all chunks: there all of them are the evidence. `shelf` is
    what was read of the request before.
    """
    shelf = shelf or Shelf(request)
    full = dict(shelf.unrepeated(outcomes))
    if not full:
        return ()
    names = _Names([shelf.claim(index) for index in full], shelf)
    return tuple(
        Mismatch(name, index, words, instead)
        for index, verdict in full.items()
        if (grounds := shelf.grounds(verdict)) is not None
        for name, words, instead in _compare(shelf.claim(index), grounds, names)
    )


def _unlabelled(text: str) -> str:
    return _LABEL.sub(lambda match: " " * len(match.group()), text)


_Difference = tuple[MismatchKind, str, str | None]
_LACKING: Final[dict[Match, MismatchKind]] = {Match.MISSING: "number", Match.OTHER_UNIT: "unit"}


class Shelf:
    """The sentences of a request, its question and its chunks, each read at most once."""

    def __init__(self, request: JudgeRequest) -> None:
        self.query = request.query
        self._query = Statement(request.query)
        self.texts = [chunk.text for chunk in request.chunks]
        """Of the chunks."""
        self._texts: dict[str, list[str]] = {}
        for chunk in request.chunks:
            self._texts.setdefault(chunk.chunk_id, []).append(chunk.text)
        self._request = request
        self._bare: dict[int, str] = {}
        self._claims: dict[int, Statement] = {}
        self.read = cache(read)
        self._known = cache(Grounds)

    def claim(self, index: int) -> "Statement":
        """What a sentence says, its markup and labels blank."""
        if index not in self._claims:
            bare = _unlabelled(claim := self._request.claim(index))
            said = self.bare(index) if bare == claim else blank_markup(bare)
            self._claims[index] = Statement(said)
        return self._claims[index]

    def bare(self, index: int) -> str:
        """A sentence with its markup blank."""
        if index not in self._bare:
            self._bare[index] = blank_markup(self._request.claim(index))
        return self._bare[index]

    def unrepeated(self, outcomes: Mapping[int, JudgeOutcome]) -> Iterator[tuple[int, Verdict]]:
        """Each `full` that no quote of it has word for word, in the order of the sentences."""
        for index, outcome in sorted(outcomes.items()):
            if (
                isinstance(outcome, Verdict)
                and outcome.support is Support.FULL
                and not repeats(outcome, self.bare(index))
            ):
                yield index, outcome

    def grounds(self, verdict: Verdict) -> Grounds | None:
        """What the sentence is compared with; None where there is nothing."""
        if verdict.source == "similarity":
            return self.whole
        held = [text for chunk in verdict.supporting for text in self._texts.get(chunk, ())]
        quoted = [
            (text, evidence.start, evidence.end)
            for evidence in verdict.evidence
            if evidence.verified and evidence.start is not None and evidence.end is not None
            for text in self._texts.get(evidence.chunk_id, ())
            if text[evidence.start : evidence.end] == evidence.quote
        ]
        close = [self._around(*quote) for quote in quoted] or held
        return self._ground(close, [*(text for text, _, _ in quoted), *held]) if close else None

    @cached_property
    def whole(self) -> Grounds:
        """All chunks."""
        return self._ground(self.texts, self.texts)

    def _ground(self, *texts: Iterable[str]) -> Grounds:
        close, wide = ((*map(self.read, dict.fromkeys(each)), self._query) for each in texts)
        return self._known(close, wide)

    def _around(self, text: str, start: int, end: int) -> str:
        """A quote of a few words, made up to whole sentences."""
        cuts = self.read(text).cuts
        first = bisect_right(cuts, start, key=itemgetter(1))
        last = bisect_left(cuts, end, key=itemgetter(0)) - 1
        if first > last:
            return text[start:end]
        return text[min(start, cuts[first][0]) : max(end, cuts[last][1])]


class _Names:
    """Which names are names, by how some sentences and the chunks write them."""

    def __init__(self, said: Sequence[Statement], shelf: Shelf) -> None:
        self._said, self._shelf = said, shelf

    def has(self, name: Name) -> bool:
        """Whether it is one beyond doubt.

        A capital at the start of a sentence tells nothing unless the word has one amid a sentence
        of the answer or a chunk, and is nowhere written without.
        """
        # Most first words stand amid no sentence: that is soon seen, all names of a text are not.
        return name.certain or (
            self._amid.has(name.written) and self._proper.issuperset(name.parts)
        )

    @cached_property
    def _amid(self) -> Amid:
        return Amid((*(each.text for each in self._said), *self._shelf.texts))

    @cached_property
    def _proper(self) -> frozenset[str]:
        said = (*self._said, *map(self._shelf.read, self._shelf.texts))
        named = {
            part for text in said for each in text.names if each.certain for part in each.parts
        }
        return frozenset(named.difference(*(text.mentions.lower for text in said)))


def _compare(said: Statement, grounds: Grounds, names: _Names) -> Iterator[_Difference]:
    """The kind, what the claim says and what stands there instead, by kind in reading order."""
    yield from _figures(said, grounds)
    text = said.text
    for date in said.dates[:_MOST]:
        written = text[date.start : date.end].rstrip(".")
        if date.certain and not grounds.dated(date):
            yield "date", written, grounds.instead(said, date)
        elif date.certain and (other := grounds.misplaced(said, date)):
            yield "date", written, other
    # `Celsius` is part of a quantity.
    taken = {place for each in said.quantities for place in range(each.start, each.end)}
    lost = [
        name
        for name in said.names[:_MOST]
        if name.start not in taken and names.has(name) and grounds.lacks(name)
    ]
    instead = grounds.other_name(said, lost[0]) if len(lost) == 1 else None
    for name in lost:
        yield "name", name.written, instead


def _figures(said: Statement, grounds: Grounds) -> Iterator[_Difference]:
    for each in said.quantities[:_MOST]:
        if not each.certain or not _is_figure(each, said, grounds):
            continue
        match, written = grounds.match(each, said), said.text[each.start : each.end]
        if match is not Match.FOUND:
            if grounds.implies(said, each):
                continue
            yield _LACKING[match], written, grounds.instead(said, each)
        elif other := grounds.otherwise(said, each) or grounds.misplaced(said, each):
            yield "number", written, other


def _is_figure(quantity: Quantity, said: Statement, grounds: Grounds) -> bool:
    """Whether a passage can be expected to give a number.

    An answer says `three reasons` of what a passage merely lists. A small whole number is held
    against the evidence only if that counts the same thing: `three men` where it says `two men`.
    """
    value, unit = quantity.readings[0]
    large = value >= COUNT or unit.kind or not value.is_integer()
    return bool(large) or counted(quantity, said.text) in grounds.things
