"""Mismatches: figures, dates, units and names of a `full` that its evidence does not have."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import combinations
from operator import itemgetter
from typing import Final, NamedTuple

from judge.checks.counterparts import Sentences
from judge.checks.dates import Calendar, Date, dates
from judge.checks.names import AllMentions, Amid, Mentions, Name, names
from judge.checks.numbers import PERCENT
from judge.checks.places import (
    COUNT,
    Item,
    Place,
    Places,
    Row,
    belongs,
    places,
    rows,
    values,
    weigh,
)
from judge.checks.quantities import (
    CENTURY,
    MERE,
    Bound,
    Figures,
    Match,
    Quantity,
    counted,
    quantities,
)
from judge.checks.quotes import repeats
from judge.records import Flag, FlagName, JudgeOutcome, JudgeRequest, Support, Verdict
from judge.text.pieces import segments
from judge.text.words import Words, blank, blank_markup, words

_SEVERAL: Final = 16
"""Texts that are looked through one by one; of more, what they mention is put together."""
_MOST: Final = 200
"""So many figures, dates or names of one sentence are looked up: more are a table, and a square."""
_ALIKE: Final = 0.5
"""A sentence with at least this share of a claim's words may say another thing in its place."""
# Said of whatever lies beyond: `at least ten` and `up to ten` are the figure itself.
_OPEN: Final = re.compile(
    r"(?<!no )(?<!not )(?:(?:more|greater|longer|older|larger|higher|fewer|less|lower|younger"
    r"|shorter) than|(?<![^\W_])(?:over|above|under|below|exceed(?:s|ed|ing)?)) [$€£¥]?\Z"
    r"|(?<!不)(?:超过|超|逾|高于|多于|大于|不足|不满|低于|少于|小于)\Z",
    re.IGNORECASE,
)
_BY: Final = re.compile(
    r"(?:(?<![^\W_])by(?: (?:about|around|nearly|almost|over))?"
    r"|(?:增加|增长|上涨|上升|下降|减少|提高|降低|下跌|便宜|[多少高低贵早晚长短大小快慢涨跌升降重轻深浅])了?"
    r"|少用|多用) ?[$€£¥￥]?\Z",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r" ?(?:[a-z]+ )??(?:more|less|fewer|(?!(?:other|under|over|after|per|number|member|paper)\b)"
    r"[a-z]{2,}er)(?: [a-z]+){0,3} than\b"
    r"| ?(?:more|higher|lower|less|cheaper|faster|slower|longer|shorter|older|younger)\b"
    r"(?! (?:of|or)\b)",
    re.IGNORECASE,
)
"""What stands right before a difference, and right behind it."""
_REACH: Final = 16
_FEW: Final = 16
"""Sentences with a figure that are looked at before all places are."""
_PAIRED: Final = 6
"""Figures of one sentence that a percentage may be of; more are a table."""
_LIKE: Final = 0.6
"""The same of a figure that stands elsewhere."""
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


class Mismatch(NamedTuple):
    """What one `full` says and its evidence does not."""

    name: FlagName
    """One of `mismatch:number`, `:unit`, `:date` and `:name`."""
    sentence: int
    """Its index in the answer."""
    said: str
    """The words of the claim."""
    instead: str | None
    """What the nearest sentence of the evidence has in its place; None where it merely lacks it."""


def mismatches(request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome]) -> tuple[Flag, ...]:
    """Flag every `full` with something its evidence lacks, whoever judged it; no verdict changes.

    Returns:
        At most one flag of each name a sentence, in the order of the sentences.
    """
    details: dict[tuple[int, FlagName], list[str]] = {}
    for found in differences(request, outcomes):
        details.setdefault((found.sentence, found.name), []).append(found.said)
    return tuple(
        Flag(name=name, sentence=index, detail="; ".join(dict.fromkeys(said)))
        for (index, name), said in details.items()
    )


