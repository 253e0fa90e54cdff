"""The fields of a row, under our names or as another tool writes them, made into a `Sample`."""

import ast
import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from pydantic import JsonValue, ValidationError
from pydantic_core import to_json

from judge.errors import ConfigError, InputError
from judge.records import Sample
from judge.records.sample import unfit
from judge.text.visible import clip

SCORE_NEEDS: Final = frozenset({"answer", "chunks"})
"""The fields that a sample must have to be scored."""
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "qid": ("qid", "id", "sample_id"),
    "query": ("query", "question", "user_input"),
    "answer": ("answer", "response"),
    "sentences": ("sentences",),
    "chunks": ("chunks", "contexts", "retrieved_contexts"),
    "retrieved": ("retrieved",),
    "gold_answer": ("gold_answer", "reference", "ground_truth"),
    "gold_evidence": ("gold_evidence",),
    "relevance": ("relevance", "rel_map"),
}
"""The keys under which a row has each field of a `Sample`; the first that is not null counts."""
CHUNK_IDS: Final = "chunk_ids"
"""What `--map` calls the ids of the chunks, where they are not beside the texts."""
NUMBERED_CHUNK: Final = re.compile(r"chunk_([1-9][0-9]{0,8})")
"""A column that holds one chunk."""
_LIST_FIELDS: Final = ("sentences", "chunks", "retrieved", "gold_evidence", "relevance")
_LIST_KEYS: Final = frozenset(key for field in _LIST_FIELDS for key in NAMES[field])
"""Keys whose value may be a list or an object that is written as text."""
_AMBIGUOUS: Final = "ground_truth"
"""Some tools keep a reference answer under this key, others a list of anything."""
_DISTINCTIVE: Final = frozenset(NAMES) - {"qid", "query"}
"""Fields by which a row is recognised as ours if no field is required."""
_REPORTED: Final = ("query", "answer", "chunks", "gold_answer")
_SHOWN_KEYS: Final = 8
_SHOWN_PATHS: Final = 4
_SHOWN: Final = 60
"""Characters of a value in a message."""
_MOST_CELL: Final = 1_000_000
"""Characters of a text that is read as a Python literal."""
_SHOULD_BE: Final = "Input should be "
_TYPES: Final = {"string_type": "text", "tuple_type": "a list", "dict_type": "an object"}
"""The required type in plain words, by pydantic's name of the error."""

Fields = dict[str, JsonValue]


# A row under our names


def sample_from(
    fields: Fields,
    *,
    line: int,
    needs: Collection[str],
    places: Mapping[str, str] | None = None,
) -> Sample:
    """Return the sample in a row; keys that are not read become metadata.

    The fields in `needs` must be there. An InputError names the field, by its path in `places`.
    """
    keys = {name: key for name, keys in NAMES.items() if (key := _first_key(fields, keys))}
    if keys.get("gold_answer") == _AMBIGUOUS and not isinstance(fields[_AMBIGUOUS], str):
        del keys["gold_answer"]
    for name in sorted(needs, key=lambda name: (name not in SCORE_NEEDS, name)):
        if name not in keys and not (name == "answer" and "sentences" in keys):
            also = ", ".join(NAMES[name][1:])
            raise _missing(name, fields, f" (also read from: {also})" if also else "")
    values: dict[str, object] = {name: fields[key] for name, key in keys.items()}
    values["qid"] = _identifier(values.get("qid")) or str(line)
    for name in ("retrieved", "gold_evidence"):
        if isinstance(ids := values.get(name), list):
            values[name] = list(map(_identifier, ids))
    if isinstance(chunks := values.get("chunks"), list):
        values["chunks"] = [_chunk(each, number) for number, each in enumerate(chunks, 1)]
    values["metadata"] = {key: value for key, value in fields.items() if key not in keys.values()}
    try:
        to_json(fields)  # a result that repeats them can be written
        return Sample.model_validate(values)
    except ValidationError as error:
        problem = _problem(error)
    except InputError as error:  # in its sentences
        problem = error
    except ValueError:
        raise InputError("holds half a character (a lone surrogate); mend the escape") from None
    name = next((name for name in keys if problem.field.startswith(name)), "")
    place = (places or {}).get(name, keys.get(name, name))
    raise InputError(problem.problem, field=place + problem.field.removeprefix(name))


