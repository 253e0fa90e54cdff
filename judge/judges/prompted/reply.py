"""Reads verdicts from a model's reply, whose JSON must be well formed."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue, ValidationError

from judge.answer.sentences import split
from judge.checks.quotes import find_words
from judge.judges.prompted.render import PARTS_SCHEMA, REPLY_SCHEMA, sentence_id
from judge.records import (
    Evidence,
    JudgeRequest,
    PartsVerdict,
    QuestionPart,
    Support,
    Verdict,
)
from judge.text.visible import clip

_THOUGHT_BEGINS: Final = "<think>"
_THOUGHT_ENDS: Final = "</think>"
# Only what can begin an object or a list of objects: prose has its own brackets, such as [1].
_BEGINS: Final = re.compile(rf'\{{(?=\s*+["}}])|\[(?=\s*+\{{)|{re.escape(_THOUGHT_ENDS)}')
_LONGEST_REASON: Final = 300
_SHOWN: Final = 40
_SUPPORTS: Final = frozenset(Support)

_M = TypeVar("_M", bound=BaseModel)


def _clean(value: object) -> object:
    # An escape can make half a character, which no file can hold.
    return value.strip().encode(errors="replace").decode() if isinstance(value, str) else value


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _support_or_none(value: object) -> object:
    return word if (word := _lower(value)) in _SUPPORTS else None


_Text = Annotated[str, BeforeValidator(_clean)]
_Label = Annotated[
    Literal["full", "partial", "none", "contradicted", "no_claim"], BeforeValidator(_lower)
]
_Answered = Annotated[Literal["full", "partial", "none"], BeforeValidator(_lower)]


class _ReplyModel(BaseModel):
    """Its validator is built at first use, which may be while a server replies."""

    model_config = ConfigDict(defer_build=True)


class _Quote(_ReplyModel):
    chunk: int | None = None
    quote: _Text | None = None


class _Entry(_ReplyModel):
    """The entry on one sentence. A null counts as absent."""

    support: _Label
    evidence: list[_Quote] | None = None
    supporting: list[int] | None = None
    cited_support: Annotated[_Label | None, BeforeValidator(_support_or_none)] = None
    """Matters only if the sentence cites a chunk."""
    reason: _Text | None = None


class _Part(_ReplyModel):
    """The entry on one part of a question."""

    part: _Text
    evidence: list[_Text] | None = None
    answered: _Answered
    reason: _Text | None = None


class _Parts(_ReplyModel):
    parts: list[_Part]


@dataclass(frozen=True, slots=True)
class Parsed:
    """The outcomes of the asked sentences by index; each is in exactly one of the mappings."""

    verdicts: Mapping[int, Verdict]
    missing: Mapping[int, str]
    """Faults of sentences that the reply does not name, or names more than once."""
    faulty: Mapping[int, str]
    """Faults of sentences whose verdict cannot be used; of all if the reply is unreadable."""


class FaultError(Exception):
    """A reply or a verdict in it cannot be used; the message says why, in a few words."""


def parse(text: str, request: JudgeRequest, signature: str, shown: str = "") -> Parsed:
    """Return the verdicts in a finished reply: `{"verdicts": […]}`, a list, or single objects.

    Only `s3` (or `S3`) names a sentence, because a bare 3 might count the asked sentences. An
    unknown id is ignored. JSON that the messages `shown` to the model contain is no reply.
    """
    entries: dict[str, list[Mapping[str, object]]] = {}
    try:
        for entry in _entries(find_values(text, shown)):
            name = entry.get("id")
            if isinstance(name, str):
                entries.setdefault(name.strip().lower(), []).append(entry)
    except FaultError as fault:
        return Parsed({}, {}, dict.fromkeys(request.ask, str(fault)))
    verdicts: dict[int, Verdict] = {}
    missing: dict[int, str] = {}
    faulty: dict[int, str] = {}
    for index in request.ask:
        own = entries.get(sentence_id(index), [])
        if len(own) != 1:
            missing[index] = "more than one verdict" if own else "no verdict"
            continue
        try:
            verdicts[index] = _verdict(own[0], index, request, signature)
        except FaultError as fault:
            faulty[index] = str(fault)
    return Parsed(verdicts, missing, faulty)


def parse_parts(text: str, request: JudgeRequest, signature: str, shown: str = "") -> Parsed:
    """Return the verdict in a finished reply about one question: `{"parts": […]}`.

    The reply is rejected unless every part quotes the question once, and each sentence that ends in
    a question mark has a part. JSON that the messages `shown` to the model contain is no reply.
    """
    (index,) = request.ask
    question = request.sentences[index].text
    try:
        entries = _parts(find_values(text, shown))
        spans = _spans([entry.part for entry in entries], question)
    except FaultError as fault:
        return Parsed({}, {}, {index: str(fault)})
    if not entries:
        return Parsed({}, {index: "no part"}, {})
    for each in split(question):
        if _asks(each.text) and not any(s < each.end and each.start < e for s, e in spans):
            return Parsed({}, {index: f"no part of {_shown(each.text)}"}, {})
    both = zip(entries, spans, strict=True)
    parts = tuple(
        QuestionPart(
            words=question[start:end],
            answered=(answered := Support(entry.answered)),
            quotes=tuple(text for text in entry.evidence or () if _has_words(text)),
            reason=_reason(entry.reason, answered),
        )
        for entry, (start, end) in both
    )
    labels = {part.answered for part in parts}
    verdict = PartsVerdict(
        support=labels.pop() if len(labels) == 1 else Support.PARTIAL,
        source="llm",
        signature=signature,
        parts=parts,
    )
    return Parsed({index: verdict}, {}, {})


def _parts(values: Sequence[object]) -> list[_Part]:
    found = [item for item in values if isinstance(item, dict)]
    if len(found) != 1 or "parts" not in found[0]:
        raise FaultError('its JSON is not one object with a list named "parts"')
    return _validated(_Parts, found[0]).parts


def _asks(sentence: str) -> bool:
    """Return whether a sentence ends in a question mark, with or without closing brackets."""
    closing = takewhile(lambda sign: not sign.isalnum() and sign != "_", reversed(sentence))
    return any(sign in "?？" for sign in closing)


def _spans(words: Sequence[str], question: str) -> list[tuple[int, int]]:
    """Return where the parts are in the question."""
    spans: list[tuple[int, int]] = []
    for text, span in zip(words, find_words(words, question), strict=True):
        if span is None:
            raise FaultError(f"part {_shown(text)} does not stand in the question")
        if span in spans:
            raise FaultError(f"part {_shown(text)} is there twice")
        spans.append(span)
    return spans


def _entries(values: Iterable[object]) -> list[Mapping[str, object]]:
    """Return the objects that may be verdicts: those in lists named "verdicts" or with an id."""
    lists: list[list[object]] = []
    for item in [item for each in values for item in (each if isinstance(each, list) else [each])]:
        match item:
            case {"verdicts": [*verdicts]}:
                lists.append(verdicts)
            case {"id": _}:
                lists.append([item])
    if not lists:
        raise FaultError('its JSON has no list named "verdicts"')
    return [entry for entries in lists for entry in entries if isinstance(entry, dict)]


def _verdict(
    item: Mapping[str, object], index: int, request: JudgeRequest, signature: str
) -> Verdict:
    entry = _validated(_Entry, item)
    support = Support(entry.support)
    asserts, cites = support is not Support.NO_CLAIM, bool(request.cites.get(index))
    empty = not any(chunk.text.strip() for chunk in request.chunks)
    if asserts and empty and {support, entry.cited_support or "none"} != {"none"}:
        raise FaultError("no chunk has any text, so nothing is supported or contradicted")
    supporting = [_chunk(number, request) for number in sorted(set(entry.supporting or ()))]
    if supporting and support is Support.NONE:
        raise FaultError("supporting names chunks, but support is none")
    return Verdict(
        support=support,
        evidence=tuple(
            Evidence(chunk_id=_chunk(each.chunk, request), quote=each.quote)
            for each in entry.evidence or ()
            if each.quote and _has_words(each.quote)
        ),
        # A sentence that asserts nothing needs no support, so the field has no meaning there.
        supporting=tuple(dict.fromkeys(supporting)) if asserts else (),
        cited_support=_cited(entry.cited_support, support) if asserts and cites else None,
        reason=_reason(entry.reason, support),
        source="llm",
        signature=signature,
    )


def _has_words(quote: str) -> bool:
    """Return whether a quote has more than blanks and the dots of the prompt's example."""
    return bool(quote.strip(" .…"))


