"""Workload: what a look for objections takes, counted beforehand, and its bound."""

from collections.abc import Hashable, Mapping
from typing import Final

from judge.checks.objections import flags, objections
from judge.records import Flag, FlagName, JudgeOutcome, JudgeRequest, Support, Verdict

MOST: Final = 60_000_000_000
"""What the claims of one answer may take, in steps of about 1 ns: a minute."""
# A character of a claim; of evidence that no claim before it rests on; of a chunk, where names and
# what says otherwise are looked for; a chunk that a verdict names.
_OWN: Final = 14_000
_NEW: Final = 1_500
_HELD: Final = 50
_NAMED: Final = 1_000
_AROUND: Final = 1_000
"""Characters by which a quote grows to whole sentences, about."""


def flag_objections(
    request: JudgeRequest, outcomes: Mapping[int, JudgeOutcome], limit: int = MOST
) -> tuple[Flag, ...]:
    """What speaks against the first claims of a model that can be looked at in so many steps.

    Where there are more, the last flag tells how many of how many were not looked at. Similarity
    has raised its own.
    """
    full = {
        index: outcome
        for index, outcome in sorted(outcomes.items())
        if isinstance(outcome, Verdict)
        and outcome.source != "similarity"
        and outcome.support is Support.FULL
    }
    work = _Work(request)
    within: dict[int, JudgeOutcome] = {}
    for index, verdict in full.items():
        limit -= work.of(index, verdict)
        if limit < 0:
            break
        within[index] = verdict
    found = flags(objections(request, within)) if within else ()
    left = len(full) - len(within)
    if not left:
        return found
    return *found, Flag(name=FlagName.UNCHECKED_CLAIMS, detail=f"{left} / {len(full)}")


class _Work:
    """What each verdict adds to what those before it took."""

    def __init__(self, request: JudgeRequest) -> None:
        self._request = request
        self._known = set[Hashable]()
        self._lengths: dict[str, int] = {}
        for chunk in request.chunks:
            length = self._lengths.get(chunk.chunk_id, 0) + len(chunk.text)
            self._lengths[chunk.chunk_id] = length
        self._every = sum(self._lengths.values())

    def of(self, index: int, verdict: Verdict) -> int:
        """Steps that a look at a sentence with this verdict takes."""
        quotes = [each for each in verdict.evidence if each.verified]
        named = {*verdict.supporting, *(quote.chunk_id for quote in quotes)}
        held = sum(self._lengths.get(chunk_id, 0) for chunk_id in named)
        read = sum(len(quote.quote) + _AROUND for quote in quotes) or held
        ground: Hashable = verdict.supporting, tuple((q.chunk_id, q.start) for q in quotes)
        new = 0 if ground in self._known else read
        self._known.add(ground)
        own = len(self._request.sentences[index].text)
        return _OWN * own + _NEW * new + _HELD * self._every + _NAMED * len(named)
