import pytest

from judge.text.enumerations import items


@pytest.mark.parametrize(
    ("text", "beginnings"),
    [
        ("1) one 2) two 3) three", ["2) two", "3) three"]),
        ("a. one b. two", ["b. two"]),
        ("• 9. one • 10. two", ["• 10. two"]),
        ("Above ***** below", ["***** below", "below"]),
        ("https://a.org/1 https://b.org/2", ["https://b.org/2"]),
        # Enumeration inside one sentence, a sequence broken off, numbers that are no list.
        ("It takes 1) a form, 2) a stamp and 3) a fee.", []),
        ("1) one 3) three", []),
        ("It rose to 2. Then it fell.", []),
        ("", []),
    ],
)
def test_where_items_begin(text: str, beginnings: list[str]) -> None:
    assert [text[place:].lstrip() for place in items(text)] == [
        text[text.index(beginning) :] for beginning in beginnings
    ]
