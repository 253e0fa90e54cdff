"""From a model's words to verdicts: a reply is believed where it says one plain thing.

Its JSON is read as JSON, and where it is broken, not at all.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, NamedTuple, TypeVar

from pydantic import JsonValue

from judge.answer.sentences import split
from judge.checks.quotes import find_words
from judge.judges.prompted.render import ANSWERED, PARTS_SCHEMA, REPLY_SCHEMA, sentence_id
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
_LONGEST_WHOLE: Final = 18
_LONGEST_REASON: Final = 300
_SAID: Final = 40
_DIGITS: Final = re.compile(r"\s*[0-9]{1,9}\s*")
_LABELS: Final = {label.value: label for label in Support}

_T = TypeVar("_T", str, list[object])


@dataclass(frozen=True, slots=True)
class Parsed:
    """What became of each asked sentence, by its index: it is in exactly one of the three."""

    verdicts: Mapping[int, Verdict]
    """The verdicts that could be read."""
    missing: Mapping[int, str]
    """Sentences that the reply names never or more than once, and which of the two."""
    faulty: Mapping[int, str]
    """Sentences whose verdict cannot be used, and why; all where the reply is unreadable."""


class FaultError(Exception):
    """A reply or a verdict in it cannot be used; the message says why, in a few words."""


def parse(text: str, request: JudgeRequest, signature: str) -> Parsed:
    """Read a finished reply: `{"verdicts": […]}`, a list of verdicts, or verdicts one by one.

    Only `s3` (or `S3`) names a sentence: a bare 3 may as well count the sentences asked. An id
    that was not asked is ignored. A label is one of the five words or it is none.
    """
    given: dict[str, list[Mapping[str, object]]] = {}
    try:
        for entry in _entries(find_values(text)):
            name = entry.get("id")
            if isinstance(name, str):
                given.setdefault(name.strip().lower(), []).append(entry)
    except FaultError as fault:
        return Parsed({}, {}, dict.fromkeys(request.ask, str(fault)))
    verdicts: dict[int, Verdict] = {}
    missing: dict[int, str] = {}
    faulty: dict[int, str] = {}
    for index in request.ask:
        mine = given.get(sentence_id(index), [])
        if len(mine) != 1:
            missing[index] = "more than one verdict" if mine else "no verdict"
            continue
        try:
            verdicts[index] = _verdict(mine[0], index, request, signature)
        except FaultError as fault:
            faulty[index] = str(fault)
    return Parsed(verdicts, missing, faulty)


def parse_parts(text: str, request: JudgeRequest, signature: str) -> Parsed:
    """Read a finished reply about the one question that was asked: `{"parts": […]}`, once.

    Every part quotes the question, none words within another's, and each sentence that ends in a
    question mark has one of its own: else nothing of the reply is believed.
    """
    (index,) = request.ask
    question = request.sentences[index].text
    try:
        parts, spans = _parts(find_values(text), question)
    except FaultError as fault:
        return Parsed({}, {}, {index: str(fault)})
    if not parts:
        return Parsed({}, {index: "no part"}, {})
    asking = [each for each in split(question) if _asks(each.text)]
    starts, ends = [each.start for each in asking], [each.end for each in asking]
    asked: set[int] = set()
    for part, (start, end) in zip(parts, spans, strict=True):
        own = range(bisect_right(ends, start), bisect_left(starts, end))
        if len(own) > 1:
            return Parsed({}, {}, {index: f"part {_said(part.words)} holds {len(own)} questions"})
        asked.update(own)
    for number, each in enumerate(asking):
        if number not in asked:
            return Parsed({}, {index: f"no part of {_said(each.text)}"}, {})
    said = {part.answered for part in parts}
    verdict = PartsVerdict(
        support=said.pop() if len(said) == 1 else Support.PARTIAL,
        source="llm",
        signature=signature,
        parts=tuple(parts),
    )
    return Parsed({index: verdict}, {}, {})


def _asks(sentence: str) -> bool:
    """Whether it ends in a question mark, whatever brackets and quotes close behind."""
    closing = takewhile(lambda sign: not sign.isalnum() and sign != "_", reversed(sentence))
    return any(sign in "?？" for sign in closing)


def _parts(
    values: Sequence[object], question: str
) -> tuple[list[QuestionPart], list[tuple[int, int]]]:
    """The parts, and where each stands in the question."""
    lists = [item.get("parts") for item in values if isinstance(item, dict)]
    if len(lists) != 1 or not isinstance(lists[0], list):
        raise FaultError('its JSON is not one object with a list named "parts"')
    entries = [entry for entry in lists[0] if isinstance(entry, dict)]
    if len(entries) < len(lists[0]):
        raise FaultError("parts holds what is no object")
    words = [_text(entry, "part") for entry in entries]
    spans: list[tuple[int, int]] = []
    for said, span in zip(words, find_words(words, question), strict=True):
        if span is None:
            raise FaultError(f"part {_said(said)} does not stand in the question")
        spans.append(span)
    furthest = 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if end <= furthest:
            raise FaultError(f"part {_said(question[start:end])} stands within another part")
        furthest = end
    both = zip(entries, spans, strict=True)
    return [_part(entry, question[start:end]) for entry, (start, end) in both], spans


def _part(entry: Mapping[str, object], words: str) -> QuestionPart:
    answered = _label(entry.get("answered"), "answered", ANSWERED)
    quotes = _given(entry, "evidence", list, "a list")
    if not all(isinstance(quote, str) for quote in quotes):
        raise FaultError("evidence holds what is no text")
    texts = [str(quote).strip().encode(errors="replace").decode() for quote in quotes]
    reason = " ".join(_text(entry, "reason").split())
    return QuestionPart(
        words=words,
        answered=answered,
        quotes=tuple(text for text in texts if text.strip(" .…")),
        reason="" if answered is Support.FULL else clip(reason, _LONGEST_REASON),
    )


def _entries(values: Iterable[object]) -> list[Mapping[str, object]]:
    """The objects that may be verdicts: those in lists named "verdicts", and those with an id."""
    lists: list[list[object]] = []
    for item in [item for each in values for item in (each if isinstance(each, list) else [each])]:
        listed = item.get("verdicts") if isinstance(item, dict) else None
        if isinstance(listed, list):
            lists.append(listed)
        elif isinstance(item, dict) and "id" in item:
            lists.append([item])
    if not lists:
        raise FaultError('its JSON has no list named "verdicts"')
    return [entry for listed in lists for entry in listed if isinstance(entry, dict)]


def _verdict(
    entry: Mapping[str, object], index: int, request: JudgeRequest, signature: str
) -> Verdict:
    support = _label(entry.get("support"), "support")
    empty = not any(chunk.text.strip() for chunk in request.chunks)
    if empty and support is not Support.NO_CLAIM:
        said = entry.get("cited_support")
        labels = {support} if said is None else {support, _label(said, "cited_support")}
        if labels != {Support.NONE}:
            raise FaultError("no chunk has any text, so nothing is supported or contradicted")
    evidence = tuple(_evidence(entry, request))
    numbers = _given(entry, "supporting", list, "a list")
    supporting = sorted({_chunk(number, request) for number in numbers})
    reason = " ".join(_text(entry, "reason").split())
    cited = _cited(entry.get("cited_support"), support, cites=bool(request.cites.get(index)))
    if supporting and support is Support.NONE:
        raise FaultError("supporting names chunks, but support is none")
    # What asserts nothing needs no support: there, the field has no meaning.
    names = supporting if support is not Support.NO_CLAIM else []
    return Verdict(
        support=support,
        evidence=evidence,
        supporting=tuple(dict.fromkeys(request.chunks[position].chunk_id for position in names)),
        cited_support=cited,
        reason="" if support is Support.FULL else clip(reason, _LONGEST_REASON),
        source="llm",
        signature=signature,
    )


def _label(value: object, field: str, labels: Mapping[str, Support] = _LABELS) -> Support:
    if value is None:
        raise FaultError(f"{field} is absent")
    label = labels.get(value.strip().lower()) if isinstance(value, str) else None
    if label is None:
        raise FaultError(f"{field} is {_said(value)}, not one of {', '.join(labels)}")
    return label


def _cited(value: object, support: Support, *, cites: bool) -> Support | None:
    """What the cited chunks give, of which all chunks give at least as much."""
    if not cites or support is Support.NO_CLAIM:
        return None
    if value is None and support is Support.NONE:
        return Support.NONE
    cited = _label(value, "cited_support")
    less_would_be_more = (
        cited is Support.NO_CLAIM
        or (support is Support.NONE and cited is not Support.NONE)
        or (support is not Support.FULL and cited is Support.FULL)
    )
    if less_would_be_more:
        raise FaultError(f"cited_support {cited.value} does not go with support {support.value}")
    return cited


def _evidence(entry: Mapping[str, object], request: JudgeRequest) -> Iterable[Evidence]:
    for item in _given(entry, "evidence", list, "a list"):
        if not isinstance(item, dict):
            raise FaultError(f"evidence holds {_said(item)}, not objects")
        quote = _text(item, "quote")
        # Dots alone are what stands for a quote in the example of the prompt.
        if quote.strip(" .…"):
            chunk = request.chunks[_chunk(item.get("chunk"), request)]
            yield Evidence(chunk_id=chunk.chunk_id, quote=quote)


def _chunk(value: object, request: JudgeRequest) -> int:
    """The 0-based position of a chunk that a reply names by its number."""
    number = int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value
    if not isinstance(number, int | float) or isinstance(number, bool) or number % 1:
        number = 0
    if not 1 <= number <= len(request.chunks):
        raise FaultError(f"there is no chunk {_said(value)}")
    return int(number) - 1


def _text(entry: Mapping[str, object], field: str) -> str:
    # An escape can make half a character, which no file can hold.
    return _given(entry, field, str, "text").strip().encode(errors="replace").decode()


def _given(entry: Mapping[str, object], field: str, kind: type[_T], called: str) -> _T:
    """A field's value, which must be of this kind; an empty one where it is absent or null."""
    value = entry.get(field)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise FaultError(f"{field} is {_said(value)}, not {called}")
    return value


