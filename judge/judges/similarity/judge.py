"""The similarity judge: from what stands where to verdicts."""

from collections.abc import AsyncIterator, Callable, Container, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from itertools import accumulate
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
    expit,
    logit,
    nearest,
)
from judge.judges.similarity.terms import Kind, Terms, terms
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
from judge.text.fold import CJK_CHAR
from judge.text.words import CONTENT, is_classifier

_BLOCK: Final = 64
"""Sentences measured together, at most."""
_TOGETHER: Final = 16_000
"""Sentences times segments measured together, if the sentences are several."""
_CELLS: Final = 250_000
"""Items times columns of which the features are made together."""
MOST: Final = 100_000_000
"""Sentences of one answer times characters that they are held against: about a minute."""
_PIECE: Final = 400
"""A sentence counts once for each so many characters."""
_CHUNK: Final = 200
"""A chunk counts as so many characters more, and so does the answer itself."""
_UNREAD: Final = Unscored(
    reason=UnscoredReason.BUDGET,
    detail="too large to compare by similarity; give fewer chunks, or shorten answer or reference",
)
_DOUBT: Final = 1.0
"""Log odds by which what is contradicted falls under the threshold."""
_NAMED: Final = 4
_MEASURES: Final = frozenset("%％‰°年月日号岁天次人")


