"""The judge by natural language inference: whether a passage entails or contradicts a sentence."""

import asyncio
from collections.abc import Mapping, Sequence
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
from judge.text.fold import estimate_tokens
from judge.text.pieces import pieces
from judge.text.words import blank_markup

THRESHOLD: Final = 0.5
"""The lowest probability that counts."""

WINDOW: Final = 300
"""Estimated tokens. Most such models accept 512, premise and hypothesis together."""

LEAST: Final = 16
"""Estimated tokens: a passage is not cut further."""

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


class _Findings(NamedTuple):
    """The relation of a sentence to each passage, in reading order."""

    findings: list[tuple[_Passage, Relation]]
    unread: set[int]
    """Positions of the chunks of which some part does not fit beside the sentence."""


class NliJudge:
    """Compares each sentence with every passage by a model of natural language inference.

    The label is `full` if any passage entails the sentence, else `contradicted` if any passage
    contradicts it, else `none`; `score` is the best passage's P(entailment). A sentence that only
    two passages together entail is judged `none`, and no sentence is judged `partial`.

    A chunk of more than `window` estimated tokens is split into overlapping windows at sentences;
    they are halved if the model accepts less.
    """

    def __init__(
        self,
        scorer: PairScorer,
        *,
        window: int = WINDOW,
        edition: tuple[str, ...] = (),
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
            found = await self._findings(passages, claims)
            if isinstance(found, Unscored):
                return Judgment(outcomes=dict.fromkeys(request.ask, found))
            for index, each in found.items():
                outcomes[index] = self._outcome(request, index, each)
                labels = {self._says(relation) for _, relation in each.findings}
                if {Support.FULL, Support.CONTRADICTED} <= labels:
                    flags.append(Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=index))
                if each.unread and isinstance(outcomes[index], Verdict):
                    flags.append(Flag(name=FlagName.UNJUDGED_EVIDENCE, sentence=index))
        return Judgment(outcomes=outcomes, flags=tuple(flags))

    async def _findings(
        self, passages: Sequence[_Passage], claims: Mapping[int, str]
    ) -> dict[int, _Findings] | Unscored:
        found = {index: _Findings([], set()) for index in claims}
        asked = [(index, passage) for index in claims for passage in passages]
        while asked:
            # Passages are often retrieved twice; each is read once.
            pairs = list(dict.fromkeys((passage.text, claims[i]) for i, passage in asked))
            relations = await self._scorer.score(pairs)
            if isinstance(relations, Unscored):
                return relations
            relation_of = dict(zip(pairs, relations, strict=True))
            again: list[tuple[int, _Passage]] = []
            for index, passage in asked:
                relation = relation_of[passage.text, claims[index]]
                if relation is not None:
                    found[index].findings.append((passage, relation))
                elif (half := estimate_tokens(passage.text) // 2) >= LEAST:
                    parts = _passages(passage.position, passage.text, half, passage.start)
                    again += [(index, part) for part in parts]
                else:
                    found[index].unread.add(passage.position)
            asked = again
        for each in found.values():
            each.findings.sort(key=lambda finding: finding[0])
        return found

    def _outcome(self, request: JudgeRequest, index: int, found: _Findings) -> JudgeOutcome:
        findings, unread = found
        cited = request.cites.get(index, ())
        label = self._label(findings)
        of_cited = self._label([each for each in findings if each[0].position in cited])
        if unread and (of_cited if unread.intersection(cited) else label) is not Support.FULL:
            detail = _UNREAD if findings else _NO_ROOM
            return Unscored(reason=UnscoredReason.TRUNCATED, detail=detail)
        best = max(findings, key=lambda each: each[1].entailed, default=None)
        shown = best
        if label is Support.CONTRADICTED:
            shown = max(findings, key=lambda each: each[1].contradicted)
        entailing = [each for each, relation in findings if self._says(relation) is Support.FULL]
        why = _REASONS[label] if findings else "no_chunks"
        return Verdict(
            support=label,
            evidence=_evidence(request, shown[0]) if shown else (),
            supporting=tuple(
                dict.fromkeys(request.chunks[each.position].chunk_id for each in entailing)
            ),
            cited_support=of_cited if cited else None,
            reason=reason(why, request.sentences[index].text) if why else "",
            score=round(best[1].entailed, 6) if best else 0.0,
            source="nli",
            signature=self.signature,
        )

    def _label(self, findings: Sequence[tuple[_Passage, Relation]]) -> Support:
        """Return `full` if any passage says so, else `contradicted` if any does, else `none`."""
        labels = {self._says(relation) for _, relation in findings}
        return next((each for each in _REASONS if each in labels), Support.NONE)

    def _says(self, relation: Relation) -> Support:
        if relation.entailed >= THRESHOLD:
            return Support.FULL
        return Support.CONTRADICTED if relation.contradicted >= THRESHOLD else Support.NONE


def _passages(position: int, text: str, limit: int, first: int = 0) -> list[_Passage]:
    """Return the passages of a text that begins at character `first` of its chunk.

    They overlap, end at sentences, and have at most `limit` estimated tokens, 2 or more. Blank
    passages are left out.
    """
    passages = []
    for start, end, _ in pieces(text, limit):
        piece = text[start:end]
        if bare := piece.strip():
            begin = first + start + len(piece) - len(piece.lstrip())
            passages.append(_Passage(position, begin, begin + len(bare), bare))
    return passages


def _evidence(request: JudgeRequest, passage: _Passage) -> tuple[Evidence, ...]:
    position, start, end, quote = passage
    name = request.chunks[position].chunk_id
    return (Evidence(chunk_id=name, quote=quote, start=start, end=end, verified=True),)
