"""Measures of the words that an answer shares with a reference: BLEU, ROUGE, exact match, token F1.

No measure here shows whether an answer is true or supported. The texts may be empty.
"""

import re
import string
import unicodedata
from collections import Counter
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Literal

from judge.text import toolkit
from judge.text.fold import CJK, CJK_CHAR, fold

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics.bleu import BLEU

Language = Literal["zh", "other"]
"""The script of a gold answer: `zh` is measured by character, `other` by word."""

BleuCounts = Counter[str]
"""The counts that BLEU is computed from: `answers`, their tokens (`length`), the tokens of their
references (`reference_length`), their n-grams for n = 1 to 4 (`total1` …), and those that the
references have too (`right1` …). Counts of one tokenizer can be added."""

TOKENIZERS: Final[dict[Language, str]] = {"zh": "zh", "other": "13a"}
"""sacrebleu's tokenizer for each language."""
MOST_CELLS: Final = 4_000_000
"""The largest product of two token counts for which ROUGE-L is computed, in half a second."""

_ORDERS: Final = (1, 2, 3, 4)
_COUNTED: Final = ("rouge1", "rouge2")
_SUBSEQUENCES: Final = ("rougeL", "rougeLsum")
_ARTICLE: Final = re.compile(r"\b(?:a|an|the)\b")
# Two punctuation marks are in the block of the kana.
_WORD: Final = re.compile(rf"(?![・゠])[{CJK}]|[^\W_{CJK}]+")


def exact_match(answer: str, reference: str) -> float:
    """Return whether answer and reference have the same `answer_tokens` in the same order.

    After this normalisation 3.5 equals 35, -5 equals 5, and 10:30 equals 1030.

    Formula: 1 if answer and reference are equal once normalised, else 0
    Range: 0 or 1; its mean 0 to 1
    Source: Rajpurkar et al. 2016

    >>> exact_match("The cat.", "cat"), exact_match("５００元。", "500 元"), exact_match("", "cat")
    (1.0, 1.0, 0.0)
    """
    return float(answer_tokens(answer) == answer_tokens(reference))


def token_f1(answer: str, reference: str) -> float:
    """Return the share of `answer_tokens` that answer and reference have in common, in any order.

    A token counts as often as both texts have it. CMRC 2018's own script uses the longest common
    substring instead.

    Formula: F1 of the normalised words of answer and reference, Chinese by character
    Range: 0 to 1
    Zero: if one has no token; 1 if neither has any
    Source: Rajpurkar et al. 2016; Chinese by character: Cui et al. 2019

    >>> token_f1("a cat on the mat", "the cat sat")
    0.4
    """
    ours, theirs = answer_tokens(answer), answer_tokens(reference)
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * (Counter(ours) & Counter(theirs)).total() / (len(ours) + len(theirs))


def rouge(answer: str, reference: str) -> dict[str, float | None]:
    """Return ROUGE-1, -2, -L and -Lsum by rouge-score, over `word_tokens`.

    For ROUGE-Lsum, each line of a text is a sentence.

    Formula: F1 of what answer and reference have in common
    Range: 0 to 1
    Zero: if either has too few tokens, one for ROUGE-1 and two for ROUGE-2; ROUGE-L and -Lsum are
        None if the texts are `too_long`
    Source: Lin 2004; rouge-score

    >>> round(rouge("报销需要发票", "报销要发票")["rougeL"], 4)
    0.9091
    """
    wanted = _COUNTED if too_long(answer, reference) else (*_COUNTED, *_SUBSEQUENCES)
    # Lines without tokens would cost time: rouge-score compares each line with every other.
    texts = ("\n".join(filter(word_tokens, text.split("\n"))) for text in (reference, answer))
    found = _scorer(wanted).score(*texts)
    return {
        name: found[name].fmeasure if name in found else None
        for name in (*_COUNTED, *_SUBSEQUENCES)
    }


def bleu_counts(answer: str, reference: str, language: Language) -> BleuCounts:
    """Return the counts of one answer that `bleu` adds up."""
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp  # noqa: PLC0415  as below

    metric = _metric(language)
    found = metric.corpus_score([answer], [[reference]])
    # sacrebleu caches the last 65,536 texts, however long they are.
    caches: tuple[Any, ...] = (type(metric.tokenizer).__call__, TokenizerRegexp.__call__)
    for texts in caches:
        texts.cache_clear()
    counts = Counter(answers=1, length=found.sys_len, reference_length=found.ref_len)
    for n, (right, total) in enumerate(zip(found.counts, found.totals, strict=True), 1):
        counts.update({f"right{n}": right, f"total{n}": total})
    return counts


