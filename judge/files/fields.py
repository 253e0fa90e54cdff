"""A row's fields into a `Sample`: every accepted spelling, and what is wrong with the others."""

import math
import sys
from collections.abc import Collection
from typing import Final

from pydantic import JsonValue

from judge.errors import InputError
from judge.records import Chunk, Sample

ALIASES: Final = {
    "qid": ("qid", "id", "sample_id"),
    "query": ("query", "question", "user_input"),
    "answer": ("answer", "response"),
    "chunks": ("chunks", "contexts", "retrieved_contexts"),
    "retrieved": ("retrieved",),
    "gold_answer": ("gold_answer", "reference"),
    "gold_evidence": ("gold_evidence",),
    "relevance": ("relevance", "rel_map"),
}
"""Field of `Sample`, and the keys it is read from: the first that is there and not null."""

MAX_DEPTH: Final = 100
"""Lists and objects in one another that metadata may hold; JSON parsers stop near 200."""

_Fields = dict[str, JsonValue]


def sample_from(fields: _Fields, *, line: int, needs: Collection[str]) -> Sample:
    """The sample in a row.

    Args:
        fields: keys and JSON values of the row; unknown keys go to `metadata`.
        line: its line; the qid where it gives none.
        needs: fields of `Sample` that must be there, an empty answer or chunk list included.

    Raises:
        InputError: a field is missing or of the wrong type; `field` names it.
    """
    taken = {name: _first(fields, keys) for name, keys in ALIASES.items()}
    for name in ("answer", "chunks", *sorted(set(needs) - {"answer", "chunks"})):
        if name in needs and taken[name] is None:
            also = ", ".join(ALIASES[name][1:])
            hint = f" (also read from: {also})" if also else ""
            raise InputError(f"is missing{hint}; found {_keys(fields)}", field=name)
    used = {key for key in taken.values() if key is not None}
    values = {name: fields[key] for name, key in taken.items() if key is not None}
    qid = values.get("qid", "")
    return Sample(
        qid=_identifier(qid if qid != "" else str(line), taken["qid"] or "qid"),
        query=_text(values.get("query", ""), taken["query"] or "query"),
        answer=_text(values.get("answer", ""), taken["answer"] or "answer"),
        chunks=_chunks(values.get("chunks", []), taken["chunks"] or "chunks"),
        retrieved=_ids(values.get("retrieved"), "retrieved"),
        gold_answer=_text(values["gold_answer"], gold) if (gold := taken["gold_answer"]) else None,
        gold_evidence=_ids(values.get("gold_evidence"), "gold_evidence"),
        relevance=_relevance(values.get("relevance"), taken["relevance"] or ""),
        metadata={
            _text(key, key): _writable(value, key)
            for key, value in fields.items()
            if key not in used
        },
    )


def _first(fields: _Fields, keys: tuple[str, ...]) -> str | None:
    return next((key for key in keys if fields.get(key) is not None), None)


def _keys(fields: _Fields) -> str:
    keys = [repr(key) for key in fields if fields[key] is not None]
    return "the keys " + ", ".join(keys[:8]) + ("…" if len(keys) > 8 else "") if keys else "no keys"  # noqa: PLR2004


def _wrong(value: JsonValue, needed: str, field: str) -> InputError:
    kind = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }[type(value)]
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:60] + "…"  # noqa: PLR2004
    return InputError(f"is {kind}, {shown}; {needed} is needed", field=field)


def _text(value: JsonValue, field: str) -> str:
    if not isinstance(value, str):
        raise _wrong(value, "text", field)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        message = f"holds half a character (a lone surrogate) at {error.start}; mend the escape"
        raise InputError(message, field=field) from None
    return value


def _identifier(value: JsonValue, field: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _wrong(value, "text or a whole number", field)
    return _text(value, field)


def _ids(value: JsonValue, field: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise _wrong(value, "a list of chunk ids", field)
    return tuple(_identifier(item, f"{field}[{i}]") for i, item in enumerate(value))


def _chunks(value: JsonValue, field: str) -> tuple[Chunk, ...]:
    if not isinstance(value, list):
        raise _wrong(value, "a list of texts or of {chunk_id, text}", field)
    return tuple(_chunk(item, i, field) for i, item in enumerate(value))


def _chunk(value: JsonValue, position: int, field: str) -> Chunk:
    where = f"{field}[{position}]"
    if isinstance(value, str):
        return Chunk(chunk_id=str(position + 1), text=_text(value, where))
    if not isinstance(value, dict):
        raise _wrong(value, "text or {chunk_id, text}", where)
    if value.get("text") is None:
        raise InputError(f"has no text; found {_keys(value)}", field=f"{where}.text")
    key = _first(value, ("chunk_id", "id"))
    chunk_id = str(position + 1) if key is None else _identifier(value[key], f"{where}.{key}")
    return Chunk(chunk_id=chunk_id, text=_text(value["text"], f"{where}.text"))


def _writable(value: JsonValue, field: str, depth: int = 0) -> JsonValue:
    """The value, if a result can be written with it and read again."""
    if depth > MAX_DEPTH:
        raise InputError(f"is nested over {MAX_DEPTH} deep; flatten it", field=field)
    if isinstance(value, str):
        _text(value, field)
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong(value, "a finite number or null", field)
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    for part in parts if isinstance(parts, list) else ():
        _writable(part, field, depth + 1)
    return value


def _relevance(value: JsonValue, field: str) -> dict[str, float] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _wrong(value, "an object of chunk id to grade", field)
    grades: dict[str, float] = {}
    for chunk_id, grade in value.items():
        # To Python `true` is an int; it is no grade. And an int may be too long for a float.
        number = None if isinstance(grade, bool) else grade
        if not isinstance(number, (int, float)) or not abs(number) <= sys.float_info.max:
            raise _wrong(grade, "a finite number", f"{field}[{chunk_id!r}]")
        grades[_text(chunk_id, field)] = float(number)
    return grades
