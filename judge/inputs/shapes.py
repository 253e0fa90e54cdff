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
    MAX_DEPTH,
    NAMES,
    SCORE_NEEDS,
    Fields,
    identifiers,
    keys_of,
    mapping_of,
    refuse_columns,
    sample_from,
)
from judge.inputs.paths import (
    NOTHING,
    Paths,
    at,
    collect_numbered,
    first,
    is_hollow,
    parse_list,
    paths_of,
    within,
)
from judge.records import Sample
from judge.text.visible import clip

CHUNK_IDS: Final = "chunk_ids"
"""What `--map` calls the ids of the chunks, where they are not beside the texts."""
_REPORTED: Final = ("query", "answer", "chunks", "gold_answer")
_TELLING: Final = frozenset(NAMES) - {"qid", "query"}
"""Fields that tell a row of ours if no field is required."""
_SHOWN_PATHS: Final = 4
_SHOWN: Final = 60
"""Characters of a value in a message."""
_RULES: Final = ("joined", "order", "titled", "packed", "hint")
_BROKEN_LIST: Final = re.compile(r"""\[\s*(?:["'{]|\w+\()""")
_NAME: Final = re.compile(r"(?=.*[\d./:_#-])[!-~]{1,200}")
"""An id, a file name or an address: printable ASCII without blanks, with a digit or such a sign."""
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
    mapped: frozenset[str] = frozenset()
    """The fields whose path the user named."""


class _Values(NamedTuple):
    """The values of a row under our names."""

    fields: dict[str, Any]
    places: dict[str, str]
    """The path of each."""
    note: str
    """A remark on how the chunks were read."""


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


class Reader:
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
        known = [*NAMES, CHUNK_IDS]
        if strays := [name for name in mapping or () if name not in known]:
            raise ConfigError(f"map {strays[0]!r}: is no field; there are: {', '.join(known)}")
        self._needs = frozenset(needs)
        self._distinctive = self._needs - {"qid"}
        self._mapped = {name: paths_of([path]) for name, path in (mapping or {}).items()}
        self._report = report
        self._reported: set[str] = set()
        self._shape: Shape | None = None

    def sample(self, fields: Fields, line: int) -> Sample:
        """Return the sample in a row; errors as in `sample_from`."""
        if not self._mapped and self._distinctive and self._is_ours(fields):
            return self._read(fields, line)
        refuse_columns(fields)
        wide = collect_numbered(fields)
        shape = self._shape or self._recognised(wide)
        if shape is None:
            return self._read(fields, line)
        found = self._find(wide, shape)
        values = _values_of(wide, shape, found)
        self._say_shape(shape, values)
        used = [path for path, _ in found.values()]
        rest = {key: value for key, value in wide.items() if not within(key, used)}
        sample = self._read(rest | values.fields, line, values.places)
        self._shape = shape
        return sample

    def knows(self, fields: Fields) -> bool:
        """Return whether an object has the keys of a row."""
        wide = collect_numbered(fields)
        if self._mapped:
            return any(first(wide, paths)[0] for paths in self._mapped.values())
        return self._is_ours(fields) or self._recognised(wide) is not None

    def _is_ours(self, fields: Fields) -> bool:
        """Return whether a row has what is needed under our own names."""
        return all(_has(fields, name) for name in self._distinctive)

    def _read(self, fields: Fields, line: int, places: Mapping[str, str] | None = None) -> Sample:
        mappable = self._needs >= SCORE_NEEDS
        needs = self._needs
        return sample_from(fields, line=line, needs=needs, places=places, mappable=mappable)

    def _recognised(self, fields: Fields) -> Shape | None:
        """Return the shape of a row; None if it has none and nothing is mapped."""
        needed = self._distinctive
        if not needed and not any(_has(fields, name) for name in _TELLING):
            needed = SCORE_NEEDS
        missing = {name for name in needed if not _has(fields, name)}
        shapes = [
            shape
            for shape in _table()
            if missing
            and missing <= SCORE_NEEDS | shape.paths.keys()
            and all(_is_marked(fields, mark) for mark in shape.marks)
        ]
        if not shapes and not self._mapped:
            return None
        texts, ids = _table()[0].texts, _table()[0].ids
        shape = shapes[0] if shapes else Shape("--map says", {}, texts, ids)
        paths = {**shape.paths, **self._mapped}
        return shape._replace(paths=paths, mapped=frozenset(self._mapped))

    def _find(self, fields: Fields, shape: Shape) -> dict[str, tuple[str, object]]:
        """Return the path and the value of each field that is there."""
        found = {}
        for paths, kinds in shape.unless:
            path, value = first(fields, paths)
            if value in kinds:
                what = f"is {clip(repr(value), _SHOWN)}, which is no answer"
                raise InputError(f"{what}; leave it out (--skip-bad-lines)", field=path)
        for name in (*NAMES, CHUNK_IDS):
            paths = shape.paths.get(name, ())
            path, value = first(fields, paths)
            if name == "gold_answer" and isinstance(value, list) and len(value) > 1:
                continue  # it is unknown which is meant, and the answer is judged without
            if path and (value is not None or name in self._needs):
                found[name] = path, value
            elif name in self._mapped and self._shape is None:
                what = f"there is nothing at {paths[0][0]}; found {keys_of(fields)}"
                raise InputError(f"{what}; name another path: {mapping_of(name)}", field=name)
            elif name == "answer" and "sentences" in self._mapped:
                continue
            elif name in self._needs and not _has(fields, name):
                raise self._missing(name, fields, shape)
        return found

    def _missing(self, name: str, fields: Fields, shape: Shape) -> InputError:
        ours = NAMES[name]
        paths = sorted((p for p, _ in shape.paths.get(name, ())), key=lambda p: p not in ours)
        like = " (as the first row was read)" if self._shape else ""
        where = " or ".join(paths[:_SHOWN_PATHS])
        place = f": {shape.name}{like} has it as {where}" if where else like
        hint = f"{shape.hint}, " if name == "chunks" and shape.hint else ""
        step = f"{hint}or name its path: {mapping_of(name)}"
        return InputError(f"is missing{place}; found {keys_of(fields)}; {step}", field=name)

    def _say_shape(self, shape: Shape, values: _Values) -> None:
        places = (
            f"{name} from {values.places[name]}{values.note if name == 'chunks' else ''}"
            for name in _REPORTED
            if name in values.places
        )
        text = f"read as {shape.name}: {', '.join(places)}"
        if self._report is not None and text not in self._reported:
            self._reported.add(text)
            self._report(text)


