"""What the test server can say: right replies, and every way a real server has of going wrong."""

import json
import math
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    """The name the server gives its model; by default the one it was asked for."""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Status:
    """An HTTP error. A text goes out as HTML, as a proxy's would."""

    code: int
    body: JsonValue
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Body:
    """Status 200, and this body as it is."""

    text: str
    content_type: str = "application/json"


@dataclass(frozen=True)
class Hang:
    """Takes the request and never answers."""


@dataclass(frozen=True)
class Trickle:
    """Status 200, then one blank every so many seconds, for ever."""

    every: float = 0.005


@dataclass(frozen=True)
class Reset:
    """Reads the request and resets the connection."""


@dataclass(frozen=True)
class Wire:
    """These bytes as they are, status line and all, and the end of the connection."""

    sent: bytes


@dataclass(frozen=True)
class Slow:
    """Waits, then answers."""

    seconds: float
    then: "Answer"


Answer = Says | Status | Body | Hang | Trickle | Reset | Wire | Slow
Script = Callable[[ChatCall], Answer]


def verdict(
    asked: ChatCall, sentence: str, support: str = "full", quote: str | None = None
) -> dict[str, JsonValue]:
    """A right verdict on one id, its quote by default the first 12 words of chunk 1."""
    cites = asked.cites.get(sentence, [])
    if quote is None and asked.chunks:
        found = _FIRST_WORDS.match(asked.chunks[0])
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
    asked: ChatCall,
    support: str = "full",
    quote: str | None = None,
    **overrides: str | dict[str, JsonValue],
) -> str:
    """The JSON text of a right reply to all asked ids.

    Args:
        asked: the request.
        support: the label of every sentence.
        quote: stands in place of the true one.
        overrides: for an id another label, or fields to put over the right ones.
    """
    listed: list[dict[str, JsonValue]] = []
    for sentence in asked.ids:
        other = overrides.get(sentence, support)
        if isinstance(other, str):
            listed.append(verdict(asked, sentence, other, quote))
        else:
            listed.append(verdict(asked, sentence, support, quote) | other)
    return packed(listed)


def packed(listed: Sequence[Mapping[str, JsonValue]]) -> str:
    """Verdicts as the text of a reply."""
    return json.dumps({"verdicts": listed}, ensure_ascii=False, separators=(",", ":"))


def answered(asked: ChatCall, **parts: str) -> str:
    """The JSON text of a right reply about a question: by default its whole is answered.

    Args:
        asked: the request.
        parts: `full`, `partial` or `none`, for words of the question.
    """
    listed = [
        {
            "part": words,
            "evidence": [] if label == "none" else [asked.answer],
            "answered": label,
            "reason": "" if label == "full" else "something is left open",
        }
        for words, label in (parts or {asked.question: "full"}).items()
    ]
    return json.dumps({"parts": listed}, ensure_ascii=False)


def right(asked: ChatCall) -> Answer:
    """`full` for every sentence, with a true quote out of chunk 1, or for the whole question."""
    return Says(answered(asked) if asked.is_about_question else verdicts(asked))


def quoting(asked: ChatCall) -> Answer:
    """Return a verdict per claim as a model writes it, quoting 12 to 15 words.

    The quote is the beginning of the chunk sentence that shares most words with the claim. The
    verdict is `full` where that sentence holds every number of the claim, else `contradicted`.
    """
    if asked.is_about_question or not asked.chunks:
        return right(asked)
    lines = [
        (number, words, set(words))
        for number, text in enumerate(asked.chunks, 1)
        for words in (line.split() for line in text.split(". "))
    ]
    listed: list[Mapping[str, JsonValue]] = []
    for sentence in asked.ids:
        claim = set(asked.sentences[sentence].split())
        number, words, found = max(lines, key=lambda line: len(claim & line[2]))
        numbers = {word for word in claim if word.isdigit()}
        support = "full" if numbers <= found else "contradicted"
        quote = " ".join(words[: 12 + len(claim) % 4])
        evidence: JsonValue = [{"chunk": number, "quote": quote}]
        own: dict[str, JsonValue] = verdict(asked, sentence, support, quote)
        supporting: JsonValue = [number] if own["supporting"] else []
        listed.append(own | {"evidence": evidence, "supporting": supporting})
    return Says(packed(listed))


