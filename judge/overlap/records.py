"""Overlap of answers with their gold answers."""

from typing import Literal

from judge.records import Document, Record
from judge.records.summary import Interval

Language = Literal["zh", "other"]
"""The language of a gold answer, by its script. `zh` is measured by character, `other` is every
language with spaces between words, such as English."""


class AnswerOverlap(Record):
    """The overlap of one answer with its gold answer."""

    qid: str
    """The qid of the sample."""
    language: Language | None = None
    """The language of the gold answer, or of the question or the answer if it has no letter; null
    without a gold answer, when nothing is measured."""
    scores: dict[str, float | None]
    """`exact_match`, `token_f1`, and of ROUGE the F, `rouge1`, `rouge2`, `rougeL` and `rougeLsum`;
    0 to 1. Null means that it was not measured: there is no gold answer, or the texts are too long
    for `rougeL` and `rougeLsum`."""


class LanguageBleu(Record):
    """Corpus BLEU over the answers of one language.

    Case, width and punctuation count here, and in no other measure of the report.
    """

    language: Language
    """The language of the gold answers."""
    score: float
    """0 to 100, over the counts of all these answers together; 0 if no answer has four tokens."""
    answers: int
    """The number of answers."""
    signature: str
    """sacrebleu's: only scores of equal signature compare."""


class OverlapCounts(Record):
    """Counts of samples: read, measured, and left out for lack of a gold answer."""

    samples: int = 0
    """All samples."""
    measured: int = 0
    """Samples with a gold answer."""
    without_gold_answer: int = 0
    """Samples without a gold answer; they are in no mean."""
    empty_answers: int = 0
    """Measured blank answers: they count 0."""
    too_long: int = 0
    """Measured answers too long for ROUGE-L and ROUGE-Lsum, which are null there."""


class OverlapReport(Document):
    """Overlap over a file of answers. A null mean was measured on nothing; it is never 0."""

    mean: dict[str, float | None]
    """Means over the measured answers by the names of `AnswerOverlap.scores`. `bleu`, the corpus
    score and no mean, only where there is one `LanguageBleu`."""
    interval: dict[str, Interval | None]
    """95 % intervals of the means; BLEU has none."""
    answers: dict[str, int]
    """The number of answers in each mean."""
    counts: OverlapCounts
    """The numbers of samples measured and left out."""
    bleu: tuple[LanguageBleu, ...]
    """By language, the most answers first: tokens of different languages do not mix."""
    signature: str
    """How the other numbers were made; only those of equal signature compare."""
    warnings: tuple[str, ...]
    """What to know before the numbers are used."""
    without_gold_answer: tuple[str, ...]
    """The first qids that were left out."""
