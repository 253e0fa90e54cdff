"""Judges: one shape, several makers."""

from collections.abc import Iterable
from typing import Final

from judge.messages import Lang, Messages
from judge.text.fold import CJK_CHAR

_COMMA: Final[dict[Lang, str]] = {"en": ", ", "zh": "、"}


def reason(key: str, sentence: str, words: Iterable[str] = ()) -> str:
    """Why a sentence is not `full`, in its own language: a text of `messages/judges.toml`."""
    lang: Lang = "zh" if CJK_CHAR.search(sentence) else "en"
    return Messages.of("judges")(key, lang, words=_COMMA[lang].join(words))
