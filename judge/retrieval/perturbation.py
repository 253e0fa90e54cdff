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
from judge.errors import InputError
from judge.messages import Lang, language_of
from judge.records import Chunk, Sample
from judge.scores.correctness import Documents, is_counted, look_up, seen_ids
from judge.text.fold import fold
from judge.text.words import LIGHT, stems, weight

Variant = Literal["original", "noise20", "noise40", "noise60", "reordered", "gold_removed"]
Match = Literal["exact", "prefix"]
"""How gold names chunks, as in `Rules.gold_match`."""
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
"""Chunks that are kept to draw noise from, about ten megabytes."""
_ABSTAINS: Final[dict[Lang, str]] = {"en": "The documents do not say.", "zh": "文档中没有提到。"}
"""The gold answer of a question without its evidence."""


class _Other(NamedTuple):
    """A chunk of another question."""

    qid: str
    query: str
    chunk: Chunk


class Perturbation:
    """Makes the variants of samples, and counts those that cannot be made.

    Args:
        samples: read once, to draw noise from their chunks.
        variants: the variants to make.
        seed: the same seed makes the same variants.
        match: how gold names chunks.
    """

    def __init__(
        self,
        samples: Iterable[Sample],
        variants: Sequence[Variant] = VARIANTS,
        *,
        seed: int = 0,
        match: Match = "exact",
    ) -> None:
        self._variants, self._seed, self._match = variants, seed, match
        self._others: list[_Other] = []
        self.samples = 0
        self.made: Counter[Variant] = Counter()
        self.left_out: dict[Variant, Counter[Reason]] = {name: Counter() for name in variants}
        self._read(samples)

    def _read(self, samples: Iterable[Sample]) -> None:
        """Keep a simple random draw of the chunks (reservoir sampling)."""
        random, seen = self._random("pool"), 0
        for sample in samples:
            self.samples += 1
            query = fold(sample.query).text
            for name, chunk in zip(_names(sample), sample.chunks, strict=True):
                if not chunk.text.strip():
                    continue
                seen += 1
                other = _Other(sample.qid, query, Chunk(chunk_id=name, text=chunk.text))
                if len(self._others) < _MAX_OTHERS:
                    self._others.append(other)
                elif (place := random.randrange(seen)) < _MAX_OTHERS:
                    self._others[place] = other

    def _random(self, *parts: object) -> Random:
        return Random(":".join(map(str, (self._seed, *parts))))  # noqa: S311  no secret

    def variants(self, sample: Sample) -> Iterator[dict[str, JsonValue]]:
        """Yield the variants of a sample, as rows without an answer."""
        for variant in self._variants:
            made = self._make(sample, variant)
            if isinstance(made, Sample):
                self.made[variant] += 1
                yield _row(made, sample, variant)
            else:
                self.left_out[variant][made] += 1

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
        order: list[int | _Other] = list(range(len(sample.chunks)))
        places = self._random(sample.qid, "places")
        for other in others:
            order.insert(places.randrange(len(order) + 1), other)
        return _arranged(sample, order)

    def _noise(self, sample: Sample) -> Iterator[_Other]:
        """Yield chunks of other questions in random order, none of which answers this one.

        Chunks that gold names, that equal a chunk of the sample, or that contain the gold answer
        are left out.
        """
        taken = {fold(chunk.text).text for chunk in sample.chunks}
        # Ids 1, 2, 3 … are positions, and say nothing about other questions' chunks.
        named = not is_counted(_names(sample))
        is_gold, query = _gold(sample, self._match), fold(sample.query).text
        random = self._random(sample.qid, "noise")
        for other in random.sample(self._others, len(self._others)):
            text = fold(other.chunk.text).text
            if (
                other.qid != sample.qid
                and other.query != query
                and text not in taken
                and not (named and is_gold(other.chunk.chunk_id))
                and not _answers(other.chunk.text, sample.gold_answer)
            ):
                taken.add(text)
                yield other

    def _without_gold(self, sample: Sample) -> Sample | Reason:
        is_gold, names = _gold(sample, self._match), _names(sample)
        texts = {
            fold(chunk.text).text
            for name, chunk in zip(names, sample.chunks, strict=True)
            if is_gold(name)
        }
        if not texts:
            return "no_gold_chunk"
        kept = [
            place
            for place, chunk in enumerate(sample.chunks)
            if fold(chunk.text).text not in texts and not _answers(chunk.text, sample.gold_answer)
        ]
        abstains = _ABSTAINS[language_of(sample.query + (sample.gold_answer or ""))]
        update = {"gold_evidence": (), "relevance": None, "gold_answer": abstains}
        return _arranged(sample, kept).model_copy(update=update)

    def _reordered(self, sample: Sample) -> Sample | Reason:
        texts = [chunk.text for chunk in sample.chunks]
        order, random = list(range(len(texts))), self._random(sample.qid, "reordered")
        if len(set(texts)) < 2:  # noqa: PLR2004
            return "one_order"
        while [texts[place] for place in order] == texts:
            random.shuffle(order)
        return _arranged(sample, order)


