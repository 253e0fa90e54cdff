"""Paths into a row, such as `docs[].page_content`, and what stands at them."""

import ast
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from pydantic import JsonValue

from judge.errors import ConfigError

NOTHING: Final = object()
"""What stands where a path leads nowhere."""
_MOST_CELL: Final = 1_000_000
"""Characters of a text that is read as Python writes a list."""
_NUMBERED: Final = re.compile(r"(.+?)\.(\d{1,6})(?:\.(.+))?", re.DOTALL)
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(-?\d{0,9})\]|\[([^\[\]=]+)=([^\[\]]*)\]")

_Fields = dict[str, JsonValue]
Steps = tuple[str | int | tuple[str, str] | None, ...]
"""Keys, places in a list, a key's value that is looked for in one, or null for each of it."""
Paths = tuple[tuple[str, Steps], ...]


def paths_of(texts: Iterable[str]) -> Paths:
    """Each path beside its steps; ConfigError where one is none."""
    return tuple((text, _steps(text)) for text in texts)


def _steps(path: str) -> Steps:
    steps: list[str | int | tuple[str, str] | None] = []
    place = 0
    while match := _STEP.match(path, place):
        key, number, name, value = match.groups()
        steps.append(key or ((name, value) if name else int(number) if number else None))
        place = match.end()
    if place < len(path) or not steps or path.startswith("."):
        message = f"map: {path!r} is no path; write it as result.text, docs[].page_content"
        raise ConfigError(f"{message} or choices[0].text")
    return tuple(steps)


def listed(text: str) -> JsonValue:
    """The list or object that a text is, as JSON or as Python writes it; else the text itself."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    value: JsonValue
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = evaluated(text.strip())
    return value


def evaluated(text: str) -> JsonValue:
    """The list or object that a text is as Python writes it; else, and where long, the text."""
    if len(text) > _MOST_CELL or not text.startswith(("[", "{")):
        return text
    try:
        value: JsonValue = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text
    # Of ['a' 'b'], which numpy writes, Python would make one text.
    return value if repr(value) == text else text


@lru_cache(maxsize=4)  # of one text a row, the first keys of many paths are asked
def _opened(text: str) -> JsonValue:
    return listed(text)


def at(value: object, steps: Steps) -> object:
    """What stands at a path; `NOTHING` where it leads nowhere."""
    if not steps:
        return value
    value = _opened(value) if isinstance(value, str) else value
    if isinstance(value, dict):
        # LangChain's own form of an object.
        inner = value.get("kwargs") if "lc" in value else None
        return _of_object(inner if isinstance(inner, dict) else value, steps)
    return _of_list(value, steps[0], steps[1:]) if isinstance(value, list) else NOTHING


def _of_object(value: _Fields, steps: Steps) -> object:
    if isinstance(steps[0], tuple):
        key, wanted = steps[0]
        return at(value, steps[1:]) if at(value, (key,)) == wanted else NOTHING
    name = ""
    for number, step in enumerate(steps, 1):  # flat exports join keys with dots
        if not isinstance(step, str):
            break
        name = f"{name}.{step}" if name else step
        found = at(value[name], steps[number:]) if name in value else NOTHING
        if found is not NOTHING:
            return found
    return NOTHING


def _of_list(
    value: list[JsonValue], step: str | int | tuple[str, str] | None, rest: Steps
) -> object:
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
    """The first path at which something stands, and what; null counts where nothing else does.

    So does a list in which nothing stands anywhere.

    Where nothing does, the path is empty.
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
    """Whether a path is that of a key, or leads through it."""
    return any(path == key or path.startswith((f"{key}.", f"{key}[")) for path in paths)


def is_hollow(path: str, found: object) -> bool:
    """Whether a path leads to something in not one of a list."""
    return "[]" in path and isinstance(found, list) and all(each is None for each in found)


def unnumbered(fields: _Fields) -> _Fields:
    """The fields with a list for keys such as `documents.0.content`, in `attributes`, too."""
    inner = fields.get("attributes")
    if isinstance(inner, dict) and (wide := unnumbered(inner)) is not inner:
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
