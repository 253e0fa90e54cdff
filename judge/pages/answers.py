"""The answers of a run as a page carries them: each as JSON, in blocks, and what finds them."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import IO, Final, NamedTuple

from judge.pages.html import packed
from judge.records import Chunk, Evidence, Sample, SampleResult, SentenceResult, Verdict
from judge.reports.worst import badness
from judge.scores.answer import support_of
from judge.text.visible import clip, visible

LONGEST: Final = 20_000
"""Characters of a sentence, a question or a reason."""
LONGEST_CHUNK: Final = 6_000
"""Characters of a chunk, its quotes among them."""
SHOWN_SENTENCES: Final = 2_000
"""The most sentences of one answer."""
_BEFORE: Final = 1_500
"""Characters of a long chunk before its first quote."""
_BLOCK: Final = 100
"""Answers that are unpacked together, at most."""
_BLOCK_SIZE: Final = 1 << 20
"""Bytes of JSON from which on a block takes no more."""


class _IndexRow(NamedTuple):
    """The entry of an answer until the page is written."""

    badness: tuple[int, float, int, int]
    facets: list[str]
    start: int
    """Where its JSON begins in the file."""
    length: int


class Answers:
    """Takes answers one by one, and gives them back worst first; their texts wait in a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._rows: list[_IndexRow] = []
        self._starts: list[int] = []
        self.counts: Counter[str] = Counter()
        """Answers by facet."""

    def add(self, result: SampleResult, sample: Sample | None) -> None:
        """Add one answer."""
        facets = list(_facets(result))
        self.counts.update(facets)
        text = json.dumps(_answer(result, sample), ensure_ascii=False, separators=(",", ":"))
        start, data = self._file.seek(0, 2), text.encode()
        self._file.write(data)
        self._rows.append(_IndexRow(badness(result), facets, start, len(data)))

    def blocks(self) -> Iterator[tuple[str, str]]:
        """Yield the answers, the worst first, in named, compressed blocks."""
        self._rows.sort(key=lambda row: row.badness)
        block: list[bytes] = []
        for number, row in enumerate(self._rows, 1):
            if not block:
                self._starts.append(number - 1)
            self._file.seek(row.start)
            block.append(self._file.read(row.length))
            is_full = len(block) == _BLOCK or sum(map(len, block)) >= _BLOCK_SIZE
            if is_full or number == len(self._rows):
                yield f"answers-{len(self._starts) - 1}", packed(b"[" + b",".join(block) + b"]")
                block = []

    def index(self) -> str:
        """Return the first answer of each block and the facets of each answer, packed.

        The blocks must have been read before.
        """
        index = {"starts": self._starts, "rows": [row.facets for row in self._rows]}
        return packed(json.dumps(index, ensure_ascii=False).encode())


def _facets(result: SampleResult) -> Iterator[str]:
    """Yield the values of filters that an answer matches, such as `support:none`."""
    yield f"status:{result.status.value}"
    for support in sorted({s for each in result.sentences if (s := support_of(each))}):
        yield f"support:{support}"
    for flag in sorted({flag.name.value for flag in result.flags}):
        yield f"flag:{flag}"
    for status in sorted({each.status.value for each in result.citations if each.status}):
        yield f"citation:{status}"
    if result.cell is not None:
        yield f"cell:{','.join(result.cell.words)}"


def _answer(result: SampleResult, sample: Sample | None) -> object:
    """Return an answer as the script shows it: fields of its result, and texts of its sample."""
    shown, scores = result.sentences[:SHOWN_SENTENCES], result.scores
    correctness, relevance = result.correctness, result.answer_relevance
    answer = result.model_dump(
        mode="json", exclude_none=True, include={"qid", "status", "flags", "citations"}
    )
    sentences, position = [], 0
    for each in shown:
        fields = each.model_dump(
            mode="json", exclude_none=True, include={"text", "kind", "outcome"}
        )
        gap = sample.answer[position : each.start] if sample else " " if position else ""
        sentences.append(fields | {"label": support_of(each) or "excluded", "gap": gap})
        position = each.end
    more = len(result.sentences) - len(shown)
    answer |= {
        "sentences": sentences,
        "more": more,
        "scores": {
            "faithfulness": scores.faithfulness,
            "coverage": scores.coverage,
            "validity": scores.citation_validity,
            "correctness": correctness.f1 if correctness else None,
            "relevance": relevance.score if relevance else None,
            "context_recall": result.context.recall if result.context else None,
            "context_precision": result.context.precision if result.context else None,
        },
        "bounds": scores.faithfulness_bounds if scores.unscored else None,
        "unscored": scores.unscored,
        "query": sample.query if sample else "",
        "rest": sample.answer[position:].rstrip() if sample and not more else "",
        "gone": sample is None,
        "chunks": _chunks(result, sample) if sample else [],
    }
    return _legible(answer)


def _chunks(result: SampleResult, sample: Sample) -> list[dict[str, object]]:
    """Return the chunks that the sentences of an answer rest on or cite, as far as shown."""
    quotes = [each for sentence in result.sentences for each in _evidence(sentence)]
    ids = {each.chunk_id for each in quotes}
    ids.update(each.chunk_id or "" for each in result.citations)
    ids.update(each.suggested or "" for each in result.citations)
    return [_chunk(chunk, quotes) for chunk in sample.chunks if chunk.chunk_id in ids]


def _chunk(chunk: Chunk, quotes: Sequence[Evidence]) -> dict[str, object]:
    """Return a chunk, or its part from before its first quote on, if it is long."""
    starts = [
        each.start or 0 for each in quotes if each.verified and each.chunk_id == chunk.chunk_id
    ]
    low = 0
    if len(chunk.text) > LONGEST_CHUNK:
        low = max(0, min(starts, default=0) - _BEFORE)
    text = chunk.text[low : low + LONGEST_CHUNK]
    return {"id": chunk.chunk_id, "text": text, "before": low, "size": len(chunk.text)}


def _evidence(sentence: SentenceResult) -> Sequence[Evidence]:
    return sentence.outcome.evidence if isinstance(sentence.outcome, Verdict) else ()


def _legible(value: object) -> object:
    """Return JSON with its texts cut and their control characters shown."""
    match value:
        case str():
            return visible(clip(value, LONGEST))
        case dict():
            return {key: _legible(each) for key, each in value.items()}
        case list() | tuple():
            return [_legible(each) for each in value]
    return value
