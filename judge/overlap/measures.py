"""How far an answer has the words of a reference: BLEU, ROUGE, exact match, token F1.

None of these sees whether an answer is true or supported: they count what two texts share. Texts
are strings of any length, also empty ones. sacrebleu and rouge-score are loaded when they are used.
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
"""All that BLEU is made of, over any number of `answers`: tokens of these (`length`) and of their
references (`reference_length`); of n = 1 to 4 tokens the n-grams of the answers (`given1` …) and
those of them that the references have (`right1` …). Counts of one tokenizer add up."""

TOKENIZERS: Final[dict[Language, str]] = {
    "zh": "zh",
    "ja": "char",
    "ko": "char",
    "unspaced": "char",
    "other": "13a",
}
"""sacrebleu's tokenizer for each language. BLEU is over characters for Japanese and Korean, whose
words need dictionaries that are packages of their own, and for the other scripts without spaces
between words (`unspaced`: Thai, Lao, Burmese, Khmer, Tibetan). `other` parts words by spaces."""

WEIGHT: Final = 1.2
"""The exponent of ROUGE-W that Lin's ROUGE-1.5.5 is commonly run with."""

MOST_CELLS: Final = 4_000_000
"""Tokens of the answer times tokens of the reference over which no common subsequence is sought:
two texts of 2 000 tokens, where ROUGE-L and -W take about half a second each, -Lsum up to five."""

MOST_TOKENS: Final = 50_000
"""Tokens of one text over which none is sought either."""

_ORDERS: Final = (1, 2, 3, 4)
_COUNTED: Final[tuple[Rouge, ...]] = ("rouge1", "rouge2")
_SOUGHT: Final[tuple[Rouge, ...]] = ("rougeL", "rougeLsum")
_ARTICLE: Final = re.compile(r"\b(?:a|an|the)\b")
# Thai, Lao, Burmese and Khmer are written without spaces, as Chinese is.
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_SCRIPTS: Final = {
    "hangul": re.compile("[\uac00-\ud7af]"),
    "kana": re.compile("[\u3040-\u30ff\u31f0-\u31ff]"),
    "han": CJK_CHAR,
    # And Tibetan, whose syllables are tokens: 13a does not know the mark between them.
    "unspaced": re.compile("[\u0e00-\u109f\u1780-\u17ff]"),
}
"""Scripts by the first character of a token; the first pattern that matches counts."""
_KANA_SHARE: Final = 0.1
"""Running Japanese is about half kana; a Chinese text that names a Japanese thing has a few."""


def exact_match(answer: str, reference: str) -> float:
    """Whether answer and reference are the same `answer_tokens` in the same order.

    By these 3.5 equals 35, -5 equals 5 and 10:30 equals 1030.

    Formula: 1 if answer and reference are equal once normalised, else 0
    Range: 0 or 1; its mean 0 to 1
    Source: Rajpurkar et al. 2016

    >>> exact_match("The cat.", "cat"), exact_match("５００元。", "500 元"), exact_match("", "cat")
    (1.0, 1.0, 0.0)
    """
    return float(answer_tokens(answer) == answer_tokens(reference))


def token_f1(answer: str, reference: str) -> float:
    """How many `answer_tokens` a short answer shares with the reference, as bags.

    Each token counts as often as both have it. CMRC 2018's own script has the longest common
    substring in place of the bag.

    Formula: F1 of the normalised words of answer and reference, Chinese by character
    Range: 0 to 1
    Zero: where nothing is left of one of them; 1 where nothing is left of either
    Source: Rajpurkar et al. 2016; Chinese by character: Cui et al. 2019

    >>> token_f1("a cat on the mat", "the cat sat")
    0.4
    """
    ours, theirs = answer_tokens(answer), answer_tokens(reference)
    if not ours or not theirs:
        return float(ours == theirs)
    same = (Counter(ours) & Counter(theirs)).total()
    return 2 * same / (len(ours) + len(theirs))


