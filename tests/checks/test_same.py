"""Worked by hand: which passage gives the figures of a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.same import Held, other_bounds
from judge.checks.sequence import Token, sequence
from judge.checks.values import figures
from judge.text.words import words
from tests.growth import LINEAR, growth


def tokens(text: str) -> list[Token]:
    found = words(text)
    return sequence(found, figures(text, found))


@pytest.mark.parametrize(
    ("text", "passage", "span"),
    [
        ("18 km", "18 kilometres", (0, 0, 13)),
        ("18公里", "It is far. It is 18 kilometers away.", (0, 11, 36)),
        ("2,500 kg", "2.5 tonnes", (0, 0, 10)),
        ("12 May 1987", "1987年5月12日", (0, 0, 10)),
        ("18 km", "18 miles", None),
        ("18 km", "180 km", None),
        ("18 km and 3 kg", "18 km", None),
        ("no figure", "18 km", None),
    ],
)
def test_figures_alone(text: str, passage: str, span: tuple[int, int, int] | None) -> None:
    assert Held([passage]).look_up(text, [], tokens(text)) == span


def test_words_of_its_own_need_more_of_the_question_and_a_bare_figure() -> None:
    text = "The observatory stands at 900 m"
    told, new = tokens("observatory"), tokens(text)[3:]
    held = Held(["900 metres"])
    assert held.look_up(text, told, tokens(text)[4:]) == (0, 0, 10)
    assert Held(["The dome was built at 900 m"]).look_up(text, [], new + told) is None


@pytest.mark.parametrize(
    ("claim", "passage", "lost"),
    [
        ("up to 600 euros", "up to 450 euros", ["600 euros"]),
        ("每晚不超过600元。", "每晚不超过450元。", ["600元"]),
        ("at least 5 days", "at least 5 days", []),
        # A figure lies within a bound, and a bound on the other side is no rival.
        ("up to 600 euros", "450 euros", []),
        ("up to 600 euros", "at least 450 euros", []),
        # But of the same figure what lies above it does not lie below.
        ("more than 214 people", "fewer than 214 people", ["214"]),
        ("超过60人", "不到60人", ["60"]),
        ("at least 5 days", "5 days", []),
        ("at least 5 days", "at most 5 days, at least 5 days", []),
    ],
)
def test_another_bound(claim: str, passage: str, lost: list[str]) -> None:
    assert other_bounds(claim, passage) == lost


def test_many_figures_of_a_long_passage_are_each_found_in_linear_time() -> None:
    """It cut the whole passage into sentences for each figure."""

    def find_each(passage: str) -> None:
        held = Held([passage])
        for figure in passage.split("。")[:-1]:
            text = figure.replace("吨", "000公斤")
            assert held.look_up(text, [], tokens(text)) is not None

    def passage(count: int) -> str:
        return "".join(f"{number + 1}吨。" for number in range(count))

    assert growth(find_each, passage, 150) < LINEAR


@given(st.text(), st.text())
def test_any_text_is_read(text: str, passage: str) -> None:
    Held([passage, text]).look_up(text, [], tokens(text))
    assert other_bounds(text, text) == []
