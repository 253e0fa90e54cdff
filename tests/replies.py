"""Replies of the test server: right ones, and the failures of real servers."""

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from zlib import crc32

from pydantic import JsonValue

from tests.chat_call import ChatCall

_FIRST_WORDS: Final = re.compile(r"\s*(\S+(?:\s+\S+){0,11})")


@dataclass(frozen=True)
class Says:
    """A chat completion with this text; `text=None` sends `content: null`."""

    text: str | None
    finish: str = "stop"
    refusal: str | None = None
    model: str | None = None
    """The name the server gives its model; by default the requested name."""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Status:
    """An HTTP error. A text is sent as HTML, as by a proxy."""

    code: int
    body: JsonValue
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Body:
    """Status 200 with this body."""

    text: str
    content_type: str = "application/json"


@dataclass(frozen=True)
class Hang:
    """The server takes the request and never answers."""


@dataclass(frozen=True)
class Trickle:
    """Status 200, then a space every few milliseconds without an end."""

    every: float = 0.005


@dataclass(frozen=True)
class Reset:
    """The server reads the request and resets the connection."""


@dataclass(frozen=True)
class Wire:
    """A response given as bytes, with its status line; then the connection ends."""

    sent: bytes


@dataclass(frozen=True)
class Slow:
    """A reply after a pause."""

    seconds: float
    then: "Answer"


Answer = Says | Status | Body | Hang | Trickle | Reset | Wire | Slow
Script = Callable[[ChatCall], Answer]


def verdict(
    call: ChatCall, sentence: str, support: str = "full", quote: str | None = None
) -> dict[str, JsonValue]:
    """Return a right verdict on one id. By default it quotes the first 12 words of chunk 1."""
    cites = call.cites.get(sentence, [])
    if quote is None and call.chunks:
        found = _FIRST_WORDS.match(call.chunks[0])
        # Chinese has no spaces: without this its twelve "words" could be the whole chunk.
        quote = found[1][:100] if found else None
    tells = quote is not None and support in {"full", "partial", "contradicted"}
    evidence: list[JsonValue] = [{"chunk": 1, "quote": quote}] if tells else []
    supporting = sorted({1, *cites}) if tells and support != "contradicted" else []
    return {
        "id": sentence,
        "evidence": evidence,
        "supporting": list[JsonValue](supporting),
        "support": support,
        "cited_support": support if cites else None,
        "reason": "" if support == "full" else "the chunks do not say all of it",
    }


def verdicts(
    call: ChatCall,
    support: str = "full",
    quote: str | None = None,
    **overrides: str | dict[str, JsonValue],
) -> str:
    """Return the JSON text of a right reply on all ids of a request.

    Args:
        call: the request.
        support: the label of every sentence.
        quote: the quote of every verdict; by default the right one.
        overrides: for an id another label, or other fields of its verdict.
    """
    found: list[dict[str, JsonValue]] = []
    for sentence in call.ids:
        other = overrides.get(sentence, support)
        if isinstance(other, str):
            found.append(verdict(call, sentence, other, quote))
        else:
            found.append(verdict(call, sentence, support, quote) | other)
    return packed(found)


def packed(verdicts: Sequence[Mapping[str, JsonValue]]) -> str:
    """Return verdicts as the text of a reply."""
    return json.dumps({"verdicts": verdicts}, ensure_ascii=False, separators=(",", ":"))


def answered(call: ChatCall, **parts: str) -> str:
    """Return the JSON text of a right reply about a question, by default fully answered.

    Args:
        call: the request.
        parts: `full`, `partial` or `none` for words of the question.
    """
    replies = [
        {
            "part": words,
            "evidence": [] if label == "none" else [call.answer],
            "answered": label,
            "reason": "" if label == "full" else "something is left open",
        }
        for words, label in (parts or {call.question: "full"}).items()
    ]
    return json.dumps({"parts": replies}, ensure_ascii=False)


def right(call: ChatCall) -> Answer:
    """Return `full` for every sentence, with a quote of chunk 1, or for the whole question."""
    return Says(answered(call) if call.is_about_question else verdicts(call))


def quoting(call: ChatCall) -> Answer:
    """Return a verdict per claim as a model writes it, quoting 12 to 15 words.

    The quote is the beginning of the chunk sentence that shares most words with the claim. The
    verdict is `full` where that sentence holds every number of the claim, else `contradicted`.
    """
    if call.is_about_question or not call.chunks:
        return right(call)
    lines = [
        (number, words, set(words))
        for number, text in enumerate(call.chunks, 1)
        for words in (line.split() for line in text.split(". "))
    ]
    found: list[Mapping[str, JsonValue]] = []
    for sentence in call.ids:
        claim = set(call.sentences[sentence].split())
        number, words, shared = max(lines, key=lambda line: len(claim & line[2]))
        numbers = {word for word in claim if word.isdigit()}
        support = "full" if numbers <= shared else "contradicted"
        quote = " ".join(words[: 12 + len(claim) % 4])
        evidence: JsonValue = [{"chunk": number, "quote": quote}]
        own: dict[str, JsonValue] = verdict(call, sentence, support, quote)
        supporting: JsonValue = [number] if own["supporting"] else []
        found.append(own | {"evidence": evidence, "supporting": supporting})
    return Says(packed(found))


