"""Rows as other tools write them: what `judge/data/shapes.toml` says of them, and their reading."""

import json
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import is_dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final
from uuid import UUID

from pydantic import JsonValue

from judge.errors import ConfigError, InputError
from judge.files.fields import (
    FIELDS,
    MAX_DEPTH,
    SCORE_NEEDS,
    keys_of,
    mapping_of,
    refuse_columns,
    sample_from,
)
from judge.files.passages import Shape, Values, name_among, refuse_names, values_of
from judge.files.paths import NOTHING, Paths, at, first, is_hollow, paths_of, unnumbered, within
from judge.files.rows import table_fields
from judge.records import Sample
from judge.text.visible import clip

_METHODS: Final = ("model_dump", "to_dict", "isoformat", "tolist")
"""By which objects give what they hold."""
_AS_TEXT: Final = (UUID, Decimal)
_NULLS: Final = frozenset({"NAType", "NaTType"})
"""What pandas calls its own."""
_SPOKEN: Final = ("query", "answer", "chunks", "gold_answer")
_READ: Final = frozenset(FIELDS) - {"qid", "query"}
"""Fields by which a row is one of ours, where none must be there."""
_RIVALS: Final = (
    *("response", "prediction", "generated_answer", "generation", "model_answer", "model_output"),
    *("predicted_answer", "model_response"),
)
"""Keys that may hold the answer where our own holds another."""
_SHOWN: Final = 60
"""Characters of a value, in a message."""
_PLACES: Final = 4
"""Paths that a message names."""
_RULES: Final = ("joined", "order", "titled", "dumped", "packed", "hint")

_OWN: Final[Mapping[str, str]] = {}
_Fields = dict[str, JsonValue]


@cache
def _table() -> tuple[Shape, ...]:
    """The table, which most runs never need."""
    table = tomllib.loads(files("judge").joinpath("data", "shapes.toml").read_text("utf-8"))
    texts, ids = paths_of(table["texts"]), paths_of(table["ids"])
    return tuple(_shape(row, texts, ids) for row in table["shape"])


