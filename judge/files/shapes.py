"""Rows as other tools write them: what `judge/data/shapes.toml` says of them, and their reading."""

import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import is_dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple
from uuid import UUID

from pydantic import JsonValue

from judge.errors import ConfigError, InputError
from judge.files.fields import FIELDS, MAX_DEPTH, SCORE_NEEDS, keys_of, sample_from
from judge.files.paths import NOTHING, Paths, at, first, listed, paths_of, unnumbered
from judge.files.rows import table_fields
from judge.records import Sample

_METHODS: Final = ("model_dump", "to_dict", "isoformat", "tolist")
"""By which objects give what they hold."""
_AS_TEXT: Final = (UUID, Decimal)
_NULLS: Final = frozenset({"NAType", "NaTType"})
"""What pandas calls its own."""
_SPOKEN: Final = ("query", "answer", "chunks", "gold_answer")
_PLACES: Final = 4
"""Paths that a message names."""
_SHOWN: Final = 60
"""Characters of a value, in a message."""
_BROKEN: Final = re.compile(r"""\[\s*(?:["'{]|\w+\()""")
"""How a text begins that was a list once."""

_Fields = dict[str, JsonValue]


class _Shape(NamedTuple):
    """A row of the table."""

    name: str
    paths: Mapping[str, Paths]
    """By field of `Sample`."""
    marks: tuple[Paths, ...] = ()
    unless: tuple[tuple[Paths, list[str]], ...] = ()
    joined: str = ""
    order: str = ""
    titled: bool = False
    dumped: bool = False


class _Table(NamedTuple):
    shapes: tuple[_Shape, ...]
    texts: Paths
    ids: Paths


@cache
def _table() -> _Table:
    """The table, which most runs never need."""
    table = tomllib.loads(files("judge").joinpath("data", "shapes.toml").read_text("utf-8"))
    shapes = tuple(
        _Shape(
            row["name"],
            {name: paths_of(row[name]) for name in FIELDS if name in row},
            tuple(map(paths_of, row["mark"])),
            tuple((paths_of([path]), kinds) for path, kinds in row.get("unless", {}).items()),
            **{name: row[name] for name in ("joined", "order", "titled", "dumped") if name in row},
        )
        for row in table["shape"]
    )
    return _Table(shapes, paths_of(table["texts"]), paths_of(table["ids"]))


class Reader:
    """Reads rows as samples, in the shape that the first good one has.

    Rows that give what is needed under our own names have no other shape.

    Args:
        needs: fields of `Sample` that must be there.
        mapping: paths by field of `Sample`; any other is read as it would be without.
        told: is given what rows of another shape are read as, once for each way.

    Raises:
        ConfigError: the mapping names what is no field, or no path.
    """

    def __init__(
        self,
        needs: Collection[str],
        mapping: Mapping[str, str] | None = None,
        told: Callable[[str], object] | None = None,
    ) -> None:
        for name in mapping or ():
            if name not in FIELDS:
                raise ConfigError(f"map {name!r}: is no field; there are: {', '.join(FIELDS)}")
        self._needs = frozenset(needs)
        self._told_apart = self._needs - {"qid"}
        self._mapped = {name: paths_of([path]) for name, path in (mapping or {}).items()}
        self._tell = told
        self._told: set[str] = set()
        self._shape: _Shape | None = None
        self._own = False

    def sample(self, fields: _Fields, line: int) -> Sample:
        """The sample in a row; errors as of `sample_from`."""
        if self._own or (
            not self._mapped and all(_gives(fields, name) for name in self._told_apart)
        ):
            self._own = self._shape is None
            return sample_from(fields, line=line, needs=self._needs)
        wide = unnumbered(fields)
        shape = self._shape or self._recognised(wide)
        if shape is None:
            return sample_from(fields, line=line, needs=self._needs)
        found = self._found(wide, shape)
        values, names = _values(wide, shape, found)
        self._say(shape, names)
        used = [path for path, _ in found.values()]
        rest = {
            key: value
            for key, value in wide.items()
            if not any(path == key or path.startswith((f"{key}.", f"{key}[")) for path in used)
        }
        sample = sample_from(rest | values, line=line, needs=self._needs, names=names)
        self._shape = shape
        return sample

    def _recognised(self, fields: _Fields) -> _Shape | None:
        """The shape of a row; null where it has none and nothing is mapped."""
        missing = {name for name in self._told_apart if not _gives(fields, name)}
        if missing:
            for shape in _table().shapes:
                had = missing <= SCORE_NEEDS | shape.paths.keys()
                if had and all(_is_marked(fields, mark) for mark in shape.marks):
                    return shape._replace(paths={**shape.paths, **self._mapped})
        return _Shape("--map says", self._mapped) if self._mapped else None

    def _found(self, fields: _Fields, shape: _Shape) -> dict[str, tuple[str, object]]:
        """The path of each field that is there, and what stands at it."""
        found = {}
        for paths, kinds in shape.unless:
            path, value = first(fields, paths)
            if value in kinds:
                raise InputError(f"is {value!r}, which is no answer; leave it out", field=path)
        for name in FIELDS:
            paths = shape.paths.get(name, ())
            places = " or ".join(path for path, _ in paths[:_PLACES])
            path, value = first(fields, paths)
            if path and (value is not None or name in self._needs):
                found[name] = path, value
            elif name in self._mapped and self._shape is None:
                what = f"nothing stands at {places}; found {keys_of(fields)}"
                raise InputError(f"{what}; name another path: {_mapped(name)}", field=name)
            elif name == "answer" and "sentences" in self._mapped:
                continue
            elif name in self._needs and not _gives(fields, name):
                place = f": {shape.name} has it as {places}" if places else ""
                what = f"is missing{place}; found {keys_of(fields)}"
                raise InputError(f"{what}; or name its path: {_mapped(name)}", field=name)
        return found

    def _say(self, shape: _Shape, names: Mapping[str, str]) -> None:
        places = ", ".join(f"{name} from {names[name]}" for name in _SPOKEN if name in names)
        said = f"read as {shape.name}: {places}"
        if self._tell is not None and said not in self._told:
            self._told.add(said)
            self._tell(said)


