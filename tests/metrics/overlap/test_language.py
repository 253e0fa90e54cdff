import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.metrics.overlap import TOKENIZERS, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("住宿费每晚500元。", "zh"),
        ("用 kubectl get pods 看", "other"),  # two characters, three words
        ("使用 kubectl get pods 命令", "zh"),
        ("The word 你好 means hello", "other"),
        ("優の良品是一個品牌的名稱而已", "zh"),  # one kana among many
        ("東京へ行きます。", "ja"),
        ("カタカナ", "ja"),
        ("ｶﾀｶﾅ ｶﾞ", "ja"),
        ("회의는 서울에서 열린다.", "ko"),
        ("大韓民國의 首都", "zh"),
        ("Москва", "other"),
        ("ภาษาไทย", "other"),
        ("👍 … !", "other"),
        ("", "other"),
    ],
)
def test_what_the_script_tells(text: str, language: str) -> None:
    assert language_of(text) == language


@given(st.text())
def test_any_text_has_one(text: str) -> None:
    assert language_of(text) in TOKENIZERS
