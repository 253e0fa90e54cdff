"""The tokens that overlap is counted in."""

import unicodedata
from functools import lru_cache
from typing import Final

from judge.text.fold import CJK_CHAR, fold

# Thai, Lao, Burmese and Khmer are written without spaces, as Chinese is.
_UNSPACED: Final = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))


def word_tokens(text: str) -> list[str]:
    """Words, folded; in scripts that put no space between words every character is a token.

    Letters, digits and their marks, of any script, make words; everything else parts them, the dot
    of 让・雅克 too. Han, kana, Thai, Lao, Burmese and Khmer characters stand alone. So does hangul,
    though Korean has spaces: a word there bears its particles, and by character 서울 is found in
    서울에서. Case, width and compatibility forms (NFKC) are folded and characters without width
    dropped. On ASCII text these are the tokens of rouge-score's default tokenizer, which on others
    drops all but a-z and 0-9.

    >>> word_tokens("Ｔhe café's 差旅标准: 3.2 Москва")
    ['the', 'café', 's', '差', '旅', '标', '准', '3', '2', 'москва']
    """
    folded = folded_text(text)
    return folded.translate({ord(char): _word_part(char) for char in set(folded)}).split()


def spaced_out(text: str) -> str:
    """The text with spaces around every character that is a token of its own.

    >>> spaced_out("用b12")
    ' 用 b12'
    """
    alone = {ord(char): f" {char} " for char in set(text) if stands_alone(char)}
    return text.translate(alone) if alone else text


def folded_text(text: str) -> str:
    """The text without differences of case, width, compatibility form and white space."""
    return text.lower() if text.isascii() else fold(text).text


@lru_cache(maxsize=1 << 14)
def stands_alone(char: str) -> bool:
    """Whether a character is of a script that puts no space between words; hangul is one here."""
    if CJK_CHAR.match(char):
        # Two marks stand among the kana: ・ and ゠.
        return not unicodedata.category(char).startswith("P")
    return any(low <= ord(char) <= high for low, high in _UNSPACED) and _of_a_word(char)


@lru_cache(maxsize=1 << 14)
def _word_part(char: str) -> str:
    if stands_alone(char):
        return f" {char} "
    return char if _of_a_word(char) else " "


def _of_a_word(char: str) -> bool:
    # Marks belong to their letter: without them Hindi and Arabic words would fall apart.
    return char.isalnum() or unicodedata.category(char).startswith("M")