def differences(
    request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome], shelf: "Shelf | None" = None
) -> tuple[Mismatch, ...]:
    """All that a `full` says and its evidence does not, in the order of the sentences.

    Figures, dates and units must stand in a sentence that a found quote touches, or in the
    question; names anywhere in a chunk that is quoted or said to support, or in the question.
    Where no quote was found, the chunks said to support are the evidence; where there are none
    either, nothing can be compared. Similarity quotes no more than its best window and was told of
    all chunks: there all of them are the evidence. `shelf` is what was read of the request before.
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


def confirmed(shelf: "Shelf", index: int) -> list[tuple[int, int]]:
    """Where a sentence, given by index, has figures and dates that follow from the chunks."""
    own, grounds = shelf.claim(index), shelf.whole
    return [
        *((q.start, q.end) for q in own.quantities[:_MOST] if grounds.match(q, own) is Match.FOUND),
        *((d.start, d.end) for d in own.dates[:_MOST] if d.certain and grounds.dated(d)),
    ]


def _unlabelled(text: str) -> str:
    return _LABEL.sub(lambda match: " " * len(match.group()), text)


def _torn(text: str, place: int) -> bool:
    """Whether a long text without blanks was cut there, in the middle of a word perhaps."""
    return 0 < place < len(text) and all(
        sign.isalnum() or sign in "'’" for sign in text[place - 1 : place + 1]
    )


_Difference = tuple[FlagName, str, str | None]
_LACKING: Final = {
    Match.MISSING: FlagName.MISMATCH_NUMBER,
    Match.OTHER_UNIT: FlagName.MISMATCH_UNIT,
}


class _Said:
    """What a text says that can be compared, each kind found when it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._stems: dict[int, frozenset[str]] = {}

    @cached_property
    def dates(self) -> list[Date]:
        return dates(self.text)

    @cached_property
    def quantities(self) -> list[Quantity]:
        return quantities(self.text, self.dates)

    @cached_property
    def names(self) -> list[Name]:
        return names(self.text, self.dates, self.words)

    @cached_property
    def words(self) -> Words:
        return words(self.text)

    def words_in(self, start: int, end: int) -> Words:
        """The words that begin between two places, which are those of a sentence."""
        own = self.__dict__.get("words")
        if own is None and (_torn(self.text, start) or _torn(self.text, end)):
            own = self.words
        if own is None:
            return words(self.text, start, end)
        run = slice(bisect_left(own.starts, start), bisect_left(own.starts, end))
        return Words(own.stems[run], own.starts[run], own.ends[run])

    @cached_property
    def mentions(self) -> Mentions:
        return Mentions(self.text, self.words)

    def rows(self, number: int = 0) -> Iterator[Row]:
        """Its sentences with figures and dates; `number` says which text it is."""
        items: list[Item] = [*self.quantities, *self.dates]
        return rows(self.text, self.words_in, items, self.cuts, number)

    @cached_property
    def cuts(self) -> list[tuple[int, int]]:
        return segments(self.text)

    def lone(self) -> Iterator[tuple[object, int]]:
        """The values of figures and dates that have no other of their kind in their sentence."""
        starts = [start for start, _ in self.cuts]
        grouped: dict[tuple[int, str], list[Item]] = {}
        items: list[Item] = [*self.quantities, *self.dates]
        for item in items:
            at = bisect_right(starts, item.start) - 1
            kind = "date" if isinstance(item, Date) else item.readings[0].unit.kind
            grouped.setdefault((at, kind), []).append(item)
        for (at, _), own in grouped.items():
            if len(own) == 1:
                yield from ((value, at) for value in values(own[0]))

    def stems_of(self, at: int) -> frozenset[str]:
        """The stems of one of its sentences, by number."""
        if at not in self._stems:
            self._stems[at] = frozenset(self.words_in(*self.cuts[at]).stems)
        return self._stems[at]

    def shares(self) -> Iterator[float]:
        """What percentage of each other its figures are, within a sentence, and their changes."""
        figures = [each for each in self.quantities if each.certain]
        starts = [each.start for each in figures]
        for start, end in self.cuts:
            own = figures[bisect_left(starts, start) : bisect_left(starts, end)]
            for one, two in combinations(own if len(own) <= _PAIRED else (), 2):
                (a, unit), (b, other) = one.readings[0], two.readings[0]
                if unit.kind in {other.kind, MERE.kind} or other == MERE:
                    for x, y in ((a, b), (b, a)) if a > 0 and b > 0 else ():
                        yield from (100 * x / y, 100 * abs(x - y) / y)

    def gaps(self) -> Iterator[tuple[Quantity, Quantity, float]]:
        """Sentences that give two figures of one unit, and by how much they differ."""
        figures = [each for each in self.quantities if each.certain]
        starts = [each.start for each in figures]
        for start, end in self.cuts:
            own = figures[bisect_left(starts, start) : bisect_left(starts, end)]
            for one, two in combinations(own if len(own) <= _PAIRED else (), 2):
                (a, unit), (b, other) = one.readings[0], two.readings[0]
                if unit == other or MERE in (unit, other):
                    yield one, two, abs(a - b)

    def differs(self, quantity: Quantity) -> bool:
        """Whether one of its quantities is said to be a difference: `9 euros more`."""
        before = self.text[max(0, quantity.start - _REACH) : quantity.start]
        behind = self.text[quantity.end : quantity.end + 2 * _REACH]
        return bool(_BY.search(before) or _MORE.match(behind))

    @cached_property
    def _placed(self) -> dict[tuple[int, int], Place]:
        made = (place for row in self.rows() for place in places(row))
        return {(place.item.start, place.item.end): place for place in made}

    def place(self, item: Item) -> Place | None:
        """What it says about one of its figures or dates; None in a list of several."""
        return self._placed.get((item.start, item.end))


