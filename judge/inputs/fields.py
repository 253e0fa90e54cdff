"""The fields of a row under our names, made into a `Sample`; errors name field and value."""

import ast
import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final

from pydantic import JsonValue, ValidationError
from pydantic_core import to_json

from judge.errors import InputError
from judge.records import Sample
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
_AMBIGUOUS: Final = "ground_truth"
"""Some tools keep a reference answer under this key, others a list of anything."""
_SHOWN_KEYS: Final = 8
_MOST_CELL: Final = 1_000_000
"""Characters of a text that is read as a Python literal."""
_SHOULD_BE: Final = "Input should be "
_WORDS: Final = {
    "a valid string": "text",
    "a valid ": "a ",
    "tuple": "list",
    "a dictionary": "an object",
}
"""pydantic's words for types, and ours."""

Fields = dict[str, JsonValue]


def sample_from(
    fields: Fields,
    *,
    line: int,
    needs: Collection[str],
    places: Mapping[str, str] | None = None,
) -> Sample:
    """Return the sample in a row; keys that are not read become metadata.

    The line becomes the qid if the row has none. The fields in `needs` must be present; an empty
    answer or chunk list is. `places` are the paths of fields in the file, for messages.

    Raises:
        InputError: a field is missing or of the wrong type; its `field` names it.
    """
    keys = {name: key for name, keys in NAMES.items() if (key := first_key(fields, keys))}
    if keys.get("gold_answer") == _AMBIGUOUS and not _is_prose(fields[_AMBIGUOUS]):
        del keys["gold_answer"]
    for name in sorted(needs, key=lambda name: (name not in SCORE_NEEDS, name)):
        if name not in keys and not (name == "answer" and "sentences" in keys):
            raise _missing(name, fields)
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
    needed = problem.removeprefix(_SHOULD_BE)
    for word, ours in _WORDS.items():
        needed = needed.replace(word, ours)
    return unfit(first["input"], needed, field)


def first_key(fields: Fields, keys: tuple[str, ...]) -> str | None:
    """Return the first of the keys that is there and not null."""
    return next((key for key in keys if fields.get(key) is not None), None)


@lru_cache(maxsize=4)  # several paths may lead into the same text
def parse_list(text: str) -> JsonValue:
    """Return the list or object that a text is, as JSON or as a Python literal; else the text.

    >>> parse_list('["a"]'), parse_list("['a']"), parse_list("['a' 'b']")
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


def mapping_of(field: str) -> str:
    """Return how to name the path of a field, on the command line and in Python."""
    return f"judge score --map {field}=PATH, in Python map={{{field!r}: 'PATH'}}"


def keys_of(fields: Fields) -> str:
    """Return the keys of an object that are not null, for a message."""
    keys = [repr(key) for key in fields if fields[key] is not None]
    if not keys:
        return "no keys"
    return "the keys " + ", ".join(keys[:_SHOWN_KEYS]) + ("…" if len(keys) > _SHOWN_KEYS else "")


def _missing(name: str, fields: Fields) -> InputError:
    if null := next((key for key in NAMES[name] if key in fields), None):
        return InputError("is null or NaN; fill it, or leave out the row", field=null)
    also = ", ".join(NAMES[name][1:])
    hint = f" (also read from: {also})" if also else ""
    step = f"; or name its path: {mapping_of(name)}" if name in SCORE_NEEDS else ""
    return InputError(f"is missing{hint}; found {keys_of(fields)}{step}", field=name)


def _is_prose(value: JsonValue) -> bool:
    return isinstance(value, str) and isinstance(parse_list(value), str)


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
    key = first_key(value, ("chunk_id", "id"))
    return {
        "chunk_id": _identifier(value[key]) if key else str(number),
        "text": value.get("text"),
    }
