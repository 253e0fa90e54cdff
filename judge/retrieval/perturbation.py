"""Variants of samples with a changed context, for a RAG system to answer anew.

The names are those of J. Chen, H. Lin, X. Han and L. Sun (2023), Benchmarking Large Language Models
in Retrieval-Augmented Generation (RGB), arXiv 2309.01431.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Final, Literal, NamedTuple, get_args

from pydantic import JsonValue

from judge.checks.quotes import find_words
from judge.messages import Lang, language_of
from judge.records import Chunk, Sample
from judge.scores.correctness import Documents, is_counted, look_up, seen_ids
from judge.text.fold import fold
from judge.text.words import LIGHT, stems, weight

Variant = Literal["original", "noise20", "noise40", "noise60", "reordered", "gold_removed"]
VARIANTS: Final[tuple[Variant, ...]] = get_args(Variant)
NOISE: Final[dict[Variant, float]] = {"noise20": 0.2, "noise40": 0.4, "noise60": 0.6}
"""The share of the context that is chunks of other questions."""
VARIANT: Final = "variant"
"""The metadata key for the name of the variant."""
QID_OF: Final = "qid_of"
"""The metadata key for the qid of the original sample."""

Reason = Literal["no_gold_chunk", "few_chunks", "few_others", "one_order"]
"""Why a sample has no such variant: its context has no gold chunk; no number of added chunks comes
within ten points of the share; other questions have too few chunks that do not answer it; its
chunks have one order only."""

_MAX_SHARE_ERROR: Final = 0.1
_MAX_OTHERS: Final = 5000
"""The most chunks that noise is drawn from."""
_ABSTAINS: Final[dict[Lang, str]] = {"en": "The documents do not say.", "zh": "文档中没有提到。"}
"""The gold answer of a question without its evidence."""


class _OtherChunk(NamedTuple):
    """A chunk of another question."""

    qid: str
    query: str
    chunk: Chunk


class Perturbation:
    """Makes the variants of samples, and counts those that cannot be made.

    Noise is drawn from the chunks of `samples`. The same seed makes the same variants.
    """

    def __init__(
        self, samples: Iterable[Sample], variants: Sequence[Variant] = VARIANTS, *, seed: int = 0
    ) -> None:
        self._variants, self._seed = variants, seed
        chunks = [
            _OtherChunk(sample.qid, fold(sample.query).text, chunk)
            for sample in samples
            for chunk in _with_ids(sample).chunks
            if chunk.text.strip()
        ]
        self._others = self._random("pool").sample(chunks, min(len(chunks), _MAX_OTHERS))
        self.made: Counter[Variant] = Counter()
        self.left_out: dict[Variant, Counter[Reason]] = {name: Counter() for name in variants}

    def _random(self, *parts: object) -> Random:
        return Random(":".join(map(str, (self._seed, *parts))))  # noqa: S311  no secret

    def variants(self, sample: Sample) -> Iterator[dict[str, JsonValue]]:
        """Yield the variants of a sample, as rows without an answer."""
        whole = _with_ids(sample)
        for variant in self._variants:
            made = self._make(whole, variant)
            if isinstance(made, str):
                self.left_out[variant][made] += 1
                continue
            self.made[variant] += 1
            fields: dict[str, JsonValue] = made.model_dump(
                mode="json",
                exclude={"answer", "sentences", "metadata", "retrieved"},
                exclude_none=True,
            )
            fields["qid"] = f"{sample.qid}~{variant}"
            yield {**fields, **made.metadata, VARIANT: variant, QID_OF: sample.qid}

    def _make(self, sample: Sample, variant: Variant) -> Sample | Reason:
        if variant == "original":
            return sample
        if variant == "gold_removed":
            return self._without_gold(sample)
        if variant == "reordered":
            return self._reordered(sample)
        return self._noisy(sample, NOISE[variant])

    def _noisy(self, sample: Sample, share: float) -> Sample | Reason:
        size = added(len(sample.chunks), share)
        if size is None:
            return "few_chunks"
        # The noise of a larger share contains that of a smaller one, at the same places.
        others = list(islice(self._noise(sample), size))
        if len(others) < size:
            return "few_others"
        chunks, ids = list(sample.chunks), {chunk.chunk_id for chunk in sample.chunks}
        places = self._random(sample.qid, "places")
        for other in others:
            name = other.chunk.chunk_id
            new = f"{other.qid}~{name}" if name in ids else name
            ids.add(new)
            chunk = Chunk(chunk_id=new, text=other.chunk.text)
            chunks.insert(places.randrange(len(chunks) + 1), chunk)
        return sample.model_copy(update={"chunks": tuple(chunks)})

    def _noise(self, sample: Sample) -> Iterator[_OtherChunk]:
        """Yield chunks of other questions in random order, none of which answers this one."""
        texts = {fold(chunk.text).text for chunk in sample.chunks}
        is_gold, query = _gold(sample), fold(sample.query).text
        random = self._random(sample.qid, "noise")
        for other in random.sample(self._others, len(self._others)):
            text = fold(other.chunk.text).text
            if (
                other.qid != sample.qid
                and other.query != query
                and text not in texts
                and not is_gold(other.chunk.chunk_id)
                and not _answers(other.chunk.text, sample.gold_answer)
            ):
                texts.add(text)
                yield other

    def _without_gold(self, sample: Sample) -> Sample | Reason:
        is_gold = _gold(sample)
        texts = {fold(chunk.text).text for chunk in sample.chunks if is_gold(chunk.chunk_id)}
        if not texts:
            return "no_gold_chunk"
        kept = tuple(
            chunk
            for chunk in sample.chunks
            if fold(chunk.text).text not in texts and not _answers(chunk.text, sample.gold_answer)
        )
        abstains = _ABSTAINS[language_of(sample.query + (sample.gold_answer or ""))]
        update = {"gold_evidence": (), "relevance": None, "gold_answer": abstains, "chunks": kept}
        return sample.model_copy(update=update)

    def _reordered(self, sample: Sample) -> Sample | Reason:
        texts = [chunk.text for chunk in sample.chunks]
        chunks, random = list(sample.chunks), self._random(sample.qid, "reordered")
        if len(set(texts)) < 2:  # noqa: PLR2004
            return "one_order"
        while [chunk.text for chunk in chunks] == texts:
            random.shuffle(chunks)
        return sample.model_copy(update={"chunks": tuple(chunks)})


def added(chunks: int, share: float) -> int | None:
    """Return how many chunks to add for a share of noise; None if it is over ten points off.

    >>> [added(5, share) for share in (0.2, 0.4, 0.6)], added(1, 0.2)
    ([1, 3, 8], None)
    """
    size = max(1, round(chunks * share / (1 - share)))
    is_near = abs(size / (chunks + size) - share) <= _MAX_SHARE_ERROR
    return size if chunks and is_near else None


def _gold(sample: Sample) -> Callable[[str], bool]:
    """Return a function that says whether gold names a chunk, or the document it belongs to."""
    found, missed = look_up(sample, "prefix")
    gold = {*found, *missed}
    documents = Documents((*gold, *(sample.relevance or ())))
    return lambda name: documents.of(name) in gold


def _answers(chunk: str, gold_answer: str | None) -> bool:
    """Return whether a chunk contains the gold answer word for word.

    A gold answer without a content word or a digit, such as `It is`, does not count.

    >>> _answers("70 seats.", "70."), _answers("1970", "70"), _answers("The end", "The")
    (True, False, False)
    """
    words = (gold_answer or "").strip().rstrip(".。!?！？ ")
    if not any(map(str.isdecimal, words)) and all(weight(stem) <= LIGHT for stem in stems(words)):
        return False
    return find_words([words], chunk)[0] is not None


def _with_ids(sample: Sample) -> Sample:
    """Return the sample with ids that do not depend on the order of chunks: `1` becomes `QID#1`."""
    seen = seen_ids(sample)
    names = [*seen, *(chunk.chunk_id for chunk in sample.chunks[len(seen) :])]
    counted = set(names if is_counted(names) else ())

    def new(name: str) -> str:
        return f"{sample.qid}#{name}" if name in counted else name

    evidence, relevance = sample.gold_evidence, sample.relevance
    update = {
        "chunks": tuple(
            Chunk(chunk_id=new(name), text=chunk.text)
            for name, chunk in zip(names, sample.chunks, strict=True)
        ),
        "retrieved": None,
        "gold_evidence": None if evidence is None else tuple(map(new, evidence)),
        "relevance": relevance and {new(name): grade for name, grade in relevance.items()},
    }
    return sample.model_copy(update=update)
