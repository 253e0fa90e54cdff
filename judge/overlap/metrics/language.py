"""Which of sacrebleu's tokenizers a reference calls for."""

import re
from collections import Counter
from typing import Final

from judge.overlap.metrics.bleu import Language
from judge.overlap.metrics.tokens import stands_alone, word_tokens
from judge.text.fold import CJK_CHAR

_HANGUL: Final = re.compile("[\uac00-\ud7af]")
_KANA: Final = re.compile("[\u3040-\u30ff\u31f0-\u31ff]")
# Its syllables have a mark between them, and are tokens elsewhere; 13a does not know the mark.
_TIBETAN: Final = re.compile("[\u0f00-\u0fff]")
_KANA_SHARE: Final = 0.1
"""Running Japanese is about half kana; a Chinese text that names a Japanese thing has a few."""


def language_of(text: str) -> Language | None:
    """The language of a text as far as its script tells, for the choice of a tokenizer.

    Of `word_tokens` those with a letter count one each: words, and single characters of scripts
    without spaces between words. Where words are more it is `other`. Else it is what most of the
    characters are: `ko` for hangul, `unspaced` for Thai, Lao, Burmese, Khmer and Tibetan (by
    syllable); of Han and kana `ja` where a tenth is kana, and `zh`. Japanese without kana is taken
    for Chinese. None where no token has a letter, as in 500 or 10:30: digits are of no script.

    >>> [language_of(text) for text in ("Paris", "用 kubectl get pods", "東京へ行く", "서울")]
    ['other', 'other', 'ja', 'ko']
    >>> [language_of(text) for text in ("193.8亿", "ภาษาไทย", "193.8")]
    ['zh', 'unspaced', None]
    """
    of = Counter(_script(token) for token in word_tokens(text) if _has_letter(token))
    if not of:
        return None
    east = of["han"] + of["kana"]
    if of["other"] > east + of["hangul"] + of["unspaced"]:
        return "other"
    if max(of["hangul"], of["unspaced"]) > east:
        return "ko" if of["hangul"] > of["unspaced"] else "unspaced"
    return "ja" if of["kana"] >= _KANA_SHARE * east else "zh"


def _has_letter(token: str) -> bool:
    return any(char.isalpha() for char in token)


def _script(token: str) -> str:
    if _HANGUL.match(token):
        return "hangul"
    if _KANA.match(token):
        return "kana"
    if CJK_CHAR.match(token):
        return "han"
    return "unspaced" if stands_alone(token[0]) or _TIBETAN.match(token) else "other"