def _problem(error: ValidationError) -> InputError:
    """Return the first error of a sample; its `field` names the place within the sample."""
    first = error.errors(include_url=False)[0]
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    field, problem = "".join(parts).removeprefix("."), first["msg"].removeprefix("Value error, ")
    if not problem.startswith(_SHOULD_BE):
        return InputError(problem, field=field)
    needed = _TYPES.get(first["type"], problem.removeprefix(_SHOULD_BE))
    if first["type"] == "tuple_type" and isinstance(first["input"], str):
        needed = "a list, which json.dumps writes in a cell,"
    return unfit(first["input"], needed, field)


def _first_key(fields: Fields, keys: tuple[str, ...]) -> str | None:
    """Return the first of the keys that is there and not null."""
    return next((key for key in keys if fields.get(key) is not None), None)


def _missing(name: str, fields: Fields, place: str, hint: str = "") -> InputError:
    """Return the error of a field that a row lacks, with where it is looked for."""
    if null := next((key for key in NAMES[name] if key in fields and fields[key] is None), None):
        return InputError("is null or NaN; fill it, or leave out the row", field=null)
    step = f"; {hint}or name its path: {_mapping_of(name)}" if name in SCORE_NEEDS else ""
    return InputError(f"is missing{place}; found {_keys_of(fields)}{step}", field=name)


def _mapping_of(field: str) -> str:
    """Return how to name the path of a field, on the command line and in Python."""
    return f"judge score --map {field}=PATH, in Python map={{{field!r}: 'PATH'}}"


def _keys_of(fields: Fields) -> str:
    """Return the keys of an object that are not null, for a message."""
    keys = [repr(key) for key in fields if fields[key] is not None]
    if not keys:
        return "no keys"
    return "the keys " + ", ".join(keys[:_SHOWN_KEYS]) + ("…" if len(keys) > _SHOWN_KEYS else "")


