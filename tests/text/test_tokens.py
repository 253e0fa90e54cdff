import pytest

from judge.text.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("差旅标准", 4),
        ("差旅，标准", 5),  # four characters, and one other
        ("用iPhone打开", 3 + 2),
        ("x" * 4001, 1001),
    ],
)
def test_one_a_cjk_character_and_one_for_four_others(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
