"""The similarity judge: from what stands where to verdicts."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Final

import numpy as np

from judge.checks.mismatch import EDITION, Source, mismatches
from judge.errors import ConfigError
from judge.judges import overruled, reason
from judge.judges.similarity.align import SENTENCE_FEATURES, TERM_FEATURES, Alignment, align
from judge.judges.similarity.index import RUN, Passages, locate
from judge.judges.similarity.model import (
    Bools,
    ConjunctionModel,
    Floats,
    Ints,
    Vectors,
    expit,
    logit,
    nearest,
)
from judge.judges.similarity.terms import Kind, Terms, terms
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
from judge.text.fold import CJK_CHAR, estimate_tokens
from judge.text.words import CONTENT, is_classifier
from judge.workers import HEAVY, apart, weigh

# Sentences measured together, their hits and cosines, and features of items against columns.
_BLOCK: Final = 64
_TOGETHER: Final = 1_000_000
_CELLS: Final = 250_000
MOST: Final = 3_000_000_000
"""What one answer may take, in steps of about 20 ns: a minute."""
# What a feature of an item in a chunk and a cosine take; to look a sentence and each of its terms
# up; to read a sentence, each of its tokens, and each character of what it is held against.
_CELL: Final = 5
_COSINE: Final = 4
_SENTENCE: Final = 4_000
_TERM: Final = 300
_READ: Final = 800
_TOKEN: Final = 900
_HELD: Final = 100
_UNREAD: Final = Unscored(
    reason=UnscoredReason.BUDGET,
    detail="too large to compare by similarity; give fewer chunks, or shorten answer or reference",
)
_DOUBT: Final = 1.0
"""Log odds by which what is contradicted falls under the threshold."""
_NAMED: Final = 4
_MEASURES: Final = frozenset("%％‰°年月日号岁天次人")


async def aligned(
    request: JudgeRequest,
    indexes: Sequence[int],
    embedder: Embedder,
    limit: int = MOST,
    source: Source | None = None,
) -> AsyncIterator[tuple[Sequence[int], Alignment] | Unscored]:
    """Measure sentences, given by index, against the chunks, of which there is at least one.

    `source` keeps what is read of the request, for those who read it later.

    Yields:
        The indexes of the next sentences, at most 64, and where what they say stands; or the
        embedder's failure, and then nothing more. Between two the event loop has its turn. Of
        texts too large to compare within `limit` steps the last sentences are left out.
    """
    heavy = weigh(request)
    spent = 0
    if heavy >= HEAVY:
        # Reading is at most half of it, wherever all that is read can be compared.
        indexes, spent = _readable(request, indexes, limit // 2)
        if not indexes:
            return
    material = await apart(heavy, _Material.of, request, indexes, source or Source(request))
    rows = await embedder.embed(material.segments, request.deadline)
    if isinstance(rows, Unscored):
        yield rows
        return
    for low, high in material.blocks():
        block = indexes[low:high]
        spent += material.cost(low, high) if heavy >= HEAVY else 0
        if spent > limit:
            return
        own = await embedder.embed(material.bare[low:high], request.deadline)
        if isinstance(own, Unscored):
            yield own
            return
        yield block, await apart(heavy, material.align, request, block, low, own, rows)
        await asyncio.sleep(0)


def _readable(
    request: JudgeRequest, indexes: Sequence[int], limit: int
) -> tuple[Sequence[int], int]:
    """The sentences that can be read within the limit, the first ones, and what that takes."""
    spent = _HELD * sum(len(chunk.text) for chunk in request.chunks)
    for many, index in enumerate(indexes):
        own = _READ + _TOKEN * estimate_tokens(request.sentences[index].text)
        if spent + own > limit:
            return indexes[:many], spent
        spent += own
    return indexes, spent


@dataclass(frozen=True, slots=True)
class _Material:
    """Some sentences of a request and its chunks, broken into what can be looked up."""

    bare: Sequence[str]
    """Sentences without their markup."""
    said: Terms
    passages: Passages
    segments: Sequence[str]
    hits: Ints
    """How often what a sentence says was found in a window, shape (sentences,)."""

    @classmethod
    def of(cls, request: JudgeRequest, indexes: Sequence[int], source: Source) -> "_Material":
        texts = [chunk.text for chunk in request.chunks]
        bare = [source.bare(index) for index in indexes]
        said = terms(bare)
        passages = locate(texts, said)
        absent = passages.counts[said.number] == 0
        # What stands nowhere as it is written may follow from the chunks.
        for sentence in np.unique(said.owner[absent & said.telling]).tolist():
            rows, lacking = said.lacking(sentence, absent)
            said.bear(rows, source.equivalents(indexes[sentence], lacking))
        chunk_of = passages.chunk_of[::RUN].tolist()
        places = zip(chunk_of, passages.edges.tolist(), strict=True)
        segments = [texts[chunk][start:end] for chunk, (start, end) in places]
        counts = passages.counts[said.number]
        return cls(bare, said, passages, segments, np.bincount(said.owner, counts).astype(np.int64))

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Sentences measured together, from one up to another: few, and their hits bounded."""
        low, held = 0, 0
        for at, hits in enumerate(self.hits.tolist()):
            own = hits + len(self.segments)
            if at > low and (at - low == _BLOCK or held + own > _TOGETHER):
                yield low, at
                low, held = at, 0
            held += own
        if self.bare:
            yield low, len(self.bare)

    def cost(self, low: int, high: int) -> int:
        """What aligning these sentences takes, in windows looked at for one term (about 20 ns)."""
        rows, many = self.said.rows(low, high), high - low
        known, columns = int(rows.stop - rows.start), len(self.passages.first) + 1
        fixed = _SENTENCE * many + _TERM * known + int(self.hits[low:high].sum())
        return fixed + _CELL * known * columns + _COSINE * many * len(self.segments)

    def align(
        self, request: JudgeRequest, block: Sequence[int], low: int, own: Vectors, rows: Vectors
    ) -> Alignment:
        """Where what a block of sentences says stands, the first of which is number `low`."""
        cited = np.zeros((len(block), len(request.chunks)), np.bool_)
        for row, index in enumerate(block):
            cited[row, list(request.cites.get(index, ()))] = True
        cosine = nearest(own, rows, self.passages.first)
        return align(self.said.of(low, low + len(block)), self.passages, cosine, cited)


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A sentence and what speaks for it."""

    index: int
    odds: Floats
    """At the training base rate, by itself: against all chunks, the cited ones, each alone."""
    grounded: Bools
    """Whether anything it says was found there."""
    alignment: Alignment
    row: int
    """Which of its sentences this is."""


class SimilarityJudge:
    """Says `full`, `none` or `contradicted`, with P(supported) at a declared prior; asks no model.

    `full` needs a score of at least the threshold, and something of the sentence in the chunks.
    `prior` is the share of sentences believed to be supported before any is looked at. A moved
    prior moves every score and the threshold alike: no label depends on it. `edition` is what else
    the verdicts depend on, as the last parts of the signature. `limit` is what one answer may take,
    in steps of about 20 ns: sentences beyond are `Unscored(budget)`.

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
        limit: int = MOST,
    ) -> None:
        if not 0 < prior < 1:
            raise ConfigError(f"prior must lie within 0 and 1, not {prior!r}; try 0.9")
        self._embedder = embedder
        self._limit = limit
        self._model = model or shipped_model()
        # Saerens, Latinne and Decaestecker 2002, "Adjusting the outputs of a classifier to new a
        # priori probabilities".
        self._shift = logit(prior) - logit(self._model.base_rate)
        self._least = logit(self._model.threshold)
        self.threshold = expit(self._least + self._shift)
        """The lowest score that is `full`, at this judge's prior."""
        settings = (
            f"model:{self._model.name}",
            f"checks:{EDITION}",
            f"prior:{prior:g}",
            f"t:{self.threshold:.4g}",
        )
        made = Signature.parse(f"similarity:{embedder.signature}")
        self.signature = str(made.having(*settings, *edition))

    async def judge(self, request: JudgeRequest) -> Judgment:
        """One outcome per asked sentence; the embedder's failure is that of every one.

        Without chunks nothing is supported.
        """
        if not any(chunk.text.strip() for chunk in request.chunks):
            bare = Verdict(
                support=Support.NONE, score=0.0, source="similarity", signature=self.signature
            )
            why = {i: reason("no_chunks", request.sentences[i].text) for i in request.ask}
            return Judgment(
                outcomes={i: bare.model_copy(update={"reason": each}) for i, each in why.items()}
            )
        claims = {s.index for s in request.sentences if s.kind is SentenceKind.CLAIM}
        outcomes: dict[int, Verdict] = {}
        before: float | None = None
        held: _Weighed | None = None

        def take(indexes: Sequence[int], alignment: Alignment) -> None:
            nonlocal before, held
            odds, grounded = self._measured(alignment)
            for row, index in enumerate(indexes):
                weighed = _Weighed(index, odds[row], grounded[row], alignment, row)
                if weighed.index not in claims:
                    outcomes[weighed.index] = self._verdict(request, weighed, 0.0)
                    continue
                if held is not None:
                    pull = self._model.pull(before, self._alone(weighed))
                    outcomes[held.index] = self._verdict(request, held, pull)
                    before = self._alone(held)
                held = weighed

        heavy, source = weigh(request), Source(request)
        # Every claim, asked or not, for the claims beside one bear on it.
        indexes = sorted(claims.union(request.ask))
        async for block in aligned(request, indexes, self._embedder, self._limit, source):
            if isinstance(block, Unscored):
                return Judgment(outcomes=dict.fromkeys(request.ask, block))
            await apart(heavy, take, *block)
        if held is not None:
            pull = self._model.pull(before, None)
            outcomes[held.index] = self._verdict(request, held, pull)
        return await apart(heavy, self._checked, request, outcomes, source)

    def _checked(
        self, request: JudgeRequest, outcomes: Mapping[int, Verdict], source: Source
    ) -> Judgment:
        """The outcomes, every `full` overruled that a mismatch speaks against."""
        asked = {index: outcomes[index] for index in request.ask if index in outcomes}
        score = round(expit(self._least - _DOUBT + self._shift), 6)
        for index, found in mismatches(request, asked, source).items():
            if found.support is Support.FULL:
                continue
            changed = overruled(asked[index], request.sentences[index].text, found)
            asked[index] = changed.model_copy(update={"score": score})
        return Judgment(outcomes={i: asked.get(i, _UNREAD) for i in request.ask})

    def _alone(self, weighed: _Weighed) -> float:
        """What a sentence tells its neighbours; where nothing of it was found, nothing good."""
        own = float(weighed.odds[0])
        return own if weighed.grounded[0] else min(own, self._least)

    def _measured(self, alignment: Alignment) -> tuple[Floats, Bools]:
        """The odds of each sentence against each column, and whether it is grounded there."""
        odds, grounded = [], []
        step = max(1, _CELLS // len(alignment.said.owner))
        for low in range(0, alignment.windows.shape[1], step):
            found = alignment.measured(slice(low, low + step))
            odds.append(self._model.logits(found.terms, found.owner, found.sentences))
            grounded.append(found.grounded)
        return np.concatenate(odds, axis=1), np.concatenate(grounded, axis=1)

    def _verdict(self, request: JudgeRequest, weighed: _Weighed, pull: float) -> Verdict:
        odds = weighed.odds + pull
        # "It is so" misses nothing that weighs. Still, where no number and no word that says
        # something was found, there is no evidence, and support without evidence is none: D17.
        full = (odds >= self._least) & weighed.grounded
        whole, cited, *alone = (Support.FULL if own else Support.NONE for own in full.tolist())
        supports = zip(request.chunks, alone, strict=True)
        names = [chunk.chunk_id for chunk, own in supports if own is Support.FULL]
        sentence = request.sentences[weighed.index].text
        return Verdict(
            support=whole,
            evidence=_evidence(request, weighed),
            supporting=tuple(dict.fromkeys(names)),
            cited_support=cited if request.cites.get(weighed.index) else None,
            reason="" if whole is Support.FULL else _shortfall(sentence, weighed),
            score=round(expit(float(odds[0]) + self._shift), 6),
            source="similarity",
            signature=self.signature,
        )


def shipped_model() -> ConjunctionModel:
    """The model in `judge/data`, trained by `tests/bench/train_similarity.py`."""
    text = resources.files("judge").joinpath("data", "similarity.json").read_text("utf-8")
    return ConjunctionModel.load(text, TERM_FEATURES, SENTENCE_FEATURES)


def _evidence(request: JudgeRequest, weighed: _Weighed) -> tuple[Evidence, ...]:
    window = int(weighed.alignment.windows[weighed.row, 0])
    if window < 0:
        return ()
    position, start, end = weighed.alignment.passages.span(window)
    name, quote = request.chunks[position].chunk_id, request.chunks[position].text[start:end]
    return (Evidence(chunk_id=name, quote=quote, start=start, end=end, verified=True),)


def _shortfall(sentence: str, weighed: _Weighed) -> str:
    """Why a sentence is not supported: at most four words that are missing, else scattered."""
    found = weighed.alignment
    for key, lost in (("missing", found.missing), ("scattered", found.scattered)):
        if named := _named(sentence, found.said, weighed.row, lost):
            return reason(key, sentence, named)
    return reason("unlike", sentence)


def _named(text: str, said: Terms, sentence: int, lost: Bools) -> list[str]:
    """The weightiest words of the lost, in reading order; Chinese neighbours go together."""
    rows = said.rows(sentence, sentence + 1)
    kept = lost[rows] & (said.kind[rows] == Kind.WORD)
    places = (own[rows][kept].tolist() for own in (said.start, said.end, said.weight))
    runs: list[tuple[int, int, float]] = []
    for first, last, own in sorted(zip(*places, strict=True)):
        start, end, weight = runs[-1] if runs else (-1, -1, 0.0)
        touching = first == end and (CJK_CHAR.match(text[end]) or CJK_CHAR.match(text[end - 1]))
        if first < end or touching:
            runs[-1] = (start, max(end, last), max(weight, own))
        else:
            runs.append((first, last, own))
    top = sorted((run for run in runs if run[2] > CONTENT), key=lambda run: -run[2])[:_NAMED]
    return [_rounded(text, start, end) for start, end, _ in sorted(top)]


def _rounded(text: str, start: int, end: int) -> str:
    """`45` with the measure behind it; half a Chinese word with the character before it."""
    behind = text[end : end + 1]
    if text[end - 1].isdigit() and (behind in _MEASURES or is_classifier(behind)):
        return text[start : end + 1]
    half = end - start == 1 and start and CJK_CHAR.match(text[start])
    return text[start - bool(half and CJK_CHAR.match(text[start - 1])) : end]