class _Grounds:
    """What a verdict rests on: the sentences its quotes touch, and the chunks with their names."""

    def __init__(self, close: tuple[_Said, ...], wide: tuple[_Said, ...]) -> None:
        self._close = close
        self._wide = wide
        self._rivals: dict[tuple[Place, float], Place | None] = {}

    @cached_property
    def figures(self) -> Figures:
        return Figures(each for text in self._close for each in text.quantities)

    @cached_property
    def calendar(self) -> Calendar:
        return Calendar(each for text in self._close for each in text.dates)

    @cached_property
    def things(self) -> frozenset[str]:
        """What the sentences count."""
        found = (counted(each, text.text) for text in self._close for each in text.quantities)
        return frozenset(filter(None, found))

    def match(self, quantity: Quantity, said: _Said) -> Match:
        """What becomes of a quantity; a year may be a number: `2021 visitors`."""
        match = self.figures.look_up(quantity)
        if match is Match.FOUND:
            return match
        value, unit = quantity.readings[0]
        if unit == CENTURY:
            return Match.FOUND if self.calendar.reaches(value) else match
        year = match is Match.MISSING and self.calendar.has(value)
        return Match.FOUND if year or self._derives(quantity, said) else match

    def _derives(self, quantity: Quantity, said: _Said) -> bool:
        """Whether a percentage is that of two figures of a sentence, or a difference theirs."""
        value, unit = quantity.readings[0]
        if unit == PERCENT:
            return self._shares.look_up(quantity) is Match.FOUND
        return value in self._gaps.get(unit, ()) and said.differs(quantity)

    @cached_property
    def _gaps(self) -> dict[object, set[float]]:
        """By unit, how much two figures of a sentence differ."""
        found: dict[object, set[float]] = {}
        for text in self._close:
            for one, two, gap in text.gaps():
                for each in (one, two):
                    found.setdefault(each.readings[0].unit, set()).add(gap)
        return found

    def otherwise(self, said: _Said, quantity: Quantity) -> str | None:
        """How much two figures differ, of which a claim gives one as their difference."""
        value, unit = quantity.readings[0]
        if not said.differs(quantity) or value in self._gaps.get(unit, ()):
            return None
        told = [
            (text, each, gap)
            for text in self._close[:-1]
            for one, two, gap in text.gaps()
            for each in (one, two)
            if each.readings[0] == quantity.readings[0] and gap
        ]
        if not told or any(text.differs(each) for text, each, _ in told):
            return None
        return f"{told[0][2]:.15g}"

    @cached_property
    def _shares(self) -> Figures:
        """What percentage of each other the figures of a sentence are, and their changes."""
        shares = {share for text in self._close for share in text.shares()}
        return Figures(quantity for share in shares for quantity in quantities(f"{share:.3f} %"))

    def dated(self, date: Date) -> bool:
        """Whether a date follows from these; a year may be a number here too."""
        year, *rest = date.readings[0]
        return self.calendar.covers(date) or (
            year is not None and not any(rest) and self.figures.has(year)
        )

    def lacks(self, name: Name) -> bool:
        """Whether a part of a name stands in none of the texts."""
        if len(self._wide) > _SEVERAL:
            return self._mentions.lacks(name)
        if any(name.written in text.text for text in self._wide):
            return False
        missing = frozenset(name.parts)
        for text in self._wide:
            missing &= text.mentions.missing(name) if missing else missing
        return bool(missing)

    def instead(self, said: _Said, item: Item) -> str | None:
        """What of its kind stands where a claim has an item that stands nowhere."""
        best = self._rival(own) if (own := said.place(item)) else None
        return self._written(best) if best else None

    def implies(self, said: _Said, quantity: Quantity) -> bool:
        """Whether what stands in its place holds for it too: 15 days are more than ten."""
        best = self._rival(own) if (own := said.place(quantity)) else None
        if best is None or not isinstance(best.item, Quantity) or not best.item.bound:
            return False
        text, other = self._close[best.text].text, best.item
        if quantity.bound or not _OPEN.search(text, max(0, other.start - _REACH), other.start):
            return False
        (value, _), (limit, _) = quantity.readings[0], other.readings[0]
        return value > limit if other.bound is Bound.LOWER else value < limit

    def misplaced(self, said: _Said, item: Item) -> str | None:
        """What stands there instead, where a claim has an item of something else."""
        own = said.place(item)
        if not own or not own.alone or self._asked(item):
            return None
        if self._stands(own):
            return None
        holders = self._places.holders(item)
        best = self._rival(own, _LIKE) if holders else None
        beaten = best and all(belongs(own.words, each, best) for each in holders)
        return self._written(best) if best and beaten else None

    def _stands(self, own: Place) -> bool:
        """Whether a sentence with one figure of its kind has this one, and most of its words.

        Most claims are settled so, before the places of the evidence are made.
        """
        enough = _LIKE * weigh(own.words)
        return any(
            weigh(own.words & text.stems_of(at)) >= enough
            for value in values(own.item)
            for text, at in self._lone.get(value, ())
        )

    @cached_property
    def _lone(self) -> dict[object, list[tuple[_Said, int]]]:
        """By value of a figure or date, the first sentences that have no other of its kind."""
        found: dict[object, list[tuple[_Said, int]]] = {}
        for text in self._close[:-1]:
            for value, at in text.lone():
                own = found.setdefault(value, [])
                if len(own) < _FEW:
                    own.append((text, at))
        return found

    def _rival(self, own: Place, least: float = _ALIKE) -> Place | None:
        """The place most like a claim's where another figure stands."""
        if (own, least) not in self._rivals:
            found = [
                (alike, place)
                for alike, place in self._places.near(own)
                if alike >= least and place.alone and _differ(own.item, place.item)
            ]
            best = max(found, key=itemgetter(0), default=(0.0, None))[1]
            self._rivals[own, least] = best
        return self._rivals[own, least]

    def _written(self, place: Place) -> str:
        text = self._close[place.text].text
        return text[place.item.start : place.item.end].rstrip(".")

    def _asked(self, item: Item) -> bool:
        """Whether the question has it."""
        if isinstance(item, Date):
            return self._query[1].covers(item)
        return self._query[0].look_up(item) is Match.FOUND

    @cached_property
    def _query(self) -> tuple[Figures, Calendar]:
        query = self._close[-1]
        return Figures(query.quantities), Calendar(query.dates)

    @cached_property
    def _places(self) -> Places:
        # The last is the question.
        texts = self._close[:-1]
        return Places(row for n, text in enumerate(texts) for row in text.rows(n))

    def other_name(self, said: _Said, name: Name) -> str | None:
        """The one name of the nearest sentence that the claim does not mention."""
        near = self._nearest(said, name)
        strange = [
            each.written
            for each in (near.names if near else ())
            if each.certain and said.mentions.lacks(each)
        ]
        return strange[0] if len(strange) == 1 else None

    @cached_property
    def _sentences(self) -> Sentences:
        # The last is the question.
        return Sentences([each.text for each in self._close[:-1]])

    def _nearest(self, said: _Said, *without: Name) -> _Said | None:
        """The sentence that has most of what a claim says of its figures and dates, and half."""
        placed: tuple[Quantity | Date | Name, ...] = (*said.quantities, *said.dates, *without)
        spans = sorted((each.start, each.end) for each in placed)
        found = self._sentences.nearest(blank(said.text, spans))
        if found is None or found.share < _ALIKE:
            return None
        return _Said(self._close[found.text].text[found.start : found.end])

    @cached_property
    def _mentions(self) -> AllMentions:
        return AllMentions([text.mentions for text in self._wide])


