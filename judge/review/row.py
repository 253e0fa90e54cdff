"""One row of the sheet: what a person needs to see of a sentence, and nothing that sways them."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from judge.records import Chunk, Sample, SentenceResult, Verdict
from judge.review.cells import LONGEST
from judge.text.words import stems, weight

BLIND: Final = (
    "review_id",
    "query",
    "answer",
    "sentence",
    "chunks",
    "human_support",
    "human_note",
    "reviewer",
)
"""The columns, in reading order."""
OPEN: Final = (*BLIND[:5], "judge_support", "judge_quote", *BLIND[5:])
"""The same where the judge's verdict is shown."""

_BEGIN: Final = "▶"
_END: Final = "◀"
_CUT: Final = "…"
_ROOM: Final = LONGEST - 100
"""Characters of an answer around its sentence; the rest is for the marks."""


def row_of(review_id: str, sample: Sample, sentence: SentenceResult) -> dict[str, str]:
    """All columns but the empty ones."""
    return {
        "review_id": review_id,
        "query": sample.query or "",
        "answer": marked(sample.answer, sentence.start, sentence.end),
        "sentence": sentence.text,
        "chunks": "\n\n".join(_shown(sample, position) for position in ranked(sample, sentence)),
        **judged(sentence),
    }


def marked(answer: str, start: int, end: int) -> str:
    """The answer with the sentence between marks; what is too long is cut far from it.

    >>> marked("It rains. Roads are wet.", 10, 24)
    'It rains. ▶Roads are wet.◀'
    """
    room = max(0, _ROOM - (end - start)) // 2
    low = max(0, start - room)
    high = min(len(answer), end + room)
    before = _CUT * (low > 0) + answer[low:start]
    after = answer[end:high] + _CUT * (high < len(answer))
    return f"{before}{_BEGIN}{answer[start:end]}{_END}{after}"


def ranked(sample: Sample, sentence: SentenceResult) -> list[int]:
    """Positions of the chunks, those first that share most with the sentence.

    By the weight of the words and pairs of words they share, and not by what the judge cites: that
    would tell what it thinks.
    """
    wanted = _parts(sentence.text)
    return sorted(
        range(len(sample.chunks)),
        key=lambda position: -_shared(wanted, sample.chunks[position]),
    )


def judged(sentence: SentenceResult) -> dict[str, str]:
    """What is shown of the verdict where it is shown."""
    outcome = sentence.outcome
    if not isinstance(outcome, Verdict):
        return {"judge_support": outcome.type, "judge_quote": ""}
    quotes = (f"[{evidence.chunk_id}] {evidence.quote}" for evidence in outcome.evidence)
    support = outcome.support.value
    if outcome.fallback_from is not None:
        support = f"unscored ({outcome.source}: {support})"
    return {"judge_support": support, "judge_quote": "\n".join(quotes)}


def _shown(sample: Sample, position: int) -> str:
    chunk = sample.chunks[position]
    number = f"[{position + 1}]"
    name = number if chunk.chunk_id == str(position + 1) else f"{number} {chunk.chunk_id}"
    return f"{name}\n{chunk.text}"


def _parts(text: str) -> Mapping[str, float]:
    found = stems(text)
    single = {stem: weight(stem) for stem in found}
    pairs = {f"{a} {b}": (single[a] + single[b]) / 2 for a, b in pairwise(found)}
    return single | pairs


def _shared(wanted: Mapping[str, float], chunk: Chunk) -> float:
    # Exact, for the order of a set is not that of another process.
    return math.fsum(wanted[part] for part in wanted.keys() & _parts(chunk.text).keys())