def _mapped(field: str) -> str:
    """How a path is named, by a command and by a program."""
    return f"judge score --map {field}=PATH, in Python map={{{field!r}: 'PATH'}}"


def sample_of(given: object, number: int, mapping: Mapping[str, str] | None) -> Sample:
    """As of `Sample.of`."""
    return Reader(SCORE_NEEDS, mapping).sample(fields_of(given), number)


def fields_of(given: object) -> _Fields:
    """The fields of a row, or of a tool's object; InputError where it has none.

    What a table holds as text is read as the list it is, as in a CSV.
    """
    fields = _plain(given, "")
    if not isinstance(fields, dict):
        what = f"is no row ({type(given).__name__}); one with an answer and its chunks is needed"
        raise InputError(what)
    return table_fields(fields)


def _plain(value: Any, where: str, depth: int = 0) -> JsonValue:  # noqa: ANN401
    """A value as JSON holds it, whatever a tool makes of it; what is not a number is null."""
    if depth > MAX_DEPTH:
        raise InputError(f"is nested over {MAX_DEPTH} deep; flatten it", field=where)
    if isinstance(value, _AS_TEXT):
        value = str(value)
    if type(value).__name__ in _NULLS:
        value = None
    if value is None or isinstance(value, bool | int | float | str):
        try:
            atom: JsonValue = json.loads(json.dumps(value), parse_constant=lambda _: None)
        except ValueError:  # Python writes out no whole number of over 4300 digits
            raise InputError("is a number of too many digits; give a text", field=where) from None
        return atom
    if isinstance(value, Mapping):
        return {str(key): _plain(each, str(key), depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, where, depth + 1) for each in value]
    methods = [getattr(value, name, None) for name in _METHODS if not isinstance(value, type)]
    for method in filter(callable, methods):
        return _plain(method(), where, depth + 1)
    if not is_dataclass(value):
        what = f"is a {type(value).__name__}; give a text, a number, a list or a mapping"
        raise InputError(what, field=where)
    return _plain(vars(value), where, depth + 1)


def _is_marked(fields: _Fields, paths: Paths) -> bool:
    for path, steps in paths:
        found = at(fields, steps)
        hollow = "[]" in path and isinstance(found, list) and all(one is None for one in found)
        if found is not NOTHING and not hollow:
            return True
    return False


def _gives(fields: _Fields, name: str) -> bool:
    """Whether a row has a field under one of our own names."""
    found = (fields.get(key) for key in FIELDS[name][1])
    if name == "answer" and isinstance(fields.get("sentences"), list):
        return True
    return any(isinstance(v, str) if name == "answer" else v is not None for v in found)


def _values(
    fields: _Fields, shape: _Shape, found: Mapping[str, tuple[str, object]]
) -> tuple[_Fields, dict[str, str]]:
    """The fields under our names, and where each of them stood."""
    values: dict[str, Any] = {name: value for name, (_, value) in found.items()}
    names = {name: path for name, (path, _) in found.items()}
    if "chunks" in found:
        path, value = found["chunks"]
        if shape.order and path.startswith((shape.order, "segments")):
            value = _ordered(value, fields.get(shape.order), path, shape.order)
        texts, ids, names["chunks"] = _passages(value, path, shape)
        both = zip(ids, texts, strict=True)
        values["chunks"] = [{"chunk_id": each, "text": text} for each, text in both]
    said = values.get("answer")
    cites = isinstance(said, list) and any("citations" in s for s in said if isinstance(s, dict))
    if cites or (shape.order and isinstance(said, list)):
        values["sentences"] = _counted(values.pop("answer"), fields.get(shape.order), shape.order)
        names["sentences"] = names["answer"]
    for name in ("answer", "query", "gold_answer"):
        if name in values:
            values[name] = _said(values[name])
            if values[name] is None:
                raise InputError("is null; text is needed", field=names[name])
    return values, names


