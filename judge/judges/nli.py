"""The judge by natural language inference: whether a passage entails or contradicts a sentence."""

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple

from judge.judges import reason
from judge.protocols import PairScorer
from judge.records import (
    Evidence,
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Relation,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.signature import Signature
from judge.text.pieces import pieces
from judge.text.words import blank_markup

THRESHOLD: Final = 0.5
"""The lowest probability that counts."""
WINDOW: Final = 300
"""Estimated tokens. Most such models accept 512, premise and hypothesis together."""
_BLOCK: Final = 64
"""The number of sentences that are judged together; it bounds the memory."""
_NO_ROOM: Final = "the sentence leaves no room for a passage in what the model takes at once"
_UNREAD: Final = "some passages do not fit beside the sentence in what the model takes at once"
_REASONS: Final = {
    Support.FULL: "",
    Support.CONTRADICTED: "denied",
    Support.NONE: "not_entailed",
}
"""The first label that any passage gives decides."""


class _Passage(NamedTuple):
    """A part of a chunk without blanks at its ends; `position` is that of the chunk."""

    position: int
    start: int
    end: int
    text: str


_Relations = Sequence[tuple[_Passage, Relation | None]]
"""The relation of a sentence to each passage, in reading order; None for one that does not fit."""


class NliJudge:
    """Compares each sentence with every passage by a model of natural language inference.

    The label is `full` if any passage entails the sentence, else `contradicted` if any passage
    contradicts it, else `none`; `score` is the best passage's P(entailment). A passage is a chunk,
    or a window of it with at most `window` estimated tokens.
    """

    def __init__(
        self, scorer: PairScorer, *, window: int = WINDOW, edition: tuple[str, ...] = ()
    ) -> None:
        self._scorer = scorer
        self._window = window
        self._turn = asyncio.Lock()
        made = Signature.parse(f"nli:{scorer.signature}")
        self.signature = str(made.having(f"t:{THRESHOLD:g}", f"w:{window}", *edition))

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one outcome per asked sentence; without a passage it is `none`.

        A failure of the model is the outcome of every asked sentence. The outcome is
        `Unscored(truncated)` if a passage does not fit beside the sentence and no other one entails
        it; this also holds among the cited chunks.
        """
        # Answers that share the model at one moment would all end late.
        async with self._turn:
            return await self._judged(request)

    async def _judged(self, request: JudgeRequest) -> Judgment:
        passages = [
            passage
            for at, chunk in enumerate(request.chunks)
            for passage in _passages(at, chunk.text, self._window)
        ]
        outcomes: dict[int, JudgeOutcome] = {}
        flags: list[Flag] = []
        for low in range(0, len(request.ask), _BLOCK):
            block = request.ask[low : low + _BLOCK]
            texts = {i: " ".join(blank_markup(request.claim(i)).split()) for i in block}
            claims = {i: text or request.sentences[i].text for i, text in texts.items()}
            # Passages are often retrieved twice; each is read once.
            pairs = list(dict.fromkeys((p.text, claims[i]) for i in block for p in passages))
            relations = await self._scorer.score(pairs)
            if isinstance(relations, Unscored):
                return Judgment(outcomes=dict.fromkeys(request.ask, relations))
            relation_of = dict(zip(pairs, relations, strict=True))
            for index in block:
                found = [(p, relation_of[p.text, claims[index]]) for p in passages]
                outcomes[index] = self._outcome(request, index, found)
                labels = {_label_of(relation) for _, relation in found if relation}
                if {Support.FULL, Support.CONTRADICTED} <= labels:
                    flags.append(Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=index))
                if isinstance(outcomes[index], Verdict) and not all(each for _, each in found):
                    flags.append(Flag(name=FlagName.UNJUDGED_EVIDENCE, sentence=index))
        return Judgment(outcomes=outcomes, flags=tuple(flags))

    def _outcome(self, request: JudgeRequest, index: int, found: _Relations) -> JudgeOutcome:
        findings = [(passage, relation) for passage, relation in found if relation]
        unread = {passage.position for passage, relation in found if not relation}
        cited = request.cites.get(index, ())
        label = _label([relation for _, relation in findings])
        of_cited = _label([relation for each, relation in findings if each.position in cited])
        if unread and (of_cited if unread.intersection(cited) else label) is not Support.FULL:
            detail = _UNREAD if findings else _NO_ROOM
            return Unscored(reason=UnscoredReason.TRUNCATED, detail=detail)
        best = max(findings, key=lambda each: each[1].entailed, default=None)
        shown = best
        if label is Support.CONTRADICTED:
            shown = max(findings, key=lambda each: each[1].contradicted)
        supporting = (
            request.chunks[each.position].chunk_id
            for each, relation in findings
            if _label_of(relation) is Support.FULL
        )
        why = _REASONS[label] if findings else "no_chunks"
        return Verdict(
            support=label,
            evidence=_evidence(request, shown[0]) if shown else (),
            supporting=tuple(dict.fromkeys(supporting)),
            cited_support=of_cited if cited else None,
            reason=reason(why, request.sentences[index].text) if why else "",
            score=round(best[1].entailed, 6) if best else 0.0,
            source="nli",
            signature=self.signature,
        )


def _label(relations: Sequence[Relation]) -> Support:
    """Return `full` if any passage says so, else `contradicted` if any does, else `none`."""
    labels = set(map(_label_of, relations))
    return next((each for each in _REASONS if each in labels), Support.NONE)


def _label_of(relation: Relation) -> Support:
    if relation.entailed >= THRESHOLD:
        return Support.FULL
    return Support.CONTRADICTED if relation.contradicted >= THRESHOLD else Support.NONE


def _passages(position: int, text: str, limit: int) -> list[_Passage]:
    """Return the passages of a chunk, at most `limit` estimated tokens each, without blank ones."""
    passages = []
    for start, end, _ in pieces(text, limit):
        piece = text[start:end]
        if words := piece.strip():
            begin = start + len(piece) - len(piece.lstrip())
            passages.append(_Passage(position, begin, begin + len(words), words))
    return passages


def _evidence(request: JudgeRequest, passage: _Passage) -> tuple[Evidence, ...]:
    position, start, end, quote = passage
    name = request.chunks[position].chunk_id
    return (Evidence(chunk_id=name, quote=quote, start=start, end=end, verified=True),)