def _is_marked(fields: Fields, paths: Paths) -> bool:
    found = ((path, at(fields, steps)) for path, steps in paths)
    return any(value is not NOTHING and not is_hollow(path, value) for path, value in found)


def _has(fields: Fields, name: str) -> bool:
    """Return whether a row has a field under one of our names, in a form that we read."""
    found = [fields[key] for key in NAMES[name] if fields.get(key) is not None]
    if name == "answer":
        return isinstance(fields.get("sentences"), list) or any(isinstance(v, str) for v in found)
    if name == "chunks" and found and isinstance(found[0], list):
        return not any(isinstance(each, dict) and each.get("text") is None for each in found[0])
    return bool(found)


def _values_of(fields: Fields, shape: Shape, found: Mapping[str, tuple[str, object]]) -> _Values:
    values: dict[str, Any] = {name: value for name, (_, value) in found.items()}
    places = {name: path for name, (path, _) in found.items()}
    note = ""
    order = _as_ids(fields.get(shape.order)) if shape.order else None
    given = values.pop(CHUNK_IDS, None)
    if "chunks" in found:
        path, value = found["chunks"]
        if shape.order:
            value = _ordered(value, order, path, shape)
        owners = _owners(fields, path, shape)
        texts, ids, places["chunks"], note = _passages(value, path, owners, shape)
        if given is not None:
            ids = _given_ids(given, texts, places[CHUNK_IDS])
        both = zip(ids, texts, strict=True)
        values["chunks"] = [{"chunk_id": each, "text": text} for each, text in both]
    answer = values.get("answer")
    if isinstance(answer, list) and (shape.order or any(map(_cites, answer))):
        values["sentences"] = _with_ids(values.pop("answer"), order, shape)
        places["sentences"] = places["answer"]
    for name in ("answer", "query", "gold_answer"):
        if name in values:
            values[name] = _text(values[name], name, places[name], shape)
    return _Values(values, places, note)


