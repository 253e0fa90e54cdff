import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answer.shields import find_shields


@pytest.mark.parametrize(
    ("text", "shielded"),
    [
        ("a `b` c", ["`b`"]),
        ("a ``b ` c`` d", ["``b ` c``"]),
        ("it`s one\nit`s two", []),
        ("运行`甲[1]`即可", ["`甲[1]`"]),
        ("x\n```py\na\n```\ny", ["```py\na\n```"]),
        ("x\n~~~\n```\n~~~~\ny", ["~~~\n```\n~~~~"]),
        ("x\n```\nopen [1]", ["```\nopen [1]"]),
        ("- ```\n  a\n  ```\n`b`", ["- ```\n  a\n  ```", "`b`"]),
        ("let $x_1$ be", ["$x_1$"]),
        ("$$\nx\n$$ y", ["$$\nx\n$$"]),
        ("from $5 to $6", []),
        ("US$5至US$6", []),
        (r"\$x[1]\$", []),
        ("at https://a.org/b?c=1, then", ["https://a.org/b?c=1,"]),
        ("见https://a.org/b。如此", ["https://a.org/b"]),
        ("(www.a.org)", ["www.a.org"]),
        ("https://a.org/x[1].json", ["https://a.org/x[1].json"]),
        ("https://a.org/x[1]. So", ["https://a.org/x"]),
        ("", []),
    ],
)
def test_shields(text: str, shielded: list[str]) -> None:
    assert [text[start:end] for start, end in find_shields(text)] == shielded


PIECES = st.lists(st.sampled_from([*"`~$\n \\[]a1:/.", "https://", "```"])).map("".join)


@given(PIECES)
def test_spans_are_ordered_and_apart(text: str) -> None:
    last = 0
    for start, end in find_shields(text):
        assert last <= start < end <= len(text)
        last = end
