"""Paths into a row, such as `docs[].page_content`, and the values at them."""

import ast
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from pydantic import JsonValue

from judge.errors import ConfigError

NOTHING: Final = object()
"""The value at a path that leads nowhere."""
_MOST_CELL: Final = 1_000_000
"""Characters of a text that is read as a Python literal."""
_NUMBERED: Final = re.compile(r"(.+?)\.(\d{1,6})(?:\.(.+))?", re.DOTALL)
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(-?\d{0,9})\]|\[([^\[\]=]+)=([^\[\]]*)\]")

_Fields = dict[str, JsonValue]
Step = str | int | tuple[str, str] | None
"""A key; a position in a list; `(key, value)` for the items in which a key has a value; null for
each item."""
Steps = tuple[Step, ...]
Paths = tuple[tuple[str, Steps], ...]
"""Paths as they are written, each with its steps."""


def paths_of(texts: Iterable[str]) -> Paths:
    """Return each path with its steps; raise ConfigError if a text is no path."""
    return tuple((text, _steps(text)) for text in texts)


def _steps(path: str) -> Steps:
    steps: list[Step] = []
    place = 0
    while match := _STEP.match(path, place):
        key, number, name, value = match.groups()
        steps.append(key or ((name, value) if name else int(number) if number else None))
        place = match.end()
    if place < len(path) or not steps or path.startswith("."):
        message = f"map: {path!r} is no path; write it as result.text, docs[].page_content"
        raise ConfigError(f"{message} or choices[0].text")
    return tuple(steps)


def parse_list(text: str) -> JsonValue:
    """Return the list or object that a text is, as JSON or as a Python literal; else the text.

    >>> parse_list('["a"]'), parse_list("['a']"), parse_list("['a' 'b']")
    (['a'], ['a'], "['a' 'b']")
    """
    text_ = text.strip()
    if not text_.startswith(("[", "{")):
        return text
    value: JsonValue
    try:
        value = json.loads(text_, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        if len(text_) > _MOST_CELL:
            return text
        try:
            value = ast.literal_eval(text_)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return text
        # Python would join the two texts of numpy's ['a' 'b'].
        return value if repr(value) == text_ else text
    return value


@lru_cache(maxsize=4)  # many paths begin with the same key, whose value may be a text
def _opened(text: str) -> JsonValue:
    return parse_list(text)


def at(value: object, steps: Steps) -> object:
    """Return the value at a path; `NOTHING` if the path leads nowhere.

    A text that is a JSON object or list is entered; a key may itself hold dots, as in the flat
    `{"output.value": "a"}`.
    """
    if not steps:
        return value
    value = _opened(value) if isinstance(value, str) else value
    if isinstance(value, dict):
        # LangChain serialises an object as {"lc": 1, "kwargs": {…}}.
        inner = value.get("kwargs") if "lc" in value else None
        return _in_object(inner if isinstance(inner, dict) else value, steps)
    return _in_list(value, steps[0], steps[1:]) if isinstance(value, list) else NOTHING


def _in_object(value: _Fields, steps: Steps) -> object:
    if isinstance(steps[0], tuple):
        key, wanted = steps[0]
        return at(value, steps[1:]) if at(value, (key,)) == wanted else NOTHING
    name = ""
    for number, step in enumerate(steps, 1):
        if not isinstance(step, str):
            break
        name = f"{name}.{step}" if name else step
        found = at(value[name], steps[number:]) if name in value else NOTHING
        if found is not NOTHING:
            return found
    return NOTHING


def _in_list(value: list[JsonValue], step: Step, rest: Steps) -> object:
    match step:
        case int():
            return at(value[step], rest) if -len(value) <= step < len(value) else NOTHING
        case (key, wanted):
            chosen = [each for each in value if at(each, (key,)) == wanted]
            each_of = (None, *rest) if rest and isinstance(rest[0], str) else rest
            return at(chosen, each_of) if chosen else NOTHING
        case None:
            found = [at(each, rest) for each in value]
            if None in rest:
                parts = [part for part in found if isinstance(part, list)]
                return [each for part in parts for each in part] if parts or not found else NOTHING
            return [None if each is NOTHING else each for each in found]
    return NOTHING


def first(value: object, paths: Paths) -> tuple[str, object]:
    """Return the first path that leads to a value, and the value; `("", NOTHING)` if none does.

    A null, or a list of nulls, is returned only if no path leads to more.
    """
    null: tuple[str, object] = ("", NOTHING)
    for path, steps in paths:
        found = at(value, steps)
        if found is not None and found is not NOTHING and not is_hollow(path, found):
            return path, found
        if found is not NOTHING and not null[0]:
            null = path, found
    return null


def within(key: str, paths: Iterable[str]) -> bool:
    """Return whether a path is a key, or leads through it."""
    return any(path == key or path.startswith((f"{key}.", f"{key}[")) for path in paths)


def is_hollow(path: str, found: object) -> bool:
    """Return whether the value at a path over a list is a list of nulls."""
    return "[]" in path and isinstance(found, list) and all(each is None for each in found)


def collect_numbered(fields: _Fields) -> _Fields:
    """Return the fields with numbered keys collected into lists, in `attributes` too.

    >>> collect_numbered({"documents.0.content": "a", "documents.1.content": "b"})
    {'documents': [{'content': 'a'}, {'content': 'b'}]}
    """
    inner = fields.get("attributes")
    if isinstance(inner, dict) and (wide := collect_numbered(inner)) is not inner:
        fields = fields | {"attributes": wide}
    if not any(map(_NUMBERED.fullmatch, fields)):
        return fields
    lists: dict[str, dict[int, JsonValue]] = {}
    plain = _Fields()
    for key, value in fields.items():
        match = _NUMBERED.fullmatch(key)
        if match is None:
            plain[key] = value
            continue
        items = lists.setdefault(match[1], {})
        if match[3] is None:
            items[int(match[2])] = value
        elif isinstance(item := items.setdefault(int(match[2]), {}), dict):
            item[match[3]] = value
    for name, items in lists.items():
        plain[name] = [each for _, each in sorted(items.items())]
    return plain
