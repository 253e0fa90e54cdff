"""Rows as other tools write them, read by the table in `judge/data/shapes.toml` and by `--map`."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from judge.errors import ConfigError, InputError
from judge.inputs.fields import (
    NAMES,
    SCORE_NEEDS,
    Fields,
    keys_of,
    mapping_of,
    parse_list,
    sample_from,
)
from judge.records import Sample
from judge.records.sample import unfit
from judge.text.visible import clip

_NUMBERED: Final = re.compile(r"(.+?)\.(\d{1,6})(?:\.(.+))?", re.DOTALL)
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(-?\d{0,9})\]|\[([^\[\]=]+)=([^\[\]]*)\]")

Step = str | int | tuple[str, str] | None
"""A key; a position in a list; `(key, value)` for the items in which a key has a value; null for
each item."""
Steps = tuple[Step, ...]
Paths = tuple[tuple[str, Steps], ...]
"""Paths as they are written, each with its steps."""
CHUNK_IDS: Final = "chunk_ids"
"""What `--map` calls the ids of the chunks, where they are not beside the texts."""
_REPORTED: Final = ("query", "answer", "chunks", "gold_answer")
_DISTINCTIVE: Final = frozenset(NAMES) - {"qid", "query"}
"""Fields by which a row is recognised as ours if no field is required."""
_SHOWN_PATHS: Final = 4
_SHOWN: Final = 60
"""Characters of a value in a message."""
_RULES: Final = ("joined", "order", "titled", "packed", "hint")
_BROKEN_LIST: Final = re.compile(r"""\[\s*(?:["'{]|\w+\()""")
_NAME: Final = re.compile(r"(?=.*[\d./:_#-])[!-~]{1,200}")
"""An id, a file name or an address: printable ASCII without blanks, with a digit or such a sign."""


# Paths into a row, such as `docs[].page_content`


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


def at(value: object, steps: Steps) -> object:
    """Return the value at a path; null if the path leads nowhere.

    A text that is a JSON object or list is entered; a key may itself hold dots, as in the flat
    `{"output.value": "a"}`.
    """
    if not steps:
        return value
    value = parse_list(value) if isinstance(value, str) else value
    if isinstance(value, dict):
        # LangChain serialises an object as {"lc": 1, "kwargs": {…}}.
        inner = value.get("kwargs") if "lc" in value else None
        return _in_object(inner if isinstance(inner, dict) else value, steps)
    return _in_list(value, steps[0], steps[1:]) if isinstance(value, list) else None


def _in_object(value: Fields, steps: Steps) -> object:
    if isinstance(steps[0], tuple):
        key, wanted = steps[0]
        return at(value, steps[1:]) if at(value, (key,)) == wanted else None
    name = ""
    for number, step in enumerate(steps, 1):
        if not isinstance(step, str):
            break
        name = f"{name}.{step}" if name else step
        found = at(value.get(name), steps[number:])
        if found is not None:
            return found
    return None


def _in_list(value: list[JsonValue], step: Step, rest: Steps) -> object:
    match step:
        case int():
            return at(value[step], rest) if -len(value) <= step < len(value) else None
        case (key, wanted):
            chosen = [each for each in value if at(each, (key,)) == wanted]
            each_of = (None, *rest) if rest and isinstance(rest[0], str) else rest
            return at(chosen, each_of) if chosen else None
        case None:
            found = [at(each, rest) for each in value]
            if None in rest:
                found = [each for part in found if isinstance(part, list) for each in part]
            return found if not value or any(each is not None for each in found) else None
    return None


def first(value: object, paths: Paths) -> tuple[str, object]:
    """Return the first path that leads to a value, and the value; `("", None)` if none does."""
    values = ((path, at(value, steps)) for path, steps in paths)
    return next((each for each in values if each[1] is not None), ("", None))


def within(key: str, paths: Iterable[str]) -> bool:
    """Return whether a path is a key, or leads through it."""
    return any(path == key or path.startswith((f"{key}.", f"{key}[")) for path in paths)


def collect_numbered(fields: Fields) -> Fields:
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
    plain = Fields()
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


# Shapes

_MESSAGE_TEXTS: Final = paths_of(["content", "text", "data.content", "_content", "parts", "value"])
_TEXT_PARTS: Final = ("text", "output_text", "input_text")
"""The types of the parts of a message that belong to the answer; others are thoughts or calls."""


class Shape(NamedTuple):
    """A row of the table in `judge/data/shapes.toml`, which explains each field."""

    name: str
    paths: Mapping[str, Paths]
    """By field of `Sample`."""
    texts: Paths
    ids: Paths
    marks: tuple[Paths, ...] = ()
    unless: tuple[tuple[Paths, list[str]], ...] = ()
    joined: str = ""
    order: str = ""
    titled: bool = False
    packed: bool = False
    hint: str = ""


@cache
def _table() -> tuple[Shape, ...]:
    table = tomllib.loads(files("judge").joinpath("data", "shapes.toml").read_text("utf-8"))
    texts, ids = paths_of(table["texts"]), paths_of(table["ids"])

    def shape(row: dict[str, Any]) -> Shape:
        def paths(given: Iterable[str]) -> Paths:
            return paths_of(root + path for path in given for root in (*row.get("below", ()), ""))

        return Shape(
            row["name"],
            {name: paths(row[name]) for name in NAMES if name in row},
            texts,
            ids,
            marks=tuple(map(paths, row["mark"])),
            unless=tuple((paths([path]), kinds) for path, kinds in row.get("unless", {}).items()),
            **{name: row[name] for name in _RULES if name in row},
        )

    own = {name: paths_of(NAMES[name]) for name in ("answer", "chunks", "query", "gold_answer")}
    last = Shape("a plain sample", own, texts, ids, marks=(own["chunks"],))
    return (*map(shape, table["shape"]), last)


class RowReader:
    """Reads rows as samples.

    A row that has the required fields under our own names is read by them. All other rows are read
    by the shape of the first of them.

    Args:
        needs: fields of `Sample` that must be present.
        mapping: the path of a field, by field; `chunk_ids` is a field here, too. Fields that it
            leaves out are read as they would be without it.
        report: called once with each way in which rows of another shape are read.

    Raises:
        ConfigError: the mapping has a name that is no field, or a path that is none.
    """

    def __init__(
        self,
        needs: Collection[str],
        mapping: Mapping[str, str] | None = None,
        report: Callable[[str], object] | None = None,
    ) -> None:
        fields = [*NAMES, CHUNK_IDS]
        if strays := [name for name in mapping or () if name not in fields]:
            raise ConfigError(f"map {strays[0]!r}: is no field; there are: {', '.join(fields)}")
        self._needs = frozenset(needs)
        self._distinctive = self._needs - {"qid"}
        self._mapped = {name: paths_of([path]) for name, path in (mapping or {}).items()}
        self._report = report
        self._reported: set[str] = set()
        self._shape: Shape | None = None

    def sample(self, fields: Fields, line: int) -> Sample:
        """Return the sample in a row; errors as in `sample_from`."""
        if not self._mapped and self._distinctive and self._is_ours(fields):
            return sample_from(fields, line=line, needs=self._needs)
        wide = collect_numbered(fields)
        shape = self._shape or self._recognised(wide)
        if shape is None:
            return sample_from(fields, line=line, needs=self._needs)
        found = self._find(wide, shape)
        places = {name: path for name, (path, _) in found.items()}
        values = _values_of(wide, shape, found)
        if "sentences" in values and "answer" in places:
            places.setdefault("sentences", places["answer"])
        self._say_shape(shape, places)
        rest = {key: value for key, value in wide.items() if not within(key, places.values())}
        sample = sample_from(rest | values, line=line, needs=self._needs, places=places)
        self._shape = shape
        return sample

    def _is_ours(self, fields: Fields) -> bool:
        """Return whether a row has what is needed under our own names."""
        return all(_has(fields, name) for name in self._distinctive)

    def _recognised(self, fields: Fields) -> Shape | None:
        """Return the shape of a row; None if it has none and nothing is mapped."""
        needed = self._distinctive
        if not needed and not any(_has(fields, name) for name in _DISTINCTIVE):
            needed = SCORE_NEEDS
        missing = {name for name in needed if not _has(fields, name)}
        shapes = [
            shape
            for shape in _table()
            if missing
            and missing <= SCORE_NEEDS | shape.paths.keys()
            and all(first(fields, mark)[0] for mark in shape.marks)
        ]
        if not shapes and not self._mapped:
            return None
        texts, ids = _table()[0].texts, _table()[0].ids
        shape = shapes[0] if shapes else Shape("--map says", {}, texts, ids)
        return shape._replace(paths={**shape.paths, **self._mapped})

    def _find(self, fields: Fields, shape: Shape) -> dict[str, tuple[str, object]]:
        """Return the path and the value of each field that is there."""
        found = {}
        for paths, kinds in shape.unless:
            path, value = first(fields, paths)
            if value in kinds:
                step = "which is no answer; leave it out (--skip-bad-lines)"
                raise InputError(f"is {clip(repr(value), _SHOWN)}, {step}", field=path)
        for name in (*NAMES, CHUNK_IDS):
            path, value = first(fields, shape.paths.get(name, ()))
            if name == "gold_answer" and isinstance(value, list) and len(value) > 1:
                continue  # it is unknown which is meant, and the answer is judged without
            if path:
                found[name] = path, value
            elif name in self._mapped and self._shape is None:
                what = f"there is nothing at {shape.paths[name][0][0]}; found {keys_of(fields)}"
                raise InputError(f"{what}; name another path: {mapping_of(name)}", field=name)
            elif name == "answer" and "sentences" in self._mapped:
                continue
            elif name in self._needs and not _has(fields, name):
                raise self._missing(name, fields, shape)
        return found

    def _missing(self, name: str, fields: Fields, shape: Shape) -> InputError:
        if null := next((key for key in NAMES[name] if key in fields and fields[key] is None), ""):
            return InputError("is null or NaN; fill it, or leave out the row", field=null)
        like = " (as the first row was read)" if self._shape else ""
        where = " or ".join(path for path, _ in shape.paths.get(name, ())[:_SHOWN_PATHS])
        place = f": {shape.name}{like} has it as {where}" if where else like
        hint = f"{shape.hint}, or " if name == "chunks" and shape.hint else ""
        what = f"is missing{place}; found {keys_of(fields)}"
        return InputError(f"{what}; {hint}name its path: {mapping_of(name)}", field=name)

    def _say_shape(self, shape: Shape, places: Mapping[str, str]) -> None:
        sources = (f"{name} from {places[name]}" for name in _REPORTED if name in places)
        text = f"read as {shape.name}: {', '.join(sources)}"
        if self._report is not None and text not in self._reported:
            self._reported.add(text)
            self._report(text)


def _has(fields: Fields, name: str) -> bool:
    """Return whether a row has a field under one of our names, in a form that we read."""
    found = [fields[key] for key in NAMES[name] if fields.get(key) is not None]
    if name == "answer":
        return isinstance(fields.get("sentences"), list) or any(isinstance(v, str) for v in found)
    if name == "chunks" and found and isinstance(found[0], list):
        return not any(isinstance(each, dict) and each.get("text") is None for each in found[0])
    return bool(found)


def _values_of(fields: Fields, shape: Shape, found: Mapping[str, tuple[str, object]]) -> Fields:
    """Return the values of a row under our names."""
    values: dict[str, Any] = {name: value for name, (_, value) in found.items()}
    references = fields.get(shape.order)
    order = list(map(str, references)) if isinstance(references, list) else []
    mapped_ids = values.pop(CHUNK_IDS, None)
    if "chunks" in found:
        path, value = found["chunks"]
        passages = _passages(value, path, shape, order)
        if mapped_ids is not None:
            passages = _with_ids(passages, mapped_ids, found[CHUNK_IDS][0])
        values["chunks"] = passages
    answer = values.get("answer")
    if isinstance(answer, list) and (shape.order or any(map(_has_citations, answer))):
        values["sentences"] = [_sentence(each, shape, order) for each in values.pop("answer")]
    for name in ("answer", "query", "gold_answer"):
        if name in values:
            values[name] = _text(values[name], name, found[name][0], shape)
    return values


def _text(value: object, field: str, path: str, shape: Shape) -> object:
    if isinstance(value, list) and all(isinstance(each, str) for each in value) and value[1:]:
        step = mapping_of(field).replace("PATH", f"{path}[0]")
        raise InputError(f"holds {len(value)} texts; name one: {step}", field=path)
    text = _message_text(value)
    if field == "answer" and shape.packed and isinstance(text, str):
        inner = parse_list(text)
        if _is_object(inner[0] if isinstance(inner, list) and inner else inner):
            text = _message_text(inner)
    if text is None:
        raise InputError("is null or NaN; fill it, or leave out the row", field=path)
    if isinstance(text, dict):
        what = f"is an object and no text; found {keys_of(text)}"
        raise InputError(f"{what}; name the path of its text: {mapping_of(field)}", field=path)
    return text


def _message_text(value: object) -> object:
    """Return the text of a chat message, or of its parts; any other value as it is."""
    if isinstance(value, dict):
        path, inner = first(value, _MESSAGE_TEXTS)
        return _message_text(inner) if path else value
    if not isinstance(value, list):
        return value
    texts = [
        text
        for each in value
        if not isinstance(each, dict)
        or (each.get("type", "text") in _TEXT_PARTS and "role" not in each)
        if isinstance(text := _message_text(each), str)
    ]
    return "".join(texts) if texts or not value else value


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _has_citations(sentence: object) -> bool:
    """Return whether this is a sentence with its citations, and not a part of a message."""
    return isinstance(sentence, dict) and "citations" in sentence and "type" not in sentence


def _sentence(sentence: object, shape: Shape, order: list[str]) -> object:
    """Return a sentence; a citation beyond the references becomes an id such as `references[7]`."""
    cited = sentence.get("citations") if isinstance(sentence, dict) else None
    if not isinstance(sentence, dict) or not isinstance(cited, list):
        return sentence
    citations = [
        f"{shape.order}[{each}]" if order and type(each) is int and each >= len(order) else each
        for each in cited
    ]
    return {**sentence, "citations": citations}


def _passages(value: object, path: str, shape: Shape, order: list[str]) -> list[dict[str, object]]:
    """Return the chunks in a value, in the order of the references if the shape has such."""
    value = parse_list(value) if isinstance(value, str) else value
    if isinstance(value, str):
        if _BROKEN_LIST.match(value):
            what = f"begins as a list and is none: {value[:_SHOWN]!r}"
            raise InputError(f"{what}; write it with json.dumps", field=path)
        parts = value.split(shape.joined) if shape.joined else [value]
        value = parts if value.strip() else []
    if path == shape.order:
        if order and all(map(_NAME.fullmatch, order)):
            what = "holds ids and no texts; add the texts as segments"
            raise InputError(f"{what}, or name their path: {mapping_of('chunks')}", field=path)
        order = []
    ids: list[str] = []
    if order and isinstance(value, dict):
        ids, value = list(value), list(value.values())
    elif isinstance(value, list) and len(order) == len(value) and not any(map(_is_object, value)):
        ids = order
    items = [value] if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise unfit(items, "a list of texts or documents", path)
    where = path if "[]" in path else f"{path}[]"
    texts = [
        _passage(item, where.replace("[]", f"[{number}]", 1), shape)
        for number, item in enumerate(items)
    ]
    numbers = [str(number) for number in range(1, len(texts) + 1)]
    ids = ids or _ids(items, shape)
    if order:
        by_id = dict(zip(ids, texts, strict=False))
        if strays := [each for each in order if each not in by_id]:
            what = f"has no text of {strays[0][:_SHOWN]!r}"
            raise InputError(f"{what}, which {shape.order} names; add it", field=path)
        ids = [*order, *(each for each in by_id if each not in order)]
        texts = [by_id[each] for each in ids]
    elif ids != numbers and not set(ids).isdisjoint(numbers):
        ids = []  # [1] would be the passage with the id 1; nearly all prompts mean the first by it
    both = zip(ids or numbers, texts, strict=True)
    return [{"chunk_id": chunk_id, "text": text} for chunk_id, text in both]


def _passage(item: object, where: str, shape: Shape) -> str:
    """Return the text of a document, of the parts of a message, or of a text."""
    if isinstance(item, list) and all(map(_is_object, item)):
        item = _message_text(item)
    if isinstance(item, str):
        return item
    if not isinstance(item, dict):
        raise unfit(item, "a text or a document", where)
    _, text = first(item, shape.texts)
    if not isinstance(text, str):
        inner = item.get("kwargs")
        what = f"has no {', '.join(path for path, _ in shape.texts[:3])}"
        what += f"; found {keys_of(inner if isinstance(inner, dict) else item)}"
        raise InputError(f"{what}; name the path of its text: {mapping_of('chunks')}", field=where)
    title = item.get("title")
    return f"{title}\n{text}" if shape.titled and title and isinstance(title, str) else text


def _ids(items: list[Any], shape: Shape) -> list[str]:
    """Return the first kind of id that every document has and no two share."""
    for _, steps in shape.ids:
        found = [at(item, steps) for item in items]
        if all(isinstance(each, str | int) and each != "" for each in found):
            ids = list(map(str, found))
            if len(set(ids)) == len(ids):
                return ids
    return []


def _with_ids(passages: list[dict[str, object]], ids: object, path: str) -> list[dict[str, object]]:
    """Return the chunks with the ids that `--map` names."""
    if not isinstance(ids, list):
        raise unfit(ids, "a list of chunk ids", path)
    if len(ids) != len(passages):
        what = f"has {len(ids)} ids, and there are {len(passages)} chunks"
        raise InputError(f"{what}; name a path to one id for each", field=path)
    return [each | {"chunk_id": one} for each, one in zip(passages, ids, strict=True)]
