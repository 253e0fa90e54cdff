import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.retrieval.statements import state, telling


def _words(text: str) -> list[str]:
    return [text[part.start : part.end] for part in state(text).parts]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The fee is 20 dollars [2].", ["fee", "20 dollars"]),
        ("差旅的标准500元。", ["差", "旅", "标", "准", "500元"]),
        ("1. Open the valve.", ["Open", "valve"]),
        ("", []),
    ],
)
def test_words_of_grammar_and_markers_are_left_out(text: str, words: list[str]) -> None:
    assert _words(text) == words


def test_a_denial_is_kept_apart_with_the_word_behind_it() -> None:
    said = state("Dental care is not covered.")

    ((place, start),) = said.denials
    assert said.text[start:].startswith("not")
    assert said.text[said.parts[place].start :].startswith("covered")


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("The fee is 20 dollars.", 1),
        ("The Model 3 is sold out.", 0),
        ("In 2020 the fee fell.", 0),
        # A date that opens a sentence is its setting, behind other figures and `after`, too.
        ("2020 saw the fee fall.", 0),
        ("2020年费用下降。", 0),
        ("From 2020 to 2021 the fee fell.", 0),
        ("from 2020 until after 3 May 2021 the fee fell.", 0),
        ("5 days after 3 May 2021 the fee fell.", 1),
        ("费用在2020年下降。", 1),
        ("the fee fell from 3 May 2021 to 5 May 2022.", 2),
        ("The fee fell in 2020.", 1),
        ("The fee fell in 2020", 0),
        ("The 2020 Games were dear.", 0),
        ("Great Press, p. 22.", 0),
    ],
)
def test_some_figures_are_mere_words(text: str, figures: int) -> None:
    assert sum(part.what is not None for part in state(text).parts) == figures


def test_a_unit_tells_and_a_chinese_character_is_half_a_word() -> None:
    assert telling(state("The fee is 20 dollars.").parts) == 2.0
    assert telling(state("费用500元").parts) == 2.0


@pytest.mark.parametrize(
    ("text", "supposes", "asks"),
    [
        ("If it rains, stay in.", True, False),
        ("如果下雨，请留在室内。", True, False),
        ("Does it rain?", False, True),
        ("下雨吗？", False, True),
        ("It rains.", False, False),
    ],
)
def test_what_is_supposed_or_asked_is_known(text: str, supposes: bool, asks: bool) -> None:  # noqa: FBT001  a table's column
    said = state(text)

    assert (said.supposes, said.asks) == (supposes, asks)


@given(st.text(max_size=60))
def test_parts_are_in_order_and_apart(text: str) -> None:
    said = state(text)

    edges = [edge for part in said.parts for edge in (part.start, part.end)]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(text) for edge in edges)
