"""Mismatches: figures, dates, names and denials of a `full` claim that the chunks do not have."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final, Literal, NamedTuple

from judge.checks.dates import Calendar, Date, dates
from judge.checks.names import Mentions, Name, names
from judge.checks.numbers import SPELLED, Unit
from judge.checks.polarity import Copies, Copy, contrast
from judge.checks.polarity import read as read_sentence
from judge.checks.quotes import repeats
from judge.checks.values import CENTURY, FAR, Bound, Figures, Match, Quantity, counted, quantities
from judge.records import JudgeOutcome, JudgeRequest, Support, Verdict
from judge.text.words import blank_markup

EDITION: Final = "9"
"""Raised with every change that finds other mismatches, also in a word list."""
_MOST: Final = 200
"""The most figures, dates or names of one sentence that are looked up; a table has more."""
_COUNT: Final = 13
"""A smaller number without a unit may be the answer's own count of the items in a passage."""
_KEPT: Final = 4_096
"""The most characters of a text whose facts are cached, because other answers may share it."""
_HEAD: Final = 4
"""The first letters that two forms of a name share."""
_SPOKEN_VALUE: Final = re.compile(
    rf"(?:{'|'.join(sorted(SPELLED, key=len, reverse=True))}|half|quarter|third|fifth|tenth|dozen"
    r"|euro|dollar|pound|yuan|percent|[半倍年月日周星世元零〇一二两三四五六七八九十百千万亿])",
    re.IGNORECASE,
)
"""The beginning of a value or date in words."""
# Open bounds, which exclude the figure. `at least ten` and `up to ten` include it.
_OPEN: Final = re.compile(
    r"(?<!no )(?<!not )(?:(?:more|greater|longer|older|larger|higher|fewer|less|lower|younger"
    r"|shorter) than|(?<![^\W_])(?:over|above|under|below|exceed(?:s|ed|ing)?)) [$€£¥]?\Z"
    r"|(?<!不)(?:超过|超|逾|高于|多于|大于|不足|不满|低于|少于|小于)\Z",
    re.IGNORECASE,
)
_REACH: Final = 16
"""The characters before a figure that are searched for an open bound."""
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


MismatchKind = Literal["number", "unit", "date", "name", "polarity"]
Item = Quantity | Date


class Mismatch(NamedTuple):
    """A part of a `full` claim that its evidence does not have."""

    kind: MismatchKind
    said: str
    """The words of the claim."""
    instead: str | None
    """The words of a near-copy that replace them; None where the chunks merely lack them."""

    @property
    def support(self) -> Support:
        """Return the label of the claim with this mismatch.

        A missing name keeps `full`, because a heading outside the chunks may contain the name.
        """
        if self.kind == "name":
            return Support.FULL
        return Support.NONE if self.instead is None else Support.CONTRADICTED


def mismatches(
    request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome], source: "Source | None" = None
) -> dict[int, Mismatch]:
    """Return the most serious mismatch of each `full` sentence that has one, by sentence index.

    All chunks and the question are the evidence. `source` is the parsed request, if it exists.
    """
    source = source or Source(request)
    found: dict[int, Mismatch] = {}
    order = (Support.CONTRADICTED, Support.NONE, Support.FULL)
    for index, outcome in sorted(outcomes.items()):
        if (
            isinstance(outcome, Verdict)
            and outcome.support is Support.FULL
            and not repeats(outcome, source.bare(index))
        ):
            own = sorted(_compare(source, index), key=lambda each: order.index(each.support))
            found.update((index, each) for each in own[:1])
    return found


def _compare(source: "Source", index: int) -> Iterator[Mismatch]:
    said, bare = source.claim(index), source.bare(index)
    copies = source.copies.near(bare)
    contrasts = [contrast(read_sentence(bare), copy) for copy in copies]
    # Another near-copy without the contrast supports the claim.
    if contrasts and all(contrasts) and (first := contrasts[0]):
        yield Mismatch("polarity", *first)
    for item in chain[Item](said.quantities[:_MOST], said.dates[:_MOST]):
        others = [_other(item, copy) for copy in copies if item.certain]
        if others and all(others):
            kind: MismatchKind = "date" if isinstance(item, Date) else "number"
            yield Mismatch(kind, said.written(item), others[0])
    for lacking, value in source.lacking(said):
        yield Mismatch(lacking, said.written(value), None)


