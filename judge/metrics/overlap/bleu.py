"""BLEU by sacrebleu: of one answer, and of many by sums that need not be kept apart."""

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

Language = Literal["zh", "ja", "ko", "other"]

TOKENIZERS: Final[dict[Language, str]] = {"zh": "zh", "ja": "char", "ko": "char", "other": "13a"}
"""sacrebleu's tokenizer for each language. Its words of Japanese and Korean need dictionaries that
are packages of their own, so there BLEU is over characters."""

_ORDERS: Final = 4


class Bleu(NamedTuple):
    """A BLEU score and sacrebleu's word on how it was made."""

    score: float
    """0 to 100."""
    signature: str
    """sacrebleu's own; only scores of equal signature compare."""
    answers: int
    """How many answers it is over."""


def bleu(answers: Sequence[str], references: Sequence[str], language: Language) -> Bleu:
    """Corpus BLEU: brevity penalty times the geometric mean of the precisions of 1- to 4-grams.

    BP·exp(¼ Σₙ ln pₙ), with pₙ the n-grams of the answers that their references have, clipped to as
    often as they have them, over all n-grams of the answers, both summed over the corpus; BP =
    exp(1 - r/c) where the answers' c tokens are fewer than the references' r, else 1. An order
    without a match is smoothed (`exp`, as mteval-v13a).

    Args:
        answers: (n,) texts, which sacrebleu gets as they are: case and width make a difference.
        references: (n,) one reference each.
        language: of the references; it chooses the tokenizer (`TOKENIZERS`).

    Returns:
        0 to 100, as sacrebleu and its signature have it; 100 where all are equal and one answer has
        four tokens, 0 where no token matches or no answer has four. It is no mean of sentence
        scores.

    Raises:
        ValueError: lengths differ.

    Source: K. Papineni et al. (2002), BLEU, ACL; M. Post (2018), A call for clarity in reporting
    BLEU scores, WMT.

    >>> found = bleu(["the cat is on mat"], ["the cat is on the mat"], "other")
    >>> round(found.score, 2), found.signature.split("|version")[0]
    (57.89, 'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp')
    """
    corpus = CorpusBleu(language)
    for answer, reference in zip(answers, references, strict=True):
        corpus.add(answer, reference)
    return corpus.total()


def sentence_bleu(answer: str, reference: str, language: Language) -> Bleu:
    """BLEU of one answer: as `bleu`, over the orders that it is long enough for.

    Returns:
        0 to 100 (sacrebleu's `eff:yes`); 100 where both are equal and there is a token, 0 where no
        token matches.

    Source: as `bleu`.

    >>> round(sentence_bleu("差旅标准", "差旅费标准", "zh").score, 2)
    35.19
    """
    return CorpusBleu(language).add(answer, reference)


class CorpusBleu:
    """Adds answers up in constant memory: corpus BLEU needs no more than sums of counts."""

    def __init__(self, language: Language) -> None:
        # Not needed by most commands.
        from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415

        self._corpus = BLEU(tokenize=TOKENIZERS[language])
        self._sentence = BLEU(tokenize=TOKENIZERS[language], effective_order=True)
        for metric in (self._corpus, self._sentence):
            # A signature tells the number of references, known once something was scored.
            metric.corpus_score([""], [[""]])
        self._correct, self._total = [0] * _ORDERS, [0] * _ORDERS
        self._length = self._reference_length = self._answers = 0

    def add(self, answer: str, reference: str) -> Bleu:
        """Take in an answer; returns its own `sentence_bleu`."""
        found = self._sentence.sentence_score(answer, [reference])
        _forget(self._sentence.tokenizer)
        self._correct = [a + b for a, b in zip(self._correct, found.counts, strict=True)]
        self._total = [a + b for a, b in zip(self._total, found.totals, strict=True)]
        self._length += found.sys_len
        self._reference_length += found.ref_len
        self._answers += 1
        return Bleu(_within(found.score), str(self._sentence.get_signature()), 1)

    def total(self) -> Bleu:
        """`bleu` of what was added so far."""
        found = self._corpus.compute_bleu(
            list(self._correct),
            list(self._total),
            self._length,
            self._reference_length,
            smooth_method=self._corpus.smooth_method,
            smooth_value=self._corpus.smooth_value,
            effective_order=self._corpus.effective_order,
        )
        signature = str(self._corpus.get_signature())
        return Bleu(_within(found.score), signature, self._answers)


def _within(score: float) -> float:
    """A score of equal texts is 100.00000000000004 to sacrebleu, and reported as 100.00."""
    return min(100.0, float(score))


def _forget(tokenizer: Any) -> None:  # noqa: ANN401  sacrebleu exports no type for it
    """Empty sacrebleu's cache of the last 65 536 texts, which would hold a gigabyte of answers."""
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp  # noqa: PLC0415

    caches: tuple[Any, ...] = (type(tokenizer).__call__, TokenizerRegexp.__call__)
    for cache in caches:
        cache.cache_clear()