def check(sample: Sample) -> None:
    """Raise `InputError` for a sample that is a variant itself."""
    for key in (VARIANT, QID_OF):
        if key in sample.metadata:
            raise InputError("is there already; perturb the original samples", field=key)


def added(chunks: int, share: float) -> int | None:
    """Return how many chunks to add for a share of noise; None if it is over ten points off.

    >>> [added(5, share) for share in (0.2, 0.4, 0.6)], added(1, 0.2)
    ([1, 3, 8], None)
    """
    size = max(1, round(chunks * share / (1 - share)))
    is_near = abs(size / (chunks + size) - share) <= _MAX_SHARE_ERROR
    return size if chunks and is_near else None


def _gold(sample: Sample, match: Match) -> Callable[[str], bool]:
    """Return a function that says whether gold names a chunk id."""
    found, missed = look_up(sample, match)
    gold = {*found, *missed}
    if match == "exact":
        return gold.__contains__
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


def _names(sample: Sample) -> list[str]:
    """Return the ids of its chunks as gold names them."""
    seen = seen_ids(sample)
    return [*seen, *(chunk.chunk_id for chunk in sample.chunks[len(seen) :])]


def _arranged(sample: Sample, order: Sequence["int | _Other"]) -> Sample:
    """Return the sample with these chunks, its own by their places, and with gold that names them.

    Ids that were counted are counted anew. The id of another question's chunk gets a prefix if the
    sample has the same id.
    """
    names = _names(sample)
    counted = is_counted(names)
    chunks, renamed, taken = [], {}, set(names)
    for number, each in enumerate(order, 1):
        if isinstance(each, int):
            name, text = names[each], sample.chunks[each].text
            new = str(number) if counted else name
            renamed[name] = new
        else:
            name, text = each.chunk.chunk_id, each.chunk.text
            new = str(number) if counted else name if name not in taken else f"{each.qid}~{name}"
            taken.add(new)
        chunks.append(Chunk(chunk_id=new, text=text))
    update: dict[str, object] = {"chunks": tuple(chunks), "retrieved": None}
    if counted and sample.gold_evidence is not None:
        gold = (renamed.get(name) for name in sample.gold_evidence)
        update["gold_evidence"] = tuple(filter(None, gold))
    if counted and sample.relevance is not None:
        grades = sample.relevance.items()
        update["relevance"] = {renamed[name]: grade for name, grade in grades if name in renamed}
    return sample.model_copy(update=update)


def _row(made: Sample, sample: Sample, variant: Variant) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = made.model_dump(
        mode="json", exclude={"answer", "sentences", "metadata"}, exclude_none=True
    )
    fields["qid"] = f"{sample.qid}~{variant}"
    return {**fields, **made.metadata, VARIANT: variant, QID_OF: sample.qid}
