import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.labels import blank_labels
from tests.growth import LINEAR, growth


@pytest.mark.parametrize(
    "text",
    [
        "It rained (Doc 3).",
        "It rained (Sources: 2, 3).",
        "See passages 1-2.",
        "It rained (ref. 14).",
        "根据第2段，下雨了。",
        "根据第十四段，下雨了。",
        "根据文档（3），下雨了。",
        "Both passages (2 and 3) say so.",
        "Excerpt 14 says so.",
        "Snippet 2 says so.",
        "Article 2 says so.",
        "Text 2 says so.",
        "Result 2 says so.",
        "Review 2 says so.",
        "Evidence 2 says so.",
        "**3. Rain**: it rained.",
        "2.1 It rained.",
        "3\ufe0f\u20e3 It rained.",
    ],
)
def test_the_number_of_a_label_is_blanked_and_all_else_stays_in_place(text: str) -> None:
    blanked = blank_labels(text)
    assert len(blanked) == len(text)
    assert not any(char.isdigit() or char == "十" for char in blanked)
    assert all(new in (old, " ") for new, old in zip(blanked, text, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "Article 2 of the treaty",
        "the text 30 people read",
        "2.1 million people",
        "5 days",
        "2.1 万人",
        "sources say 30 % of it",
        "Results: 30% of them",
        "resource 3",
        "第2名",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert blank_labels(text) == text


@given(st.text(alphabet="Docs (2,3)-第段.*A1 \n", max_size=60))
def test_any_text_keeps_its_length(text: str) -> None:
    assert len(blank_labels(text)) == len(text)


@pytest.mark.parametrize("unit", ["1, ", "1.", "* ", "doc ", "doc 1, ", "第1", "\n*1.1 "])
def test_a_long_text_made_to_stall_is_read_in_linear_time(unit: str) -> None:
    def made(size: int) -> str:
        return "doc 1" + unit * (size // len(unit))

    assert growth(blank_labels, made, 8_000) < LINEAR
