import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.overlap.metrics import TOKENIZERS, language_of


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
        ("ภาษาไทย", "unspaced"),
        ("ສະບາຍດີ", "unspaced"),
        ("မြန်မာ", "unspaced"),
        ("ភាសាខ្មែរ", "unspaced"),
        ("བོད་ཡིག", "unspaced"),
        ("ใช้คำสั่ง kubectl get pods", "unspaced"),
        ("한국 ก", "ko"),
        ("193.8亿", "zh"),  # digits are of no script
        ("3.1级", "zh"),
        ("2.1.0 版 v2", "zh"),
        ("193.8 billion", "other"),
        ("让・雅克・卢梭", "zh"),  # the dot is no kana
        ("让゠雅", "zh"),
        ("ㇰ", "ja"),
        ("ㇿ", "ja"),
        ("500", None),
        ("10:30 — ٣", None),
        ("👍 … !", None),
        ("", None),
    ],
)
def test_what_the_script_tells(text: str, language: str | None) -> None:
    assert language_of(text) == language


@given(st.text())
def test_any_text_has_one(text: str) -> None:
    assert language_of(text) in {*TOKENIZERS, None}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("の一二三四五六七八九", "ja"),  # a tenth
        ("の一二三四五六七八九十", "zh"),
        ("한국漢字", "zh"),
        ("한국어漢字", "ko"),
        ("使用 get pods", "zh"),  # as many as there are words
        ("使用 get the pods", "other"),
    ],
)
def test_where_one_language_ends(text: str, language: str) -> None:
    assert language_of(text) == language
