"""Rows as other tools write them: what `judge/data/shapes.toml` says of them, and their reading."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from judge.errors import ConfigError, InputError
from judge.inputs.fields import (
    FIELDS,
    MAX_DEPTH,
    SCORE_NEEDS,
    keys_of,
    mapping_of,
    refuse_columns,
    sample_from,
)
from judge.inputs.paths import (
    NOTHING,
    Paths,
    at,
    first,
    is_hollow,
    listed,
    paths_of,
    unnumbered,
    within,
)
from judge.records import Sample
from judge.text.visible import clip

_SPOKEN: Final = ("query", "answer", "chunks", "gold_answer")
_READ: Final = frozenset(FIELDS) - {"qid", "query"}
"""Fields by which a row is one of ours, where none must be there."""
_PLACES: Final = 4
"""Paths that a message names."""
_RULES: Final = ("joined", "order", "titled", "packed", "hint")

_SHOWN: Final = 60
"""Characters of a value, in a message."""
_BROKEN: Final = re.compile(r"""\[\s*(?:["'{]|\w+\()""")
"""How a text begins that was a list once."""
_NAME: Final = re.compile(r"(?=.*[\d./:_#-])[!-~]{1,200}")
"""An id, a file's name or an address: in ASCII, without a blank, and with such a sign."""
_WORDS: Final = paths_of(["content", "text", "data.content", "_content", "parts", "value"])
"""Where a message has its text, or the parts of it."""
_TEXTUAL: Final = ("text", "output_text", "input_text")
"""The types of parts that are said, and not thought, called or shown."""

_OWN: Final[Mapping[str, str]] = {}
_Fields = dict[str, JsonValue]


class Shape(NamedTuple):
    """A row of the table in `judge/data/shapes.toml`, which says what each is for."""

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
    """The fields whose path a person named."""


class Values(NamedTuple):
    """What was read of a row."""

    fields: dict[str, Any]
    """Under our names."""
    names: dict[str, str]
    """Where each of them stood."""
    note: str
    """What to say besides of how the chunks were read."""


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

    def sample(self, fields: _Fields, line: int) -> Sample:
        """The sample in a row; errors as of `sample_from`."""
        if self._own or (
            not self._mapped
            and self._told_apart
            and all(_gives(fields, name) for name in self._told_apart)
        ):
            sample = self._read(fields, line)
            self._say_of_own(sample)
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
        self._say(shape, values)
        used = [path for path, _ in found.values()]
        rest = {key: value for key, value in wide.items() if not within(key, used)}
        sample = self._read(rest | values.fields, line, values.names)
        self._shape = shape
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
            if value in kinds:
                what = f"is {clip(repr(value), _SHOWN)}, which is no answer"
                raise InputError(f"{what}; leave it out (--skip-bad-lines)", field=path)
        for name in FIELDS:
            paths = shape.paths.get(name, ())
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
            elif name in self._needs and not _gives(fields, name):
                like = " (as the first row was read)" if self._shape else ""
                place = f": {shape.name}{like} has it as {places}" if places else like
                what = f"is missing{place}; found {keys_of(fields)}"
                first_try = f"{shape.hint}, " if name == "chunks" and shape.hint else ""
                what = f"{what}; {first_try}or name its path: {mapping_of(name)}"
                raise InputError(what, field=name)
        return found

    def _say(self, shape: Shape, read: Values) -> None:
        names = read.names
        places = (
            f"{name} from {names[name]}{read.note if name == 'chunks' else ''}"
            for name in _SPOKEN
            if name in names
        )
        self._say_once(f"read as {shape.name}: {', '.join(places)}")

    def _say_of_own(self, sample: Sample) -> None:
        if self._tell is None or not self._needs >= SCORE_NEEDS:
            return
        self._say_of_thoughts(sample)
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


def values_of(fields: _Fields, shape: Shape, found: Mapping[str, tuple[str, object]]) -> Values:
    """The fields under our names, where each stood, and what to say of it."""
    values: dict[str, Any] = {name: value for name, (_, value) in found.items()}
    names = {name: path for name, (path, _) in found.items()}
    note = ""
    order = _named(fields.get(shape.order)) if shape.order else None
    if "chunks" in found:
        path, value = found["chunks"]
        if shape.order:
            value = _ordered(value, order, path, shape)
        owners = _owners(fields, path, shape)
        texts, ids, names["chunks"], note = _passages(value, path, owners, shape)
        both = zip(ids, texts, strict=True)
        values["chunks"] = [{"chunk_id": each, "text": text} for each, text in both]
    said = values.get("answer")
    if isinstance(said, list) and (shape.order or any(map(_cites, said))):
        values["sentences"] = _counted(values.pop("answer"), order, shape)
        names["sentences"] = names["answer"]
    for name in ("answer", "query", "gold_answer"):
        if name in values:
            values[name] = _text(values[name], name, names[name], shape)
    return Values(values, names, note)


def _text(value: object, field: str, path: str, shape: Shape) -> object:
    if isinstance(value, list) and all(isinstance(each, str) for each in value) and value[1:]:
        what = f"holds {len(value)} texts; name one"
        raise InputError(f"{what}: {mapping_of(field).replace('PATH', f'{path}[0]')}", field=path)
    text = _said(value, path)
    if field == "answer" and shape.packed and field not in shape.mapped and isinstance(text, str):
        inner = listed(text)
        if isinstance(inner, dict) or (
            isinstance(inner, list) and isinstance(next(iter(inner), None), dict)
        ):
            text = _said(inner, path)
    if text is None:
        raise InputError("is null; text is needed", field=path)
    if isinstance(text, dict):
        what = f"is an object and no text; found {keys_of(text)}"
        raise InputError(f"{what}; name the path of its text: {mapping_of(field)}", field=path)
    return text


def _said(value: object, where: str, depth: int = 0) -> object:
    """The text of a message, or of its parts; what is neither, as it is."""
    if depth > MAX_DEPTH:
        raise InputError(f"is nested over {MAX_DEPTH} deep; flatten it", field=where)
    if isinstance(value, dict):
        path, inner = first(value, _WORDS)
        return _said(inner, where, depth + 1) if path else value
    if not isinstance(value, list):
        return value
    told = [each for each in value if not isinstance(each, dict) or _is_part(each)]
    parts = [t for each in told if isinstance(t := _said(each, where, depth + 1), str)]
    return "".join(parts) if parts or not value else value


def _is_part(value: _Fields) -> bool:
    return value.get("type", "text") in _TEXTUAL and "role" not in value


def _cites(sentence: object) -> bool:
    """Whether it is a sentence with its citations, and no part of a message."""
    return isinstance(sentence, dict) and "citations" in sentence and "type" not in sentence


def _owners(fields: _Fields, path: str, shape: Shape) -> list[Any]:
    """Of a path such as `docs[].body` the objects with these texts, for they have the ids."""
    steps = next((steps for each, steps in shape.paths["chunks"] if each == path), ())
    lists = [n for n, step in enumerate(steps) if step is None or isinstance(step, tuple)]
    found = at(fields, steps[: lists[-1] + 1]) if lists else None
    return found if isinstance(found, list) else []


def _passages(
    value: object, path: str, owners: list[Any], shape: Shape
) -> tuple[list[str], list[str], str, str]:
    """The texts in a value, their ids, where they stand, and what to say of them."""
    value, note = listed(value) if isinstance(value, str) else value, ""
    if isinstance(value, str):
        if _BROKEN.match(value):
            what = f"begins as a list and is none: {value[:_SHOWN]!r}"
            raise InputError(f"{what}; write it with json.dumps", field=path)
        parts = value.split(shape.joined) if shape.joined else [value]
        note = f", parted at {shape.joined}" if len(parts) > 1 else ", as one text"
        value = parts if value.strip() else []
    items = [value] if isinstance(value, dict) else value
    if isinstance(items, list):
        items = [each for item in items for each in _unpacked(item, path, shape)]
    else:
        what = "null" if items is None else repr(items)[:_SHOWN]
        raise InputError(f"is {what}; a list of texts or documents is needed", field=path)
    texts, place = list[str](), path
    for number, item in enumerate(items):
        one = path.replace("[]", f"[{number}]", 1) if "[]" in path else f"{path}[{number}]"
        text, where = _passage(item, one, shape)
        place = f"{path.removesuffix('[]')}[].{where}" if where and number == 0 else place
        texts.append(text)
    numbers = [str(number + 1) for number in range(len(texts))]
    named = owners if len(owners) == len(items) else items
    ids, whence = ([], "") if shape.titled and not shape.order else _ids(named, shape)
    if not shape.order and ids != numbers and not set(ids).isdisjoint(numbers):
        # [1] would be what is called 1, and not the first, which nearly all prompts mean by it.
        ids, note = [], f", numbered, for their {whence} would be taken for places"
    return texts, ids or numbers, place, note


def _unpacked(item: object, where: str, shape: Shape) -> list[object]:
    """What a tool said, which may be a list of documents as JSON, or the parts of a message."""
    inner = listed(item) if isinstance(item, str) else item
    if not isinstance(inner, list) or not inner:
        return [item]
    if isinstance(item, str):
        return (
            inner
            if all(isinstance(e, dict) and first(e, shape.texts)[0] for e in inner)
            else [item]
        )
    parts = [each for each in inner if isinstance(each, dict)]
    return [_said(parts, where)] if len(parts) == len(inner) else [item]


def name_among(items: Sequence[object]) -> str:
    """The first of the items, where all are ids, names of files or addresses; else empty."""
    names = [each for each in items if isinstance(each, str) and _NAME.fullmatch(each)]
    return names[0][:_SHOWN] if names and len(names) == len(items) else ""


def refuse_names(values: Values, path: str) -> None:
    """Ids and addresses, which stood at a path, are no texts to judge by."""
    name = name_among([each["text"] for each in values.fields["chunks"]])
    if name and values.names["chunks"] == path:
        what = f"holds names and no texts: {name!r}"
        raise InputError(f"{what}; name the path of the texts: {mapping_of('chunks')}", field=path)


def _passage(item: object, where: str, shape: Shape) -> tuple[str, str]:
    """The text of a document or text, and the path to it."""
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
        raise InputError(
            f"{what}; or name the path of its text: {mapping_of('chunks')}", field=where
        )
    title = item.get("title")
    return f"{title}\n{text}" if shape.titled and title and isinstance(title, str) else text, path


def _ids(items: list[Any], shape: Shape) -> tuple[list[str], str]:
    """The first of the ids by which all documents differ, and its path; empty where none does."""
    for path, steps in shape.ids:
        ids = [at(item, steps) for item in items]
        if all(isinstance(each, str | int) and each != "" for each in ids):
            named = [str(each) for each in ids]
            if len(set(named)) == len(named):
                return named, path
    return [], ""


def _named(references: object) -> object:
    """References of which each is a text, where they are ids."""
    if isinstance(references, list) and all(isinstance(e, str | int) for e in references):
        return [str(each) for each in references]
    return references


def _ordered(value: object, references: object, path: str, shape: Shape) -> object:
    """Passages with their ids, in the order in which citations count them."""
    if not isinstance(references, list) or not all(isinstance(each, str) for each in references):
        return value
    if path == shape.order and not all(map(_NAME.fullmatch, references)):
        return value
    if path == shape.order:
        what = "holds ids and no texts; add the texts as segments"
        raise InputError(f"{what}, or name their path: {mapping_of('chunks')}", field=path)
    texts = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        plain = len(value) == len(references) and all(isinstance(each, str) for each in value)
        texts = dict(zip(references if plain else _ids(value, shape)[0], value, strict=False))
    if strays := [each for each in references if each not in texts]:
        what = f"has no text of {strays[0][:_SHOWN]!r}"
        raise InputError(f"{what}, which {shape.order} names; add it", field=path)
    named = (*references, *(name for name in texts if name not in references))
    both = ((name, texts[name]) for name in named)
    return [
        {**text, "chunk_id": name} if isinstance(text, dict) else {"chunk_id": name, "text": text}
        for name, text in both
    ]


def _counted(sentences: list[Any], references: object, shape: Shape) -> list[Any]:
    """Sentences whose citations count through references: a number beyond is no passage's place."""
    if not isinstance(references, list):
        return sentences

    def one(cited: object) -> object:
        if isinstance(cited, dict):  # with what a person said of it
            cited = next(
                (each for _, steps in shape.ids if (each := at(cited, steps)) is not NOTHING), cited
            )
        if isinstance(cited, float) and cited.is_integer():
            cited = int(cited)
        if isinstance(cited, str) and cited.isdecimal() and cited not in references:
            cited = int(cited)
        return (
            f"{shape.order}[{cited}]" if type(cited) is int and cited >= len(references) else cited
        )

    def counted(sentence: object) -> object:
        cited = sentence.get("citations") if isinstance(sentence, dict) else None
        if not (isinstance(sentence, dict) and isinstance(cited, list)):
            return sentence
        return {**sentence, "citations": list(map(one, cited))}

    return list(map(counted, sentences))
