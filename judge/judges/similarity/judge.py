"""The similarity judge: it turns alignments into verdicts."""

import re
from collections.abc import Container, Iterator, Sequence
from importlib import resources
from typing import Final, NamedTuple

import numpy as np

from judge.checks.mismatch import EDITION, Source, mismatches
from judge.errors import ConfigError
from judge.judges import overruled, reason
from judge.judges.similarity.align import (
    Alignment,
    Passages,
    Terms,
    align,
    terms,
)
from judge.judges.similarity.model import (
    Bools,
    ConjunctionModel,
    Floats,
    Vectors,
    expit,
    logit,
    nearest,
)
from judge.pool import apart, weigh
from judge.protocols import Embedder
from judge.records import (
    Evidence,
    JudgeRequest,
    Judgment,
    SentenceKind,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.signature import Signature
from judge.text.fold import CJK
from judge.text.visible import clip
from judge.text.words import CONTENT

_BLOCK: Final = 64
"""Sentences measured together, at most."""
_BLOCK_CELLS: Final = 4_000_000
"""Characters of sentences times segments measured together, if the sentences are several."""
_SENTENCE_CELLS: Final = 30_000_000
"""Characters of one sentence times segments, at most; it needs some 500 MB."""
MOST_CELLS: Final = 200_000_000
"""Characters of all sentences of an answer times segments and chunks, at most: ten seconds."""
_UNREAD: Final = Unscored(
    reason=UnscoredReason.BUDGET,
    detail="too large to compare by similarity; give fewer chunks, or shorten answer or reference",
)
_DOUBT: Final = 1.0
"""Log odds by which what is contradicted falls under the threshold."""
_LIKELY: Final = 0.5
"""The least score of a sentence that is compared with its near-copies."""
_MOST_STRETCHES: Final = 3
_STRETCH_CHARACTERS: Final = 80
_CJK_PAIR: Final = re.compile(f"[{CJK}]{{2}}")
_STOP: Final = re.compile(r"[,;:()\[\]，；：、。（）【】]")
_ABSENT_SHARE: Final = 0.9
"""The share of a sentence's weight that is missing where the sentence is absent."""
_ABSENT_WORDS: Final = 3
"""The content words of such a sentence, at least: "Yes." is not absent."""
_ABSENT_SCORE: Final = 0.4
"""The highest score of an absent sentence. 74 of 86 such claims of RAGTruth-QA dev, QAGS and CNLI
were unsupported; the model saw too few of them to learn that."""


async def aligned(
    request: JudgeRequest, embedder: Embedder, indexes: Sequence[int], source: Source
) -> list[tuple[Sequence[int], Alignment]] | Unscored:
    """Return blocks of sentences with their alignment to the chunks, or the embedder's failure.

    There is at least one chunk. A sentence that is too large to compare is left out; so are all of
    them, if they are too large together.
    """
    heavy, chunks = weigh(request), [chunk.text for chunk in request.chunks]
    passages = await apart(heavy, Passages, chunks)
    blocks = _blocks(request, indexes, passages.size + len(chunks))
    if not blocks:
        return []
    texts = [*passages.segments(chunks), *(source.plain_text(i) for block in blocks for i in block)]
    rows = await embedder.embed(texts, request.deadline)
    if isinstance(rows, Unscored):
        return rows
    ends = np.cumsum([passages.size, *map(len, blocks)])
    return [
        (block, await apart(heavy, _align, request, block, source, passages, rows, start))
        for block, start in zip(blocks, ends.tolist(), strict=False)
    ]


def _align(
    request: JudgeRequest,
    block: Sequence[int],
    source: Source,
    passages: Passages,
    rows: Vectors,
    start: int,
) -> Alignment:
    """Align a block of sentences, whose vectors begin at row `start`, behind those of segments."""
    claims = terms([source.plain_text(index) for index in block])
    stand = passages.standing(claims)
    known = np.zeros(len(claims.owner), np.bool_)
    # The chunks may give a value in another form.
    absent = claims.telling & ~stand[claims.number].any(1)
    for sentence in np.unique(claims.owner[absent]).tolist():
        mine = claims.owner == sentence
        lacking = claims.start[absent & mine].tolist()
        for low, high in source.equivalents(block[sentence], lacking):
            known |= mine & (low <= claims.start) & (claims.end <= high)
    cited = np.zeros((len(block), len(request.chunks)), np.bool_)
    for row, index in enumerate(block):
        cited[row, list(request.cites.get(index, ()))] = True
    own, others = rows[start : start + len(block)], rows[: passages.size]
    cosine = nearest(own, others, passages.first)
    return align(claims, passages, stand, known, cosine, cited)


def _blocks(request: JudgeRequest, indexes: Sequence[int], width: int) -> list[Sequence[int]]:
    """Return the sentences that are measured together, against `width` segments and chunks."""
    sizes = {index: len(request.claim(index)) * width for index in indexes}
    if sum(sizes.values()) > MOST_CELLS:
        return []
    kept = [index for index, size in sizes.items() if size <= _SENTENCE_CELLS]
    largest = max([1, *(sizes[index] for index in kept)])
    many = max(1, min(_BLOCK, _BLOCK_CELLS // largest))
    return [kept[low : low + many] for low in range(0, len(kept), many)]


class _Claim(NamedTuple):
    """A row of an alignment: one sentence, with its log odds at the training base rate."""

    sentence: int
    alignment: Alignment
    row: int
    odds: Floats
    """The log odds without neighbours, for all chunks, the cited ones, and each chunk."""
    grounded: Bools
    """Whether each of these columns has a content word of the sentence."""


class SimilarityJudge:
    """Says `full`, `none` or `contradicted`, with P(supported) at a declared prior; asks no model.

    `full` needs a score of at least the threshold, and something of the sentence in the chunks.
    `prior` is the share of sentences believed to be supported before any is looked at. A moved
    prior moves every score and the threshold alike: no label depends on it. The sentences of an
    answer too large to compare are `Unscored(budget)`.

    Raises:
        ConfigError: `prior` is not within (0, 1).
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        prior: float = 0.9,
        model: ConjunctionModel | None = None,
        edition: tuple[str, ...] = (),
    ) -> None:
        if not 0 < prior < 1:
            raise ConfigError(f"prior must lie within 0 and 1, not {prior!r}; try 0.9")
        self._embedder = embedder
        self._model = model or shipped_model()
        # Saerens, Latinne and Decaestecker 2002, "Adjusting the outputs of a classifier to new a
        # priori probabilities".
        self._shift = logit(prior) - logit(self._model.base_rate)
        self._least = logit(self._model.threshold)
        self.threshold = expit(self._least + self._shift)
        """The lowest score that is `full`, at this judge's prior."""
        model_part, checks = f"model:{self._model.name}", f"checks:{EDITION}"
        settings = (model_part, checks, f"prior:{prior:g}", f"t:{self.threshold:.4g}")
        made = Signature.parse(f"similarity:{embedder.signature}")
        self.signature = str(made.having(*settings, *edition))

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one outcome per asked sentence; the embedder's failure is that of every one."""
        if not any(chunk.text.strip() for chunk in request.chunks):
            return Judgment(outcomes={i: self._without_chunks(request, i) for i in request.ask})
        source = Source(request)
        # Claims that are not asked for count too, because neighbouring claims affect each other.
        claims = {s.index for s in request.sentences if s.kind is SentenceKind.CLAIM}
        found = await aligned(request, self._embedder, sorted(claims.union(request.ask)), source)
        if isinstance(found, Unscored):
            return Judgment(outcomes=dict.fromkeys(request.ask, found))
        return await apart(weigh(request), self._judged, request, found, claims, source)

    def _without_chunks(self, request: JudgeRequest, index: int) -> Verdict:
        return Verdict(
            support=Support.NONE,
            reason=reason("no_chunks", request.sentences[index].text),
            score=0.0,
            source="similarity",
            signature=self.signature,
        )

    def _judged(
        self,
        request: JudgeRequest,
        blocks: Sequence[tuple[Sequence[int], Alignment]],
        claims: Container[int],
        source: Source,
    ) -> Judgment:
        """Return the outcomes, with every `full` overruled that a mismatch speaks against."""
        rows = [each for block in blocks for each in self._claims(*block)]
        beside = [None, *(self._alone(own) for own in rows if own.sentence in claims), None]
        pulls = map(self._model.pull, beside, beside[2:])
        verdicts = {
            own.sentence: self._verdict(request, own, next(pulls) if own.sentence in claims else 0)
            for own in rows
        }
        asked = {index: verdicts[index] for index in request.ask if index in verdicts}
        score = round(expit(self._least - _DOUBT + self._shift), 6)
        # A near-copy with another value is contradicted, also where that value made it no `full`.
        likely = {
            index: own.model_copy(update={"support": Support.FULL})
            for index, own in asked.items()
            if own.support is Support.FULL or (own.score or 0) >= _LIKELY
        }
        for index, found in mismatches(request, likely, source).items():
            own = asked[index]
            if own.support is Support.FULL or found.support is Support.CONTRADICTED:
                changed = overruled(own, request.sentences[index].text, found)
                asked[index] = changed.model_copy(update={"score": min(own.score or 0, score)})
        return Judgment(outcomes={i: asked.get(i, _UNREAD) for i in request.ask})

    def _claims(self, indexes: Sequence[int], alignment: Alignment) -> Iterator[_Claim]:
        odds = self._model.logits(alignment.terms, alignment.owner, alignment.sentences)
        for row, index in enumerate(indexes):
            yield _Claim(index, alignment, row, odds[row], alignment.grounded[row])

    def _alone(self, claim: _Claim) -> float:
        """Return the log odds for the neighbours, low if nothing of the sentence was found."""
        own = float(claim.odds[0])
        return own if claim.grounded[0] else min(own, self._least)

    def _verdict(self, request: JudgeRequest, claim: _Claim, pull: float) -> Verdict:
        odds, text = claim.odds + pull, request.sentences[claim.sentence].text
        # "It is so" lacks nothing of weight, but without any content word found there is no
        # evidence, and no support without evidence (D17).
        full = (odds >= self._least) & claim.grounded
        whole, cited, *alone = (Support.FULL if own else Support.NONE for own in full.tolist())
        supports = zip(request.chunks, alone, strict=True)
        names = [chunk.chunk_id for chunk, own in supports if own is Support.FULL]
        score = round(expit(float(odds[0]) + self._shift), 6)
        return Verdict(
            support=whole,
            evidence=_evidence(request, claim.alignment, claim.row),
            supporting=tuple(dict.fromkeys(names)),
            cited_support=cited if request.cites.get(claim.sentence) else None,
            reason="" if whole is Support.FULL else _shortfall(text, claim.alignment, claim.row),
            score=min(score, _ABSENT_SCORE) if _is_absent(claim.alignment, claim.row) else score,
            source="similarity",
            signature=self.signature,
        )


def shipped_model() -> ConjunctionModel:
    """Return the model in `judge/data`, trained by `tests/bench/train_similarity.py`."""
    text = resources.files("judge").joinpath("data", "similarity.json").read_text("utf-8")
    return ConjunctionModel.load(text)


def _evidence(request: JudgeRequest, found: Alignment, row: int) -> tuple[Evidence, ...]:
    window = int(found.windows[row, 0])
    if window < 0:
        return ()
    position, start, end = found.passages.span(window)
    name, quote = request.chunks[position].chunk_id, request.chunks[position].text[start:end]
    return (Evidence(chunk_id=name, quote=quote, start=start, end=end, verified=True),)


def _is_absent(found: Alignment, row: int) -> bool:
    """Return whether the chunks lack nearly all of a sentence that has several content words."""
    own = found.claims.owner == row
    weight, missing = found.claims.weight[own], found.missing[own]
    lacking = float(weight[missing].sum()) >= _ABSENT_SHARE * float(weight.sum())
    return lacking and int((weight > CONTENT).sum()) >= _ABSENT_WORDS


def _shortfall(sentence: str, found: Alignment, row: int) -> str:
    """Return why a sentence is not supported: the stretches that are missing, else scattered."""
    for key, lost in (("missing", found.missing), ("scattered", found.scattered)):
        if stretches := _stretches(sentence, found.claims, row, lost):
            return reason(key, sentence, stretches)
    return reason("unlike", sentence)


def _stretches(text: str, claims: Terms, sentence: int, lost: Bools) -> list[str]:
    """Return the weightiest stretches of a sentence that the chunks lack, in reading order.

    "The HR department sends a reminder in May." gives “HR department sends a reminder” where a
    chunk has only May. A content word that was found, or punctuation, ends a stretch.
    """
    own = np.flatnonzero(claims.owner == sentence)
    places = (each[own].tolist() for each in (claims.start, claims.end, claims.weight, lost))
    found: list[tuple[float, int, int]] = []
    interrupted = True
    for start, end, weight, missing in sorted(zip(*places, strict=True)):
        last = found[-1][2] if found else 0
        if weight <= CONTENT:
            continue
        if not missing:
            interrupted = interrupted or start >= last
        elif interrupted or _STOP.search(text, last, start):
            found.append((weight, start, end))
            interrupted = False
        else:
            heavier, first, _ = found[-1]
            found[-1] = (max(weight, heavier), first, max(last, end))
    spans = list[tuple[int, int]]()
    heaviest = sorted(found, key=lambda each: -each[0])[:_MOST_STRETCHES]
    for _, start, end in sorted(heaviest, key=lambda each: each[1]):
        is_half_word = start and end - start == 1 and _CJK_PAIR.match(text, start - 1)
        first = start - 1 if is_half_word else start
        touches = spans and first <= spans[-1][1]
        spans.append((spans.pop()[0] if touches else first, end))
    return [f"“{clip(text[start:end], _STRETCH_CHARACTERS)}”" for start, end in spans]