async def aligned(
    request: JudgeRequest, embedder: Embedder, indexes: Sequence[int], source: Source
) -> AsyncIterator[tuple[Sequence[int], Alignment] | Unscored]:
    """Measure sentences, given by index, against the chunks, of which there is at least one.

    `source` keeps what is read of the request, for those who read it later.

    Yields:
        The indexes of the next sentences, at most 64, and where what they say stands; or the
        embedder's failure, and then nothing more. The last sentences are left out where there is
        too much to compare.
    """
    indexes = _comparable(request, indexes)
    if not indexes:
        return
    heavy, bare = weigh(request), [source.bare(index) for index in indexes]
    said, passages = await apart(heavy, _read, request, indexes, source)
    places = [passages.span(window) for window in range(0, len(passages.chunk_of), RUN)]
    segments = [request.chunks[chunk].text[start:end] for chunk, start, end in places]
    rows = await embedder.embed([*segments, *bare], request.deadline)
    if isinstance(rows, Unscored):
        yield rows
        return

    def align_block(low: int, high: int) -> Alignment:
        block = indexes[low:high]
        cited = np.zeros((len(block), len(request.chunks)), np.bool_)
        for row, index in enumerate(block):
            cited[row, list(request.cites.get(index, ()))] = True
        own = rows[len(segments) + low : len(segments) + high]
        cosine = nearest(own, rows[: len(segments)], passages.first)
        return align(said.of(low, low + len(block)), passages, cosine, cited)

    step = min(max(_TOGETHER // max(len(segments), 1), 1), _BLOCK)
    for low in range(0, len(indexes), step):
        found = await apart(heavy, align_block, low, low + step)
        yield indexes[low : low + step], found


def _comparable(request: JudgeRequest, indexes: Sequence[int]) -> Sequence[int]:
    """The first sentences, as many as can be held against the chunks."""
    against = _CHUNK + sum(_CHUNK + len(chunk.text) for chunk in request.chunks)
    counts = accumulate(1 + len(request.sentences[at].text) // _PIECE for at in indexes)
    return indexes[: sum(count * against <= MOST for count in counts)]


def _read(request: JudgeRequest, indexes: Sequence[int], source: Source) -> tuple[Terms, Passages]:
    """What sentences say, and where it stands in the chunks."""
    said = terms([source.bare(index) for index in indexes])
    passages = locate([chunk.text for chunk in request.chunks], said)
    absent = passages.counts[said.number] == 0
    # What stands nowhere as it is written may follow from the chunks.
    for sentence in np.unique(said.owner[absent & said.telling]).tolist():
        rows, lacking = said.lacking(sentence, absent)
        said.bear(rows, source.equivalents(indexes[sentence], lacking))
    return said, passages


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A sentence and what speaks for it."""

    index: int
    odds: Floats
    """At the training base rate, by itself: against all chunks, the cited ones, each alone."""
    grounded: Bools
    """Whether anything it says was found there."""
    evidence: tuple[Evidence, ...]
    """The best window."""
    shortfall: Callable[[], str]
    """Return why it is not supported; called if it is not."""


class SimilarityJudge:
    """Says `full`, `none` or `contradicted`, with P(supported) at a declared prior; asks no model.

    `full` needs a score of at least the threshold, and something of the sentence in the chunks.
    `prior` is the share of sentences believed to be supported before any is looked at. A moved
    prior moves every score and the threshold alike: no label depends on it. `edition` is what else
    the verdicts depend on, as the last parts of the signature. The last sentences of an answer too
    large to compare are `Unscored(budget)`.

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
        heavy, source = weigh(request), Source(request)
        # Every claim, asked or not, for the claims beside one bear on it.
        indexes = sorted(claims.union(request.ask))
        weighed: list[_Weighed] = []
        async for block in aligned(request, self._embedder, indexes, source):
            if isinstance(block, Unscored):
                return Judgment(outcomes=dict.fromkeys(request.ask, block))
            weighed += await apart(heavy, self._weigh, request, *block)
        return await apart(heavy, self._judged, request, weighed, claims, source)

    def _judged(
        self,
        request: JudgeRequest,
        weighed: Sequence[_Weighed],
        claims: Container[int],
        source: Source,
    ) -> Judgment:
        """The outcomes, every `full` overruled that a mismatch speaks against."""
        beside = [None, *(self._alone(own) for own in weighed if own.index in claims), None]
        pulls = map(self._model.pull, beside, beside[2:])
        verdicts = {
            own.index: self._verdict(request, own, next(pulls) if own.index in claims else 0.0)
            for own in weighed
        }
        asked = {index: verdicts[index] for index in request.ask if index in verdicts}
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

    def _weigh(
        self, request: JudgeRequest, indexes: Sequence[int], alignment: Alignment
    ) -> list[_Weighed]:
        """The odds of each sentence against each column, and what is told of it."""
        odds, grounded = [], []
        step = max(1, _CELLS // len(alignment.said.owner))
        for low in range(0, alignment.windows.shape[1], step):
            found = alignment.measured(slice(low, low + step))
            odds.append(self._model.logits(found.terms, found.owner, found.sentences))
            grounded.append(found.grounded)
        rows = zip(np.concatenate(odds, axis=1), np.concatenate(grounded, axis=1), strict=True)
        return [
            _Weighed(
                index=index,
                odds=own,
                grounded=there,
                evidence=_evidence(request, alignment, row),
                shortfall=partial(_shortfall, request.sentences[index].text, alignment, row),
            )
            for row, (index, (own, there)) in enumerate(zip(indexes, rows, strict=True))
        ]

    def _verdict(self, request: JudgeRequest, weighed: _Weighed, pull: float) -> Verdict:
        odds = weighed.odds + pull
        # "It is so" misses nothing that weighs. Still, where no number and no word that says
        # something was found, there is no evidence, and support without evidence is none: D17.
        full = (odds >= self._least) & weighed.grounded
        whole, cited, *alone = (Support.FULL if own else Support.NONE for own in full.tolist())
        supports = zip(request.chunks, alone, strict=True)
        names = [chunk.chunk_id for chunk, own in supports if own is Support.FULL]
        return Verdict(
            support=whole,
            evidence=weighed.evidence,
            supporting=tuple(dict.fromkeys(names)),
            cited_support=cited if request.cites.get(weighed.index) else None,
            reason="" if whole is Support.FULL else weighed.shortfall(),
            score=round(expit(float(odds[0]) + self._shift), 6),
            source="similarity",
            signature=self.signature,
        )


def shipped_model() -> ConjunctionModel:
    """The model in `judge/data`, trained by `tests/bench/train_similarity.py`."""
    text = resources.files("judge").joinpath("data", "similarity.json").read_text("utf-8")
    return ConjunctionModel.load(text, TERM_FEATURES, SENTENCE_FEATURES)


def _evidence(request: JudgeRequest, found: Alignment, row: int) -> tuple[Evidence, ...]:
    window = int(found.windows[row, 0])
    if window < 0:
        return ()
    position, start, end = found.passages.span(window)
    name, quote = request.chunks[position].chunk_id, request.chunks[position].text[start:end]
    return (Evidence(chunk_id=name, quote=quote, start=start, end=end, verified=True),)


def _shortfall(sentence: str, found: Alignment, row: int) -> str:
    """Why a sentence is not supported: at most four words that are missing, else scattered."""
    for key, lost in (("missing", found.missing), ("scattered", found.scattered)):
        if named := _named(sentence, found.said, row, lost):
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
