"""A row's fields into a `Sample`: every accepted spelling, and what is wrong with the others."""

import math
import re
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Final

from pydantic import JsonValue

from judge.errors import InputError
from judge.inputs.paths import listed
from judge.records import MOST_CHARACTERS, Chunk, Sample
from judge.records.sample import unfit

MAX_DEPTH: Final = 100
"""Lists and objects in one another that metadata may hold; JSON parsers stop near 200."""

SCORE_NEEDS: Final = frozenset({"answer", "chunks"})
"""What a sample must have to be scored."""

_OBJECT: Final = re.compile(
    r"page_content=['\"]|Document\((?:id|metadata|page_content|content)(?:=|: )"
)
"""How a document of LangChain's or Haystack's begins, where str() was made of it."""
_SHOWN: Final = 40
"""Characters of a value, in a message."""
_LOOSE: Final = "ground_truth"
"""Under which others have a reference answer, and others a list of anything."""
_OWN: Final[Mapping[str, str]] = {}
_KEYS: Final = 8
"""Keys that a message names."""


def sample_from(
    fields: dict[str, JsonValue],
    *,
    line: int,
    needs: Collection[str],
    names: Mapping[str, str] = _OWN,
    mappable: bool = False,
) -> Sample:
    """The sample in a row.

    Args:
        fields: keys and JSON values of the row; unknown keys go to `metadata`.
        line: its line; the qid where it gives none.
        needs: fields of `Sample` that must be there, an empty answer or chunk list included.
        names: what to call keys in messages, where they stood elsewhere.
        mappable: whether a path may be named for what is missing.

    Raises:
        InputError: a field is missing or of the wrong type; `field` names it.
    """
    used = {name: key for name, (_, keys) in FIELDS.items() if (key := _first(fields, keys))}
    if used.get("gold_answer") == _LOOSE and not _is_prose(fields[_LOOSE]):
        del used["gold_answer"]
    for name in sorted(needs, key=lambda name: (name not in {"answer", "chunks"}, name)):
        if name not in used and not (name == "answer" and "sentences" in used):
            also = ", ".join(FIELDS[name][1][1:])
            hint = f" (also read from: {also})" if also else ""
            found = f"is missing{hint}; found {keys_of(fields)}"
            step = f"; or name its path: {mapping_of(name)}" if mappable else ""
            raise InputError(found + step, field=name)
    values = {name: FIELDS[name][0](fields[key], names.get(key, key)) for name, key in used.items()}
    values["qid"] = values.get("qid") or str(line)
    values["metadata"] = {
        _text(key, key): _writable(value, key)
        for key, value in fields.items()
        if key not in used.values()
    }
    try:
        return Sample.model_validate(values)
    except InputError as error:  # of the sentences, whose place this is
        place = error.field.replace("sentences", names.get("sentences", "sentences"), 1)
        raise InputError(error.problem, field=place) from None


def _is_prose(value: JsonValue) -> bool:
    return isinstance(value, str) and isinstance(listed(value), str)


def refuse_columns(fields: dict[str, JsonValue]) -> None:
    """A table that is held column by column is no row: InputError."""
    key = _first(fields, FIELDS["answer"][1]) or ""
    answers, chunks = fields.get(key), fields.get(_first(fields, FIELDS["chunks"][1]) or "")
    listed = isinstance(chunks, list) and isinstance(next(iter(chunks), None), list)
    if (isinstance(answers, list) and listed) or (
        isinstance(answers, dict) and isinstance(chunks, dict)
    ):
        what = f"is a column of {len(answers)}, and no text; save the table by its rows"
        raise InputError(f"{what}, as by pandas' to_json(orient='records')", field=key)


def _first(fields: dict[str, JsonValue], keys: tuple[str, ...]) -> str | None:
    return next((key for key in keys if fields.get(key) is not None), None)


def mapping_of(field: str) -> str:
    """How a path is named, by a command and by a program."""
    return f"judge score --map {field}=PATH, in Python map={{{field!r}: 'PATH'}}"


def keys_of(fields: dict[str, JsonValue]) -> str:
    """The keys of an object that are not null, as a message names them."""
    keys = [repr(key) for key in fields if fields[key] is not None]
    if not keys:
        return "no keys"
    return "the keys " + ", ".join(keys[:_KEYS]) + ("…" if len(keys) > _KEYS else "")


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


def _ids(value: JsonValue, field: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise unfit(value, "a list of chunk ids", field)
    return tuple(_identifier(item, f"{field}[{i}]") for i, item in enumerate(value))


def _chunks(value: JsonValue, field: str) -> tuple[Chunk, ...]:
    if not isinstance(value, list):
        raise unfit(value, "a list of texts or of {chunk_id, text}", field)
    return tuple(chunk_of(item, str(i + 1), f"{field}[{i}]") for i, item in enumerate(value))


def chunk_of(value: JsonValue, number: str, where: str) -> Chunk:
    """The chunk in a value, called by its number where it has no id; InputError names `where`."""
    chunk_id, text, place = number, value, where
    if isinstance(value, dict):
        if value.get("text") is None:
            raise InputError(f"has no text; found {keys_of(value)}", field=f"{where}.text")
        text, place = value["text"], f"{where}.text"
        if key := _first(value, ("chunk_id", "id")):
            chunk_id = _identifier(value[key], f"{where}.{key}")
    elif not isinstance(value, str):
        raise unfit(value, "text or {chunk_id, text}", where)
    passage = _text(text, place)
    if passage.startswith(("page_content=", "Document(")) and _OBJECT.match(passage):
        what = f"is an object as Python shows it, {passage[:_SHOWN]!r}"
        raise InputError(f"{what}; give its text alone", field=place)
    # A call by name would pass through what tells people of their mistakes.
    return Chunk.model_validate({"chunk_id": chunk_id, "text": passage})


def _relevance(value: JsonValue, field: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise unfit(value, "an object of chunk id to grade", field)
    grades: dict[str, float] = {}
    for chunk_id, grade in value.items():
        # To Python `true` is an int; it is no grade. And an int may be too long for a float.
        number = None if isinstance(grade, bool) else grade
        if not isinstance(number, (int, float)) or not abs(number) <= sys.float_info.max:
            raise unfit(grade, "a finite number", f"{field}[{chunk_id!r}]")
        grades[_text(chunk_id, field)] = float(number)
    return grades


def _writable(value: JsonValue, field: str, depth: int = 0) -> JsonValue:
    """The value, if a result can be written with it and read again."""
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


FIELDS: Final[dict[str, tuple[Callable[[JsonValue, str], object], tuple[str, ...]]]] = {
    "qid": (_identifier, ("qid", "id", "sample_id")),
    "query": (_text, ("query", "question", "user_input")),
    "answer": (_answer, ("answer", "response")),
    "sentences": (_writable, ("sentences",)),
    "chunks": (_chunks, ("chunks", "contexts", "retrieved_contexts")),
    "retrieved": (_ids, ("retrieved",)),
    "gold_answer": (_answer, ("gold_answer", "reference", _LOOSE)),
    "gold_evidence": (_ids, ("gold_evidence",)),
    "relevance": (_relevance, ("relevance", "rel_map")),
}
"""How a field of `Sample` is read, and from which keys: the first that is there and not null."""
