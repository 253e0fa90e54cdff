from hypothesis import given
from hypothesis import strategies as st

from judge.answer.blocks import blocks, list_marker


def texts(text: str) -> list[str]:
    return [text[block.start : block.end] for block in blocks(text)]


LAYOUT: list[tuple[str, list[str]]] = [
    # Blank lines and lines of their own.
    ("One.\n\nTwo.", ["One.", "Two."]),
    ("One.\r\nTwo.\rThree.\u2028Four.", ["One.", "Two.", "Three.", "Four."]),
    ("Eligibility\nEmployees may apply.", ["Eligibility", "Employees may apply."]),
    ("报销标准\n住宿费不超过500元。", ["报销标准", "住宿费不超过500元。"]),
    ("Step 1: Prepare\nWash the rice.", ["Step 1: Prepare", "Wash the rice."]),
    ("**Title**\nText.", ["**Title**", "Text."]),
    # List items.
    (
        "- one\n* two\n• three\n1. four\n2) five",
        ["- one", "* two", "• three", "1. four", "2) five"],
    ),
    ("(1) one\n① two\na. three\nb) four", ["(1) one", "① two", "a. three", "b) four"]),
    (
        "一、申请\n二、审批\n（三）打款\n4、归档",
        ["一、申请", "二、审批", "（三）打款", "4、归档"],
    ),
    # Headings, rules.
    ("# Title\nText\n---\n\nMore", ["# Title", "Text\n---", "More"]),
    ("Title\n=====\nText.", ["Title\n=====", "Text."]),
    ("It ends here.\n---\nNext.", ["It ends here.", "---", "Next."]),
    # Tables, with and without outer bars.
    ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |", "|---|---|", "| 1 | 2 |"]),
    ("a | b\n--- | ---\n1 | 2\n\nText", ["a | b", "--- | ---", "1 | 2", "Text"]),
    # Fences, closed and not; a fence is closed by its own sign only.
    ("A\n```py\nx = 1\n\ny. z\n```\nB", ["A", "```py\nx = 1\n\ny. z\n```", "B"]),
    ("~~~\n```\n~~~\nB", ["~~~\n```\n~~~", "B"]),
    ("A\n```\nx\n\ny", ["A", "```\nx\n\ny"]),
]


def test_layout_sets_blocks_apart() -> None:
    assert [(text, texts(text)) for text, _ in LAYOUT] == LAYOUT


WRAPPED = [
    "The allowance for travel by train is paid to every\nemployee who asks for it in time.",
    "This paragraph was cut by a machine, and\nDr. Smith begins a line although\nit goes on.",
    "出差期间的住宿费用应当按照所在城市的标准执行，\n超出部分由个人承担。",
    "公司规定员工出差期间的住宿费用应当按照所在城\n市的标准执行，超出部分由个人承担。",
]


def test_wrapped_lines_are_joined() -> None:
    assert [text for text in WRAPPED if texts(text) != [text]] == []


ITEM_LINES = [
    "apples\npears\nplums",
    "The first payment falls due on the fifth of May\nLate payments cost five percent more",
    "一线城市住宿费上限为五百元\n其他城市住宿费上限为三百元",
]


def test_one_item_a_line_is_not_joined() -> None:
    assert [text for text in ITEM_LINES if texts(text) != text.split("\n")] == []


def test_only_what_is_never_cut_is_whole() -> None:
    text = "# Title\n\nOne. Two.\n\n- item\n\n| a |\n\n```\ncode\n```"
    assert [block.whole for block in blocks(text)] == [True, False, False, True, True]


MARKED: list[tuple[str, int]] = [
    ("1. Text", 3),
    ("1.报销", 2),
    ("1.5 million", 0),
    ("3.2节", 0),
    ("- Text", 2),
    ("-5 degrees", 0),
    ("1949年", 0),
    ("• 9. Text", 5),
    ("Text", 0),
]


def test_length_of_a_list_marker() -> None:
    assert [(line, list_marker(line)) for line, _ in MARKED] == MARKED


@given(st.text(alphabet="a一.。,-*|#`=~1) \n\r\u2028\u00a0", max_size=80))
def test_blocks_are_ordered_and_hold_every_character_that_is_not_blank(text: str) -> None:
    place = 0
    for block in blocks(text):
        assert not text[place : block.start].strip()
        assert text[block.start : block.end].strip() == text[block.start : block.end] != ""
        place = block.end
    assert not text[place:].strip()
