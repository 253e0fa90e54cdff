import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.words import LIGHT, blank_markup, negation, stem, stems, weight, words


def test_words_keep_their_places() -> None:
    text = "Inventors’ labs, 差旅 2 B12."
    found = words(text)
    pieces = [text[a:b] for a, b in zip(found.starts, found.ends, strict=True)]
    assert pieces == ["Inventors", "labs", "差", "旅", "B12"]
    assert found.stems == ["inventor", "lab", "差", "旅", "b12"]


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=80))
def test_stems_are_those_of_words_and_words_do_not_overlap(text: str) -> None:
    found = words(text)
    assert stems(text) == found.stems
    assert all(a < b for a, b in zip(found.starts, found.ends, strict=True))
    assert all(b <= a for a, b in zip(found.starts[1:], found.ends, strict=False))


def test_spellings_share_a_stem_and_different_words_do_not() -> None:
    pairs = ["reports Reporting", "café CAFE", "ＢＥＲＬＩＮ Berlin", "smith's Smith’s"]
    assert [pair for pair in pairs if len({stem(word) for word in pair.split()}) > 1] == []
    assert stem("不") != stem("没")
    assert stem("rain") != stem("train")


def test_grammar_weighs_little_names_weigh_much() -> None:
    assert weight(stem("the")) == weight(stem("passages")) == LIGHT
    assert weight("zyxwvut") == pytest.approx(1.0)
    assert weight("的") < 0.2 < weight("国") < weight("鹅") == 0.8


def test_negations_in_both_languages() -> None:
    assert all(stem(word) in negation() for word in ("not", "didn't", "Didn’t", "nothing", "没"))
    assert not any(stem(word) in negation() for word in ("note", "now", "报"))


MARKUP = [
    ("Rain [1] fell [2, 3].", "Rain fell ."),
    ("Rain [docA#sec3#chunk12].", "Rain ."),
    ("下雨了(docA#chunk4)【2†source】。", "下雨了 。"),
    ("Rain [^2] fell ［１］.", "Rain fell ."),
    ("1. Rain\n2) Snow\n3、雪", "Rain Snow 雪"),
    ("Passage 2 says rain (passages 1 and 3).", "says rain ( )."),
    ("文档2指出下雨。", "指出下雨。"),
    ("3.5 million people [2023] [sic]", "3.5 million people [2023] [sic]"),
    ("Documents 2020 at source 12.5", "Documents 2020 at source 12.5"),
]


def test_markup_is_blanked_and_text_is_not() -> None:
    left = [(text, blank_markup(text)) for text, _ in MARKUP]
    assert [(text, blank.split()) for text, blank in left] == [(a, b.split()) for a, b in MARKUP]
    assert all(len(blank) == len(text) for text, blank in left)