def _identifier(value: object) -> object:
    """Return a number as the text of an id; any other value as it is."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column of numbers in which some are missing
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _chunk(value: JsonValue, number: int) -> object:
    """Return the fields of a chunk, which has its number as its id if it has none."""
    if isinstance(value, str):
        return {"chunk_id": str(number), "text": value}
    if not isinstance(value, dict):
        raise unfit(value, "text or {chunk_id, text}", f"chunks[{number - 1}]")
    key = _first_key(value, ("chunk_id", "id"))
    chunk_id = _identifier(value[key]) if key else str(number)
    return {"chunk_id": chunk_id, "text": value.get("text")}


# Lists as CSV and flat traces have them


@lru_cache(maxsize=4)  # several paths may lead into the same text
def _parse_list(text: str) -> JsonValue:
    """Return the list or object that a text is, as JSON or as a Python literal; else the text.

    >>> _parse_list('["a"]'), _parse_list("['a']"), _parse_list("['a' 'b']")
    (['a'], ['a'], "['a' 'b']")
    """
    literal = text.strip()
    if not literal.startswith(("[", "{")):
        return text
    value: JsonValue
    try:
        value = json.loads(literal, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        if len(literal) > _MOST_CELL:
            return text
        try:
            value = ast.literal_eval(literal)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return text
        # Python would join the two texts of numpy's ['a' 'b'].
        return value if repr(value) == literal else text
    return value


def _with_lists(fields: Fields) -> Fields:
    """Return the fields with lists that are written as text, or in a column each, as lists."""
    texts = ((name, fields[name]) for name in _LIST_KEYS & fields.keys())
    fields = fields | {name: _parse_list(text) for name, text in texts if isinstance(text, str)}
    found = sorted((int(m[1]), key) for key in fields if (m := NUMBERED_CHUNK.fullmatch(key)))
    if not found or not fields.keys().isdisjoint(NAMES["chunks"]):
        return fields
    chunks: list[JsonValue] = [
        {"chunk_id": str(number), "text": text}
        for number, key in found
        if (text := fields.pop(key)) not in (None, "")
    ]
    return {"chunks": chunks} | fields


def _collect_numbered(fields: Fields) -> Fields:
    """Return the fields with numbered keys collected into lists, in `attributes` too.

    >>> _collect_numbered({"documents.0.content": "a", "documents.1.content": "b"})
    {'documents': [{'content': 'a'}, {'content': 'b'}]}
    """
    plain, lists = Fields(), dict[str, dict[int, Fields]]()
    for key, value in fields.items():
        inner = value
        if key == "attributes" and isinstance(value, dict):
            inner = _collect_numbered(value)
        if match := _NUMBERED.fullmatch(key):
            item = lists.setdefault(match[1], {}).setdefault(int(match[2]), {})
            item[match[3] or ""] = inner
        else:
            plain[key] = inner
    for name, items in lists.items():
        plain[name] = [item.get("", item) for _, item in sorted(items.items())]
    return plain


# Paths into a row, such as `docs[].page_content`

_NUMBERED: Final = re.compile(r"(.+?)\.(\d{1,6})(?:\.(.+))?", re.DOTALL)
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(-?\d{0,9})\]|\[([^\[\]=]+)=([^\[\]]*)\]")

Step = str | int | tuple[str, str] | None
"""A key; a position in a list; `(key, value)` for the items in which a key has a value; null for
each item."""


@cache
def _steps(path: str) -> tuple[Step, ...]:
    """Return the steps of a path; raise ConfigError if the text is no path."""
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


def _at(value: object, steps: tuple[Step, ...]) -> object:
    """Return the value at a path; null if the path leads nowhere.

    A text that is a JSON object or list is entered; a key may itself hold dots, as in the flat
    `{"output.value": "a"}`.
    """
    if not steps:
        return value
    value = _parse_list(value) if isinstance(value, str) else value
    if isinstance(value, dict):
        # LangChain serialises an object as {"lc": 1, "kwargs": {…}}.
        inner = value.get("kwargs") if "lc" in value else None
        return _in_object(inner if isinstance(inner, dict) else value, steps)
    return _in_list(value, steps[0], steps[1:]) if isinstance(value, list) else None


def _in_object(value: Fields, steps: tuple[Step, ...]) -> object:
    if isinstance(steps[0], tuple):
        key, wanted = steps[0]
        return _at(value, steps[1:]) if _at(value, (key,)) == wanted else None
    name = ""
    for number, step in enumerate(steps, 1):
        if not isinstance(step, str):
            break
        name = f"{name}.{step}" if name else step
        found = _at(value.get(name), steps[number:])
        if found is not None:
            return found
    return None


def _in_list(value: list[JsonValue], step: Step, rest: tuple[Step, ...]) -> object:
    match step:
        case int():
            return _at(value[step], rest) if -len(value) <= step < len(value) else None
        case (key, wanted):
            chosen = [each for each in value if _at(each, (key,)) == wanted]
            each_of = (None, *rest) if rest and isinstance(rest[0], str) else rest
            return _at(chosen, each_of) if chosen else None
        case None:
            found = [_at(each, rest) for each in value]
            if None in rest:
                found = [each for part in found if isinstance(part, list) for each in part]
            return found if not value or any(each is not None for each in found) else None
    return None


def _first(value: object, paths: Iterable[str]) -> tuple[str, object]:
    """Return the first path that leads to a value, and the value; `("", None)` if none does."""
    values = ((path, _at(value, _steps(path))) for path in paths)
    return next((each for each in values if each[1] is not None), ("", None))


def _is_used(key: str, paths: Iterable[str]) -> bool:
    """Return whether a path is a key, or leads through it."""
    return any(path == key or path.startswith((f"{key}.", f"{key}[")) for path in paths)


# Shapes of other tools


class Shape(NamedTuple):
    """A row of the table in `judge/data/shapes.toml`, which explains each field."""

    name: str
    paths: Mapping[str, Sequence[str]]
    """Paths by field of `Sample`."""
    mark: Sequence[Sequence[str]] = ()
    unless: Mapping[str, list[str]] = {}
    joined: str = ""
    order: str = ""
    titled: bool = False
    packed: bool = False
    hint: str = ""


@cache
def _table() -> dict[str, Any]:
    """Return the shapes in the order in which they are tried, and paths of texts and ids."""
    table = tomllib.loads(files("judge").joinpath("data", "shapes.toml").read_text("utf-8"))

    def shape(row: dict[str, Any]) -> Shape:
        roots = (*row.pop("below", ()), "")

        def below(paths: Iterable[str]) -> list[str]:
            return [root + path for path in paths for root in roots]

        paths = {name: below(row.pop(name)) for name in NAMES if name in row}
        mark = [below(each) for each in row.pop("mark")]
        unless = {
            name: kinds for key, kinds in row.pop("unless", {}).items() for name in below([key])
        }
        return Shape(paths=paths, mark=mark, unless=unless, **row)

    own = {name: NAMES[name] for name in ("answer", "chunks", "query", "gold_answer")}
    last = Shape("a plain sample", own, mark=(own["chunks"],))
    return table | {"shape": [*map(shape, table["shape"]), last]}


class RowReader:
    """Reads rows as samples. Rows without our own names are read by the shape of the first of them.

    Args:
        needs: fields of `Sample` that must be present.
        mapping: paths by field, `chunk_ids` included. It does not concern the other fields.
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
        self._mapped = {name: [path] for name, path in (mapping or {}).items()}
        for path in (mapping or {}).values():
            _steps(path)  # raises ConfigError if a path is wrong
        self._report = report
        self._reported: set[str] = set()
        self._shape: Shape | None = None

    def sample(self, fields: Fields, line: int) -> Sample:
        """Return the sample in a row; the errors are those of `sample_from`."""
        fields = _with_lists(fields)
        if not self._mapped and self._distinctive and not self._missing_in(fields):
            return sample_from(fields, line=line, needs=self._needs)
        wide = _collect_numbered(fields)
        shape = self._shape or self._recognised(wide)
        if shape is None:
            return sample_from(fields, line=line, needs=self._needs)
        found = self._find(wide, shape)
        places = {name: path for name, (path, _) in found.items()}
        values = _values_of(wide, shape, found)
        if "sentences" in values and "answer" in places:
            places.setdefault("sentences", places["answer"])
        self._report_shape(shape, places)
        rest = {key: value for key, value in wide.items() if not _is_used(key, places.values())}
        sample = sample_from(rest | values, line=line, needs=self._needs, places=places)
        self._shape = shape
        return sample

    def _missing_in(self, fields: Fields) -> set[str]:
        """Return the required fields that a row does not have under our own names."""
        return {name for name in self._distinctive if not _has(fields, name)}

    def _recognised(self, fields: Fields) -> Shape | None:
        """Return the shape of a row; None if it has none and nothing is mapped."""
        missing = self._missing_in(fields)
        if not self._distinctive and not any(_has(fields, name) for name in _DISTINCTIVE):
            missing = set(SCORE_NEEDS)
        shape = Shape("--map says", {}) if self._mapped else None
        for each in _table()["shape"] if missing else ():
            can_have = missing <= SCORE_NEEDS | each.paths.keys()
            if can_have and all(_first(fields, mark)[0] for mark in each.mark):
                shape = each
                break
        return shape and shape._replace(paths={**shape.paths, **self._mapped})

    def _find(self, fields: Fields, shape: Shape) -> dict[str, tuple[str, object]]:
        """Return the path and the value of each field that is there."""
        for path, kinds in shape.unless.items():
            if (value := _at(fields, _steps(path))) in kinds:
                step = "which is no answer; leave it out (--skip-bad-lines)"
                raise InputError(f"is {clip(repr(value), _SHOWN)}, {step}", field=path)
        found = {}
        like = " (as the first row was read)" if self._shape else ""
        for name in (*NAMES, CHUNK_IDS):
            paths = shape.paths.get(name, ())
            path, value = _first(fields, paths)
            if name == "gold_answer" and isinstance(value, list) and len(value) > 1:
                continue  # it is unknown which value is meant, so the field stays empty
            if path:
                found[name] = path, value
            elif name in self._mapped and self._shape is None:
                what = f"there is nothing at {paths[0]}; found {_keys_of(fields)}"
                raise InputError(f"{what}; name another path: {_mapping_of(name)}", field=name)
            elif name == "answer" and "sentences" in self._mapped:
                continue
            elif name in self._needs and not _has(fields, name):
                where = " or ".join(paths[:_SHOWN_PATHS])
                place = f": {shape.name}{like} has it as {where}" if where else like
                hint = f"{shape.hint}, " if name == "chunks" and shape.hint else ""
                raise _missing(name, fields, place, hint)
        return found

    def _report_shape(self, shape: Shape, places: Mapping[str, str]) -> None:
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
    ids = values.pop(CHUNK_IDS, None)
    if "chunks" in found:
        path, value = found["chunks"]
        chunks = _chunks(value, path, shape, order)
        if ids is not None:
            chunks = _with_ids(chunks, ids, found[CHUNK_IDS][0])
        values["chunks"] = chunks
    answer = values.get("answer")
    if isinstance(answer, list):
        dicts = [each for each in answer if isinstance(each, dict)]
        # Sentences with their citations, and not the parts of a message.
        if shape.order or any("citations" in each and "type" not in each for each in dicts):
            given = values.pop("answer")
            values["sentences"] = [_sentence(each, shape.order, len(order)) for each in given]
    for name in ("answer", "query", "gold_answer"):
        if name in values:
            values[name] = _text(values[name], name, found[name][0], shape)
    return values