def mixed(asked: ChatCall) -> Answer:
    """One of six verdicts for each sentence, by a checksum of its words.

    They are the four labels, a `full` whose quote is in no chunk, and no verdict at all. ChatCall
    again, with another seed, `partial` is `full`. One question in four is not answered.
    """
    if asked.is_about_question and crc32(asked.question.encode()) % 4 == 0:
        return Says(answered(asked, **{asked.question: "none"}))
    if asked.is_about_question or not asked.ids:
        return right(asked)
    listed: list[Mapping[str, JsonValue]] = []
    for sentence in asked.ids:
        kind = crc32(asked.sentences[sentence].encode()) % 8
        if kind < len(_LABELS):
            again = _LABELS[kind] == "partial" and asked.body.get("seed") != 7
            listed.append(verdict(asked, sentence, "full" if again else _LABELS[kind]))
        elif kind == len(_LABELS):
            listed.append(verdict(asked, sentence, "full", "words that are in no chunk at all"))
    return Says(packed(listed))


_LABELS: Final = ("full", "full", "full", "partial", "none", "contradicted")


# Scripts made of scripts.


def calls(*answers: Answer | Script) -> Script:
    """The first call gets the first answer, and so on; the last stays. Probes get right ones."""

    def script(asked: ChatCall) -> Answer:
        if asked.is_probe:
            return right(asked)
        chosen = answers[min(asked.number, len(answers) - 1)]
        return chosen(asked) if callable(chosen) else chosen

    return script


def failing(share: float, fault: Answer, then: Script = right) -> Script:
    """Fails a share of the calls for good: by what is asked, so that asking again helps nobody."""

    def script(asked: ChatCall) -> Answer:
        drawn = crc32("\n".join(asked.sentences.values()).encode()) / 2**32
        return fault if not asked.is_probe and drawn < share else then(asked)

    return script


def picky(refused: Mapping[str, Answer], then: Script = right) -> Script:
    """Answers so where a body has one of these fields, or a response format of such a type.

    The names are those of the body (`temperature`, `max_tokens`), and `json_schema`, `json_object`
    and `schema` inside its `response_format`.
    """

    def script(asked: ChatCall) -> Answer:
        wanted = asked.body.get("text")
        shape = wanted.get("format") if isinstance(wanted, dict) else None
        shape = shape or asked.body.get("response_format")
        fields = set(asked.body)
        if isinstance(shape, dict):
            fields |= {*shape, str(shape["type"])}
        for name, answer in refused.items():
            if name in fields:
                return answer
        return then(asked)

    return script


class Tokens:
    """A bucket that fills with time: one token a request, refused where there is none.

    Args:
        rate: tokens a second.
        room: as many are there at the start, and never more.
        told: each reply says what is left and when the bucket is full; a refusal, how long to wait.
        waits: a refusal does so anyway.
        then: what it lets through is answered so.
        clock: in seconds, looked at once for each request.
    """

    def __init__(
        self,
        rate: float,
        room: float,
        *,
        told: bool = False,
        waits: bool = False,
        then: Script = right,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._waits, self._clock = told or waits, clock
        self._rate, self._room, self._told, self._then = rate, room, told, then
        self._left, self._seen = room, clock()
        self.taken = self.refused = 0

    def __call__(self, asked: ChatCall) -> Answer:
        now = self._clock()
        self._left = min(self._room, self._left + self._rate * (now - self._seen))
        self._seen = now
        if self._left < 1:
            self.refused += 1
            return too_many(f"{(1 - self._left) / self._rate:.4f}") if self._waits else TOO_MANY
        self._left -= 1
        self.taken += 1
        return self._stamped(self._then(asked))

    def _stamped(self, answer: Answer) -> Answer:
        if isinstance(answer, Slow):
            return replace(answer, then=self._stamped(answer.then))
        return replace(answer, headers=self._state()) if isinstance(answer, Says) else answer

    def _state(self) -> Mapping[str, str]:
        if not self._told:
            return {}
        full = (self._room - self._left) / self._rate
        names = ("limit", "remaining", "reset")
        texts = (f"{self._room:.0f}", f"{math.floor(self._left)}", f"{1000 * full:.0f}ms")
        return {
            f"x-ratelimit-{name}-requests": text for name, text in zip(names, texts, strict=True)
        }


class Until:
    """Right until so many calls, then hanging; says so once so many hang."""

    def __init__(self, hanging: int) -> None:
        self._hanging = hanging
        self._stuck = 0
        self._limit: float = 0
        self.full = threading.Event()

    def upto(self, calls: float) -> None:
        """Answer the calls before this one, counted from the first of all."""
        self._limit, self._stuck = calls, 0
        self.full.clear()

    def __call__(self, asked: ChatCall) -> Answer:
        if asked.is_probe or asked.number < self._limit:
            return right(asked)
        self._stuck += 1
        if self._stuck == self._hanging:
            self.full.set()
        return Hang()


def too_many(retry_after: str | None = None) -> Status:
    """429, with `Retry-After` or without."""
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
