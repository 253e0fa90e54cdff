"""What the other text says word for word, in words that tell a judge nothing: `A`, `Both`."""

from typing import Final

from judge.records import Evidence, JudgeRequest, Judgment, Support, Verdict
from judge.text.fold import fold
from judge.text.pieces import segments
from judge.text.words import blank_markup

_STOPS: Final = ".。!?;,、"
"""Of equal sentences one may end without it."""


def verbatim(request: JudgeRequest, judgment: Judgment) -> Judgment:
    """The judgment, with a `none` on what is a whole sentence of the chunks, or all of one, `full`.

    Args:
        request: what the judge was asked.
        judgment: its judgment.
    """
    blind = {
        index: outcome
        for index, outcome in judgment.outcomes.items()
        if isinstance(outcome, Verdict) and outcome.support is Support.NONE
    }
    if not blind:
        return judgment
    known = _sentences(request)
    outcomes = dict(judgment.outcomes)
    for index, verdict in blind.items():
        if quote := known.get(_bare(request.claim(index))):
            full = {"support": Support.FULL, "supporting": (quote.chunk_id,), "reason": ""}
            outcomes[index] = verdict.model_copy(
                update={**full, "evidence": (quote,), "score": None}
            )
    return judgment.model_copy(update={"outcomes": outcomes})


def _sentences(request: JudgeRequest) -> dict[str, Evidence]:
    """Each chunk and its sentences, bare, and where they stand."""
    known: dict[str, Evidence] = {}
    for chunk in request.chunks:
        for start, end in ((0, len(chunk.text)), *segments(chunk.text)):
            quote = chunk.text[start:end]
            place = Evidence(chunk_id=chunk.chunk_id, quote=quote, start=start, end=end)
            known.setdefault(_bare(quote), place)
    known.pop("", None)
    return known


def _bare(text: str) -> str:
    folded = fold(blank_markup(text)).text
    return folded.rstrip(_STOPS) or folded
