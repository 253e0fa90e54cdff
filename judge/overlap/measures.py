"""Measures of the words that an answer shares with a reference: BLEU, ROUGE, exact match, token F1.

No measure here shows whether an answer is true or supported. The texts may be empty.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Literal

from judge.overlap.records import Language
from judge.text import toolkit
from judge.text.fold import CJK_CHAR, fold

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics.bleu import BLEU

Rouge = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]
BleuCounts = Counter[str]
"""The counts that BLEU is computed from: `answers`, their tokens (`length`), the tokens of their
references (`reference_length`), their n-grams for n = 1 to 4 (`given1` …), and those that the
references have too (`right1` …). Counts of one tokenizer can be added."""

TOKENIZERS: Final[dict[Language, str]] = {"zh": "zh", "unspaced": "char", "other": "13a"}
"""sacrebleu's tokenizer for each language."""
ROUGE_W_EXPONENT: Final = 1.2
"""The usual exponent of Lin's ROUGE-1.5.5."""
MOST_CELLS: Final = 4_000_000
"""The largest product of the two token counts for which a longest common subsequence is computed:
two texts of 2,000 tokens take half a second for ROUGE-L."""

_ORDERS: Final = (1, 2, 3, 4)
_COUNTED: Final[tuple[Rouge, ...]] = ("rouge1", "rouge2")
_SUBSEQUENCES: Final[tuple[Rouge, ...]] = ("rougeL", "rougeLsum")
_ARTICLE: Final = re.compile(r"\b(?:a|an|the)\b")
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_THAI_LAO_BURMESE_KHMER: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_TIBETAN: Final = re.compile("[\u0f00-\u0fff]")
_OTHER_SHARE: Final = 0.1
"""Running Japanese is about half kana; a Chinese text that names a Japanese thing has a few."""


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


def rouge(answer: str, reference: str, *, stem: bool = False) -> dict[str, float | None]:
    """Return ROUGE-1, -2, -L and -Lsum by rouge-score, over `word_tokens`.

    For ROUGE-Lsum, each line of a text is a sentence. With `stem`, English words are replaced by
    their Porter stems.

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
    scores = _scorer(wanted, stem=stem).score(*texts)
    found = {name: each.fmeasure for name, each in scores.items()}
    return {name: found.get(name) for name in (*_COUNTED, *_SUBSEQUENCES)}


def rouge_w(answer: str, reference: str) -> float | None:
    """Return ROUGE-W: ROUGE-L with more weight on consecutive common tokens.

    The time grows with the product of both lengths.

    Formula: F1 of f⁻¹(W ÷ f(|answer|)) and f⁻¹(W ÷ f(|reference|)), f(n) = n^w,
        f⁻¹(x) = x^(1 ÷ w), w = 1.2, W the sum of f over the runs of the weighted longest common
        subsequence
    Range: 0 to 1
    Zero: if either has no token; None if the texts are `too_long`
    Source: Lin 2004

    >>> [round(rouge_w(y, "A B C D E F G"), 4) for y in ("A B C D H I K", "A H B K C I D")]
    [0.5714, 0.4535]
    """
    ours, theirs = word_tokens(answer), word_tokens(reference)
    if too_long(answer, reference):
        return None
    if not ours or not theirs:
        return 0.0
    common: float = wlcs(theirs, ours) ** (1 / ROUGE_W_EXPONENT)
    return min(1.0, 2 * common / (len(ours) + len(theirs)))


def wlcs(first: Sequence[str], second: Sequence[str], exponent: float = ROUGE_W_EXPONENT) -> float:
    """Return Lin's weighted longest common subsequence: k^exponent summed over runs of k matches.

    As in his program, equal tokens are always matched. At exponent 1 this is the length of the
    longest common subsequence.
    """
    powers = [float(k) ** exponent for k in range(min(len(first), len(second)) + 1)]
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


def sentence_bleu(answer: str, reference: str, language: Language) -> tuple[float, BleuCounts]:
    """Return BLEU of one answer, over the orders for which it is long enough, and its counts.

    Case, width and punctuation count, unlike in the other measures.

    Formula: bleu of one answer, the geometric mean over n = 1 to min(4, words of the answer):
        effective order
    Range: 0 to 100
    Source: Papineni et al. 2002; sacreBLEU, Post 2018, effective order

    >>> score, counts = sentence_bleu("the cat is on mat", "the cat is on the mat", "other")
    >>> round(score, 2), [counts[f"right{n}"] for n in _ORDERS]
    (57.89, [5, 3, 2, 1])
    """
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp  # noqa: PLC0415  as below

    metric = _metric(TOKENIZERS[language])
    found = metric.sentence_score(answer, [reference])
    # sacrebleu caches the last 65,536 texts, however long they are.
    caches: tuple[Any, ...] = (type(metric.tokenizer).__call__, TokenizerRegexp.__call__)
    for texts in caches:
        texts.cache_clear()
    counts = Counter(answers=1, length=found.sys_len, reference_length=found.ref_len)
    for n, (right, given) in enumerate(zip(found.counts, found.totals, strict=True), 1):
        counts.update({f"right{n}": right, f"given{n}": given})
    return min(100.0, float(found.score)), counts


def bleu(counts: BleuCounts, language: Language) -> float:
    """Return corpus BLEU: the share of the answers' n-grams that their references have too.

    The counts are summed over the corpus, so it is no mean of sentence scores.

    Formula: 100 · min(1, e^(1 − |reference| ÷ |answer|)) · (p_1·p_2·p_3·p_4)^¼, p_n the clipped
        precision of n-grams
    Range: 0 to 100
    Zero: if no token matches, or no answer has four; an order without a match beside others is
        smoothed (`exp`, as mteval-v13a)
    Source: Papineni et al. 2002; sacreBLEU, Post 2018

    >>> _, counts = sentence_bleu("the cat is on mat", "the cat is on the mat", "other")
    >>> round(bleu(counts, "other"), 2), bleu_signature("other").split("|version")[0]
    (57.89, 'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp')
    """
    metric = _metric(TOKENIZERS[language])
    found = metric.compute_bleu(
        [counts[f"right{n}"] for n in _ORDERS],
        [counts[f"given{n}"] for n in _ORDERS],
        counts["length"],
        counts["reference_length"],
        smooth_method=metric.smooth_method,
    )
    # sacrebleu's score of equal texts is 100.00000000000004.
    return min(100.0, float(found.score))


def bleu_signature(language: Language) -> str:
    """Return sacrebleu's signature of `bleu`: only scores of equal signature compare."""
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415  as below

    metric = BLEU(tokenize=TOKENIZERS[language])
    # The signature contains the number of references, known once something was scored.
    metric.corpus_score([""], [[""]])
    return str(metric.get_signature())


