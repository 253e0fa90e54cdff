"""Overlap of answers with their gold answers."""

from typing import Literal

from pydantic import Field

from judge.records import Document, Record
from judge.records.summary import Interval

Language = Literal["zh", "unspaced", "other"]
"""The language of a gold answer, by its script. `unspaced` is every other language that is measured
by character: Japanese, Korean, Thai, Lao, Burmese, Khmer, Tibetan. `other` is every language with
spaces between words, such as English and Russian."""


class AnswerOverlap(Record):
    """The overlap of one answer with its gold answer."""

    qid: str
    """The qid of the sample."""
    unmeasured: Literal["no_gold_answer"] | None = None
    """Why nothing was measured: the gold answer is missing or blank; else null."""
    too_long: bool = False
    """Whether the measures over subsequences are null because the texts are too long for them."""
    language: Language | None = None
    """The language of the gold answer, or of the question or the answer if it has no letter; null
    if nothing was measured."""
    scores: dict[str, float | None]
    """`exact_match`, `token_f1`, and of ROUGE the F, `rouge1`, `rouge2`, `rougeL`, `rougeLsum` and
    `rougeW`; 0 to 1. `sentence_bleu`, 0 to 100, in the tokens of `language`. Null means that it was
    not measured."""


class LanguageBleu(Record):
    """Corpus BLEU over the answers of one language.

    Case, width and punctuation count here, and in no other measure of the report.
    """

    language: Language
    """The language of the gold answers."""
    score: float
    """0 to 100, over the counts of all these answers together."""
    answers: int
    """The number of answers."""
    too_short: bool
    """Whether no answer has the four tokens that BLEU needs, so that it is 0."""
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
    """Measured blank answers: they count 0, for an answer was owed."""
    too_long: int = 0
    """Measured answers too long for the measures over subsequences, which are null there."""
    wordless_gold: int = 0
    """Gold answers without letter or digit: ROUGE is 0 there."""
    single_token_gold: int = 0
    """Gold answers of one token: ROUGE-2 is 0 there."""
    bad_lines: int = 0
    """Lines of the input that were no samples and were skipped."""


class LowOverlap(Record):
    """An answer to look at, chosen by token F1 and then ROUGE-L."""

    qid: str
    """The sample's id."""
    token_f1: float
    """Token F1, 0 to 1."""
    rouge_l: float | None = Field(alias="rougeL")
    """Null where the texts are too long for it."""
    answer: str
    """The beginning of the answer."""
    gold_answer: str
    """The beginning of the gold answer."""


class OverlapReport(Document):
    """Overlap over a file of answers. A null mean was measured on nothing; it is never 0."""

    mean: dict[str, float | None]
    """Means over the measured answers by the names of `AnswerOverlap.scores`, but `sentence_bleu`,
    which has none. `bleu`, the corpus score and no mean, only where there is one `LanguageBleu`."""
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
    worst: tuple[LowOverlap, ...]
    """The answers with the least in common with their gold answers, worst first."""
