"""Mismatches: values and denials of a `full` claim that the chunks do not have."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from judge.checks.polarity import Copies, Copy, contrast
from judge.checks.polarity import read as read_sentence
from judge.checks.values import HAN_NUMERALS, THOUSANDS, Amount, Day, Value, values
from judge.records import JudgeOutcome, JudgeRequest, Support, Verdict
from judge.text.patterns import lazy_pattern
from judge.text.pieces import cached_by_text
from judge.text.words import blank_markup

EDITION: Final = "15"
"""Raised with every change that finds other mismatches, also in a word list."""
_MOST_VALUES: Final = 200
"""The most values of one sentence that are looked up."""
_ROUNDING_ERROR: Final = 1e-9
_COUNTS: Final = range(13)
"""Such a number without a unit may be the answer's own count of the items in a passage."""


class Mismatch(NamedTuple):
    """A part of a `full` claim that its evidence does not have."""

    words: str
    """The words of the claim."""
    instead: str | None
    """The words of a near-copy that replace them; None where the chunks merely lack them."""

    @property
    def support(self) -> Support:
        """Return the label of the claim with this mismatch."""
        return Support.NONE if self.instead is None else Support.CONTRADICTED


def mismatches(
    request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome], source: "Source | None" = None
) -> dict[int, Mismatch]:
    """Return the most serious mismatch of each `full` sentence that has one, by sentence index.

    All chunks and the question are the evidence. `source` is the parsed request, if it exists.
    """
    source = source or Source(request)
    found: dict[int, Mismatch] = {}
    for index, outcome in sorted(outcomes.items()):
        if (
            isinstance(outcome, Verdict)
            and outcome.support is Support.FULL
            and not source.repeats(index)
        ):
            own = list(_compare(source, index))
            contrasts = [each for each in own if each.instead]
            found.update((index, each) for each in (contrasts or own)[:1])
    return found


def _compare(source: "Source", index: int) -> Iterator[Mismatch]:
    claim = source.plain_text(index)
    row = source.rows[index]
    # The rows of a table are alike in words, and each is about another thing.
    copies = source.copies.near(claim) if row is None else []
    contrasts = [contrast(read_sentence(claim), copy) for copy in copies]
    # Another near-copy without the contrast supports the claim.
    if contrasts and all(contrasts) and (first := contrasts[0]):
        yield Mismatch(*first)
    own = ValueIndex(source.values(index))
    for value in (each for each in source.values(index) if each.certain):
        written = claim[value.start : value.end].rstrip(".")
        others = [_replacement(value, copy, own) for copy in copies]
        # Tokenized text has `31. 8 million`, whose sentence is cut behind `31.`.
        is_cut = any(other and written.startswith(f"{other}.") for other in others)
        if others and all(others) and not is_cut:
            yield Mismatch(written, others[0])
        if not source.has(index, value):
            yield Mismatch(written, None)
    if row is not None:
        yield from _cell_mismatches(row, source.chunk_rows)


class TableRow(NamedTuple):
    """A row of a table in Markdown; its first cell names it."""

    columns: Sequence[str]
    """The names of the columns in lower case; empty for a table without a header."""
    cells: Sequence[str]

    def cell_below(self, other: "TableRow", at: int) -> str | None:
        """Return the cell in the column of cell `at` of another row: by name, else by position."""
        if self.columns and other.columns and self.columns != other.columns:
            name = other.columns[at] if at < len(other.columns) else ""
            return dict(zip(self.columns, self.cells, strict=False)).get(name)
        return self.cells[at] if len(self.cells) == len(other.cells) else None


def table_rows(lines: Sequence[str]) -> list[TableRow | None]:
    """Return for each line its row of a table; None for other lines, headers and rules."""
    rows: list[TableRow | None] = []
    columns: Sequence[str] = ()
    for line, below in zip(lines, (*lines[1:], ""), strict=True):
        text = blank_markup(line).strip().removeprefix("|").removesuffix("|")
        cells = [cell.strip(" \t*_`") for cell in text.split("|")]
        is_header = _is_rule(below)
        if is_header or len(cells) == 1:
            columns = [cell.casefold() for cell in cells] if is_header else ()
        is_row = len(cells) > 1 and not is_header and not _is_rule(line)
        rows.append(TableRow(columns, cells) if is_row else None)
    return rows


