"""The documentation over HTTP: examples of each call, and a page of them that loads nothing."""

import json
import re
from collections.abc import Iterator, Mapping
from html import escape
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


_STYLE: Final = (
    ":root{color-scheme:light dark}code,pre{background:#8882}h2{margin-top:2em}"
    "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "pre{padding:.8em;white-space:pre-wrap;overflow-wrap:anywhere}"
)


def page(openapi: Mapping[str, Any], base: str) -> str:
    """Every call, what it takes, an example with curl, and what it answers."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>judge over HTTP</title>",
        f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style>",
        "<main><h1>judge over HTTP</h1>",
        "<p>For programs: <a href=/openapi.json>/openapi.json</a></p>",
        "<p>Where tokens are set, add <code>-H 'Authorization: Bearer TOKEN'</code></p>",
    ]
    calls = [
        (method.upper(), path, call)
        for path, methods in openapi["paths"].items()
        for method, call in methods.items()
    ]
    listed = [f"<li><a href=#{each['operationId']}>{each['summary']}</a>" for *_, each in calls]
    return "".join([*parts, "<ul>", *listed, "</ul>", *(_call(*each, base) for each in calls)])


def _text(text: str) -> str:
    """As HTML; what stands between backticks is code."""
    return re.sub("`(.*?)`", r"<code>\1</code>", escape(text))


def _call(method: str, path: str, call: Mapping[str, Any], base: str) -> str:
    lines = [f"curl -X {method} '{base}{path.replace('{id}', 'ID')}'"]
    content = call.get("requestBody", {}).get("content", {})
    for media, body in list(content.items())[:1]:
        example = body.get("example", "")
        data = example.strip() if isinstance(example, str) else json.dumps(example)
        lines += [f"  -H 'Content-Type: {media}'", f"  --data-binary '{data}'"]
    asked = [
        f"<li><code>{escape(each['name'])}</code> {_text(each.get('description', ''))}</li>"
        for each in call.get("parameters", ())
    ]
    answers = [
        f"<li>{escape(status)} {_text(answer.get('description', ''))}</li>"
        for status, answer in sorted(call["responses"].items())
    ]
    example = escape(" \\\n".join(lines))
    return (
        f"<h2 id={call['operationId']}>{escape(call['summary'])}</h2>"
        f"<p><code>{method} {escape(path)}</code></p>"
        f"<p>{_text(call.get('description', ''))}</p><ul>{''.join(asked)}</ul>"
        f"<pre>{example}</pre><ul>{''.join(answers)}</ul>"
    )
