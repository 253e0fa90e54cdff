"""Which of sacrebleu's tokenizers a reference calls for."""

import re
from typing import Final

from judge.metrics.overlap.bleu import Language
from judge.metrics.overlap.tokens import folded_text
from judge.text.fold import CJK, count_cjk

_HANGUL: Final = re.compile("[\uac00-\ud7af]")
_KANA: Final = re.compile("[\u3040-\u30ff\u31f0-\u31ff]")
_OTHER_WORD: Final = re.compile(rf"(?:(?![{CJK}])[^\W_])+")
_KANA_SHARE: Final = 0.1
"""Running Japanese is about half kana; a Chinese text that names a Japanese thing has a few."""


def language_of(text: str) -> Language:
    """The language of a text as far as its script tells, for the choice of a tokenizer.

    Han, kana and hangul characters count one each, and so does every word of other scripts. Under
    half of the former it is `other`; else `ko` where most of them are hangul, `ja` where a tenth of
    the rest is kana, and `zh`. Japanese without kana is taken for Chinese.

    >>> [language_of(text) for text in ("Paris", "用 kubectl get pods", "東京へ行く", "서울", "")]
    ['other', 'other', 'ja', 'ko', 'other']
    """
    folded = folded_text(text)  # half-width kana are kana then
    own = count_cjk(folded)
    if own == 0 or own < len(_OTHER_WORD.findall(folded)):
        return "other"
    hangul = len(_HANGUL.findall(folded))
    if 2 * hangul > own:
        return "ko"
    return "ja" if len(_KANA.findall(folded)) >= _KANA_SHARE * (own - hangul) else "zh"
