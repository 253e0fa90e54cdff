"""BLEU by sacrebleu: of one answer, and of many by sums that need not be kept apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

Language = Literal["zh", "ja", "ko", "unspaced", "other"]

TOKENIZERS: Final[dict[Language, str]] = {
    "zh": "zh",
    "ja": "char",
    "ko": "char",
    "unspaced": "char",
    "other": "13a",
}
"""sacrebleu's tokenizer for each language. Its words of Japanese and Korean need dictionaries that
are packages of their own, so there BLEU is over characters; so it is for the other scripts without
spaces between words (`unspaced`: Thai, Lao, Burmese, Khmer, Tibetan), whose clauses would be one
word each. `other` is all that parts words by spaces."""

_ORDERS: Final = 4


class Bleu(NamedTuple):
    """A BLEU score and sacrebleu's word on how it was made."""

    score: float
    """0 to 100."""
    signature: str
    """sacrebleu's own; only scores of equal signature compare."""
    answers: int
    """How many answers it is over."""
    fourgrams: int
    """How many runs of four tokens the answers have. Without one corpus BLEU is 0, whatever they
    share."""


def bleu(answers: Sequence[str], references: Sequence[str], language: Language) -> Bleu:
    """Corpus BLEU: brevity penalty times the geometric mean of the precisions of 1- to 4-grams.

    BP·exp(¼ Σₙ ln pₙ), with pₙ the n-grams of the answers that their references have, clipped to as
    often as they have them, over all n-grams of the answers, both summed over the corpus; BP =
    exp(1 - r/c) where the answers' c tokens are fewer than the references' r, else 1. An order
    without a match is smoothed (`exp`, as mteval-v13a).

    Args:
        answers: (n,) texts, which sacrebleu gets as they are: case, width and punctuation count, as
            they do in no other measure here.
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


@dataclass(frozen=True, slots=True)
class Counts:
    """All that corpus BLEU is made of, over any number of answers."""

    right: tuple[int, ...] = (0,) * _ORDERS
    """n-grams of the answers that their references have, of 1 to 4 tokens."""
    given: tuple[int, ...] = (0,) * _ORDERS
    """All n-grams of the answers."""
    length: int = 0
    """Tokens of the answers."""
    reference_length: int = 0
    """Tokens of the references."""
    answers: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """Of both together."""
        return Counts(
            tuple(a + b for a, b in zip(self.right, other.right, strict=True)),
            tuple(a + b for a, b in zip(self.given, other.given, strict=True)),
            self.length + other.length,
            self.reference_length + other.reference_length,
            self.answers + other.answers,
        )


class CorpusBleu:
    """Adds answers up in constant memory: corpus BLEU needs no more than sums of counts."""

    def __init__(self, language: Language) -> None:
        # Not needed by most commands.
        from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415

        self.language: Final = language
        self._corpus = BLEU(tokenize=TOKENIZERS[language])
        self._sentence = BLEU(tokenize=TOKENIZERS[language], effective_order=True)
        for metric in (self._corpus, self._sentence):
            # A signature tells the number of references, known once something was scored.
            metric.corpus_score([""], [[""]])
        self.counts = Counts()

    def add(self, answer: str, reference: str) -> Bleu:
        """Take in an answer; returns its own `sentence_bleu`."""
        found = self._sentence.sentence_score(answer, [reference])
        _forget(self._sentence.tokenizer)
        right, given = tuple(found.counts), tuple(found.totals)
        self.counts += Counts(right, given, found.sys_len, found.ref_len, 1)
        signature = str(self._sentence.get_signature())
        return Bleu(_within(found.score), signature, 1, given[-1])

    def join(self, other: "CorpusBleu") -> None:
        """Take in the answers of another, as if each had been added here.

        Raises:
            ValueError: it is of another tokenizer.
        """
        if TOKENIZERS[self.language] != TOKENIZERS[other.language]:
            message = f"tokens of {other.language!r} do not add to those of {self.language!r}"
            raise ValueError(message)
        self.counts += other.counts

    def total(self) -> Bleu:
        """`bleu` of what was added so far."""
        counts = self.counts
        found = self._corpus.compute_bleu(
            list(counts.right),
            list(counts.given),
            counts.length,
            counts.reference_length,
            smooth_method=self._corpus.smooth_method,
            smooth_value=self._corpus.smooth_value,
            effective_order=self._corpus.effective_order,
        )
        signature = str(self._corpus.get_signature())
        return Bleu(_within(found.score), signature, counts.answers, counts.given[-1])


def _within(score: float) -> float:
    """A score of equal texts is 100.00000000000004 to sacrebleu, and reported as 100.00."""
    return min(100.0, float(score))


def _forget(tokenizer: Any) -> None:  # noqa: ANN401  sacrebleu exports no type for it
    """Empty sacrebleu's caches: they keep the last 65 536 texts, however long these are."""
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp  # noqa: PLC0415

    caches: tuple[Any, ...] = (type(tokenizer).__call__, TokenizerRegexp.__call__)
    for cache in caches:
        cache.cache_clear()
