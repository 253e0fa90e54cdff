"""Writes the messages to a model."""

import hashlib
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from pydantic import JsonValue

from judge.prompt import Prompt
from judge.records import ChatRequest, JudgeRequest
from judge.text.fold import estimate_tokens
from judge.text.tokens import broken

_LONG_ANSWER: Final = 4000
"""Estimated tokens; a longer answer is shown only around the sentences to judge."""
_AROUND: Final = 10
"""The number of sentences that are then shown on either side of each."""
_CODE_DIGITS: Final = 12
_TOKENS_ONCE: Final = 512
_TOKENS_EACH: Final = 200
_CHARACTERS_A_TOKEN: Final = 4
# Between "<" and our word may be a slash, a blank or a character without width.
_TAG: Final = re.compile(
    r"<(?=[^\w<]*+(?:question|evidence|chunk|answer|context|s(?![^\W\d_]))|\|)",
    re.IGNORECASE,
)
_SCHEMAS: Final = json.loads((files("judge") / "data" / "replies.json").read_text("utf-8"))
REPLY_SCHEMA: Final[dict[str, JsonValue]] = _SCHEMAS["verdicts"]
"""The shape of every reply. All requests share it, because servers compile a schema once: ids and
chunk numbers are checked when the reply is read. It is in the subsets that OpenAI's strict mode,
llama.cpp and xgrammar accept."""
PARTS_SCHEMA: Final[dict[str, JsonValue]] = _SCHEMAS["parts"]
"""The shape of every reply about the parts of a question."""


def render(
    request: JudgeRequest,
    prompt: Prompt,
    *,
    faults: str = "",
    limit: int | None = None,
    code: str | None = None,
    schema: dict[str, JsonValue] = REPLY_SCHEMA,
) -> ChatRequest:
    """Return the messages of a request. Equal requests give equal messages.

    Sentence `i` is `s(i+1)`, chunk `k` is number `k+1`; chunk ids are not shown. The material is
    between tags with a code that is a hash of the material. Texts that look like such tags or like
    tokens of a chat template are changed.

    `faults` says why an earlier reply could not be used. `limit` is the most tokens of the reply,
    by default `reply_tokens` of the asked sentences. `code` is `code_of(request)`.
    """
    code = code or code_of(request)
    user = prompt.user.substitute(
        code=code,
        query=_harmless(request.query),
        chunks="\n".join(
            f"<chunk {number} {code}>\n{_harmless(chunk.text)}"
            for number, chunk in enumerate(request.chunks, start=1)
        ),
        sentences="\n".join(_sentences(request, code)),
        ask=", ".join(sentence_id(index) for index in request.ask),
    )
    if faults:
        user = f"{user}\n{prompt.again.substitute(faults=_harmless(faults))}"
    # Validation would copy the schema for each request.
    return ChatRequest.model_construct(
        system=prompt.system,
        user=user,
        reply_schema=schema,
        max_tokens=limit or reply_tokens(len(request.ask)),
        deadline=request.deadline,
    )


def reply_tokens(sentences: int) -> int:
    """Return the most tokens of verdicts on this number of sentences, without thinking."""
    return _TOKENS_ONCE + _TOKENS_EACH * sentences


def sentence_id(index: int) -> str:
    """Return the id of a sentence in prompt and reply: `s1` for index 0."""
    return f"s{index + 1}"


def _sentences(request: JudgeRequest, code: str) -> Iterator[str]:
    asked = frozenset(request.ask)
    after = 0
    for index in _shown(request):
        if index > after:
            yield f"<context {code}>\n…"
        after = index + 1
        text = _harmless(request.sentences[index].text)
        if index not in asked:
            yield f"<context {code}>\n{text}"
            continue
        cited = ", ".join(str(position + 1) for position in request.cites.get(index, ()))
        cites = f" cites {cited}" if cited else ""
        yield f"<{sentence_id(index)}{cites} {code}>\n{text}"
    if after < len(request.sentences):
        yield f"<context {code}>\n…"


def _shown(request: JudgeRequest) -> list[int]:
    every = range(len(request.sentences))
    # For most answers the length alone decides, without an estimate.
    length = len(request.answer)
    if length <= _LONG_ANSWER or (
        length <= _LONG_ANSWER * _CHARACTERS_A_TOKEN
        and estimate_tokens(request.answer) <= _LONG_ANSWER
    ):
        return list(every)
    return sorted({i for at in request.ask for i in every[max(0, at - _AROUND) : at + _AROUND + 1]})


def code_of(request: JudgeRequest) -> str:
    """Return a hash of all material, which is the same for all calls about an answer."""
    digest = hashlib.sha256()
    for texts in (
        (request.query,),
        (chunk.text for chunk in request.chunks),
        (sentence.text for sentence in request.sentences),
    ):
        for text in texts:
            content = text.encode(errors="surrogatepass")
            digest.update(b"%d:" % len(content))
            digest.update(content)
        digest.update(b";")
    return digest.hexdigest()[:_CODE_DIGITS]


def _harmless(text: str) -> str:
    """Return the text without our tags, control tokens and lone surrogates."""
    if text.isascii() and not any(bracket in text for bracket in "<[]"):
        return text  # as most are
    # NFKC folds the full-width sign back, so that a quote that holds it is still found.
    return _TAG.sub("＜", broken(text)).encode(errors="replace").decode()