def _sentence(sentence: Any, name: str, count: int) -> object:  # noqa: ANN401  as the file has it
    """Return a sentence; a citation beyond its references gets an id that no chunk has."""
    cited = sentence.get("citations") if isinstance(sentence, dict) else None
    if not count or not isinstance(cited, list):
        return sentence
    known = [f"{name}[{n}]" if type(n) is int and n >= count else n for n in cited]
    return {**sentence, "citations": known}


# Texts of chat messages

_MESSAGE_TEXTS: Final = ("content", "text", "data.content", "_content", "parts", "value")
_TEXT_PARTS: Final = ("text", "output_text", "input_text")
"""The types of the parts of a message that belong to the answer; others are thoughts or calls."""


def _text(value: object, field: str, path: str, shape: Shape) -> object:
    if isinstance(value, list) and all(isinstance(each, str) for each in value) and value[1:]:
        step = _mapping_of(field).replace("PATH", f"{path}[0]")
        raise InputError(f"holds {len(value)} texts; name one: {step}", field=path)
    text = _message_text(value)
    if field == "answer" and shape.packed and isinstance(text, str):
        inner = _parse_list(text)
        if isinstance(inner[0] if isinstance(inner, list) and inner else inner, dict):
            text = _message_text(inner)
    if text is None:
        raise InputError("is null or NaN; fill it, or leave out the row", field=path)
    if isinstance(text, dict):
        what = f"is an object and no text; found {_keys_of(text)}"
        raise InputError(f"{what}; name the path of its text: {_mapping_of(field)}", field=path)
    return text


