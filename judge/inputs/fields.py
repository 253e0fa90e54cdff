"""The fields of a row under our names, made into a `Sample`; errors name field and value."""

import math
import re
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Final

from pydantic import JsonValue

from judge.errors import InputError
from judge.inputs.paths import parse_list
from judge.records import MOST_CHARACTERS, Chunk, Sample
from judge.records.sample import unfit

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
MAX_DEPTH: Final = 100
"""How deep metadata may be nested; JSON parsers stop near 200."""
_AMBIGUOUS: Final = "ground_truth"
"""Some tools keep a reference answer under this key, others a list of anything."""
_PRINTED_DOCUMENT: Final = re.compile(
    r"page_content=['\"]|Document\((?:id|metadata|page_content|content)(?:=|: )"
)
"""The beginning of `str()` of a document of LangChain's or Haystack's."""
_SHOWN: Final = 40
"""Characters of a value in a message."""
_SHOWN_KEYS: Final = 8

Fields = dict[str, JsonValue]


def sample_from(
    fields: Fields,
    *,
    line: int,
    needs: Collection[str],
    places: Mapping[str, str] | None = None,
    mappable: bool = False,
) -> Sample:
    """Return the sample in a row; keys that are not read become metadata.

    Args:
        fields: the row.
        line: its line, which becomes the qid if the row has none.
        needs: fields of `Sample` that must be present; an empty answer or chunk list is.
        places: where fields stood in the file, by field, for messages.
        mappable: whether the message about a missing field suggests `--map`.

    Raises:
        InputError: a field is missing or of the wrong type; its `field` names it.
    """
    places = places or {}
    keys = {name: key for name, keys in NAMES.items() if (key := first_key(fields, keys))}
    if keys.get("gold_answer") == _AMBIGUOUS and not _is_prose(fields[_AMBIGUOUS]):
        del keys["gold_answer"]
    for name in sorted(needs, key=lambda name: (name not in SCORE_NEEDS, name)):
        if name not in keys and not (name == "answer" and "sentences" in keys):
            if null := next((key for key in NAMES[name] if key in fields), None):
                raise InputError("is null or NaN; fill it, or leave out the row", field=null)
            also = ", ".join(NAMES[name][1:])
            hint = f" (also read from: {also})" if also else ""
            step = f"; or name its path: {mapping_of(name)}" if mappable else ""
            raise InputError(f"is missing{hint}; found {keys_of(fields)}{step}", field=name)
    values: dict[str, object] = {
        name: _READERS[name](fields[key], places.get(key, key)) for name, key in keys.items()
    }
    values["qid"] = values.get("qid") or str(line)
    values["metadata"] = {
        _text(key, key): _writable(value, key)
        for key, value in fields.items()
        if key not in keys.values()
    }
    try:
        return Sample.model_validate(values)
    except InputError as error:  # in its sentences
        place = error.field.replace("sentences", places.get("sentences", "sentences"), 1)
        raise InputError(error.problem, field=place) from None


def refuse_columns(fields: Fields) -> None:
    """Raise an InputError if a row is a whole table, with a list or an object as each column."""
    key = first_key(fields, NAMES["answer"]) or ""
    answers, chunks = fields.get(key), fields.get(first_key(fields, NAMES["chunks"]) or "")
    nested = isinstance(chunks, list) and isinstance(next(iter(chunks), None), list)
    by_index = isinstance(answers, dict) and isinstance(chunks, dict)
    if isinstance(answers, list | dict) and (nested or by_index):
        what = f"is a column of {len(answers)}, and no text; save the table by its rows"
        raise InputError(f"{what}, as by pandas' to_json(orient='records')", field=key)


def first_key(fields: Fields, keys: tuple[str, ...]) -> str | None:
    """Return the first of the keys that is there and not null."""
    return next((key for key in keys if fields.get(key) is not None), None)


def mapping_of(field: str) -> str:
    """Return how to name the path of a field, on the command line and in Python."""
    return f"judge score --map {field}=PATH, in Python map={{{field!r}: 'PATH'}}"


