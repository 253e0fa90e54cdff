from hypothesis import given
from hypothesis import strategies as st

from judge.answer.markers import (
    MARKER,
    Form,
    find_markers,
    find_shields,
    read_numbers,
)


def markers(text: str) -> list[tuple[str, str, Form, bool]]:
    return [(text[m.start : m.end], m.content, m.form, m.numeric) for m in find_markers(text)]


FORMS: list[tuple[str, list[tuple[str, str, Form, bool]]]] = [
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
]


def test_forms() -> None:
    assert [(text, markers(text)) for text, _ in FORMS] == FORMS


def test_the_outer_pair_comes_first() -> None:
    assert [content for _, content, _, _ in markers("([1], [2])")] == ["[1], [2]", "1", "2"]


def test_a_longer_content_is_read_on_request() -> None:
    text = "[" + "a" * 300 + "]"
    assert [m.content for m in find_markers(text, 300)] == ["a" * 300]


def test_titles_and_formulas_hide_what_stands_inside() -> None:
    assert [m.opaque for m in find_markers(r"《[1]》 \[ x \] [2]")] == [True, False, True, False]


def test_an_index_behind_an_index_is_one_too() -> None:
    found = [marker.numeric for marker in find_markers("grid_x[i][1] policy[1][2]")]
    assert found == [False, False, True, True]


# fmt: off
NUMBERS: dict[str, str | None] = {
    "1": "1", " 12 ": "12", "１２": "12", "007": "007", "1-3": "1 2 3", "1 – 2": "1 2",
    "1—2": "1 2", "1~2": "1 2", "１～２": "1 2", "1至2": "1 2", "3-3": "3", "3-1": None,
    "1-101": None, "-1": None, "1.5": None, "1:3": None, "1,2": None, "": None, "a1": None,
    "一": None, "1-" + "9" * 150: None,
}
# fmt: on


def test_read_numbers() -> None:
    read = {part: read_numbers(part) for part in NUMBERS}
    assert {part: found and " ".join(found) for part, found in read.items()} == NUMBERS


def test_a_range_may_hold_a_hundred() -> None:
    hundred = read_numbers("101-200")
    assert hundred is not None
    assert (len(hundred), hundred[0], hundred[-1]) == (100, "101", "200")


@given(st.text(st.sampled_from([*"[]()【】［］（）《》\\`$1x第 \n"])))
def test_offsets_hold_the_content(text: str) -> None:
    last = -1
    for marker in find_markers(text):
        assert last < marker.start < marker.end <= len(text)
        assert marker.content in text[marker.start : marker.end]
        last = marker.start


LOOKS = (
    *("[1]", "[1,2]", "[1-3]", "【2】", "【2†source】", "［1］", "[^2]", "[docA#sec3#chunk12]"),
    *("(docA#chunk4)", "[1, 2]", "(Passage 3)", "（文档1）"),
)
LOOKS_OTHERWISE = ("[sic]", "【注意】", "[text1](url)", "(see above)", "（注）")


def test_the_look_of_a_marker() -> None:
    assert [text for text in LOOKS if not MARKER.fullmatch(text)] == []
    assert [text for text in LOOKS_OTHERWISE if MARKER.match(text)] == []


# fmt: off
SHIELDS: dict[str, str] = {
    "a `b` c": "`b`", "a ``b ` c`` d": "``b ` c``", "it`s one\nit`s two": "",
    "运行`甲[1]`即可": "`甲[1]`", "x\n```py\na\n```\ny": "```py\na\n```",
    "x\n~~~\n```\n~~~~\ny": "~~~\n```\n~~~~", "x\n```\nopen [1]": "```\nopen [1]",
    "- ```\n  a\n  ```\n`b`": "- ```\n  a\n  ``` ; `b`", "let $x_1$ be": "$x_1$",
    "$$\nx\n$$ y": "$$\nx\n$$", "from $5 to $6": "", "US$5至US$6": "", r"\$x[1]\$": "",
    "at https://a.org/b?c=1, then": "https://a.org/b?c=1,",
    "见https://a.org/b。如此": "https://a.org/b", "(www.a.org)": "www.a.org",
    "https://a.org/x[1].json": "https://a.org/x[1].json",
    "https://a.org/x[1]. So": "https://a.org/x", "": "",
}
# fmt: on


def test_shields() -> None:
    found = {text: [text[start:end] for start, end in find_shields(text)] for text in SHIELDS}
    assert {text: " ; ".join(shields) for text, shields in found.items()} == SHIELDS


SIGNS = st.lists(st.sampled_from([*"`~$\n \\[]a1:/.", "https://", "```"])).map("".join)


@given(SIGNS)
def test_spans_are_ordered_and_apart(text: str) -> None:
    last = 0
    for start, end in find_shields(text):
        assert last <= start < end <= len(text)
        last = end