def rouge(answer: str, reference: str, *, stem: bool = False) -> dict[str, float | None]:
    """ROUGE-1, -2, -L and -Lsum (F) of an answer and a reference, by rouge-score in our tokens.

    For ROUGE-Lsum every line is a sentence, and of each sentence of the reference those tokens
    count that its longest common subsequence with any sentence of the answer holds, none more often
    than both texts have it. `stem` cuts English words to Porter's stems.

    Formula: F1 of what answer and reference have in common
    Range: 0 to 1
    Zero: where either has nothing to compare: no token, for ROUGE-2 fewer than two; ROUGE-L and
        -Lsum are None where the texts are `too_long`
    Source: Lin 2004; rouge-score

    >>> round(rouge("报销需要发票", "报销要发票")["rougeL"], 4)
    0.9091
    """
    wanted = _COUNTED
    if not too_long(len(word_tokens(answer)), len(word_tokens(reference))):
        wanted = (*_COUNTED, *_SOUGHT)
        answer, reference = _worded(answer), _worded(reference)
    scores = _scorer(wanted, stem=stem).score(reference, answer)
    found = {name: each.fmeasure for name, each in scores.items()}
    return {name: found.get(name) for name in (*_COUNTED, *_SOUGHT)}


def rouge_w(answer: str, reference: str) -> float | None:
    """ROUGE-L in which words (characters in Chinese) in a row count for more than the same apart.

    Precision is f⁻¹(W ÷ f(|answer|)), recall the same over the reference. Time is proportional to
    the product of both lengths.

    Formula: F1 of f⁻¹(W ÷ f(|answer|)) and f⁻¹(W ÷ f(|reference|)), f(n) = n^w,
        f⁻¹(x) = x^(1 ÷ w), w = 1.2, W the sum of f over the runs of the weighted longest common
        subsequence
    Range: 0 to 1
    Zero: where either has no token; None where the texts are `too_long`
    Source: Lin 2004

    >>> [round(rouge_w(y, "A B C D E F G"), 4) for y in ("A B C D H I K", "A H B K C I D")]
    [0.5714, 0.4535]
    """
    ours, theirs = word_tokens(answer), word_tokens(reference)
    if too_long(len(ours), len(theirs)):
        return None
    if not ours or not theirs:
        return 0.0
    common = wlcs(theirs, ours) ** (1 / WEIGHT)
    precision, recall = min(1.0, common / len(ours)), min(1.0, common / len(theirs))
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def wlcs(first: Sequence[str], second: Sequence[str], weight: float = WEIGHT) -> float:
    """Lin's weighted longest common subsequence: k^weight summed over runs of k matches.

    Where two tokens are equal they are always matched, as his program has it. At weight 1 this is
    the length of the longest common subsequence.
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


def sentence_bleu(answer: str, reference: str, language: Language) -> tuple[float, BleuCounts]:
    """BLEU of one answer by itself, over the orders that it is long enough for, and its counts.

    Case, width and punctuation count, as they do in no other measure here. An n-gram is right as
    often as both texts have it.

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
    # sacrebleu caches the last 65 536 texts, however long they are.
    caches: tuple[Any, ...] = (type(metric.tokenizer).__call__, TokenizerRegexp.__call__)
    for kept in caches:
        kept.cache_clear()
    counts = Counter(answers=1, length=found.sys_len, reference_length=found.ref_len)
    for n, (right, given) in enumerate(zip(found.counts, found.totals, strict=True), 1):
        counts.update({f"right{n}": right, f"given{n}": given})
    return min(100.0, float(found.score)), counts