def bleu(counts: BleuCounts, language: Language) -> float:
    """Return corpus BLEU: the share of the answers' n-grams that their references have too.

    The counts are summed over the corpus, so it is no mean of sentence scores.

    Case, width and punctuation count, unlike in the other measures.

    Formula: 100 · min(1, e^(1 − |reference| ÷ |answer|)) · (p_1·p_2·p_3·p_4)^¼, p_n the clipped
        precision of n-grams
    Range: 0 to 100
    Zero: if no token matches, or no answer has four; an order without a match beside others is
        smoothed (`exp`, as mteval-v13a)
    Source: Papineni et al. 2002; sacreBLEU, Post 2018

    >>> counts = bleu_counts("the cat is on mat", "the cat is on the mat", "other")
    >>> round(bleu(counts, "other"), 2)
    57.89
    """
    metric = _metric(language)
    found = metric.compute_bleu(
        [counts[f"right{n}"] for n in _ORDERS],
        [counts[f"total{n}"] for n in _ORDERS],
        counts["length"],
        counts["reference_length"],
        smooth_method=metric.smooth_method,
    )
    # sacrebleu's score of equal texts is 100.00000000000004.
    return min(100.0, float(found.score))


def bleu_signature(language: Language) -> str:
    """Return sacrebleu's signature of `bleu`: only scores of equal signature compare."""
    metric = _metric(language)
    # The signature contains the number of references, known once something was scored.
    metric.corpus_score([""], [[""]])
    return str(metric.get_signature())


@lru_cache(maxsize=2)
def _metric(language: Language) -> "BLEU":
    # Not needed by most commands.
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415

    return BLEU(tokenize=TOKENIZERS[language])


@lru_cache(maxsize=2)
def _scorer(measures: tuple[str, ...]) -> "RougeScorer":
    tokenizer = SimpleNamespace(tokenize=word_tokens)
    module: Any = toolkit.alone("rouge_score.rouge_scorer")
    scorer: RougeScorer = module.RougeScorer(list(measures), tokenizer=tokenizer)
    return scorer


def too_long(answer: str, reference: str) -> bool:
    """Return whether two texts are too long for a longest common subsequence."""
    return len(word_tokens(answer)) * len(word_tokens(reference)) > MOST_CELLS


def answer_tokens(text: str) -> list[str]:
    """Return the tokens of a text by SQuAD's normalisation, extended beyond ASCII.

    The text is folded (NFKC and lower case), and punctuation is deleted, also within numbers. The
    words `a`, `an` and `the` are dropped, but not beside a Chinese, Japanese or Korean character,
    because the A of 选A or A股 is a name. The rest is cut at white space and around every such
    character, as in MLQA (Lewis et al. 2020) and CMRC 2018.

    >>> answer_tokens("The U.S. Army, 第3条。")
    ['us', 'army', '第', '3', '条']
    """
    folded = _folded(text)
    plain = folded.translate({ord(char): None for char in set(folded) if _is_mark(char)})
    return CJK_CHAR.sub(r" \g<0> ", _ARTICLE.sub(" ", plain)).split()


@lru_cache(maxsize=8)
def word_tokens(text: str) -> list[str]:
    """Return the folded words of a text, and each Chinese, Japanese or Korean character by itself.

    A word consists of letters and digits of any script. On ASCII text the tokens are rouge-score's.

    >>> word_tokens("Ｔhe café's 差旅标准: 3.2 Москва")
    ['the', 'café', 's', '差', '旅', '标', '准', '3', '2', 'москва']
    """
    return _WORD.findall(_folded(text))


def language_of(text: str) -> Language | None:
    """Return the language of a text by its script; None without a letter.

    The language is `zh` if at least half of the `word_tokens` with a letter are single Chinese,
    Japanese or Korean characters.

    >>> [language_of(text) for text in ("用 kubectl get pods", "193.8亿", "193.8")]
    ['other', 'zh', None]
    """
    tokens = [token for token in word_tokens(text) if any(map(str.isalpha, token))]
    if not tokens:
        return None
    single = sum(bool(CJK_CHAR.match(token)) for token in tokens)
    return "zh" if 2 * single >= len(tokens) else "other"


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else fold(text).text


def _is_mark(char: str) -> bool:
    return char in string.punctuation or unicodedata.category(char).startswith("P")
