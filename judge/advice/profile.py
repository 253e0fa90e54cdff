"""What samples hold, counted as they pass: memory does not grow with them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import accumulate, compress
from typing import Final

from judge.advice.records import Profile
from judge.answer.citations import find
from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.errors import ConfigError, InputError
from judge.records import Rules, Sample, Sentence
from judge.text.visible import clip

HELD: Final = ("answer", "gold_answer", "gold", "chunks", "retrieved", "citations")
"""What a sample can hold, as `Profile.share` names it."""

_NAMES: Final = {"gold_evidence": "gold", "relevance": "gold"}
"""Of fields in the catalogue's needs, where ours differ."""
_FENCES: Final = ("```", "~~~")
_RULES: Final = Rules()


def profile(
    samples: Iterable[Sample],
    families: Mapping[str, Collection[str]],
    corpus_size: int | None = None,
) -> Profile:
    """Count what the samples hold.

    Args:
        samples: in any order.
        families: what a sample must have for each, as the catalogue's `needs`, or `citations`.
        corpus_size: chunks there are to search.

    Raises:
        InputError: there is no sample.
        ConfigError: more is ranked or relevant for one query than the corpus is said to hold.
    """
    held = {
        family: frozenset(_NAMES.get(name, name) for name in needs)
        for family, needs in families.items()
    }
    counting = _Counting(held, corpus_size)
    for sample in samples:
        counting.add(sample)
    return counting.profile()


class _Counting:
    def __init__(self, families: Mapping[str, frozenset[str]], corpus_size: int | None) -> None:
        self._families = families
        self._corpus = corpus_size
        self._held: Counter[str] = Counter()
        self._fitting: Counter[str] = Counter()
        # How many queries have so many: there are few different numbers.
        self._relevant: Counter[int] = Counter()
        self._irrelevant: Counter[int] = Counter()
        self._samples = self._empty = self._longest = 0
        self._graded = False

    def add(self, sample: Sample) -> None:
        chunks = (chunk.chunk_id for chunk in sample.chunks)
        ranked = frozenset(chunks if sample.retrieved is None else sample.retrieved)
        held = _holdings(sample, ranked)
        self._samples += 1
        self._held.update(held)
        self._fitting.update(name for name, needs in self._families.items() if needs <= held)
        self._longest = max(self._longest, len(ranked))
        # What only `gold_evidence` names is graded 1.
        grades = dict.fromkeys(sample.gold_evidence or (), 1.0)
        grades |= {name: grade for name, grade in (sample.relevance or {}).items() if grade > 0}
        self._graded = self._graded or len(set(grades.values())) > 1
        relevant = frozenset(grades)
        known = len(ranked | relevant)
        if self._corpus is not None and known > self._corpus:
            message = f"--corpus-size {self._corpus}: query {clip(sample.qid, 60)!r} alone has "
            message += f"{known} chunks ranked or relevant; count all there are to search"
            raise ConfigError(message)
        if relevant:
            self._relevant[len(relevant)] += 1
            if self._corpus is not None:
                self._irrelevant[self._corpus - len(relevant)] += 1
            elif ranked:
                self._irrelevant[len(ranked - relevant)] += 1
        elif "gold" in held:
            self._empty += 1

    def profile(self) -> Profile:
        if not self._samples:
            raise InputError("holds no sample; one JSON object a line, or CSV, is needed")
        known = None if not self._irrelevant else "ranking" if self._corpus is None else "corpus"
        return Profile(
            samples=self._samples,
            queries=self._relevant.total(),
            without_relevant=self._empty,
            relevant=median(self._relevant),
            irrelevant=median(self._irrelevant),
            counted=known,
            longest=self._longest,
            graded=self._graded if self._held["gold"] else None,
            share={name: self._held[name] / self._samples for name in HELD},
            fitting={name: self._fitting[name] for name in self._families},
        )


def median(counts: Mapping[int, int]) -> float | None:
    """The middle of numbers that are given with how often each is there; None where there is none.

    >>> median({1: 2, 7: 1}), median({1: 1, 2: 1}), median({})
    (1.0, 1.5, None)
    """
    numbers = sorted(counts)
    ends = list(accumulate(counts[number] for number in numbers))
    if not ends:
        return None
    low, high = (numbers[bisect_right(ends, at)] for at in ((ends[-1] - 1) // 2, ends[-1] // 2))
    return (low + high) / 2


def _holdings(sample: Sample, ranked: Collection[str]) -> frozenset[str]:
    holds = (
        sample.answer.strip(),
        (sample.gold_answer or "").strip(),
        sample.gold_evidence is not None or sample.relevance is not None,
        sample.chunks,
        ranked,
        _cites(sample),
    )
    return frozenset(compress(HELD, holds))


def _cites(sample: Sample) -> bool:
    """Whether the answer cites. Only answers with a fence are split: brackets in code do not."""
    text = sample.answer
    if any(fence in text for fence in _FENCES):
        return bool(find(sample, classify(split(text)), _RULES))
    whole = Sentence(index=0, start=0, end=len(text), text=text)
    return bool(find(sample, [whole], _RULES))