def bleu(counts: BleuCounts, language: Language) -> float:
    """Corpus BLEU: how many of the answers' runs of one to four tokens stand in their references.

    All counts are summed over the corpus: it is no mean of sentence scores.

    Formula: 100 · min(1, e^(1 − |reference| ÷ |answer|)) · (p_1·p_2·p_3·p_4)^¼, p_n the clipped
        precision of n-grams
    Range: 0 to 100
    Zero: where no token matches, or no answer has four; an order without a match beside others is
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
    # A score of equal texts is 100.00000000000004 to sacrebleu, and reported as 100.00.
    return min(100.0, float(found.score))


def bleu_signature(language: Language) -> str:
    """The word of sacrebleu on how `bleu` is made: only scores of equal signature compare."""
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415  as below

    metric = BLEU(tokenize=TOKENIZERS[language])
    # A signature tells the number of references, known once something was scored.
    metric.corpus_score([""], [[""]])
    return str(metric.get_signature())


@lru_cache(maxsize=8)
def _metric(tokenizer: str) -> "BLEU":
    # Not needed by most commands.
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415

    return BLEU(tokenize=tokenizer, effective_order=True)


def too_long(ours: int, theirs: int) -> bool:
    """Whether texts of these token counts are too long for a longest common subsequence.

    >>> too_long(2_000, 2_000), too_long(2_001, 2_000), too_long(50_001, 1)
    (False, True, True)
    """
    return ours * theirs > MOST_CELLS or max(ours, theirs) > MOST_TOKENS


def answer_tokens(text: str) -> list[str]:
    """The tokens left by SQuAD's normalisation, which this equals on ASCII text.

    NFKC and lower case; punctuation deleted (SQuAD's ASCII marks and symbols, and all that Unicode
    calls punctuation), that of numbers too; the words `a`, `an`, `the` dropped, but not beside a
    Chinese, Japanese or Korean character, for the A of 选A or A股 is a name; cut at white space and
    around every character of a script without spaces, as in MLQA (Lewis et al. 2020) and CMRC 2018.

    >>> answer_tokens("The U.S. Army, 第3条。")
    ['us', 'army', '第', '3', '条']
    """
    folded = _folded(text)
    bare = folded.translate({ord(c): None for c in set(folded) if _kind(c) == "mark"})
    bare = _ARTICLE.sub(" ", bare)
    return bare.translate({ord(c): f" {c} " for c in set(bare) if _kind(c) == "alone"}).split()


def word_tokens(text: str) -> list[str]:
    """Words, folded; in scripts that put no space between words every character is a token.

    Letters, digits and their marks, of any script, make words; everything else parts them. Han,
    kana, Thai, Lao, Burmese and Khmer characters stand alone. So does hangul, though Korean has
    spaces: a word there bears its particles, and by character 서울 is found in 서울에서. Case and
    compatibility forms (NFKC) are folded. On ASCII text these are rouge-score's own tokens.

    >>> word_tokens("Ｔhe café's 差旅标准: 3.2 Москва")
    ['the', 'café', 's', '差', '旅', '标', '准', '3', '2', 'москва']
    """
    folded, parts = _folded(text), {"alone": " {} ", "word": "{}"}
    return folded.translate(
        {ord(c): parts.get(_kind(c), " ").format(c) for c in set(folded)}
    ).split()


def language_of(text: str) -> Language | None:
    """The language of a text as far as its script tells, for the choice of a tokenizer.

    `other` where of the `word_tokens` with a letter most are words. Else what most characters are:
    `ko` for hangul, `unspaced` for Thai, Lao, Burmese, Khmer and Tibetan; of Han and kana `ja`
    where a tenth is kana, and `zh`, also for Japanese without. None where no token has a letter.

    >>> [language_of(text) for text in ("用 kubectl get pods", "東京へ行く", "193.8亿", "193.8")]
    ['other', 'ja', 'zh', None]
    """
    lettered = [token for token in word_tokens(text) if any(map(str.isalpha, token))]
    if not lettered:
        return None
    of = Counter(
        next((script for script, pattern in _SCRIPTS.items() if pattern.match(token)), "other")
        for token in lettered
    )
    east = of["han"] + of["kana"]
    if of["other"] > east + of["hangul"] + of["unspaced"]:
        return "other"
    if max(of["hangul"], of["unspaced"]) > east:
        return "ko" if of["hangul"] > of["unspaced"] else "unspaced"
    return "ja" if of["kana"] >= _KANA_SHARE * east else "zh"


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else fold(text).text


@lru_cache(maxsize=1 << 14)
def _kind(char: str) -> Literal["alone", "word", "mark", "other"]:
    """`alone`: of a script that puts no space between words, for which hangul counts."""
    category = unicodedata.category(char)
    # A mark belongs to its letter: otherwise Hindi and Arabic words would be split.
    of_a_word = char.isalnum() or category.startswith("M")
    if category.startswith("P") or char in string.punctuation:  # ・ and ゠ are in the kana blocks
        return "mark"
    if CJK_CHAR.match(char) or (of_a_word and _UNSPACED.match(char)):
        return "alone"
    return "word" if of_a_word else "other"


def _worded(text: str) -> str:
    """Drop lines without tokens, because rouge-score compares each line with every other."""
    lines = text.split("\n")
    return text if len(lines) == 1 else "\n".join(filter(word_tokens, lines))


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