def _cited(label: str | None, support: Support) -> Support:
    """Return the support by the cited chunks, which cannot exceed that by all chunks."""
    if label is None and support is Support.NONE:
        return Support.NONE
    if label is None:
        raise FaultError("cited_support is absent")
    cited = Support(label)
    fits = cited is Support.NONE or (support is not Support.NONE and cited is not Support.NO_CLAIM)
    if not fits or (cited is Support.FULL and support is not Support.FULL):
        raise FaultError(f"cited_support {cited.value} does not go with support {support.value}")
    return cited


def _reason(text: str | None, label: Support) -> str:
    return "" if label is Support.FULL else clip(" ".join((text or "").split()), _LONGEST_REASON)


def _chunk(number: int | None, request: JudgeRequest) -> str:
    """Return the id of the chunk that a reply names by its number."""
    if number is None or not 1 <= number <= len(request.chunks):
        raise FaultError(f"there is no chunk {_shown(number)}")
    return request.chunks[number - 1].chunk_id


def _validated(model: type[_M], value: object) -> _M:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        message = first["msg"].replace("Input should be", "should be")
        raise FaultError(f"{field} {message}, not {_shown(first['input'])}") from None


def _shown(value: object) -> str:
    """Return a value in a form for a fault: short, on one line."""
    if isinstance(value, dict | list):
        return f"a {type(value).__name__}"
    return clip(repr(value) if isinstance(value, str) else json.dumps(value), _SHOWN)


