from hypothesis import given
from hypothesis import strategies as st

# The reference library takes a second or so to import; the tests themselves are quick.
from rouge_score.tokenizers import DefaultTokenizer

from judge.overlap.metrics.tokens import folded_text, spaced_out, word_tokens

ASCII = st.text(st.characters(max_codepoint=127), max_size=60)


@given(ASCII)
def test_ascii_text_has_the_tokens_of_rouge_score(text: str) -> None:
    assert word_tokens(text) == DefaultTokenizer().tokenize(text)


def test_a_chinese_character_is_a_token() -> None:
    assert word_tokens("用kubectl部署v2.10") == ["用", "kubectl", "部", "署", "v2", "10"]
    assert word_tokens("東京へ行く。") == ["東", "京", "へ", "行", "く"]
    assert word_tokens("서울시") == ["서", "울", "시"]


def test_other_scripts_are_kept_whole() -> None:
    assert word_tokens("Москва, ГОРОД") == ["москва", "город"]
    assert word_tokens("Łódź café") == ["łódź", "café"]
    assert word_tokens("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert word_tokens("مَدْرَسَة كبيرة") == ["مَدْرَسَة", "كبيرة"]


def test_thai_is_told_apart_by_character() -> None:
    assert word_tokens("ไทย ง่าย") == ["ไ", "ท", "ย", "ง", "\u0e48", "า", "ย"]


def test_others_without_spaces_go_by_character_too() -> None:
    assert word_tokens("ລາວ ໟ") == ["ລ", "າ", "ວ", "ໟ"]
    assert word_tokens("မာ။") == ["မ", "ာ"]
    assert word_tokens("ខ្មែរ។") == ["ខ", "\u17d2", "ម", "\u17c2", "រ"]
    assert word_tokens("บ๏ท๚฿") == ["บ", "ท"]


def test_marks_among_the_kana_are_no_tokens() -> None:
    assert word_tokens("让・雅克゠卢梭") == ["让", "雅", "克", "卢", "梭"]
    assert word_tokens("ｼﾞｬﾝ･ジャック") == ["ジ", "ャ", "ン", "ジ", "ャ", "ッ", "ク"]


def test_width_form_and_case_are_folded() -> None:
    assert word_tokens("ＡＢＣ　１２３") == ["abc", "123"]
    assert word_tokens("ﬁne") == ["fine"]
    assert word_tokens("cafe\u0301") == word_tokens("CAFÉ")
    assert word_tokens("so\u00adft") == ["soft"]


def test_signs_and_emoji_are_no_words() -> None:
    assert word_tokens("👍 !? \0 — 。") == []


@given(st.text(max_size=60))
def test_any_text_has_tokens_without_white_space(text: str) -> None:
    for token in word_tokens(text):
        assert token
        assert token.split() == [token]


@given(st.text(max_size=60))
def test_spaces_are_all_that_is_put_in(text: str) -> None:
    assert spaced_out(text).replace(" ", "") == text.replace(" ", "")


def test_folding_is_quick_where_marks_are_out_of_order() -> None:
    assert len(folded_text("\u0323\u0301" * 20_000)) == 40_000
