"""Exact match and token F1, as reading comprehension is scored."""

import re
import string
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Final

from judge.overlap.metrics.rouge import Prf
from judge.overlap.metrics.tokens import folded_text, spaced_out

_ARTICLE: Final = re.compile(r"\b(?:a|an|the)\b")


def answer_tokens(text: str) -> list[str]:
    """The tokens left by SQuAD's normalisation.

    Lower case; punctuation deleted (SQuAD's ASCII marks and symbols, and all that Unicode calls
    punctuation); the words `a`, `an`, `the` dropped; cut at white space, and around every Chinese
    character and those of other scripts without spaces. Before that NFKC, so that width makes no
    difference. Beside a Chinese, Japanese or Korean character no article is dropped, with a space
    between or without: the A of 选A or A股 is a name. With the punctuation go points, signs and
    colons of numbers: 3.5 is 35, -5 is 5 and 10:30 is 1030.

    Source: `normalize_answer` of SQuAD's evaluate-v2.0.py, which this equals on ASCII text; by
    character as in P. Lewis et al. (2020), MLQA, ACL, and Y. Cui et al. (2019), CMRC 2018, EMNLP.

    >>> answer_tokens("The U.S. Army, 第3条。")
    ['us', 'army', '第', '3', '条']
    """
    folded = folded_text(text)
    marks = {ord(char): None for char in set(folded) if _is_punctuation(char)}
    return spaced_out(_ARTICLE.sub(" ", folded.translate(marks))).split()


def exact_match(answer: str, reference: str) -> float:
    """1 where answer and reference are the same tokens in the same order, else 0.

    Args:
        answer: any text.
        reference: the gold answer.

    Returns:
        0.0 or 1.0; 1.0 where nothing is left of either after normalisation (`answer_tokens`), by
        which 3.5 equals 35, -5 equals 5 and 10:30 equals 1030.

    Source: P. Rajpurkar et al. (2016), SQuAD, EMNLP, section 6.1.

    >>> exact_match("The cat.", "cat"), exact_match("５００元。", "500 元"), exact_match("", "cat")
    (1.0, 1.0, 0.0)
    """
    return float(answer_tokens(answer) == answer_tokens(reference))


def token_f1(answer: str, reference: str) -> float:
    """Harmonic mean of precision and recall over the tokens of both, as bags: F of `token_prf`.

    With `same` the tokens in common, each as often as both have it: 2·same / (tokens of the answer
    + tokens of the reference). CMRC 2018's own script has the longest common substring in place of
    `same`; this is SQuAD's bag, over its characters.

    Args:
        answer: any text.
        reference: the gold answer.

    Returns:
        0 to 1, symmetric; 1.0 where nothing is left of either after normalisation
        (`answer_tokens`), 0.0 where nothing is left of one. By that normalisation 3.5 equals 35, -5
        equals 5 and 10:30 equals 1030.

    Source: as `exact_match`; of none left, evaluate-v2.0.py.

    >>> token_f1("a cat on the mat", "the cat sat"), round(token_f1("差旅标准", "差旅费标准"), 4)
    (0.4, 0.8889)
    """
    return token_prf(answer, reference).f


def token_prf(answer: str, reference: str) -> Prf:
    """Token precision, recall and F1: `same` over the tokens of the answer, and of the reference.

    Args:
        answer: any text.
        reference: the gold answer.

    Returns:
        as `token_f1`, of which all three have the values where nothing is left.

    Source: as `token_f1`.

    >>> token_prf("Paris, France", "Paris").precision
    0.5
    """
    ours, theirs = answer_tokens(answer), answer_tokens(reference)
    if not ours or not theirs:
        same_nothing = float(ours == theirs)
        return Prf(same_nothing, same_nothing, same_nothing)
    same = (Counter(ours) & Counter(theirs)).total()
    return Prf(same / len(ours), same / len(theirs), 2 * same / (len(ours) + len(theirs)))


@lru_cache(maxsize=1 << 14)
def _is_punctuation(char: str) -> bool:
    return char in string.punctuation or unicodedata.category(char).startswith("P")