def keys_of(fields: Fields) -> str:
    """Return the keys of an object that are not null, for a message."""
    keys = [repr(key) for key in fields if fields[key] is not None]
    if not keys:
        return "no keys"
    return "the keys " + ", ".join(keys[:_SHOWN_KEYS]) + ("…" if len(keys) > _SHOWN_KEYS else "")


def _is_prose(value: JsonValue) -> bool:
    return isinstance(value, str) and isinstance(parse_list(value), str)


def _text(value: JsonValue, field: str) -> str:
    if not isinstance(value, str):
        raise unfit(value, "text", field)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        message = f"holds half a character (a lone surrogate) at {error.start}; mend the escape"
        raise InputError(message, field=field) from None
    return value


def _answer(value: JsonValue, field: str) -> str:
    text = _text(value, field)
    if len(text) > MOST_CHARACTERS:
        most = f"{len(text):,} characters, of which at most {MOST_CHARACTERS:,} are read"
        raise InputError(f"has {most}; shorten it", field=field)
    return text


def _identifier(value: JsonValue, field: str) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column of numbers in which some are missing
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise unfit(value, "text or a whole number", field)
    return _text(str(value), field)


def identifiers(value: object, field: str) -> tuple[str, ...]:
    """Return the ids in a list as texts; raise InputError if the value is no list of ids."""
    if not isinstance(value, list):
        raise unfit(value, "a list of chunk ids", field)
    return tuple(_identifier(item, f"{field}[{i}]") for i, item in enumerate(value))


def _chunks(value: JsonValue, field: str) -> tuple[Chunk, ...]:
    if not isinstance(value, list):
        raise unfit(value, "a list of texts or of {chunk_id, text}", field)
    return tuple(_chunk(item, str(i + 1), f"{field}[{i}]") for i, item in enumerate(value))


def _chunk(value: JsonValue, number: str, where: str) -> Chunk:
    chunk_id, text, place = number, value, where
    if isinstance(value, dict):
        if value.get("text") is None:
            raise InputError(f"has no text; found {keys_of(value)}", field=f"{where}.text")
        text, place = value["text"], f"{where}.text"
        if key := first_key(value, ("chunk_id", "id")):
            chunk_id = _identifier(value[key], f"{where}.{key}")
    elif not isinstance(value, str):
        raise unfit(value, "text or {chunk_id, text}", where)
    passage = _text(text, place)
    if passage.startswith(("page_content=", "Document(")) and _PRINTED_DOCUMENT.match(passage):
        what = f"is an object as Python shows it, {passage[:_SHOWN]!r}"
        raise InputError(f"{what}; give its text alone", field=place)
    # Faster than a call of the class, which turns pydantic's errors into ours.
    return Chunk.model_validate({"chunk_id": chunk_id, "text": passage})


def _relevance(value: JsonValue, field: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise unfit(value, "an object of chunk id to grade", field)
    grades: dict[str, float] = {}
    for chunk_id, grade in value.items():
        # `true` is an int in Python, and an int may be too large for a float.
        number = None if isinstance(grade, bool) else grade
        if not isinstance(number, (int, float)) or not abs(number) <= sys.float_info.max:
            raise unfit(grade, "a finite number", f"{field}[{chunk_id!r}]")
        grades[_text(chunk_id, field)] = float(number)
    return grades


def _writable(value: JsonValue, field: str, depth: int = 0) -> JsonValue:
    """Return the value; raise InputError if a result with it could not be written and read."""
    if depth > MAX_DEPTH:
        raise InputError(f"is nested over {MAX_DEPTH} deep; flatten it", field=field)
    if isinstance(value, str):
        _text(value, field)
    if isinstance(value, float) and not math.isfinite(value):
        raise unfit(value, "a finite number or null", field)
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    for part in parts if isinstance(parts, list) else ():
        _writable(part, field, depth + 1)
    return value


_READERS: Final[Mapping[str, Callable[[JsonValue, str], object]]] = {
    "qid": _identifier,
    "query": _text,
    "answer": _answer,
    "sentences": _writable,
    "chunks": _chunks,
    "retrieved": identifiers,
    "gold_answer": _answer,
    "gold_evidence": identifiers,
    "relevance": _relevance,
}
"""Read the value of a field; the second argument names its place in messages."""
