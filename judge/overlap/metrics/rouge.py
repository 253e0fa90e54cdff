"""ROUGE by rouge-score, in tokens that serve every script."""

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from judge.overlap.metrics.tokens import word_tokens

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer

Rouge = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]

MOST_CELLS: Final = 4_000_000
"""Tokens of the answer times tokens of the reference over which no common subsequence is sought.

Two texts of 2 000 tokens. There ROUGE-L, -Lsum and -W take about half a second each, but -Lsum of
lines of one word each about five: it fills a table for every two lines."""

MOST_TOKENS: Final = 50_000
"""Tokens of one text over which none is sought either."""

_COUNTED: Final[tuple[Rouge, ...]] = ("rouge1", "rouge2")
_SOUGHT: Final[tuple[Rouge, ...]] = ("rougeL", "rougeLsum")


class Prf(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    """Share of the answer that the reference has, 0 to 1."""
    recall: float
    """Share of the reference that the answer has, 0 to 1."""
    f: float
    """2·precision·recall / (precision + recall), 0 where both are 0."""

    @classmethod
    def of(cls, precision: float, recall: float) -> "Prf":
        """With the F of the two."""
        total = precision + recall
        return cls(precision, recall, 2 * precision * recall / total if total else 0.0)


def rouge(answer: str, reference: str, *, stem: bool = False) -> dict[Rouge, Prf | None]:
    """ROUGE-1, -2, -L and -Lsum of an answer against one reference.

    Precision is what both have in common over what the answer has, recall over what the reference
    has. Counted are tokens (ROUGE-1) or pairs of neighbours (ROUGE-2), each as often as both have
    it; or the tokens of the longest common subsequence (ROUGE-L). For ROUGE-Lsum every line is a
    sentence, and of each sentence of the reference those tokens count that its longest common
    subsequence with any sentence of the answer holds, none more often than both texts have it.

    Args:
        answer: a sentence a line, for ROUGE-Lsum; line breaks part words for the others.
        reference: the gold answer, likewise.
        stem: cut English words to Porter's stems, as rouge-score's `use_stemmer`.

    Returns:
        each 0 to 1: 1 where both are the same, but 0 where either has nothing to compare (no token;
        for ROUGE-2 fewer than two), as rouge-score has it. ROUGE-L and -Lsum are None where the
        texts are `too_long`. On ASCII text the figures are those of rouge-score by itself.

    Source: C.-Y. Lin (2004), ROUGE: a package for automatic evaluation of summaries, ACL workshop
    Text Summarization Branches Out; https://pypi.org/project/rouge-score.

    >>> rouge("the cat is on mat", "the cat is on the mat")["rouge1"].precision
    1.0
    >>> rouge("报销需要发票", "报销要发票")["rougeL"].recall
    1.0
    """
    long = too_long(len(word_tokens(answer)), len(word_tokens(reference)))
    wanted = _COUNTED if long else (*_COUNTED, *_SOUGHT)
    if not long:
        answer, reference = _worded(answer), _worded(reference)
    scores = _scorer(wanted, stem=stem).score(reference, answer)
    return {
        name: Prf(score.precision, score.recall, score.fmeasure)
        if (score := scores.get(name))
        else None
        for name in (*_COUNTED, *_SOUGHT)
    }


def too_long(ours: int, theirs: int) -> bool:
    """Whether no subsequence common to texts of so many tokens is sought: it would take too long.

    >>> too_long(2_000, 2_000), too_long(2_001, 2_000), too_long(50_001, 1)
    (False, True, True)
    """
    return ours * theirs > MOST_CELLS or max(ours, theirs) > MOST_TOKENS


def _worded(text: str) -> str:
    """Without lines that have no token: rouge-score holds each against every other for nothing."""
    lines = text.split("\n")
    return text if len(lines) == 1 else "\n".join(line for line in lines if word_tokens(line))


class _Tokens:
    """What rouge-score asks of a tokenizer."""

    def __init__(self, *, stem: bool) -> None:
        self._stem = stem

    def tokenize(self, text: str) -> list[str]:
        tokens = word_tokens(text)
        return [_stem(token) for token in tokens] if self._stem else tokens


@lru_cache(maxsize=4)
def _scorer(wanted: tuple[Rouge, ...], *, stem: bool) -> "RougeScorer":
    # rouge-score brings all of nltk: a second that only this measure pays.
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415

    return RougeScorer(list(wanted), tokenizer=_Tokens(stem=stem))


@lru_cache(maxsize=1 << 16)
def _stem(token: str) -> str:
    from rouge_score.tokenizers import DefaultTokenizer  # noqa: PLC0415  as above

    if not token.isascii():
        return token
    stems: list[str] = DefaultTokenizer(use_stemmer=True).tokenize(token)
    return stems[0]
