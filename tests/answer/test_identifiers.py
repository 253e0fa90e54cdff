import pytest

from judge.answer.identifiers import Identifiers
from judge.answer.markers import Form


def test_an_equal_id_wins_over_width_and_case() -> None:
    known = Identifiers(["Doc#1", "doc#1", "Note#2"])
    assert known.id("doc#1") == (("doc#1", "doc#1"),)
    assert known.id("DOC#1") is None
    assert known.id("ｎｏｔｅ＃２") == (("Note#2", "Note#2"),)


def test_what_was_not_shown_dangles() -> None:
    assert Identifiers(["a#1"], ["a#1", "b#1"]).id("b#1") == (("b#1", None),)


def test_numbers() -> None:
    known = Identifiers(["x", "1", "30001"], ["30002"])
    assert known.numbers(["1", "3", "0", "04", "30001", "30002"]) == (
        ("1", "1"),
        ("3", "30001"),
        ("0", None),
        ("4", None),
        ("30001", "30001"),
        ("30002", None),
    )
    assert known.numbers(["2", "2023"]) is None


@pytest.mark.parametrize(
    ("known", "token", "square", "rounded"),
    [
        ("docA#sec3#chunk12", "docB#sec4#chunk5", True, True),
        ("docA#sec3#chunk12", "docB#chunk5", False, False),
        ("doc#a", "doc#b", True, False),
        ("docs/intro.md", "docs/setup.md", True, False),
        ("doc-a-1", "rep-b-2", True, False),
        ("d1", "d7", True, True),
        ("d1", "Q3", False, False),
        ("doc-1", "doc-77", True, True),
        ("doc-1", "GPT-4", False, False),
        ("report 2023", "report 2024", True, True),
        ("report 2023", "in 2024", False, False),
        ("12-3", "45-6", True, True),
        ("12-3", "2019-2023", False, False),
        ("制度#1", "规定#22", True, True),
        ("12345", "67890", False, False),
        ("abc", "def", False, False),
    ],
)
def test_shapes(known: str, token: str, *, square: bool, rounded: bool) -> None:
    ids = Identifiers([known])
    assert (ids.name(token) == ((token, None),)) is square
    assert (ids.name(token, strict=True) == ((token, None),)) is rounded


def test_read_takes_all_or_nothing() -> None:
    known = Identifiers(["a#1", "b#2"])
    both = (("1", "a#1"), ("b#2", "b#2"))
    assert known.read("1, b#2", Form.SQUARE, numeric=True) == both
    assert known.read("1, b#2", Form.ROUND, numeric=False) is None
    assert known.read("1, sic", Form.SQUARE, numeric=True) is None
    assert known.read("", Form.SQUARE, numeric=True) is None


def test_a_link_cites_by_number_or_equal_id_only() -> None:
    known = Identifiers(["a#1"])
    assert known.read("b#7", Form.LINK, numeric=True) is None
    assert known.read("a#1", Form.LINK, numeric=True) == (("a#1", "a#1"),)
    assert known.read("1", Form.TARGET, numeric=False) is None


def test_a_label_is_set_aside() -> None:
    known = Identifiers(["a#1", "b#2"])
    assert known.read("citation: 2", Form.SQUARE, numeric=True) == (("2", "b#2"),)
    assert known.read("来源：a#1", Form.ROUND, numeric=False) == (("a#1", "a#1"),)
