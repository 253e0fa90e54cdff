"""The judge that shows long evidence to another judge in several windows."""

from collections.abc import Iterator, Sequence
from typing import Final

from judge.judges import MISSING, join
from judge.pool import apart, weigh
from judge.protocols import Judge
from judge.records import (
    SUPPORTED,
    Chunk,
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Support,
    Unscored,
    Verdict,
)
from judge.text.fold import estimate_tokens
from judge.text.pieces import pieces

_DECIDES: Final = tuple(map(Support, ("full", "contradicted", "partial", "none", "no_claim")))
_BEST_CITED: Final = (Support.FULL, Support.PARTIAL, Support.CONTRADICTED, Support.NONE)


class WindowedJudge:
    """Shows another judge all chunks at once if they fit, else in windows.

    Windows of at most `max_evidence_tokens` (estimated) are judged one after the other, and their
    verdicts merged. A claim that needs two chunks from different windows is judged unsupported.
    """

    def __init__(self, inner: Judge, *, max_evidence_tokens: int = 24_000) -> None:
        self._inner = inner
        self._limit = max_evidence_tokens

    @property
    def signature(self) -> str:
        """The inner judge's signature, which includes the size of the windows."""
        return self._inner.signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one outcome per asked sentence, merged over the windows."""
        texts = [chunk.text for chunk in request.chunks]
        # No text has more tokens than characters, and characters are counted at once.
        if sum(map(len, texts)) <= self._limit or sum(map(estimate_tokens, texts)) <= self._limit:
            return await self._inner.judge(request)
        parts = await apart(weigh(request), list, _windows(request, self._limit))
        judgments = [await self._inner.judge(part) for part in parts]
        outcomes: dict[int, JudgeOutcome] = {}
        flags = [flag for judgment in judgments for flag in judgment.flags]
        for index in request.ask:
            found = [judgment.outcomes.get(index, MISSING) for judgment in judgments]
            outcomes[index] = merge(found, [index in part.cites for part in parts])
            verdicts = [outcome for outcome in found if isinstance(outcome, Verdict)]
            if {Support.FULL, Support.CONTRADICTED} <= {each.support for each in verdicts}:
                flags.append(Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=index))
            if isinstance(outcomes[index], Verdict) and len(verdicts) < len(found):
                flags.append(Flag(name=FlagName.UNJUDGED_EVIDENCE, sentence=index))
        return join(judgments, outcomes, flags)


def merge(outcomes: Sequence[JudgeOutcome], cited: Sequence[bool]) -> JudgeOutcome:
    """Merge the outcomes of one sentence by window; `cited` says which windows have a cited chunk.

    The first rule that holds decides: any full → full; any Unscored → that; any contradicted →
    contradicted; any partial → partial; any none → none; else no_claim. But an Unscored window with
    a cited chunk comes before full, because citations that were not judged would count as
    unsupported. `supporting` is the union over all windows, and `cited_support` the best one of the
    windows with a cited chunk; all else is that of the windows that gave the label.
    """
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    labels = {verdict.support for verdict in verdicts}
    with_cited = [outcome for outcome, here in zip(outcomes, cited, strict=True) if here]
    for outcome in with_cited if Support.FULL in labels else outcomes:
        if isinstance(outcome, Unscored):
            return outcome
    cited_labels = {each.cited_support for each in with_cited if isinstance(each, Verdict)}
    label = next(each for each in _DECIDES if each in labels)
    deciding = [verdict for verdict in verdicts if verdict.support is label]
    found = [verdict for verdict in verdicts if verdict.support in SUPPORTED]
    return deciding[0].model_copy(
        update={
            # Pieces of one chunk overlap, so that two windows may quote the same words.
            "evidence": tuple(dict.fromkeys(e for verdict in deciding for e in verdict.evidence)),
            "supporting": tuple(dict.fromkeys(c for verdict in found for c in verdict.supporting)),
            "cited_support": next((best for best in _BEST_CITED if best in cited_labels), None),
        }
    )


def _windows(request: JudgeRequest, limit: int) -> Iterator[JudgeRequest]:
    """Yield the request with the chunks, or pieces of chunks, of each window."""
    window: list[tuple[int, Chunk]] = []
    size = 0
    for position, chunk in enumerate(request.chunks):
        for start, end, tokens in pieces(chunk.text, limit):
            if window and size + tokens > limit:
                yield _with_chunks(request, window)
                window, size = [], 0
            window.append((position, Chunk(chunk_id=chunk.chunk_id, text=chunk.text[start:end])))
            size += tokens
    yield _with_chunks(request, window)


def _with_chunks(request: JudgeRequest, window: Sequence[tuple[int, Chunk]]) -> JudgeRequest:
    """Return the request with only these chunks, and the citations of them."""
    cites = {
        index: tuple(at for at, (position, _) in enumerate(window) if position in cited)
        for index, cited in request.cites.items()
    }
    kept = {index: here for index, here in cites.items() if here}
    chunks = tuple(chunk for _, chunk in window)
    return request.model_copy(update={"chunks": chunks, "cites": kept})
