import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.names import amid, names
from tests.growth import LINEAR, growth


def certain(text: str) -> list[str]:
    return [name.written for name in names(text) if name.certain]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We met Ana Silva in Porto.", ["Ana Silva", "Porto"]),
        ("By law the Bank of England decides.", ["Bank of England"]),
        ("It is U.S. law.", ["U.S."]),
        ("In May I saw Dr. Okoye on Monday.", ["Okoye"]),
        ('He said: Nothing. "Nobody" left.', []),
        ("How To Make Great Pizza At Home", []),
        ("在清华大学读书", ["清华大学"]),
        ("他读《三体》", ["《三体》"]),
        ("NASA发布了报告", ["NASA"]),
        ("Mary Smith won.", ["Mary Smith"]),
        ("However Smith won.", ["Smith"]),
        ("Recently Smith won.", ["Smith"]),
        ("At 5 PM, in 44 BC, or in Q3.", []),
        ("位于杭州市。超市和全市", ["杭州市"]),
    ],
)
def test_names_of_which_there_is_no_doubt(text: str, found: list[str]) -> None:
    assert certain(text) == found


def test_the_first_word_may_owe_its_capital_to_its_place() -> None:
    assert [(n.written, n.certain) for n in names("Paris is big.")] == [("Paris", False)]


def test_places_are_those_of_the_text() -> None:
    text = "By U.S. law, Ana Silva读《三体》."
    assert all(text[name.start : name.end] == name.written for name in names(text))


@given(st.text(alphabet="ABCabc. '-\n《》北京市大学I", max_size=60))
def test_any_text_is_read_in_order(text: str) -> None:
    found = names(text)
    assert [name.start for name in found] == sorted(name.start for name in found)
    assert all(text[name.start : name.end] == name.written for name in found)
    assert all(name.parts for name in found)


@pytest.mark.parametrize("unit", ["A", "A.", "Ab ", "《", "北市", "《a", "Ab-"])
def test_a_long_text_made_to_stall_is_read_in_linear_time(unit: str) -> None:
    def made(size: int) -> str:
        return "x " + unit * (size // len(unit))

    assert growth(names, made, 4_000) < LINEAR


@pytest.mark.parametrize(
    ("word", "text", "found"),
    [
        ("Acme", "They bought Acme.", True),
        ("Acme", "Acme was bought. Acme", False),
        ("Acme", "\n Acme", False),
        ("Acme", "", False),
    ],
)
def test_whether_a_word_may_stand_amid_a_sentence(word: str, text: str, found: bool) -> None:  # noqa: FBT001
    assert amid(word, text) is found