def find_values(text: str, shown: str = "") -> list[object]:
    r"""Return the JSON objects and lists of objects in a text with prose, code fences and thoughts.

    Values before the end of a thought are drafts, and are ignored. One broken value makes the whole
    text broken, because a value inside it may be part of a quoted string. A repeated key and NaN
    are broken too. Values that `shown` contains word for word are left out.

    Raises:
        FaultError: the text has no such value, or a broken one.

    >>> find_values('Here: ```json\n{"a": "}[1]"}\n```')
    [{'a': '}[1]'}]
    """
    values: list[object] = []
    repeated = False
    position = 0
    if text.lstrip().startswith(_THOUGHT_BEGINS):
        position = text.find(_THOUGHT_ENDS)
        if position < 0:
            raise FaultError("it ends inside its thoughts")
    while match := _BEGINS.search(text, position):
        if match[0] == _THOUGHT_ENDS:
            values.clear()
            position = match.end()
            continue
        try:
            value, position = _DECODER.raw_decode(text, match.start())
            if text[match.start() : position] in shown:
                repeated = True
            else:
                values.append(value)
        except (ValueError, RecursionError):
            # Only a draft may be broken. The last end of a thought, for each try costs its length.
            position = text.rfind(_THOUGHT_ENDS, match.end())
            if position < 0:
                raise FaultError("its JSON is broken") from None
    if not values:
        raise FaultError("it only repeats the request" if repeated else "it holds no JSON")
    return values


def _unique(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is repeated")
    return found


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse, strict=False)


class Form(NamedTuple):
    """The form of a reply: its schema and its parser."""

    schema: dict[str, JsonValue] = REPLY_SCHEMA
    parse: Callable[[str, JudgeRequest, str, str], Parsed] = parse
    """Takes the reply, the request, the judge's signature and the messages shown to the model."""
    name: Callable[[int], str] = sentence_id
    """Returns the id of a sentence from its index."""
    entries: int = 1
    """The most entries for each sentence; the reply limit allows for them."""


PARTS: Final = Form(PARTS_SCHEMA, parse_parts, lambda _: "question", 4)
"""The form of a reply about the parts of one question."""