@lru_cache(maxsize=8)
def _metric(tokenizer: str) -> "BLEU":
    # Not needed by most commands.
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415

    return BLEU(tokenize=tokenizer, effective_order=True)


def too_long(answer: str, reference: str) -> bool:
    """Return whether two texts are too long for a longest common subsequence."""
    return len(word_tokens(answer)) * len(word_tokens(reference)) > MOST_CELLS


def answer_tokens(text: str) -> list[str]:
    """Return the tokens of a text by SQuAD's normalisation, extended beyond ASCII.

    The text is folded (NFKC and lower case), and punctuation is deleted, also within numbers. The
    words `a`, `an` and `the` are dropped, but not beside a Chinese, Japanese or Korean character,
    because the A of 选A or A股 is a name. The rest is cut at white space and around every character
    of a script without spaces, as in MLQA (Lewis et al. 2020) and CMRC 2018.

    >>> answer_tokens("The U.S. Army, 第3条。")
    ['us', 'army', '第', '3', '条']
    """
    folded = _folded(text)
    bare = folded.translate({ord(c): None for c in set(folded) if _kind(c) == "mark"})
    bare = _ARTICLE.sub(" ", bare)
    return bare.translate({ord(c): f" {c} " for c in set(bare) if _kind(c) == "alone"}).split()


@lru_cache(maxsize=8)
def word_tokens(text: str) -> list[str]:
    """Return the folded words of a text, and single characters of scripts without spaces.

    A word consists of letters, digits and their marks, of any script. Each Han, kana, hangul, Thai,
    Lao, Burmese or Khmer character is a token; hangul because Korean particles are part of the
    word, so that 서울 is found in 서울에서. On ASCII text the tokens are rouge-score's.

    >>> word_tokens("Ｔhe café's 差旅标准: 3.2 Москва")
    ['the', 'café', 's', '差', '旅', '标', '准', '3', '2', 'москва']
    """
    folded, parts = _folded(text), {"alone": " {} ", "word": "{}"}
    return folded.translate(
        {ord(c): parts.get(_kind(c), " ").format(c) for c in set(folded)}
    ).split()


def language_of(text: str) -> Language | None:
    """Return the language of a text by its script, for the choice of a tokenizer.

    The language is `other` if most of the `word_tokens` that contain a letter are words. If most
    are single characters, it is `unspaced` if at least a tenth of these are not Han, as in
    Japanese, Korean or Thai, and `zh` otherwise. A text without a letter has none.

    >>> [language_of(text) for text in ("用 kubectl get pods", "東京へ行く", "193.8亿", "193.8")]
    ['other', 'unspaced', 'zh', None]
    """
    tokens = [token for token in word_tokens(text) if any(map(str.isalpha, token))]
    if not tokens:
        return None
    han = sum(bool(_HAN.match(token)) for token in tokens)
    unspaced = sum(_kind(t[0]) == "alone" or bool(_TIBETAN.match(t)) for t in tokens) - han
    if 2 * (han + unspaced) < len(tokens):
        return "other"
    return "unspaced" if unspaced >= _OTHER_SHARE * (han + unspaced) else "zh"


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else fold(text).text


@lru_cache(maxsize=1 << 14)
def _kind(char: str) -> Literal["alone", "word", "mark", "other"]:
    """Return whether a character is a token alone, part of a word, or punctuation."""
    category = unicodedata.category(char)
    # A mark belongs to its letter; otherwise Hindi and Arabic words would be split.
    in_word = char.isalnum() or category.startswith("M")
    if category.startswith("P") or char in string.punctuation:  # ・ and ゠ are in the kana blocks
        return "mark"
    if CJK_CHAR.match(char) or (in_word and _THAI_LAO_BURMESE_KHMER.match(char)):
        return "alone"
    return "word" if in_word else "other"


@cache
def _rouge() -> Any:  # noqa: ANN401  rouge-score ships no types
    return toolkit.alone("rouge_score.rouge_scorer")


@lru_cache(maxsize=4)
def _scorer(wanted: tuple[Rouge, ...], *, stem: bool) -> "RougeScorer":
    def stems(text: str) -> list[str]:
        return [_stem(token) for token in word_tokens(text)]

    tokenizer = SimpleNamespace(tokenize=stems if stem else word_tokens)
    return _rouge().RougeScorer(list(wanted), tokenizer=tokenizer)


@lru_cache(maxsize=1 << 16)
def _stem(token: str) -> str:
    if not token.isascii():
        return token
    stems: list[str] = _rouge().tokenizers.DefaultTokenizer(use_stemmer=True).tokenize(token)
    return stems[0]