def mixed(call: ChatCall) -> Answer:
    """One of six verdicts for each sentence, by a checksum of its words.

    They are the four labels, a `full` whose quote is in no chunk, and no verdict at all. ChatCall
    again, with another seed, `partial` is `full`. One question in four is not answered.
    """
    if call.is_about_question and crc32(call.question.encode()) % 4 == 0:
        return Says(answered(call, **{call.question: "none"}))
    if call.is_about_question or not call.ids:
        return right(call)
    found: list[Mapping[str, JsonValue]] = []
    for sentence in call.ids:
        kind = crc32(call.sentences[sentence].encode()) % 8
        if kind < len(_LABELS):
            again = _LABELS[kind] == "partial" and call.body.get("seed") != 7
            found.append(verdict(call, sentence, "full" if again else _LABELS[kind]))
        elif kind == len(_LABELS):
            found.append(verdict(call, sentence, "full", "words that are in no chunk at all"))
    return Says(packed(found))


_LABELS: Final = ("full", "full", "full", "partial", "none", "contradicted")


# Scripts made of other scripts


def calls(*answers: Answer | Script) -> Script:
    """Give calls these answers in order, the last one to all others; answer probes right."""

    def script(call: ChatCall) -> Answer:
        if call.is_probe:
            return right(call)
        chosen = answers[min(call.number, len(answers) - 1)]
        return chosen(call) if callable(chosen) else chosen

    return script


def failing(share: float, fault: Answer, then: Script = right) -> Script:
    """Fails a share of the calls for good. The request decides which, so attempts do not help."""

    def script(call: ChatCall) -> Answer:
        number = crc32("\n".join(call.sentences.values()).encode()) / 2**32
        return fault if not call.is_probe and number < share else then(call)

    return script


def picky(refused: Mapping[str, Answer], then: Script = right) -> Script:
    """Refuse requests that have one of these fields, or a response format of that type.

    The names are fields of the body (`temperature`, `max_tokens`), or `json_schema`, `json_object`
    and `schema` inside its `response_format`.
    """

    def script(call: ChatCall) -> Answer:
        wanted = call.body.get("text")
        shape = wanted.get("format") if isinstance(wanted, dict) else None
        shape = shape or call.body.get("response_format")
        fields = set(call.body)
        if isinstance(shape, dict):
            fields |= {*shape, str(shape["type"])}
        for name, answer in refused.items():
            if name in fields:
                return answer
        return then(call)

    return script


class TokenBucket:
    """A bucket that fills with time. A request takes a token, or is refused if there is none.

    Args:
        rate: tokens a second.
        size: the most tokens, which are there at the start.
        waits: whether a refusal has a `Retry-After`.
        then: the script that answers the other requests.
    """

    def __init__(self, rate: float, size: float, *, waits: bool = False, then: Script) -> None:
        self._rate, self._size, self._waits, self._then = rate, size, waits, then
        self._left, self._updated = size, time.monotonic()
        self.taken = self.refused = 0

    def __call__(self, call: ChatCall) -> Answer:
        now = time.monotonic()
        self._left = min(self._size, self._left + self._rate * (now - self._updated))
        self._updated = now
        if self._left < 1:
            self.refused += 1
            return too_many(f"{(1 - self._left) / self._rate:.4f}") if self._waits else TOO_MANY
        self._left -= 1
        self.taken += 1
        return self._then(call)


class Until:
    """Answer right up to a number of calls, then hang.

    The event `full` is set once `hanging` calls hang.
    """

    def __init__(self, hanging: int) -> None:
        self._hanging = hanging
        self._stuck = 0
        self._limit: float = 0
        self.full = threading.Event()

    def upto(self, calls: float) -> None:
        """Answer the first `calls` calls."""
        self._limit, self._stuck = calls, 0
        self.full.clear()

    def __call__(self, call: ChatCall) -> Answer:
        if call.is_probe or call.number < self._limit:
            return right(call)
        self._stuck += 1
        if self._stuck == self._hanging:
            self.full.set()
        return Hang()


def too_many(retry_after: str | None = None) -> Status:
    """Return a 429, with or without `Retry-After`."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Status(
        429,
        {
            "error": {
                "message": "Rate limit reached for requests per min (RPM): Limit 60, Used 60.",
                "type": "requests",
                "param": None,
                "code": "rate_limit_exceeded",
            }
        },
        headers,
    )


TOO_MANY: Final = too_many()
