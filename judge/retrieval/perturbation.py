"""Perturbation sets: samples whose context is changed in one way, for a RAG to answer anew.

Names after J. Chen, H. Lin, X. Han and L. Sun (2023), Benchmarking Large Language Models in
Retrieval-Augmented Generation (RGB), arXiv 2309.01431.
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
from judge.text.copies import near_copies
from judge.text.fold import count_cjk, fold
from judge.text.words import LIGHT, stems, weight

Variant = Literal["original", "noise20", "noise40", "noise60", "reordered", "gold_removed"]
Match = Literal["exact", "prefix"]
"""How gold names chunks, as of `Rules.gold_match`."""
VARIANTS: Final[tuple[Variant, ...]] = get_args(Variant)
NOISE: Final[dict[Variant, float]] = {"noise20": 0.2, "noise40": 0.4, "noise60": 0.6}
"""Share of the context that is chunks of other questions."""

VARIANT: Final = "variant"
QID_OF: Final = "qid_of"
_KEYS: Final = (VARIANT, QID_OF)
"""What is added to the metadata: which variant, and of which sample."""

Reason = Literal["no_gold_chunk", "few_chunks", "few_others", "one_order"]
"""Why a sample has no such variant: `no_gold_chunk`, none stands in its context; `few_chunks`, no
whole number of chunks makes up that share within ten points; `few_others`, other questions have too
few that do not hold its gold; `one_order`, its chunks have one order only."""

_OFF: Final = 0.1 + 1e-9
"""How far the share of noise may be from the one that is asked for."""
_POOL: Final = 5000
"""Chunks of other questions that are kept to draw from: some ten megabytes."""


class _Other(NamedTuple):
    """A chunk of another question."""

    qid: str
    query: str
    chunk: Chunk


class Pool:
    """Chunks of all questions to draw noise from: a simple draw of them where there are many.

    Args:
        samples: read once.
        seed: another draws others.
    """

    def __init__(self, samples: Iterable[Sample], seed: int) -> None:
        random = _random(seed, "pool")
        self._held: list[_Other] = []
        self.samples = seen = 0
        for sample in samples:
            self.samples += 1
            query = fold(sample.query).text
            for name, chunk in zip(_names(sample), sample.chunks, strict=True):
                if not chunk.text.strip():
                    continue
                seen += 1
                other = _Other(sample.qid, query, Chunk(chunk_id=name, text=chunk.text))
                if len(self._held) < _POOL:
                    self._held.append(other)
                elif (place := random.randrange(seen)) < _POOL:
                    self._held[place] = other

    def others(self, sample: Sample, random: Random, match: Match) -> Iterator[_Other]:
        """Chunks of other questions in random order, none that holds what answers this one.

        That is: a chunk that gold names, a near-copy of any chunk of the sample, one in which the
        gold answer stands.
        """
        own = [chunk.text for chunk in sample.chunks]
        # Ids that were counted name chunks of their own question only.
        named = not is_counted(_names(sample))
        is_gold, query = _gold(sample, match), fold(sample.query).text
        for other in random.sample(self._held, len(self._held)):
            if other.qid == sample.qid or other.query == query:
                continue
            if named and is_gold(other.chunk.chunk_id):
                continue
            text = other.chunk.text
            if _stands(sample.gold_answer or "", text):
                continue
            if not any(near_copies(text, each) for each in own):
                own.append(text)
                yield other


class Perturbation:
    """Makes the variants of samples, and counts those that cannot be made.

    Args:
        pool: where noise comes from.
        variants: which are made.
        seed: another makes others; the same makes the same.
        match: how gold names chunks.
    """

    def __init__(
        self,
        pool: Pool,
        variants: Sequence[Variant] = VARIANTS,
        *,
        seed: int = 0,
        match: Match = "exact",
    ) -> None:
        self._pool, self._variants, self._seed, self._match = pool, variants, seed, match
        self.made: Counter[Variant] = Counter()
        self.left_out: dict[Variant, Counter[Reason]] = {each: Counter() for each in variants}

    def variants(self, sample: Sample) -> Iterator[dict[str, JsonValue]]:
        """The variants of a sample, as lines of samples without an answer."""
        for variant in self._variants:
            made = self._make(sample, variant)
            if isinstance(made, Sample):
                self.made[variant] += 1
                yield _line(made, sample, variant)
            else:
                self.left_out[variant][made] += 1

    def _make(self, sample: Sample, variant: Variant) -> Sample | Reason:
        random = _random(self._seed, sample.qid, "noise" if variant in NOISE else variant)
        match variant:
            case "original":
                return sample
            case "reordered":
                return _reordered(sample, random)
            case "gold_removed":
                return self._gold_removed(sample)
        return self._noisy(sample, NOISE[variant], random)

    def _noisy(self, sample: Sample, share: float, random: Random) -> Sample | Reason:
        many = len(sample.chunks)
        size = added(many, share)
        if size is None:
            return "few_chunks"
        # The same places and the same order at each share: more noise is the same noise and more.
        others = list(islice(self._pool.others(sample, random, self._match), size))
        if len(others) < size:
            return "few_others"
        order: list[int | _Other] = list(range(many))
        places = _random(self._seed, sample.qid, "places")
        for other in others:
            order.insert(places.randrange(len(order) + 1), other)
        return _arranged(sample, order)

    def _gold_removed(self, sample: Sample) -> Sample | Reason:
        gold = self._gold_places(sample)
        if not gold:
            return "no_gold_chunk"
        texts = [sample.chunks[place].text for place in gold]
        needles = [sample.gold_answer or "", *texts]
        kept = [
            place
            for place, chunk in enumerate(sample.chunks)
            if place not in gold
            and not any(_stands(needle, chunk.text) for needle in needles)
            and not any(near_copies(chunk.text, text) for text in texts)
        ]
        lang = language_of(sample.query + (sample.gold_answer or ""))
        update = {"gold_evidence": (), "relevance": None}
        abstains = _ABSTAINS[lang]
        return _arranged(sample, kept).model_copy(update={**update, "gold_answer": abstains})

    def _gold_places(self, sample: Sample) -> list[int]:
        is_gold = _gold(sample, self._match)
        return [place for place, name in enumerate(_names(sample)) if is_gold(name)]


_ABSTAINS: Final[dict[Lang, str]] = {"en": "The documents do not say.", "zh": "文档中没有提到。"}
"""The gold answer of a question whose evidence was removed, in its language."""


def _gold(sample: Sample, match: Match) -> Callable[[str], bool]:
    """Whether gold of a sample names a chunk, by its id."""
    found, missed = look_up(sample, match)
    gold = frozenset((*found, *missed))
    if match == "exact":
        return gold.__contains__
    documents = Documents((*gold, *(sample.relevance or ())))
    return lambda name: documents.of(name) in gold


def _random(*parts: object) -> Random:
    return Random(":".join(map(str, parts)))  # noqa: S311  it hides nothing


def check(sample: Sample) -> None:
    """Raise `InputError` for a sample that is a variant itself."""
    for key in _KEYS:
        if key in sample.metadata:
            raise InputError("is there already; perturb the original samples", field=key)


def added(chunks: int, share: float) -> int | None:
    """How many chunks of noise make up that share; None where it is over ten points off.

    k with k/(chunks + k) nearest to the share, one at least.

    >>> [added(5, share) for share in (0.2, 0.4, 0.6)], added(1, 0.2)
    ([1, 3, 8], None)
    """
    exact = chunks * share / (1 - share)
    sizes = {max(1, int(exact)), int(exact) + 1}
    off, size = min((abs(size / (chunks + size) - share), size) for size in sizes)
    return size if chunks and off <= _OFF else None


def _stands(text: str, chunk: str) -> bool:
    """Whether a text stands in a chunk, word for word.

    One that tells nothing by itself, such as `it is`, blank or a lone Chinese character, does not.

    >>> _stands("70.", "70 seats."), _stands("70", "1970"), _stands("The", "The end")
    (True, False, False)
    """
    bare = text.strip().rstrip(".。!?！？ ")
    telling = any(weight(own) > LIGHT for own in stems(bare)) or any(map(str.isdecimal, bare))
    lone = len(bare) == 1 and count_cjk(bare) == 1
    return telling and not lone and find_words([bare], chunk)[0] is not None


def _reordered(sample: Sample, random: Random) -> Sample | Reason:
    texts = [chunk.text for chunk in sample.chunks]
    order = list(range(len(texts)))
    if len(set(texts)) < 2:  # noqa: PLR2004
        return "one_order"
    while [texts[place] for place in order] == texts:
        random.shuffle(order)
    return _arranged(sample, order)


def _names(sample: Sample) -> list[str]:
    """The ids of its chunks as gold names them."""
    named = seen_ids(sample)
    return [*named, *(chunk.chunk_id for chunk in sample.chunks[len(named) :])]


def _arranged(sample: Sample, order: Sequence["int | _Other"]) -> Sample:
    """The sample with these chunks, its own by their places, and gold that names them.

    Ids that were counted are counted anew. An id that another question's chunk shares with its own
    is told apart.
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
    gold = sample.gold_evidence
    update: dict[str, object] = {"chunks": tuple(chunks), "retrieved": None}
    if counted and gold is not None:
        update["gold_evidence"] = tuple(renamed[name] for name in gold if name in renamed)
    if counted and sample.relevance is not None:
        grades = sample.relevance.items()
        update["relevance"] = {renamed[name]: grade for name, grade in grades if name in renamed}
    return sample.model_copy(update=update)


def _line(made: Sample, sample: Sample, variant: Variant) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = made.model_dump(
        mode="json", exclude={"answer", "sentences", "metadata"}, exclude_none=True
    )
    fields["qid"] = f"{sample.qid}~{variant}"
    return {**fields, **made.metadata, VARIANT: variant, QID_OF: sample.qid}
