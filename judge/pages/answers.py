"""The answers of a run as a page carries them: each as JSON, in blocks, and what finds them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Final, NamedTuple

from judge.pages.html import packed
from judge.records import (
    Chunk,
    Evidence,
    Flag,
    Sample,
    SampleResult,
    SentenceResult,
    Support,
    Verdict,
    failure_of,
)
from judge.reports.worst import Entry, badness, entries
from judge.scores.answer import is_undecided, support_of
from judge.text.visible import clip, visible

LONGEST: Final = 20_000
"""Characters of a sentence, a question or a reason."""
LONGEST_CHUNK: Final = 6_000
"""Characters of a chunk, its quotes among them."""
MOST_SENTENCES: Final = 2_000
"""The most sentences of one answer."""
_BEFORE: Final = 1_500
"""Characters of a long chunk before its first quote."""
_BLOCK: Final = 100
"""Answers that are unpacked together, at most."""
_BLOCK_SIZE: Final = 1 << 20
"""Bytes of JSON from which on a block takes no more."""


class _Row(NamedTuple):
    """The entry of an answer until the page is written."""

    badness: tuple[int, float, int, int]
    qid: str
    facets: tuple[int, ...]
    start: int
    """Where its JSON begins in the file; that of its chunks follows."""
    length: int
    chunks_length: int


class Answers:
    """Takes answers one by one, and gives them back worst first; their texts wait in a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._rows: list[_Row] = []
        self._facets: dict[tuple[str, str], int] = {}
        self.counts: Counter[tuple[str, str]] = Counter()
        """Answers by what they can be found by: a kind of choice, and one of its names."""
        self._starts: list[int] = []

    def add(self, result: SampleResult, sample: Sample | None, slice_: str | None) -> None:
        """Add one answer; `slice_` names its slice of the run."""
        found = list(_found_by(result))
        found += [] if slice_ is None else [("slice", slice_)]
        self.counts.update(found)
        facets = tuple(self._facets.setdefault(each, len(self._facets)) for each in found)
        chunks = _Chunks(result, sample)
        said = _bytes(_answer(result, sample, chunks))
        shown = _bytes(chunks.json())
        start = self._file.seek(0, 2)
        self._file.write(said + shown)
        qid = _cut(result.qid, 200)
        self._rows.append(_Row(badness(result), qid, facets, start, len(said), len(shown)))

    def facet(self, kind: str, name: str) -> int:
        """The number by which the script knows a choice."""
        return self._facets[kind, name]

    def blocks(self) -> Iterator[tuple[str, str]]:
        """Yield the answers, the worst first, and their chunks in named, compressed blocks."""
        self._rows.sort(key=lambda row: row.badness)
        said: list[bytes] = []
        chunks: list[bytes] = []
        size = 0
        for number, row in enumerate(self._rows):
            if not said:
                self._starts.append(number)
            self._file.seek(row.start)
            said.append(self._file.read(row.length))
            chunks.append(self._file.read(row.chunks_length))
            size += row.length + row.chunks_length
            if len(said) == _BLOCK or size >= _BLOCK_SIZE or number == len(self._rows) - 1:
                block = len(self._starts) - 1
                for name, parts in (("answers", said), ("chunks", chunks)):
                    yield f"{name}-{block}", packed(b"[" + b",".join(parts) + b"]")
                said, chunks, size = [], [], 0

    def index(self) -> str:
        """What finds an answer, packed, in the order of the blocks; asked for behind them."""
        rows = [[row.qid, row.facets] for row in self._rows]
        return packed(_bytes({"starts": self._starts, "rows": rows}))


def _found_by(result: SampleResult) -> Iterator[tuple[str, str]]:
    """Yield the filters that match an answer: their kinds and values."""
    yield "status", result.status.value
    for support in sorted({s for each in result.sentences if (s := support_of(each))}):
        yield "support", support
    for flag in sorted({flag.name.value for flag in result.flags}):
        yield "flag", flag
    for status in sorted({each.status.value for each in result.citations if each.status}):
        yield "citation", status
    if result.cell is not None:
        yield "cell", ",".join(result.cell.words)


class _Chunks:
    """The chunks of a sample that its sentences rest on or cite, as far as they are shown."""

    def __init__(self, result: SampleResult, sample: Sample | None) -> None:
        self._texts: list[tuple[Chunk, int, int]] = []
        shown = result.sentences[:MOST_SENTENCES]
        quotes = [evidence for sentence in shown for evidence in _evidence(sentence)]
        named = {evidence.chunk_id for evidence in quotes}
        named.update(each.chunk_id or "" for each in result.citations)
        named.update(each.suggested or "" for each in result.citations)
        for chunk in sample.chunks if sample else ():
            if chunk.chunk_id in named:
                starts = [each.start or 0 for each in quotes if _stands_in(each, chunk)]
                low = max(0, min(starts, default=0) - _BEFORE)
                low = low if len(chunk.text) > LONGEST_CHUNK else 0
                self._texts.append((chunk, low, low + LONGEST_CHUNK))

    def json(self) -> object:
        """Id, text, and how many characters were cut off before and behind."""
        return [
            [
                _cut(chunk.chunk_id),
                visible(chunk.text[low:high]),
                low,
                max(0, len(chunk.text) - high),
            ]
            for chunk, low, high in self._texts
        ]

    def place(self, evidence: Evidence) -> list[object]:
        """Return the number of a quote's chunk and its UTF-16 offsets there, or an empty list."""
        for number, (chunk, low, high) in enumerate(self._texts):
            start, end = evidence.start, evidence.end
            if start is None or end is None or not _stands_in(evidence, chunk) or end > high:
                continue
            return [number, _units(chunk.text[low:start]), _units(chunk.text[low:end])]
        return []