def _said(value: object) -> str:
    """A value as a fault may name it: short, on one line."""
    if isinstance(value, str):
        return repr(clip(value, _SAID))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value) if isinstance(value, int | float) else f"a {type(value).__name__}"


def find_values(text: str) -> list[object]:
    r"""Find the JSON values in a text that may hold prose, code fences and `<think>…</think>` too.

    Found are the outermost objects and lists of objects, in order, even glued together. What stands
    before the end of a thought is a draft and does not count. One broken value spoils the whole
    text: what seems to be a value inside a broken one may be part of a string, put there by whoever
    wrote the text that the model quotes. Broken are also a key that stands twice and a number that
    is none; line breaks within strings are tolerated. Takes time linear in the length of the text.

    Raises:
        FaultError: there are none.

    >>> find_values('Here: ```json\n{"a": "}[1]"}\n```')
    [{'a': '}[1]'}]
    """
    values: list[object] = []
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
            values.append(value)
        except (ValueError, RecursionError):
            # Only a draft may be broken. The last end of a thought, for each try costs its length.
            position = text.rfind(_THOUGHT_ENDS, match.end())
            if position < 0:
                raise FaultError("its JSON is broken") from None
    if not values:
        raise FaultError("it holds no JSON")
    return values


def _unique(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _whole(digits: str) -> int | float:
    # Reading a whole number takes the square of its digits, and Python refuses the longest.
    return int(digits) if len(digits) <= _LONGEST_WHOLE else float(digits)


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_whole, parse_constant=_refuse, strict=False
)


class Form(NamedTuple):
    """What a reply has to look like, and how it is read."""

    schema: dict[str, JsonValue] = REPLY_SCHEMA
    """Its JSON schema."""
    parse: Callable[[str, JudgeRequest, str], Parsed] = parse
    """From its text, the request and the signature of the judge to what it says."""
    name: Callable[[int], str] = sentence_id
    """What is asked about is called so, by its index."""
    entries: int = 1
    """So many may come for each; the first limit of a reply is made for them."""


PARTS: Final = Form(PARTS_SCHEMA, parse_parts, lambda _: "question", 4)
"""About the parts of one question."""
