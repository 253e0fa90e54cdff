import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answer.enumerations import items
from tests.growth import LINEAR, growth


@pytest.mark.parametrize(
    ("text", "beginnings"),
    [
        ("1) one 2) two 3) three", ["2) two", "3) three"]),
        ("a. one b. two", ["b. two"]),
        ("• 9. one • 10. two", ["• 10. two"]),
        ("Above ***** below", ["***** below", "below"]),
        ("https://a.org/1 https://b.org/2", ["https://b.org/2"]),
        # With a full stop, or in capitals, behind a colon.
        ("The steps: 1. Heat it. 2. Stir.", ["1. Heat", "2. Stir"]),
        ("Do: 1. **Heat** it 2. **Stir** 3. Eat", ["1. **Heat", "2. **Stir", "3. Eat"]),
        ("步骤：1. 洗手。2. 吃饭。", ["1. 洗手", "2. 吃饭"]),
        ("选项：A. 苹果。B. 梨。", ["A. 苹果", "B. 梨"]),
        ("Choose: A. a pear. B. a plum.", ["A. a pear", "B. a plum"]),
        ("He ate 1. Then he ate 2. Then he slept.", []),
        ("A. Lee came. B. Ray left.", []),
        ("By: A. Lee and B. Ray.", []),
        ("In this order: 1. Ann, 2. Bo.", []),
        ("顺序：1. 甲，2. 乙。", []),
        # Enumeration inside one sentence, a sequence broken off, numbers that are no list.
        ("It takes 1) a form, 2) a stamp and 3) a fee.", []),
        ("1) one 3) three", []),
        ("It rose to 2. Then it fell.", []),
        ("", []),
    ],
)
def test_where_items_begin(text: str, beginnings: list[str]) -> None:
    assert [text[place:].lstrip() for place in items(text).begin] == [
        text[text.index(beginning) :] for beginning in beginnings
    ]


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("The steps: 1. Heat it. 2. Stir.", [12, 24]),
        # Though no item begins, no sentence ends.
        ("In this order: 1. Ann, 2. Bo.", [16, 24]),
        ("选项：A. 苹果，B. 梨。", [4, 10]),
        ("1.) one 2.) two", [1, 9]),
        ("It rose to 2. Then to 3. Then it fell.", []),
        ("It rose to: 1. Then it fell.", []),
        ("Above ***** below", []),
    ],
)
def test_where_enumerators_have_their_stops(text: str, stops: list[int]) -> None:
    assert sorted(items(text).stops) == stops


PIECES = (
    "1. ",
    "2. ",
    "A. ",
    "B) ",
    "a) ",
    "b",
    ": ",
    "：",
    "，",
    ", ",
    "• ",
    "*****",
    " ",
    "梨。",
)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_places_lie_inside_the_text(text: str) -> None:
    found = items(text)
    assert found.begin == sorted(set(found.begin))
    assert all(0 < place < len(text) for place in found.begin)
    assert all(text[place] in ".)" for place in found.stops)


@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_length(piece: str) -> None:
    assert growth(items, lambda size: "Do: 1. a 2. b " + piece * size, 300) < LINEAR