def _message_text(value: object) -> object:
    """Return the text of a chat message, or of its parts; any other value as it is."""
    if isinstance(value, dict):
        path, inner = _first(value, _MESSAGE_TEXTS)
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


# Chunks

_BROKEN_LIST: Final = re.compile(r"""\[\s*(?:["'{]|\w+\()""")


def _chunks(value: object, path: str, shape: Shape, order: list[str]) -> list[dict[str, object]]:
    """Return the chunks in a value, in the order of the references if the shape has such."""
    value = _parse_list(value) if isinstance(value, str) else value
    if isinstance(value, str):
        if _BROKEN_LIST.match(value):
            what = f"begins as a list and is none: {value[:_SHOWN]!r}"
            raise InputError(f"{what}; write it with json.dumps", field=path)
        parts = value.split(shape.joined) if shape.joined else [value]
        value = parts if value.strip() else []
    ids: list[str] = []
    if order and isinstance(value, dict):
        ids, value = list(value), list(value.values())
    items = [value] if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise unfit(items, "a list of texts or documents", path)
    if len(order) == len(items) and not any(isinstance(item, dict) for item in items):
        ids = ids or order
    where = path if "[]" in path else f"{path}[]"
    texts = [
        _chunk_text(item, where.replace("[]", f"[{number}]", 1), shape)
        for number, item in enumerate(items)
    ]
    numbers = [str(number) for number in range(1, len(texts) + 1)]
    ids = ids or _ids(items)
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


def _chunk_text(item: object, where: str, shape: Shape) -> str:
    """Return the text of a document, of the parts of a message, or of a text."""
    if isinstance(item, list) and all(isinstance(each, dict) for each in item):
        item = _message_text(item)
    if isinstance(item, str):
        return item
    if not isinstance(item, dict):
        raise unfit(item, "a text or a document", where)
    paths = _table()["texts"]
    _, text = _first(item, paths)
    if not isinstance(text, str):
        inner = item.get("kwargs")
        what = f"has no {', '.join(paths[:3])}"
        what += f"; found {_keys_of(inner if isinstance(inner, dict) else item)}"
        raise InputError(f"{what}; name the path of its text: {_mapping_of('chunks')}", field=where)
    title = item.get("title")
    return f"{title}\n{text}" if shape.titled and title and isinstance(title, str) else text


def _ids(items: list[Any]) -> list[str]:
    """Return the first kind of id that every document has and no two share."""
    for path in _table()["ids"]:
        found = [_at(item, _steps(path)) for item in items]
        if all(isinstance(each, str | int) and each != "" for each in found):
            ids = list(map(str, found))
            if len(set(ids)) == len(ids):
                return ids
    return []


def _with_ids(chunks: list[dict[str, object]], ids: object, path: str) -> list[dict[str, object]]:
    """Return the chunks with the ids that `--map` names."""
    if not isinstance(ids, list):
        raise unfit(ids, "a list of chunk ids", path)
    if len(ids) != len(chunks):
        what = f"has {len(ids)} ids, and there are {len(chunks)} chunks"
        raise InputError(f"{what}; name a path to one id for each", field=path)
    return [each | {"chunk_id": one} for each, one in zip(chunks, ids, strict=True)]