def _is_rule(line: str) -> bool:
    """Return whether a line is the rule below a header: `|---|:---:|`."""
    return "-" in line and "|" in line and not line.strip("|:- \t")


def _cell_mismatches(own: TableRow, rows: Iterable[TableRow]) -> Iterator[Mismatch]:
    """Yield the cells whose value the same column of the chunks' rows of that name lacks.

    In: `| Pro | 5 TB |`, and the chunk's `| Pro | 2 TB |`. Out: `5 TB`, and `2 TB` instead.
    """
    same = [row for row in rows if row.cells[0].casefold() == own.cells[0].casefold()]
    for at, cell in enumerate(own.cells[1:], 1):
        others = [
            other for row in same if (other := row.cell_below(own, at)) and read_values(other)
        ]
        index = ValueIndex(value for other in others for value in read_values(other))
        if others and any(each.certain and not index.has(each) for each in values(cell)):
            yield Mismatch(cell, others[0])


def _replacement(value: Value, copy: Copy, own: "ValueIndex") -> str | None:
    """Return the value that replaces this one in a near-copy, and that the claim lacks, or None."""
    places = {
        there.start
        for here, there in copy.pairs
        if here.key != there.key and value.start <= here.start < value.end
    }
    text = copy.sentence.text
    found = read_values(text) if places else ()
    if not found or ValueIndex(found).has(value):
        return None
    for other in found:
        alike = other.certain and not kinds(value).isdisjoint(kinds(other))
        if alike and not places.isdisjoint(range(other.start, other.end)) and not own.has(other):
            return text[other.start : other.end].rstrip(".")
    return None


def kinds(value: Value) -> frozenset[str]:
    """Return what the readings of a value measure; `date` for a date."""
    return frozenset("date" if isinstance(r, Day) else r.unit.kind for r in value.readings)


class Source:
    """The claims of a request, its chunks and its question, each parsed once and when needed."""

    def __init__(self, request: JudgeRequest) -> None:
        self._request = request
        self._texts = [*dict.fromkeys(chunk.text for chunk in request.chunks)]
        self._plain: dict[int, str] = {}
        self._values: dict[int, list[Value]] = {}

    def plain_text(self, index: int) -> str:
        """Return a sentence with blanked markup."""
        if index not in self._plain:
            self._plain[index] = blank_markup(self._request.claim(index))
        return self._plain[index]

    def values(self, index: int) -> list[Value]:
        """Return the values of a sentence."""
        if index not in self._values:
            self._values[index] = values(self.plain_text(index))[:_MOST_VALUES]
        return self._values[index]

    def repeats(self, index: int) -> bool:
        """Return whether a chunk contains a sentence verbatim."""
        claim = self.plain_text(index).strip("*_-•· \t\n.。!！")
        return bool(claim) and position(claim, self._whole) >= 0

    @cached_property
    def copies(self) -> Copies:
        """The sentences of the chunks."""
        return Copies(self._texts)

    @cached_property
    def rows(self) -> list[TableRow | None]:
        """The table row that each sentence is; None for a sentence that is no row."""
        if "|" not in self._request.answer:
            return [None] * len(self._request.sentences)
        return table_rows([sentence.text for sentence in self._request.sentences])

    @cached_property
    def chunk_rows(self) -> list[TableRow]:
        """The table rows of the chunks."""
        texts = [text.splitlines() for text in self._texts if "|" in text]
        return [row for lines in texts for row in table_rows(lines) if row]

    @cached_property
    def _whole(self) -> str:
        """The texts of the chunks, with signs between them that no claim has."""
        return "\n\0\n".join(self._texts)

    @cached_property
    def _index(self) -> "ValueIndex":
        evidence = (*self._texts, self._request.query)
        return ValueIndex(each for text in evidence for each in read_values(text))

    def has(self, index: int, value: Value) -> bool:
        """Return whether the evidence has a value of a sentence, or need not: `three reasons`."""
        first = value.readings[0]
        if isinstance(first, Amount) and first.unit.kind == "" and first.number in _COUNTS:
            return True
        if not kinds(value).isdisjoint({"celsius", "fahrenheit"}):
            return self._index.has(value)  # `minus 5 °C` has the words `5 °C`
        written = self.plain_text(index)[value.start : value.end]
        evidence = (self._whole, self._request.query)
        return any(position(written, text) >= 0 for text in evidence) or self._index.has(value)

    def equivalents(self, index: int, absent: Sequence[int]) -> list[tuple[int, int]]:
        """Return the spans of values of a sentence whose words are absent, but not their values."""
        return [
            (each.start, each.end)
            for each in self.values(index)
            if any(each.start <= at < each.end for at in absent) and self._index.has(each)
        ]