def _stands_in(evidence: Evidence, chunk: Chunk) -> bool:
    if evidence.start is None or not evidence.verified or evidence.chunk_id != chunk.chunk_id:
        return False
    return chunk.text[evidence.start : evidence.end] == evidence.quote


def scores_of(result: SampleResult) -> dict[str, float | None]:
    """Return the scores that the page shows beside the name of an answer."""
    scores, found, related = result.scores, result.correctness, result.answer_relevance
    context = result.context
    return {
        "faithfulness": scores.faithfulness,
        "coverage": scores.coverage,
        "validity": scores.citation_validity,
        "correctness": found.f1 if found else None,
        "relevance": related.score if related else None,
        "context_recall": context.recall if context else None,
        "context_precision": context.precision if context else None,
    }


def _answer(result: SampleResult, sample: Sample | None, chunks: _Chunks) -> object:
    scores = result.scores
    sentences, position = [], 0
    for entry in entries(result)[:MOST_SENTENCES]:
        sentence = entry.sentence
        gap = sample.answer[position : sentence.start] if sample else " " if position else ""
        own = _sentence(entry, chunks)
        sentences.append({"gap": visible(gap)} | own if gap else own)
        position = sentence.end
    more = max(0, len(result.sentences) - MOST_SENTENCES)
    made = {
        "qid": _cut(result.qid),
        "query": _cut(sample.query) if sample else "",
        "status": result.status.value,
        "scores": scores_of(result),
        "bounds": list(scores.faithfulness_bounds or ()) if scores.unscored else [],
        "unscored": scores.unscored,
        "flags": [_flag(flag) for flag in result.flags if flag.sentence is None],
        "cell": list(result.cell.words) if result.cell else [],
        "gone": sample is None,
        "more": more,
        "sentences": sentences,
        "rest": visible(sample.answer[position:].rstrip()) if sample and not more else "",
    }
    return _without_blanks(made)


def _sentence(entry: Entry, chunks: _Chunks) -> dict[str, object]:
    sentence, outcome = entry.sentence, entry.sentence.outcome
    made: dict[str, object] = {
        "text": _cut(sentence.text),
        "label": support_of(sentence) or "excluded",
        "kind": sentence.kind.value if support_of(sentence) is None else "",
        "flags": list(map(_flag, entry.flags)),
        "cites": [
            _without_blanks(
                {
                    "marker": _cut(each.marker),
                    "chunk": _cut(each.chunk_id or ""),
                    "status": each.status.value if each.status else "uncounted",
                    "reason": _cut(each.reason),
                    "suggested": _cut(each.suggested or ""),
                }
            )
            for each in entry.citations
        ],
    }
    failure = failure_of(outcome)
    if isinstance(outcome, Verdict):
        made |= {
            "score": outcome.score,
            "source": outcome.source,
            "instead": outcome.support.value if failure else "",
            "askings": [
                f"{'label' if isinstance(each, Support) else 'unscored'}.{each.value}"
                for each in outcome.askings
            ],
            "reason": _cut(outcome.reason),
            "evidence": [
                _without_blanks(
                    {
                        "chunk": _cut(each.chunk_id),
                        "quote": _cut(each.quote),
                        "verified": each.verified,
                        "place": chunks.place(each),
                    }
                )
                for each in outcome.evidence
            ],
        }
    if failure and is_undecided(outcome):
        made |= {"score": failure.score, "reason": _cut(failure.detail)}
    elif failure:
        made |= {"failure": failure.reason.value, "detail": _cut(failure.detail)}
    return _without_blanks(made)


def _flag(flag: Flag) -> object:
    return [flag.name.value, _cut(flag.detail)]


def _evidence(sentence: SentenceResult) -> Sequence[Evidence]:
    return sentence.outcome.evidence if isinstance(sentence.outcome, Verdict) else ()


def _without_blanks(made: Mapping[str, object]) -> dict[str, object]:
    """Return the mapping without empty or unknown values; zeros stay."""
    empty: tuple[object, ...] = (None, "", [])
    return {k: v for k, v in made.items() if v is not False and v not in empty}


def _cut(text: str, longest: int = LONGEST) -> str:
    return visible(clip(text, longest))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
