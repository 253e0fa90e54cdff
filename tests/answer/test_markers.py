import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answer.markers import Form, find_markers, read_numbers, split_parts


def markers(text: str) -> list[tuple[str, str, Form, bool]]:
    return [(text[m.start : m.end], m.content, m.form, m.numeric) for m in find_markers(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so [1].", [("[1]", "1", Form.SQUARE, True)]),
        ("so ［1］.", [("［1］", "1", Form.SQUARE, True)]),
        ("如此【2†source】", [("【2†source】", "2", Form.SQUARE, True)]),
        ("so [^2]", [("[^2]", "2", Form.SQUARE, True)]),
        (r"so \[1\]", [(r"\[1\]", "1", Form.SQUARE, True)]),
        ("so (1)", [("(1)", "1", Form.ROUND, False)]),
        ("如此（甲#1)", [("（甲#1)", "甲#1", Form.ROUND, False)]),
        (
            "so [1](https://a.org)",
            [
                ("[1](https://a.org)", "1", Form.LINK, True),
                ("(https://a.org)", "https://a.org", Form.TARGET, False),
            ],
        ),
        (
            "so [1](and so on)",
            [
                ("[1]", "1", Form.SQUARE, True),
                ("(and so on)", "and so on", Form.TARGET, False),
            ],
        ),
        ("《甲》", [("《甲》", "甲", Form.NEVER, False)]),
        ("arr[0]", [("[0]", "0", Form.SQUARE, False)]),
        ("第[3]条", [("[3]", "3", Form.SQUARE, False)]),
        ("x ∈ [0, 1]", [("[0, 1]", "0, 1", Form.SQUARE, False)]),
        ("`[1]` [2]", [("[2]", "2", Form.SQUARE, True)]),
        ("] ) [ (", []),
        ("[" + "a" * 201 + "]", []),
    ],
)
def test_forms(text: str, expected: list[tuple[str, str, Form, bool]]) -> None:
    assert markers(text) == expected


def test_the_outer_pair_comes_first() -> None:
    assert [content for _, content, _, _ in markers("([1], [2])")] == ["[1], [2]", "1", "2"]


def test_a_longer_content_is_read_on_request() -> None:
    text = "[" + "a" * 300 + "]"
    assert [m.content for m in find_markers(text, 300)] == ["a" * 300]


def test_titles_and_formulas_hide_what_stands_inside() -> None:
    assert [m.opaque for m in find_markers(r"《[1]》 \[ x \] [2]")] == [True, False, True, False]


@pytest.mark.parametrize(
    ("text", "cites"),
    [
        ("policy[1]", True),
        ("policy[0]", False),
        ("policy[10]", True),
        ("data[1]", True),
        ("rows[2]", False),
        ("my_list[3]", False),
        ("camelCase[1]", False),
        ("YouTube[1]", True),
        ("iPhone[1]", True),
        ("arXiv[1]", True),
        ("H1N1[1]", True),
        ("col3[1]", False),
        ("2023[1]", True),
        ("x[1]", False),
        ("Plan B[1]", True),
        ("company's[1]", True),
        ("e.g[1]", True),
        ("维生素[1]", True),
        ("f(x)[1]", False),
        ("risk(s)[1]", True),
        ("世卫组织(WHO)[1]", True),
        ("total[1] = 5", False),
        ("total[1]\n=====", True),
        ("total[1].size", False),
        ("total[1]. Size", True),
        ("第 [1] 条", False),
        ("a range of [1, 2]", False),
        ("ranges [1]", True),
        ("区间为[1, 2]", False),
        ("范围[1, 2, 3]", True),
    ],
)
def test_whether_a_number_cites(text: str, *, cites: bool) -> None:
    (marker,) = (m for m in find_markers(text) if m.form is Form.SQUARE)
    assert marker.numeric is cites


def test_an_index_behind_an_index_is_one_too() -> None:
    assert [m.numeric for m in find_markers("grid_x[i][1] policy[1][2]")] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("part", "numbers"),
    [
        ("1", ("1",)),
        (" 12 ", ("12",)),
        ("１２", ("12",)),
        ("007", ("007",)),
        ("1-3", ("1", "2", "3")),
        ("1 – 2", ("1", "2")),
        ("1—2", ("1", "2")),
        ("1~2", ("1", "2")),
        ("１～２", ("1", "2")),
        ("1至2", ("1", "2")),
        ("3-3", ("3",)),
        ("3-1", None),
        ("1-101", None),
        ("-1", None),
        ("1.5", None),
        ("1:3", None),
        ("1,2", None),
        ("", None),
        ("a1", None),
        ("一", None),
        ("1-" + "9" * 150, None),
    ],
)
def test_read_numbers(part: str, numbers: tuple[str, ...] | None) -> None:
    assert read_numbers(part) == numbers


def test_a_range_may_hold_a_hundred() -> None:
    hundred = read_numbers("101-200")
    assert hundred is not None
    assert (len(hundred), hundred[0], hundred[-1]) == (100, "101", "200")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("1, 2", ["1", "2"]),
        ("甲#1；乙#2", ["甲#1", "乙#2"]),
        ("1、2，3;4", ["1", "2", "3", "4"]),
        ("1 and 2", ["1", "2"]),
        ("1和2", ["1", "2"]),
        ("brand#1", ["brand#1"]),
        ("1,", ["1", ""]),
    ],
)
def test_split_parts(content: str, parts: list[str]) -> None:
    assert split_parts(content) == parts


@given(st.text(st.sampled_from([*"[]()【】［］（）《》\\`$1x第 \n"])))
def test_offsets_hold_the_content(text: str) -> None:
    last = -1
    for marker in find_markers(text):
        assert last < marker.start < marker.end <= len(text)
        assert marker.content in text[marker.start : marker.end]
        last = marker.start
