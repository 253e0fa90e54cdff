"""Mismatches: what a `full` of an offline judge says, and the chunks do not."""

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
"""Bumped with every change that finds another mismatch, one of a word list too."""
_MOST: Final = 200
"""So many figures, dates or names of one sentence are looked up: more are a table."""
_COUNT: Final = 13
"""Below that a mere number may be the answer's own count of what a passage lists."""
_KEPT: Final = 4_096
"""Characters of a text at most that is kept as it was read, for other answers may have it too."""
_HEAD: Final = 4
"""Letters that two forms of a name share."""
_SPOKEN_VALUE: Final = re.compile(
    rf"(?:{'|'.join(sorted(SPELLED, key=len, reverse=True))}|half|quarter|third|fifth|tenth|dozen"
    r"|euro|dollar|pound|yuan|percent|[半倍年月日周星世元零〇一二两三四五六七八九十百千万亿])",
    re.IGNORECASE,
)
"""The beginning of a value or date without digits, which may be written otherwise."""
# Said of whatever lies beyond: `at least ten` and `up to ten` are the figure itself.
_OPEN: Final = re.compile(
    r"(?<!no )(?<!not )(?:(?:more|greater|longer|older|larger|higher|fewer|less|lower|younger"
    r"|shorter) than|(?<![^\W_])(?:over|above|under|below|exceed(?:s|ed|ing)?)) [$€£¥]?\Z"
    r"|(?<!不)(?:超过|超|逾|高于|多于|大于|不足|不满|低于|少于|小于)\Z",
    re.IGNORECASE,
)
_REACH: Final = 16
"""Characters before a figure in which such a bound stands."""
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
    """What one `full` says and its evidence does not."""

    kind: MismatchKind
    said: str
    """The words of the claim."""
    instead: str | None
    """What a near-copy of the claim has in their place; None where the chunks merely lack them."""

    @property
    def support(self) -> Support:
        """The label of the sentence with this mismatch.

        A name that the evidence lacks may stand in a heading that nobody handed in.
        """
        if self.kind == "name":
            return Support.FULL
        return Support.NONE if self.instead is None else Support.CONTRADICTED


def mismatches(
    request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome], source: "Source | None" = None
) -> dict[int, Mismatch]:
    """The weightiest mismatch of each `full` that has one, by sentence.

    All chunks are the evidence, and so is the question. `source` is what was read of the request
    before.
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
    # What is said as near elsewhere may bear it out.
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
    """The other figure or date that a near-copy has in the place of one."""
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
        """The characters of one of them."""
        return self.text[item.start : item.end].rstrip(".")

    @cached_property
    def dates(self) -> list[Date]:
        """Its dates, in reading order."""
        return dates(self.text)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Its figures with their units; none that is part of a date."""
        return quantities(self.text, self.dates)

    @cached_property
    def names(self) -> list[Name]:
        """Its names of persons, places and things."""
        return names(self.text, self.dates)


_kept: Final = lru_cache(maxsize=1 << 10)(Facts)


def read(text: str) -> Facts:
    """The facts of a text; those of short texts read of late are kept."""
    return _kept(text) if len(text) <= _KEPT else Facts(text)


class Source:
    """The sentences of a request, and what its chunks and its question say, each read once."""

    def __init__(self, request: JudgeRequest) -> None:
        self._request = request
        self._texts = [*dict.fromkeys(chunk.text for chunk in request.chunks)]
        self._bare: dict[int, str] = {}
        self._claims: dict[int, Facts] = {}

    def bare(self, index: int) -> str:
        """A sentence with its markup blank."""
        if index not in self._bare:
            self._bare[index] = blank_markup(self._request.claim(index))
        return self._bare[index]

    def claim(self, index: int) -> Facts:
        """The facts of a sentence, its markup and labels blank."""
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
        """What the chunks and the question count."""
        found = (counted(q, facts.text) for facts in self._facts for q in facts.quantities)
        return frozenset(filter(None, found))

    @cached_property
    def _mentions(self) -> Mentions:
        return Mentions("\n".join(facts.text for facts in self._facts))

    def lacking(self, said: Facts) -> Iterator[tuple[MismatchKind, Item | Name]]:
        """The figures, dates and names of a claim that stand nowhere, by kind in reading order."""
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
        """Whether a passage can be expected to give a number.

        An answer says `three reasons` of what a passage merely lists. A small whole number is held
        against the evidence only if that counts the same thing: `three men` where it says
        `two men`.
        """
        value, unit = quantity.readings[0]
        large = value >= _COUNT or unit.kind or not value.is_integer()
        return bool(large) or counted(quantity, said.text) in self._things

    def _match(self, quantity: Quantity) -> Match:
        """What becomes of a quantity; a year may be a number: `2021 visitors`."""
        match = self._figures.look_up(quantity)
        value, unit = quantity.readings[0]
        if match is not Match.FOUND and unit == CENTURY:
            return Match.FOUND if self._calendar.reaches(value) else match
        return Match.FOUND if match is Match.MISSING and self._calendar.has(value) else match

    def _implied(self, quantity: Quantity) -> bool:
        """Whether what lies beyond a bound of its unit holds for it: 15 days are over ten."""
        value, unit = quantity.readings[0]
        return not quantity.bound and any(
            limit < value <= FAR * limit if lower else limit / FAR <= value < limit
            for limit, lower in self._limits.get(unit, ())
        )

    @cached_property
    def _limits(self) -> dict[Unit, list[tuple[float, bool]]]:
        """By unit the bounds of which chunks say something of all beyond, and whether above."""
        found: dict[Unit, list[tuple[float, bool]]] = {}
        for facts in self._facts:
            for each in facts.quantities:
                if each.bound and _OPEN.search(facts.text, max(0, each.start - _REACH), each.start):
                    value, unit = each.readings[0]
                    found.setdefault(unit, []).append((value, each.bound is Bound.LOWER))
        return found

    def _dated(self, date: Date) -> bool:
        """Whether a date follows from what is said; a year may be a number there."""
        year, *rest = date.readings[0]
        return self._calendar.covers(date) or (
            year is not None and not any(rest) and self._figures.has(year)
        )

    def equivalents(self, index: int, absent: Sequence[int]) -> list[tuple[int, int]]:
        """Return the spans of values and names of a sentence that the chunks give in other forms.

        `absent` are the places of its words that stand in no chunk.
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
        """Whether a text has a beginning of a name, or its initials; an acronym may be spelled."""
        initials = "".join(part[0] for part in name.parts)
        signs = [part[:_HEAD] for part in name.parts] + [initials] * (len(initials) > 1)
        return name.written.isupper() or any(sign.lower() in self._low for sign in signs)