def _other(item: Item, copy: Copy) -> str | None:
    """Return the different figure or date at the same position of a near-copy; None if none."""
    places = {
        there.start
        for own, there in copy.pairs
        if own.key != there.key and item.start <= own.start < item.end
    }
    facts = read(copy.sentence.text)
    if isinstance(item, Date):
        others: Sequence[Item] = [] if Calendar(facts.dates).covers(item) else facts.dates
    else:
        found = Figures(facts.quantities).look_up(item) is Match.FOUND
        kinds = {unit.kind for _, unit in item.readings}
        others = [
            each
            for each in facts.quantities
            if not found and not each.bound and any(unit.kind in kinds for _, unit in each.readings)
        ]
    for other in others:
        if not places.isdisjoint(range(other.start, other.end)):
            return facts.written(other)
    return None


class Facts:
    """The figures, dates and names of a text, each found when it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    def written(self, item: Item | Name) -> str:
        """Return the characters of an item."""
        return self.text[item.start : item.end].rstrip(".")

    @cached_property
    def dates(self) -> list[Date]:
        """The dates, in reading order."""
        return dates(self.text)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """The figures with their units, without those inside dates."""
        return quantities(self.text, self.dates)

    @cached_property
    def names(self) -> list[Name]:
        """The names of persons, places and things."""
        return names(self.text, self.dates)


_kept: Final = lru_cache(maxsize=1 << 10)(Facts)


def read(text: str) -> Facts:
    """Return the facts of a text; those of recent short texts are cached."""
    return _kept(text) if len(text) <= _KEPT else Facts(text)


class Source:
    """The sentences, chunks and question of a request, each parsed once."""

    def __init__(self, request: JudgeRequest) -> None:
        self._request = request
        self._texts = [*dict.fromkeys(chunk.text for chunk in request.chunks)]
        self._bare: dict[int, str] = {}
        self._claims: dict[int, Facts] = {}

    def bare(self, index: int) -> str:
        """Return a sentence whose markup is blanked."""
        if index not in self._bare:
            self._bare[index] = blank_markup(self._request.claim(index))
        return self._bare[index]

    def claim(self, index: int) -> Facts:
        """Return the facts of a sentence whose markup and labels are blanked."""
        if index not in self._claims:
            blanked = _LABEL.sub(lambda match: " " * len(match.group()), self._request.claim(index))
            self._claims[index] = Facts(blank_markup(blanked))
        return self._claims[index]

    @cached_property
    def copies(self) -> Copies:
        """The sentences of the chunks."""
        return Copies(self._texts)

    @cached_property
    def _facts(self) -> list[Facts]:
        return [read(text) for text in (*self._texts, self._request.query)]

    @cached_property
    def _figures(self) -> Figures:
        return Figures(each for facts in self._facts for each in facts.quantities)

    @cached_property
    def _calendar(self) -> Calendar:
        return Calendar(each for facts in self._facts for each in facts.dates)

    @cached_property
    def _things(self) -> frozenset[str]:
        """The nouns that the chunks and the question count, such as `men` of `two men`."""
        found = (counted(q, facts.text) for facts in self._facts for q in facts.quantities)
        return frozenset(filter(None, found))

    @cached_property
    def _mentions(self) -> Mentions:
        return Mentions("\n".join(facts.text for facts in self._facts))

    def lacking(self, said: Facts) -> Iterator[tuple[MismatchKind, Item | Name]]:
        """Yield the figures, dates and names of a claim that the evidence lacks, by kind."""
        for each in said.quantities[:_MOST]:
            if each.certain and self._tells(each, said):
                match = self._match(each)
                if match is not Match.FOUND and not self._implied(each):
                    yield "unit" if match is Match.OTHER_UNIT else "number", each
        for date in said.dates[:_MOST]:
            if date.certain and not self._dated(date):
                yield "date", date
        # `Celsius` is part of a quantity.
        taken = {place for each in said.quantities for place in range(each.start, each.end)}
        for name in said.names[:_MOST]:
            if name.certain and name.start not in taken and self._mentions.lacks(name):
                yield "name", name

    def _tells(self, quantity: Quantity, said: Facts) -> bool:
        """Return whether the evidence must contain a number.

        In: `three men` where the evidence counts men too. Out: `three reasons` for a list of
        reasons. A small whole number without a unit is checked only if the evidence counts the
        same noun.
        """
        value, unit = quantity.readings[0]
        large = value >= _COUNT or unit.kind or not value.is_integer()
        return bool(large) or counted(quantity, said.text) in self._things

    def _match(self, quantity: Quantity) -> Match:
        """Look a quantity up; a year may match a plain number, as in `2021 visitors`."""
        match = self._figures.look_up(quantity)
        value, unit = quantity.readings[0]
        if match is not Match.FOUND and unit == CENTURY:
            return Match.FOUND if self._calendar.reaches(value) else match
        return Match.FOUND if match is Match.MISSING and self._calendar.has(value) else match

    def _implied(self, quantity: Quantity) -> bool:
        """Return whether an open bound of the evidence covers a quantity: 15 days are over ten."""
        value, unit = quantity.readings[0]
        return not quantity.bound and any(
            limit < value <= FAR * limit if lower else limit / FAR <= value < limit
            for limit, lower in self._limits.get(unit, ())
        )

    @cached_property
    def _limits(self) -> dict[Unit, list[tuple[float, bool]]]:
        """The open bounds of the evidence by unit: the limit, and whether it is a lower one."""
        found: dict[Unit, list[tuple[float, bool]]] = {}
        for facts in self._facts:
            for each in facts.quantities:
                if each.bound and _OPEN.search(facts.text, max(0, each.start - _REACH), each.start):
                    value, unit = each.readings[0]
                    found.setdefault(unit, []).append((value, each.bound is Bound.LOWER))
        return found

    def _dated(self, date: Date) -> bool:
        """Return whether the evidence covers a date; its year may match a plain number."""
        year, *rest = date.readings[0]
        return self._calendar.covers(date) or (
            year is not None and not any(rest) and self._figures.has(year)
        )

    def equivalents(self, index: int, absent: Sequence[int]) -> list[tuple[int, int]]:
        """Return the spans of values and names of a sentence that the chunks give in other forms.

        `absent` are the offsets of its words that no chunk contains.
        """
        bare = self.bare(index)
        told = {at for at in absent if bare[at].isdigit() or _SPOKEN_VALUE.match(bare, at)}
        tall = {at for at in absent if bare[at].isupper()}
        if not told and not tall:
            return []
        own = self.claim(index)

        def among(item: Item | Name, places: set[int]) -> bool:
            return not places.isdisjoint(range(item.start, item.end))

        figures = (
            each
            for each in own.quantities[:_MOST]
            if among(each, told | tall) and self._match(each) is Match.FOUND
        )
        dated = (
            each
            for each in own.dates[:_MOST]
            if each.certain and among(each, told | tall) and self._dated(each)
        )
        named = (
            each
            for each in (own.names[:_MOST] if tall else ())
            if among(each, tall) and self._hinted(each) and not self._mentions.lacks(each)
        )
        return [(each.start, each.end) for each in chain[Item | Name](figures, dated, named)]

    @cached_property
    def _low(self) -> str:
        return "\n".join(facts.text for facts in self._facts).lower()

    def _hinted(self, name: Name) -> bool:
        """Return whether the evidence has the beginning of a name, or its initials."""
        initials = "".join(part[0] for part in name.parts)
        signs = [part[:_HEAD] for part in name.parts] + [initials] * (len(initials) > 1)
        return name.written.isupper() or any(sign.lower() in self._low for sign in signs)
