from hypothesis import given
from hypothesis import strategies as st

from judge.text.words import blank_markup, stem, stems, words


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
