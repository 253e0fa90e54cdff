from hypothesis import given
from hypothesis import strategies as st

from judge.text.fold import estimate_tokens, fold

FOLDED = [
    ("", ""),
    (" \t\r\n\u3000\xa0", ""),
    ("The  FEE\n is", "the fee is"),
    ("Straße", "strasse"),
    ("ＡＢＣ１２３，！", "abc123,!"),
    ("ﬁne №5", "fine no5"),
    ("“a” ‘b’ «c» 「d」", '"a" \'b\' "c" "d"'),
    ("a–b—c−d", "a-b-c-d"),
    ("e\u0301te\u0301", "été"),
    ("so\u00adft zero\u200bwidth l\u200em\u200f \ufeffbom ❤\ufe0f", "soft zerowidth lm bom ❤"),
    ("差旅 标准\n规定", "差旅标准规定"),
    ("使用 iPhone 15 手机", "使用iphone 15手机"),
    ("第一条，\n 第二条", "第一条,第二条"),
    ("ﾊﾟｿｺﾝ", "パソコン"),
    ("差旅……标准", "差旅......标准"),
]


def test_spellings_of_the_same_words_become_one() -> None:
    assert [(text, fold(text).text) for text, _ in FOLDED] == FOLDED


def test_a_place_in_the_folded_text_leads_back_to_the_characters_it_came_from() -> None:
    text = "  Die  große\n“ﬁne” ＡＢ e\u0301"
    folded = fold(text)
    assert folded.text == 'die grosse "fine" ab é'

    def behind(part: str) -> str:
        start = folded.text.index(part)
        return text[slice(*folded.span(start, start + len(part)))]

    assert behind("grosse") == "große"
    assert behind('"fine"') == "“ﬁne”"
    assert behind("die grosse") == "Die  große"
    assert behind("ab") == "ＡＢ"
    assert behind("é") == "e\u0301"


@given(st.text())
def test_any_text_folds_into_spans_that_lie_in_it_and_in_order(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    pairs = list(zip(folded.starts, folded.ends, strict=True))
    assert all(0 <= start < end <= len(text) for start, end in pairs)
    assert pairs == sorted(pairs)
    assert folded.text == folded.text.strip()


def test_a_token_is_a_cjk_character_or_four_others() -> None:
    tokens = [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("差旅标准", 4),
        ("差旅，标准", 5),  # four characters, and one other
        ("用iPhone打开", 3 + 2),
        ("x" * 4001, 1001),
    ]
    assert [(text, estimate_tokens(text)) for text, _ in tokens] == tokens