def _passages(value: object, path: str, shape: _Shape) -> tuple[list[str], list[str], str]:
    """The texts in a value, their ids, and where they stand."""
    value = listed(value) if isinstance(value, str) else value
    if isinstance(value, dict) and shape.dumped and not first(value, _table().texts)[0]:
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        if _BROKEN.match(value):
            what = f"begins as a list and is none: {value[:_SHOWN]!r}"
            raise InputError(f"{what}; write it with json.dumps", field=path)
        parts = value.split(shape.joined) if shape.joined else [value]
        path = f"{path}, parted at {shape.joined}" if len(parts) > 1 else path
        value = parts if value.strip() else []
    items = [value] if isinstance(value, dict) else value
    if not isinstance(items, list):
        what = "null" if items is None else repr(items)[:_SHOWN]
        raise InputError(f"is {what}; a list of texts or documents is needed", field=path)
    texts, place = list[str](), path
    for number, item in enumerate(items):
        one = path.replace("[]", f"[{number}]", 1) if "[]" in path else f"{path}[{number}]"
        text, where = _passage(item, one, shape)
        place = f"{path}[].{where}" if where and number == 0 else place
        texts.append(text)
    named = [] if shape.titled and not shape.order else _ids(items)
    return texts, named or [str(number + 1) for number in range(len(texts))], place


def _passage(item: object, where: str, shape: _Shape) -> tuple[str, str]:
    """The text of a document or text, and the path to it."""
    if isinstance(item, str):
        return item, ""
    if not isinstance(item, dict):
        what = "null" if item is None else repr(item)[:_SHOWN]
        raise InputError(f"is {what}; a text or a document is needed", field=where)
    path, text = first(item, _table().texts)
    if not isinstance(text, str):
        inner = item.get("kwargs")
        found = keys_of(inner if isinstance(inner, dict) else item)
        what = f"has no {', '.join(each for each, _ in _table().texts[:3])}; found {found}"
        raise InputError(f"{what}; or name the path of its text: {_mapped('chunks')}", field=where)
    title = item.get("title")
    return f"{title}\n{text}" if shape.titled and title and isinstance(title, str) else text, path


def _ids(items: list[Any]) -> list[str]:
    """The first of the ids by which all documents differ; empty where there is none."""
    for _, steps in _table().ids:
        ids = [at(item, steps) for item in items]
        if all(isinstance(each, str | int) and each != "" for each in ids):
            named = [str(each) for each in ids]
            if len(set(named)) == len(named):
                return named
    return []


def _ordered(value: object, references: object, path: str, order: str) -> object:
    """Passages with their ids, in the order in which citations count them."""
    if not isinstance(references, list) or not all(isinstance(each, str) for each in references):
        return value
    if path == order:
        what = "holds ids and no texts; add the texts as segments"
        raise InputError(f"{what}, or name their path: {_mapped('chunks')}", field=path)
    texts = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        plain = len(value) == len(references) and all(isinstance(each, str) for each in value)
        texts = dict(zip(references if plain else _ids(value), value, strict=False))
    if strays := [each for each in references if each not in texts]:
        what = f"has no text of {strays[0][:_SHOWN]!r}"
        raise InputError(f"{what}, which {order} names; add it", field=path)
    named = (*references, *(name for name in texts if name not in references))
    both = ((name, texts[name]) for name in named)
    return [
        {**text, "chunk_id": name} if isinstance(text, dict) else {"chunk_id": name, "text": text}
        for name, text in both
    ]


def _counted(sentences: list[Any], references: object, order: str) -> list[Any]:
    """Sentences whose citations count through references: a number beyond is no passage's place."""
    if not isinstance(references, list):
        return sentences
    most = len(references)

    def counted(sentence: object) -> object:
        cited = sentence.get("citations") if isinstance(sentence, dict) else None
        if not (isinstance(sentence, dict) and isinstance(cited, list)):
            return sentence
        named = [f"{order}[{c}]" if type(c) is int and c >= most else c for c in cited]
        return {**sentence, "citations": named}

    return list(map(counted, sentences))


def _said(value: object) -> object:
    """The text of a message, or of its parts."""
    if isinstance(value, dict):
        inner = value.get("content", value.get("text", NOTHING))
        return value if inner is NOTHING else _said(inner)
    if not isinstance(value, list):
        return value
    parts = [text for each in value if isinstance(text := _said(each), str)]
    return "".join(parts) if parts or not value else value
