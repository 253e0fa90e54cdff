"""The keys of verdicts: they hold everything the judge saw, and how it was asked."""

import hashlib
from collections.abc import Iterable
from typing import Final

from judge.judges.cached.rows import ASKED, AskedRow
from judge.records import JudgeRequest
from judge.signature import Signature

_EDITION: Final = "verdict-1"
"""Of the fields below and of the rows they lead to."""


class AnswerKey:
    """What the keys of one answer's sentences have in common, hashed once.

    Every field is hashed behind its length in bytes, and every list behind its own, so that no
    character can move from one to the next unnoticed.

    Args:
        request: chunk ids are no part of the key, chunk positions are.
        signature: the judge's, of which all counts but the model that the server named.
        url: base URL, kept as it is.
        repeat: which of several askings of the same.
    """

    def __init__(self, request: JudgeRequest, signature: str, url: str, repeat: int) -> None:
        self._request = request
        # Which model stands behind a name shows in replies alone, and may change with each.
        self._signature = str(Signature.parse(signature).requested())
        self._url = url
        self._repeat = repeat
        texts = (chunk.text for chunk in request.chunks)
        fields = (_EDITION, self._signature, self._url, request.query, request.answer)
        self._shared = hashlib.sha256(
            _framed((*fields, str(len(request.chunks)), *texts, str(repeat)))
        )
        self.asked = ASKED + self._shared.hexdigest()
        """Name of the row that tells what was asked."""

    def verdicts(self) -> dict[int, str]:
        """The keys of the asked sentences' verdicts, by index."""
        return {index: self.verdict(index) for index in self._request.ask}

    def verdict(self, index: int) -> str:
        """The key of one sentence's verdict."""
        whole = self._shared.copy()
        sentence = self._request.sentences[index].text
        cites = self._request.cites.get(index, ())
        whole.update(_framed((str(index), sentence, ",".join(map(str, cites)))))
        return whole.hexdigest()

    def asked_row(self) -> AskedRow:
        """What was asked, part by part, its texts by hash."""
        return AskedRow(
            signature=self._signature,
            url=self._url,
            repeat=self._repeat,
            query=brief(self._request.query),
            answer=brief(self._request.answer),
            chunks=tuple(brief(chunk.text) for chunk in self._request.chunks),
        )


def digest(fields: Iterable[str]) -> str:
    """SHA-256 over length-prefixed fields, in hex."""
    return hashlib.sha256(_framed(fields)).hexdigest()


def brief(text: str) -> str:
    """Enough of a text's hash to tell it from others, in hex."""
    return hashlib.sha256(_bytes(text)).hexdigest()[:16]


def _framed(fields: Iterable[str]) -> bytes:
    parts: list[bytes] = []
    for field in fields:
        data = _bytes(field)
        parts += len(data).to_bytes(8, "big"), data
    return b"".join(parts)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a sample may hold half a pair
