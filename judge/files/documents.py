"""The rows of a JSON file: lines, an array, objects over many lines, an object around a list."""

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import JsonValue

from judge.errors import InputError
from judge.files.fields import FIELDS
from judge.files.source import (
    ALLOW_MORE,
    MEGA,
    PEEK,
    LongLine,
    TextLines,
    check_encoding,
    presentable,
)

Lines = Iterator[tuple[int, str]]
_Fields = dict[str, JsonValue]
_SHOWN: Final = 60
"""Characters of a line, in a message."""
AROUND: Final = (
    *("data", "results", "examples", "rows", "samples", "records", "items", "instances"),
    *("entries", "test_cases", "testCases", "test_results"),
)
"""Keys under which an object that is no row has the list of them."""
_OURS: Final = frozenset(key for name in FIELDS if name != "qid" for key in FIELDS[name][1])
"""Keys of a row's own."""
_OPEN: Final = re.compile(rf'\{{\s*\n\s*"|\{{.*\{{\s*\n|\{{.*"(?:{"|".join(AROUND)})"\s*:\s*\[.*\n')
"""How a file begins with an object over many lines, and not with a line that was cut off."""


class Row(NamedTuple):
    """One row. `fields` is an error where the line is no row at all."""

    line: int
    text: str
    fields: _Fields | InputError


def form_of(head: str) -> Callable[[TextLines, Path], Iterator[Row]]:
    """What reads the rows of a JSON file that begins so."""
    if head.startswith("["):
        return array_rows
    if not _OPEN.match(head):
        return jsonl_rows
    try:
        _PLAIN.raw_decode(head.partition("\n")[0])
    except (ValueError, RecursionError):
        return document_rows
    return jsonl_rows


def made(line: int, text: str, path: Path, read: Callable[[], _Fields]) -> Row:
    """A row of a text, which is checked and then read."""
    fields: _Fields | InputError
    try:
        check_encoding(text, line, path)
        fields = read()
    except InputError as error:
        fields = error.at(str(path), line)
    return Row(line, presentable(text), fields)


def jsonl_rows(lines: Lines, path: Path) -> Iterator[Row]:
    """A row for each line that is not blank."""
    while True:
        try:
            number, line = next(lines)
        except StopIteration:
            return
        except LongLine as error:
            yield Row(error.line, presentable(error.head), error)
            continue
        if line.strip():
            yield made(number, line, path, partial(json_object, line, first=number == 1))


def array_rows(lines: TextLines, path: Path) -> Iterator[Row]:
    """A row for each object of a JSON array, under the number of its line.

    Where several begin on a line, each counts one more than the one before.

    Raises:
        InputError: what is there is no array of objects, or none from there on.
    """
    text = _Text(lines, path, "the array of objects")
    text.next_of("[")
    yield from _array(text, path)
    text.next_of("")


def _array(text: "_Text", path: Path) -> Iterator[Row]:
    """The objects of an array, of which the first bracket is passed."""
    number, sign = 0, text.next_of("{]", keep="{")
    while sign != "]":
        number = max(number + 1, text.line)
        one = text.value(number)
        yield made(number, one, path, partial(json_object, one))
        if (sign := text.next_of(",]")) == ",":
            sign = text.next_of("{", keep="{")


def document_rows(lines: TextLines, path: Path) -> Iterator[Row]:
    """A row for each object, over however many lines.

    Of one that has a list of objects under such a key as `data`, and not ours before it, for each
    object of the list; what else it has is left out.

    Raises:
        InputError: what is there is no JSON from there on.
    """
    text = _Text(lines, path, "the JSON document")
    while text.next_of("{", keep="{", last=True):
        number, around, parts, keys, size = text.line, False, list[str](), set[str](), 0
        text.next_of("{")
        sign = text.next_of('"}', keep='"')
        while sign == '"':
            written = text.value()
            key = json.loads(written)
            keys.add(key)
            text.next_of(":")
            if key in AROUND and _OURS.isdisjoint(keys) and text.enters_objects():
                around = True
                yield from _array(text, path)
            else:
                value = text.value()
                if not around:
                    parts.append(f"{written}: {value}")
                    size += len(parts[-1])
                    text.check(size, number)
            if (sign := text.next_of(",}")) == ",":
                sign = text.next_of('"', keep='"')
        if not around:
            one = "{" + ", ".join(parts) + "}"
            yield made(number, one, path, partial(json_object, one))


def wrapped(fields: Mapping[str, object]) -> list[_Fields]:
    """The rows in an object that is none, but has a list of them; else nothing."""
    for key in AROUND:
        inner = fields.get(key)
        if isinstance(inner, list) and inner and _OURS.isdisjoint(fields):
            found = [each for each in inner if isinstance(each, dict)]
            return found if len(found) == len(inner) else []
    return []


