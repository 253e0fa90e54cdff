"""How large a text is to a language model, near enough, without a tokenizer."""

from judge.text.fold import count_cjk


def estimate_tokens(text: str) -> int:
    """Estimated tokens: one per CJK character and one per four others, rounded up.

    >>> estimate_tokens("差旅标准"), estimate_tokens("expenses"), estimate_tokens("")
    (4, 2, 0)
    """
    wide = count_cjk(text)
    return wide + -(-(len(text) - wide) // 4)