def _given_ids(given: object, texts: list[str], path: str) -> list[str]:
    ids = identifiers(given, path)
    if len(ids) != len(texts):
        what = f"has {len(ids)} ids, and there are {len(texts)} chunks"
        raise InputError(f"{what}; name a path to one id for each", field=path)
    return list(ids)


def _text(value: object, field: str, path: str, shape: Shape) -> object:
    if isinstance(value, list) and all(isinstance(each, str) for each in value) and value[1:]:
        what = f"holds {len(value)} texts; name one"
        raise InputError(f"{what}: {mapping_of(field).replace('PATH', f'{path}[0]')}", field=path)
    text = _message_text(value, path)
    if field == "answer" and shape.packed and field not in shape.mapped and isinstance(text, str):
        inner = parse_list(text)
        if isinstance(inner, dict) or (
            isinstance(inner, list) and isinstance(next(iter(inner), None), dict)
        ):
            text = _message_text(inner, path)
    if text is None:
        raise InputError("is null or NaN; fill it, or leave out the row", field=path)
    if isinstance(text, dict):
        what = f"is an object and no text; found {keys_of(text)}"
        raise InputError(f"{what}; name the path of its text: {mapping_of(field)}", field=path)
    return text


def _message_text(value: object, where: str, depth: int = 0) -> object:
    """Return the text of a chat message, or of its parts; any other value as it is."""
    if depth > MAX_DEPTH:
        raise InputError(f"is nested over {MAX_DEPTH} deep; flatten it", field=where)
    if isinstance(value, dict):
        path, inner = first(value, _MESSAGE_TEXTS)
        return _message_text(inner, where, depth + 1) if path else value
    if not isinstance(value, list):
        return value
    texts = [
        text
        for each in value
        if not isinstance(each, dict)
        or (each.get("type", "text") in _TEXT_PARTS and "role" not in each)
        if isinstance(text := _message_text(each, where, depth + 1), str)
    ]
    return "".join(texts) if texts or not value else value


def _cites(sentence: object) -> bool:
    """Return whether this is a sentence with its citations, and not a part of a message."""
    return isinstance(sentence, dict) and "citations" in sentence and "type" not in sentence


def _owners(fields: Fields, path: str, shape: Shape) -> list[Any]:
    """Return the objects that hold the texts and have ids: in `docs[].body`, the `docs`."""
    steps = next((steps for each, steps in shape.paths["chunks"] if each == path), ())
    lists = [n for n, step in enumerate(steps) if step is None or isinstance(step, tuple)]
    if not lists or any(isinstance(step, int) for step in steps[lists[-1] :]):
        return []  # `[-1]` chooses one of the list, and the texts are within it
    found = at(fields, steps[: lists[-1] + 1])
    return found if isinstance(found, list) else []


def _passages(
    value: object, path: str, owners: list[Any], shape: Shape
) -> tuple[list[str], list[str], str, str]:
    """Return the texts in a value, their ids, their path, and a remark on them."""
    value, note = parse_list(value) if isinstance(value, str) else value, ""
    if isinstance(value, str):
        if _BROKEN_LIST.match(value):
            what = f"begins as a list and is none: {value[:_SHOWN]!r}"
            raise InputError(f"{what}; write it with json.dumps", field=path)
        parts = value.split(shape.joined) if shape.joined else [value]
        note = f", parted at {shape.joined}" if len(parts) > 1 else ", as one text"
        value = parts if value.strip() else []
    items = [value] if isinstance(value, dict) else value
    if not isinstance(items, list):
        what = "null" if items is None else repr(items)[:_SHOWN]
        raise InputError(f"is {what}; a list of texts or documents is needed", field=path)
    items = [each for item in items for each in _unpacked(item, path, shape)]
    texts, place = list[str](), path
    for number, item in enumerate(items):
        one = path.replace("[]", f"[{number}]", 1) if "[]" in path else f"{path}[{number}]"
        text, where = _passage(item, one, shape)
        place = f"{path.removesuffix('[]')}[].{where}" if where and number == 0 else place
        texts.append(text)
    numbers = [str(number + 1) for number in range(len(texts))]
    holders = owners if len(owners) == len(items) else items
    ids, id_path = ([], "") if shape.titled and not shape.order else _ids(holders, shape)
    if not shape.order and ids != numbers and not set(ids).isdisjoint(numbers):
        # [1] would be the passage with the id 1; nearly all prompts mean the first passage by it.
        ids, note = [], f", numbered, for their {id_path} would be taken for places"
    return texts, ids or numbers, place, note