class Shelf:
    """The sentences of a request, its question and its chunks, each read at most once."""

    def __init__(self, request: JudgeRequest) -> None:
        self._query = _Said(request.query)
        self.texts = [chunk.text for chunk in request.chunks]
        """Of the chunks."""
        self._texts: dict[str, list[str]] = {}
        for chunk in request.chunks:
            self._texts.setdefault(chunk.chunk_id, []).append(chunk.text)
        self.read = cache(_Said)
        self._request = request
        self._bare: dict[int, str] = {}
        self._claims: dict[int, _Said] = {}
        self._segments = cache(segments)
        self._known = cache(_Grounds)

    def claim(self, index: int) -> "_Said":
        """What a sentence says, its markup and labels blank."""
        if index not in self._claims:
            bare = _unlabelled(claim := self._request.claim(index))
            said = self.bare(index) if bare == claim else blank_markup(bare)
            self._claims[index] = _Said(said)
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

    def grounds(self, verdict: Verdict) -> _Grounds | None:
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
    def whole(self) -> _Grounds:
        """All chunks."""
        return self._ground(self.texts, self.texts)

    def _ground(self, *texts: Iterable[str]) -> _Grounds:
        close, wide = ((*map(self.read, dict.fromkeys(each)), self._query) for each in texts)
        return self._known(close, wide)

    def _around(self, text: str, start: int, end: int) -> str:
        """A quote of a few words, made up to whole sentences."""
        cuts = self._segments(text)
        first = bisect_right(cuts, start, key=itemgetter(1))
        last = bisect_left(cuts, end, key=itemgetter(0)) - 1
        if first > last:
            return text[start:end]
        return text[min(start, cuts[first][0]) : max(end, cuts[last][1])]