def _shape(row: dict[str, Any], texts: Paths, ids: Paths) -> Shape:
    def paths(given: Iterable[str]) -> Paths:
        return paths_of(root + path for path in given for root in (*row.get("below", ()), ""))

    return Shape(
        row["name"],
        {name: paths(row[name]) for name in FIELDS if name in row},
        texts,
        ids,
        marks=tuple(map(paths, row["mark"])),
        unless=tuple((paths([path]), kinds) for path, kinds in row.get("unless", {}).items()),
        **{name: row[name] for name in _RULES if name in row},
    )


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
        self._shape: Shape | None = None
        self._own = False
        self._answer = ""

    def sample(self, fields: _Fields, line: int) -> Sample:
        """The sample in a row; errors as of `sample_from`."""
        if self._own or (
            not self._mapped
            and self._told_apart
            and all(_gives(fields, name) for name in self._told_apart)
        ):
            sample = self._read(fields, line)
            self._say_of_own(fields, sample)
            # Rows without a passage do not say how those of others have theirs.
            self._own = self._shape is None and (self._own or bool(sample.chunks))
            return sample
        refuse_columns(fields)
        wide = unnumbered(fields)
        shape = self._shape or self._recognised(wide)
        if shape is None:
            return self._read(fields, line)
        found = self._found(wide, shape)
        values = values_of(wide, shape, found)
        if self._shape is None and "chunks" in found and "chunks" not in self._mapped:
            refuse_names(values, found["chunks"][0])  # of a later row it is a short text
        rival = self._rival_of(wide, shape, values)
        self._say(shape, values, rival)
        used = [path for path, _ in found.values()]
        rest = {key: value for key, value in wide.items() if not within(key, used)}
        sample = self._read(rest | values.fields, line, values.names)
        self._shape = shape
        # What stands beside it may be the reference, and is never the answer of another row.
        self._answer = values.names["answer"] if rival else self._answer
        self._say_of_thoughts(sample)
        return sample

    def knows(self, fields: _Fields) -> bool:
        """Whether an object has the keys of a row."""
        wide = unnumbered(fields)
        if self._mapped:
            return any(first(wide, paths)[0] for paths in self._mapped.values())
        own = all(_gives(fields, name) for name in self._told_apart)
        return own or self._recognised(wide) is not None

    def _read(self, fields: _Fields, line: int, names: Mapping[str, str] = _OWN) -> Sample:
        mappable = self._needs >= SCORE_NEEDS
        return sample_from(fields, line=line, needs=self._needs, names=names, mappable=mappable)

    def _recognised(self, fields: _Fields) -> Shape | None:
        """The shape of a row; null where it has none and nothing is mapped."""
        asked = self._told_apart
        if not asked and not any(_gives(fields, name) for name in _READ):
            asked = SCORE_NEEDS
        missing = {name for name in asked if not _gives(fields, name)}
        if missing:
            for shape in _table():
                had = missing <= SCORE_NEEDS | shape.paths.keys()
                if had and all(_is_marked(fields, mark) for mark in shape.marks):
                    return self._with_map(shape)
        if not self._mapped:
            return None
        *_, (_, _, texts, ids, *_) = _table()
        return self._with_map(Shape("--map says", {}, texts, ids))

    def _with_map(self, shape: Shape) -> Shape:
        paths = {**shape.paths, **self._mapped}
        return shape._replace(paths=paths, mapped=frozenset(self._mapped))

    def _found(self, fields: _Fields, shape: Shape) -> dict[str, tuple[str, object]]:
        """The path of each field that is there, and what stands at it."""
        found = {}
        for paths, kinds in shape.unless:
            path, value = first(fields, paths)
            if value in kinds or (path and value and not kinds):
                what = f"is {clip(repr(value), _SHOWN)}, which is no answer"
                raise InputError(f"{what}; leave it out (--skip-bad-lines)", field=path)
        for name in FIELDS:
            paths = shape.paths.get(name, ())
            if kept := self._answer if name == "answer" else "":
                paths = tuple(each for each in paths if each[0] == kept)
            ours = FIELDS[name][1]
            named = sorted((path for path, _ in paths), key=lambda path: path not in ours)
            places = " or ".join(named[:_PLACES])
            path, value = first(fields, paths)
            if name == "gold_answer" and isinstance(value, list) and len(value) > 1:
                continue  # of several nobody knows which, and the answer is judged without
            if path and (value is not None or name in self._needs):
                found[name] = path, value
            elif name in self._mapped and self._shape is None:
                what = f"nothing stands at {places}; found {keys_of(fields)}"
                raise InputError(f"{what}; name another path: {mapping_of(name)}", field=name)
            elif name == "answer" and "sentences" in self._mapped:
                continue
            elif name in self._needs and (kept or not _gives(fields, name)):
                like = " (as the first row was read)" if self._shape else ""
                place = f": {shape.name}{like} has it as {places}" if places else like
                what = f"is missing{place}; found {keys_of(fields)}"
                first_try = f"{shape.hint}, " if name == "chunks" and shape.hint else ""
                what = f"{what}; {first_try}or name its path: {mapping_of(name)}"
                raise InputError(what, field=name)
        return found

    def _rival_of(self, fields: _Fields, shape: Shape, read: Values) -> str:
        """What to say of another text that may be the answer, where nobody named its path."""
        if "answer" not in read.names or "answer" in self._mapped:
            return ""
        used = tuple(read.names.values())
        keys = [each for each, _ in shape.paths["answer"] if not within(each, used)]
        return _rival(fields, keys, read.fields.get("answer"))

    def _say(self, shape: Shape, read: Values, rival: str) -> None:
        names, notes = read.names, read.notes | {"answer": rival}
        places = (
            f"{name} from {names[name]}{notes.get(name, '')}" for name in _SPOKEN if name in names
        )
        self._say_once(f"read as {shape.name}: {', '.join(places)}")

    def _say_of_own(self, fields: _Fields, sample: Sample) -> None:
        if self._tell is None or not self._needs >= SCORE_NEEDS:
            return
        self._say_of_thoughts(sample)
        if rival := _rival(fields, _RIVALS, sample.answer):
            self._say_once(f"answer from answer{rival}")
        if not self._own and (name := name_among([each.text for each in sample.chunks])):
            self._say_once(f"chunks hold names and no texts, such as {name!r} (--map chunks=PATH)")

    def _say_of_thoughts(self, sample: Sample) -> None:
        if "</think>" in sample.answer:
            self._say_once(
                "answers hold <think>: a model's thoughts are judged as said; cut them out"
            )

    def _say_once(self, said: str) -> None:
        if self._tell is not None and said not in self._told:
            self._told.add(said)
            self._tell(said)


def _rival(fields: _Fields, keys: Iterable[str], answer: object) -> str:
    """What to say where another text than the answer stands under a key that may hold one, too."""
    for key in keys:
        other = fields.get(key)
        if isinstance(other, str) and other.strip() and other != answer:
            return f", not from {key} (--map answer={key})"
    return ""


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
    found = ((path, at(fields, steps)) for path, steps in paths)
    return any(value is not NOTHING and not is_hollow(path, value) for path, value in found)


def _gives(fields: _Fields, name: str) -> bool:
    """Whether a row has a field under one of our own names, and as we have it."""
    found = (fields.get(key) for key in FIELDS[name][1])
    if name == "answer":
        return isinstance(fields.get("sentences"), list) or any(isinstance(v, str) for v in found)
    value = next((v for v in found if v is not None), None)
    if name == "chunks" and isinstance(value, list):
        return not any(isinstance(each, dict) and each.get("text") is None for each in value)
    return value is not None