def _unpacked(item: object, where: str, shape: Shape) -> list[object]:
    """Return the passages in what a tool returned: documents as JSON, or parts of a message."""
    inner = parse_list(item) if isinstance(item, str) else item
    if not isinstance(inner, list) or not inner:
        return [item]
    documents = [each for each in inner if isinstance(each, dict)]
    if len(documents) < len(inner):
        return [item]
    if isinstance(item, str):
        return list(documents) if all(first(e, shape.texts)[0] for e in documents) else [item]
    return [_message_text(documents, where)]


def _passage(item: object, where: str, shape: Shape) -> tuple[str, str]:
    """Return the text of a document or text, and the path to it."""
    if isinstance(item, str):
        return item, ""
    if not isinstance(item, dict):
        what = "null" if item is None else repr(item)[:_SHOWN]
        raise InputError(f"is {what}; a text or a document is needed", field=where)
    path, text = first(item, shape.texts)
    if not isinstance(text, str):
        inner = item.get("kwargs")
        found = keys_of(inner if isinstance(inner, dict) else item)
        what = f"has no {', '.join(each for each, _ in shape.texts[:3])}; found {found}"
        step = f"or name the path of its text: {mapping_of('chunks')}"
        raise InputError(f"{what}; {step}", field=where)
    title = item.get("title")
    return f"{title}\n{text}" if shape.titled and title and isinstance(title, str) else text, path


def _ids(items: list[Any], shape: Shape) -> tuple[list[str], str]:
    """Return the first kind of id that every document has and no two share, and its path."""
    for path, steps in shape.ids:
        ids = [at(item, steps) for item in items]
        if all(isinstance(each, str | int) and each != "" for each in ids):
            texts = [str(each) for each in ids]
            if len(set(texts)) == len(texts):
                return texts, path
    return [], ""


def _as_ids(references: object) -> object:
    if isinstance(references, list) and all(isinstance(e, str | int) for e in references):
        return [str(each) for each in references]
    return references


def _ordered(value: object, references: object, path: str, shape: Shape) -> object:
    """Return the passages with their ids, in the order in which citations count them."""
    if not isinstance(references, list) or not all(isinstance(each, str) for each in references):
        return value
    if path == shape.order:
        if not all(map(_NAME.fullmatch, references)):
            return value
        what = "holds ids and no texts; add the texts as segments"
        raise InputError(f"{what}, or name their path: {mapping_of('chunks')}", field=path)
    texts = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        plain = len(value) == len(references) and all(isinstance(each, str) for each in value)
        texts = dict(zip(references if plain else _ids(value, shape)[0], value, strict=False))
    if strays := [each for each in references if each not in texts]:
        what = f"has no text of {strays[0][:_SHOWN]!r}"
        raise InputError(f"{what}, which {shape.order} names; add it", field=path)
    others = (name for name in texts if name not in references)
    both = ((name, texts[name]) for name in (*references, *others))
    return [
        {**text, "chunk_id": name} if isinstance(text, dict) else {"chunk_id": name, "text": text}
        for name, text in both
    ]


def _with_ids(sentences: list[Any], references: object, shape: Shape) -> list[Any]:
    """Return sentences whose citations are positions in the references, or ids.

    A position beyond the references becomes a dangling id such as `references[7]`.
    """
    if not isinstance(references, list):
        return sentences

    def one(cited: object) -> object:
        if isinstance(cited, dict):  # with a grade that a person gave
            ids = (at(cited, steps) for _, steps in shape.ids)
            cited = next((each for each in ids if each is not NOTHING), cited)
        if isinstance(cited, float) and cited.is_integer():
            cited = int(cited)
        if isinstance(cited, str) and cited.isdecimal() and cited not in references:
            cited = int(cited)
        beyond = type(cited) is int and cited >= len(references)
        return f"{shape.order}[{cited}]" if beyond else cited

    def sentence_of(given: JsonValue) -> object:
        cited = given.get("citations") if isinstance(given, dict) else None
        if not (isinstance(given, dict) and isinstance(cited, list)):
            return given
        return {**given, "citations": list(map(one, cited))}

    return list(map(sentence_of, sentences))
