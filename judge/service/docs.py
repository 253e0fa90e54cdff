"""What the OpenAPI says of bodies and problems, with an example of each call."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from judge.service.problems import KINDS
from judge.service.wire import PROBLEM, ProblemDetails

_SAMPLE: Final = {
    "qid": "q1",
    "query": "When does the canteen open?",
    "answer": "It opens at seven [1].",
    "chunks": [{"chunk_id": "a", "text": "The canteen opens at seven."}],
}
_TEXT: Final = {"type": "string"}
_IDS: Final = {"type": "array", "items": _TEXT}
_CHUNKS: Final = {
    "type": "array",
    "items": {
        "anyOf": [
            _TEXT,
            {
                "type": "object",
                "required": ["text"],
                "properties": {"chunk_id": _TEXT, "text": _TEXT},
            },
        ]
    },
}
_SENTENCES: Final = {
    "type": "array",
    "items": {
        "anyOf": [
            _TEXT,
            {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
            {
                "type": "object",
                "properties": {
                    "text": _TEXT,
                    "start": {"type": "integer"},
                    "end": {"type": "integer"},
                    "citations": {"type": "array", "items": {"type": ["integer", "string"]}},
                },
            },
        ]
    },
    "description": "The sentences of the answer, where it is not to be cut: texts, `[start, end]`, "
    "or objects of either; `citations` are places in `chunks`, from 0, or ids. Without `answer` it "
    "is the texts.",
}
SAMPLE: Final = {
    "type": "object",
    "required": ["chunks"],
    "anyOf": [{"required": ["answer"]}, {"required": ["sentences"]}],
    "properties": {
        "qid": _TEXT,
        "query": _TEXT,
        "answer": _TEXT,
        "sentences": _SENTENCES,
        "chunks": _CHUNKS,
        "retrieved": _IDS,
        "gold_answer": _TEXT,
        "gold_evidence": _IDS,
        "relevance": {"type": "object", "additionalProperties": {"type": "number"}},
    },
    "additionalProperties": True,
    "description": "A sample; other names of its fields are read, too, and other keys come back in "
    "`metadata`.",
}


def _body(media: str, schema: Mapping[str, Any], example: object) -> dict[str, Any]:
    content = {media: {"schema": schema, "example": example}}
    return {"requestBody": {"required": True, "content": content}}


_LINES: Final = "\n".join(json.dumps(_SAMPLE | {"qid": each}) for each in ("q1", "q2")) + "\n"
EVALUATION: Final = _body("application/json", SAMPLE, _SAMPLE) | {
    "parameters": [
        {
            "in": "header",
            "name": "Prefer",
            "required": False,
            "description": "`wait=SECONDS`: a deadline under the service's own.",
            "schema": {"type": "string", "example": "wait=10"},
        }
    ]
}
BATCH: Final = _body("application/x-ndjson", _TEXT, _LINES)
BATCH["requestBody"]["content"] |= {
    "text/csv": {"schema": _TEXT},
    "application/gzip": {"schema": {"type": "string", "format": "binary"}},
}
NDJSON: Final[dict[str, Any]] = {
    "description": "A JSON object a line",
    "content": {"application/x-ndjson": {"schema": _TEXT}},
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How problems of these statuses stand in the OpenAPI."""
    return {status: dict(_problem(status)) for status in (*statuses, 500)}


def _problem(status: int) -> Iterator[tuple[str, Any]]:
    named = [(name, kind.title) for name, kind in KINDS.items() if kind.status == status]
    yield "description", "; ".join(f"`{name}`: {title}" for name, title in named)
    schema = ProblemDetails.model_json_schema()
    yield "content", {PROBLEM: {"schema": schema}}