def position(words: str, text: str) -> int:
    """Return where a text has words, or a value, that neither begin nor end inside others; or -1.

    `5` is no value of `15`, `1.5`, `5,000`, `$5`, `5%`, nor `五` of `十五`.
    """
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not _JOINED.match(text[max(at - 1, 0) : at + 1] + " ") and not _JOINED.match(
            text[end - 1 : end + 2]
        ):
            return at
        at = text.find(words, at + 1)
    return -1


_JOINED: Final = lazy_pattern(
    rf"[A-Za-z\d][A-Za-z\d]|[A-Za-z\d][.:{THOUSANDS}]\d|\d[%％]|[.:{THOUSANDS}$€£¥￥/-]\d|"
    rf"[{HAN_NUMERALS}点半][{HAN_NUMERALS}点半]|[{HAN_NUMERALS}]分之"
)


read_values: Final = cached_by_text(values)


class ValueIndex:
    """The values of some texts, sorted for look-ups."""

    def __init__(self, found: Iterable[Value]) -> None:
        readings = [each for value in found for each in value.readings]
        self._days = {each for each in readings if isinstance(each, Day)}
        amounts = [each for each in readings if isinstance(each, Amount)]
        by_kind: dict[str, list[float]] = {}
        for number, unit in amounts:
            by_kind.setdefault(unit.kind, []).append(number)
        self._bare = sorted(each.number / each.unit.factor for each in amounts)
        self._by_kind = {kind: sorted(own) for kind, own in by_kind.items()}

    def has(self, value: Value) -> bool:
        """Return whether a value follows from the texts, in this form or another.

        In: `3.5 million` for `3,512,000` of the texts. Out: `3,512,000` for `3.5 million`.
        A number without a unit fits any unit.
        """
        return any(
            self._has_day(each) if isinstance(each, Day) else self._has_amount(value, each)
            for each in value.readings
        )

    def _has_amount(self, value: Value, amount: Amount) -> bool:
        kind, factor = amount.unit
        amounts = self._by_kind.get("", ()) if kind else self._bare
        return _has_near(
            self._by_kind.get(kind, ()), amount.number, value.leeway * factor
        ) or _has_near(amounts, amount.number / factor, value.leeway)

    def _has_day(self, day: Day) -> bool:
        """Return whether a day follows from the texts, its year and its day perhaps from two.

        `3 May 2021` follows from `3 May` and `2021`, yet not from `3 May 2020` and `2021`.
        """
        yearless = day._replace(year=None)
        return any(_follows(day, each) for each in self._days) or (
            day.month is not None
            and any(each.year == day.year for each in self._days)
            and any(_follows(yearless, each) for each in self._days if each.year is None)
        )


def _follows(day: Day, other: Day) -> bool:
    """Return whether a day follows from another: `May 2021` and `3 May` from `3 May 2021`."""
    return all(part in {None, whole} for part, whole in zip(day, other, strict=True))


def _has_near(amounts: Sequence[float], amount: float, off: float) -> bool:
    """Return whether one of the ascending amounts is at most `off` away."""
    off += _ROUNDING_ERROR * abs(amount)
    place = bisect_left(amounts, amount - off)
    return place < len(amounts) and amounts[place] <= amount + off
