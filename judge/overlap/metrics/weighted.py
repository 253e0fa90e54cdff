"""ROUGE-W: runs of words in common count for more than the same words apart."""

from collections.abc import Sequence
from typing import Final

from judge.overlap.metrics.rouge import Prf, too_long
from judge.overlap.metrics.tokens import word_tokens

WEIGHT: Final = 1.2
"""The exponent that Lin's ROUGE-1.5.5 is commonly run with."""


def rouge_w(answer: str, reference: str, weight: float = WEIGHT) -> Prf | None:
    """The weighted longest common subsequence of answer and reference, as shares of both.

    With f(k) = k^weight, WLCS the sum of f over the lengths of the runs of consecutive matches that
    Lin's dynamic program finds, and m and n the tokens of reference and answer: recall
    f⁻¹(WLCS / f(m)), precision f⁻¹(WLCS / f(n)), F their harmonic mean (β = 1).

    Args:
        answer: any text, in the tokens of `word_tokens`.
        reference: the gold answer, likewise.
        weight: at least 1; at 1 this is ROUGE-L.

    Returns:
        each 0 to 1; 1 where both are the same, 0 where either has no token. None where the texts
        are `too_long`, as time is proportional to m·n.

    Raises:
        ValueError: the weight is under 1, or no number.

    Source: C.-Y. Lin (2004), ROUGE: a package for automatic evaluation of summaries, ACL workshop
    Text Summarization Branches Out.

    >>> [round(rouge_w(y, "A B C D E F G").f, 4) for y in ("A B C D H I K", "A H B K C I D")]
    [0.5714, 0.4535]
    """
    if not 1 <= weight < float("inf"):
        raise ValueError(f"weight is {weight!r}; a number of at least 1 is needed")
    ours, theirs = word_tokens(answer), word_tokens(reference)
    if too_long(len(ours), len(theirs)):
        return None
    if not ours or not theirs:
        return Prf(0.0, 0.0, 0.0)
    common = wlcs(theirs, ours, weight) ** (1 / weight)
    return Prf.of(min(1.0, common / len(ours)), min(1.0, common / len(theirs)))


def wlcs(first: Sequence[str], second: Sequence[str], weight: float = WEIGHT) -> float:
    """Lin's weighted longest common subsequence: f(k) = k^weight summed over runs of k matches.

    Where two tokens are equal they are always matched, as his program has it.

    >>> wlcs("ABCDEFG", "ABCDHIK", 2), wlcs("ABCDEFG", "AHBKCID", 2)
    (16.0, 4.0)
    """
    powers = [float(k) ** weight for k in range(min(len(first), len(second)) + 1)]
    scores, runs = [0.0] * (len(second) + 1), [0] * (len(second) + 1)
    for token in first:
        corner, corner_run, left = 0.0, 0, 0.0
        for j, other in enumerate(second, 1):
            above, above_run = scores[j], runs[j]
            if token == other:
                runs[j] = corner_run + 1
                left = corner + powers[corner_run + 1] - powers[corner_run]
            else:
                runs[j] = 0
                left = max(above, left)
            scores[j] = left
            corner, corner_run = above, above_run
    return scores[-1]