class _Names:
    """Which names are names, by how some sentences and the chunks write them."""

    def __init__(self, said: Sequence[_Said], shelf: Shelf) -> None:
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


def _compare(said: _Said, grounds: _Grounds, names: _Names) -> Iterator[_Difference]:
    """The flag, what the claim says and what stands there instead, by kind in reading order."""
    yield from _figures(said, grounds)
    text = said.text
    for date in said.dates[:_MOST]:
        written = text[date.start : date.end].rstrip(".")
        if date.certain and not grounds.dated(date):
            yield FlagName.MISMATCH_DATE, written, grounds.instead(said, date)
        elif date.certain and (other := grounds.misplaced(said, date)):
            yield FlagName.MISMATCH_DATE, written, other
    # `Celsius` is part of a quantity.
    taken = {place for each in said.quantities for place in range(each.start, each.end)}
    lost = [
        name
        for name in said.names[:_MOST]
        if name.start not in taken and names.has(name) and grounds.lacks(name)
    ]
    instead = grounds.other_name(said, lost[0]) if len(lost) == 1 else None
    for name in lost:
        yield FlagName.MISMATCH_NAME, name.written, instead


def _figures(said: _Said, grounds: _Grounds) -> Iterator[_Difference]:
    for each in said.quantities[:_MOST]:
        if not each.certain or not _is_figure(each, said, grounds):
            continue
        match, written = grounds.match(each, said), said.text[each.start : each.end]
        if match is not Match.FOUND:
            if grounds.implies(said, each):
                continue
            yield _LACKING[match], written, grounds.instead(said, each)
        elif other := grounds.otherwise(said, each) or grounds.misplaced(said, each):
            yield FlagName.MISMATCH_NUMBER, written, other


def _differ(one: Item, two: Item) -> bool:
    """Whether two of a kind are not the same."""
    if isinstance(one, Date) or isinstance(two, Date):
        return isinstance(one, Date) and isinstance(two, Date) and _conflict(one, two)
    return Figures((two,)).look_up(one) is not Match.FOUND


def _conflict(one: Date, two: Date) -> bool:
    """Whether two dates cannot be the same day."""
    return bool(two.readings) and all(
        any(a != b for a, b in zip(mine, theirs, strict=True) if None not in (a, b))
        for mine in one.readings
        for theirs in two.readings
    )


def _is_figure(quantity: Quantity, said: _Said, grounds: _Grounds) -> bool:
    """Whether a passage can be expected to give a number.

    An answer says `three reasons` of what a passage merely lists. A small whole number is held
    against the evidence only if that counts the same thing: `three men` where it says `two men`.
    """
    value, unit = quantity.readings[0]
    large = value >= COUNT or unit.kind or not value.is_integer()
    return bool(large) or counted(quantity, said.text) in grounds.things