class _Text:
    """The text of a JSON file, of which no more is held than an object needs."""

    def __init__(self, lines: TextLines, path: Path, form: str) -> None:
        self._lines = lines
        self._form = form
        self._path = path
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        self._text = ""
        self._place = 0
        self.line = 1

    def _more(self) -> bool:
        """Double what is held; False at the end of the file."""
        data = self._lines.piece(max(PEEK, len(self._text) - self._place))
        self._text = self._text[self._place :] + self._decode(data, not data)
        self._place = 0
        return bool(data)

    def _take(self, end: int) -> str:
        text, self._place = self._text[self._place : end], end
        self.line += text.count("\n")
        return text

    def _skip_blanks(self) -> None:
        while True:
            blank = _BLANK.match(self._text, self._place)
            self._take(blank.end() if blank else self._place)
            if self._place < len(self._text) or not self._more():
                return

    def next_of(self, signs: str, *, keep: str = "", last: bool = False) -> str:
        """The next sign, which is one of these, or at the end nothing, where that may be.

        It is passed over, but for one to keep.
        """
        self._skip_blanks()
        sign = self._text[self._place : self._place + 1]
        if (sign not in signs or bool(sign) != bool(signs)) and not (last and not sign):
            found = f"holds {short(self._text[self._place :][: 2 * _SHOWN])}" if sign else "ends"
            wanted = " or ".join(signs) or "its end"
            message = f"{found} where {self._form} needs {wanted}; mend the file"
            raise InputError(message, path=str(self._path), line=self.line)
        return sign if sign in keep else self._take(self._place + len(sign))

    def enters_objects(self) -> bool:
        """Whether a list of objects begins here; its bracket is passed over then."""
        while not (match := _LIST.match(self._text, self._place)):
            if not _LIST_BEGUN.fullmatch(self._text, self._place) or not self._more():
                return False
        self._take(match.end(1))
        return True

    def check(self, size: int, number: int) -> None:
        """Raise InputError where an object, which began on this line, has more than a line may."""
        longest = self._lines.longest
        if size > longest:
            problem = f"an object is longer than {longest / MEGA:g} MB; {ALLOW_MORE}"
            raise InputError(problem, path=str(self._path), line=number)

    def value(self, number: int = 0) -> str:
        """The text of the value that begins here; `number` is its line, where it is known."""
        self._skip_blanks()
        number = number or self.line
        while True:
            try:
                end, problem = _PLAIN.raw_decode(self._text, self._place)[1], ""
            except (ValueError, RecursionError) as error:
                end, problem = len(self._text), f"bad JSON: {error}; mend the file"
            self.check(end - self._place, number)
            if not problem and end < len(self._text):
                return self._take(end)
            if self._more():
                continue
            if not problem:  # behind it the file ends
                return self._take(len(self._text))
            raise InputError(problem, path=str(self._path), line=number)


def json_object(line: str, *, first: bool = False) -> _Fields:
    """The object on a line; InputError where there is none."""
    try:
        # With its end, a line cut off inside a string would be blamed on a control character.
        value = JSON.decode(line.rstrip("\r\n"))
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        message = f"bad JSON: {what} at column {error.colno}: {short(line)}; mend the line"
    except RecursionError:
        message = "bad JSON: lists or objects stand too deep in each other; mend the line"
    except ValueError:  # Python's own limit on digits
        message = "bad JSON: a number has too many digits; mend the line"
    else:
        if isinstance(value, dict):
            return value
        message = f"holds {short(line)}; each line is one JSON object, {{…}}"
        if isinstance(value, list):
            message += ". Of a JSON array, jq -c '.[]' makes such lines"
    if first and line.strip() in {"[", "{"}:
        message = "is one JSON document over many lines; make it lines with jq -c"
        message += " '.[]'" if line.strip() == "[" else " ."
    raise InputError(message)


def _object(pairs: list[tuple[str, JsonValue]]) -> _Fields:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise InputError(f"the key {short(key)} stands twice in an object; keep one")
    return fields


# NaN, which Python writes and JSON has not, is no number: null, as in a table.
JSON: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda _: None)
_PLAIN: Final = json.JSONDecoder()
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_LIST: Final = re.compile(r"([ \t\r\n]*\[)[ \t\r\n]*\{")
_LIST_BEGUN: Final = re.compile(r"[ \t\r\n]*(?:\[[ \t\r\n]*)?")


def short(text: str) -> str:
    """A text as a message shows it."""
    text = text.strip()
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
