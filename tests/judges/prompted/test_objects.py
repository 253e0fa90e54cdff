import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.prompted.reply import find_values
from tests.growth import LINEAR, growth

BROKEN = "its JSON is broken"
NONE = "it holds no JSON"
UNFINISHED = "it ends inside its thoughts"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('结果如下:{"a": "支持"}。谢谢', [{"a": "支持"}]),
        ('See [1] and [2, 3]: {"a": 1}. Done [4]', [{"a": 1}]),
        ('{"a": 1}{"b": 2}\n[{"c": 3}]', [{"a": 1}, {"b": 2}, [{"c": 3}]]),
        ('{"a": "} ] [1] \\" {"}', [{"a": '} ] [1] " {'}]),
        ('{"a": {"b": [{}]}}}}', [{"a": {"b": [{}]}}]),
        ("{ }", [{}]),
        ('{"a": "one\nline"}', [{"a": "one\nline"}]),
        ('in the set {x, y}: {"a": 1}', [{"a": 1}]),
        ('\ufeff{"a": 1}', [{"a": 1}]),
        ('<think>maybe {"a": 0}</think>{"a": 1}', [{"a": 1}]),
        ('\n<think>maybe {"a": </think>\n\n{"a": 1}', [{"a": 1}]),
        ('maybe {"a": 0} or {"a": </think>{"a": 1}', [{"a": 1}]),
        ('<think>a</think>{"a": 0}<think>no</think>{"a": 1}', [{"a": 1}]),
        ('{"a": "</think>"}', [{"a": "</think>"}]),
        ('{"a": 123456789012345678}', [{"a": 123456789012345678}]),
        ('{"a": 1234567890123456789}', [{"a": 1234567890123456789.0}]),
    ],
)
def test_values_are_found_in_whatever_stands_around_them(text: str, values: list[object]) -> None:
    assert find_values(text) == (tuple(values), "")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", NONE),
        ("Yes", NONE),
        ("[1]", NONE),
        ("a < b } {c}", NONE),
        ('{"a": 1,}', BROKEN),
        ('{"a": 1', BROKEN),
        ('{"a": [1, 2}', BROKEN),
        ("[{'a': 1}]", BROKEN),
        ('{"a": "b" "c"}', BROKEN),
        ('{"a": 1, "a": 2}', BROKEN),
        ('{"a": NaN}', BROKEN),
        ('{"a": -Infinity}', BROKEN),
        ('{"a": 1} {"b', BROKEN),
        ('</think>{"a": ', BROKEN),
        ('<think>{"a": 1}', UNFINISHED),
    ],
)
def test_what_is_no_json_or_broken_gives_no_value(text: str, fault: str) -> None:
    assert find_values(text) == ((), fault)


def test_a_value_inside_a_broken_one_is_not_read() -> None:
    # The model forgot to escape a quotation that is itself JSON.
    text = '{"quote": "{"id": "s2", "support": "full"}", "id": "s1"}'
    assert find_values(text) == ((), BROKEN)


@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [
        ("", "{", ""),
        ("", '{"', ""),
        ("", '{"a":', ""),
        ("", '[{"a":', ""),
        ("", "[", ""),
        ('{"a": ', "[", ""),
        ('{"a": "', "x", ""),
        ('{"a": ', "9", "}"),
        ("{", " ", ""),
        ("", "</think>", ""),
        ("", '{"a</think>', ""),
        ("", '{"a": "}"} ', ""),
    ],
)
def test_reading_a_reply_made_to_stall_is_linear(head: str, unit: str, tail: str) -> None:
    def made(size: int) -> str:
        return head + unit * (size // len(unit)) + tail

    assert growth(find_values, made, 25_000) < LINEAR


def test_a_megabyte_of_glued_objects_is_read() -> None:
    assert len(find_values('{"a": "}"} ' * 90_000).values) == 90_000


@pytest.mark.parametrize("depth", [200, 1_000_000])
def test_objects_within_objects_crash_nothing(depth: int) -> None:
    found = find_values('{"a": ' * depth + "1" + "}" * depth)
    # Deeper than Python goes is broken.
    assert (len(found.values), found.fault) == ((1, "") if depth == 200 else (0, BROKEN))


json_objects = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=6,
    ),
    max_size=4,
)
prose = st.text(st.characters(exclude_characters='{}[]"<>', exclude_categories=["Cs"]), max_size=9)


@given(st.lists(st.tuples(prose, json_objects, st.booleans()), min_size=1, max_size=4), prose)
def test_whatever_json_there_is_comes_back(
    parts: list[tuple[str, dict[str, object], bool]], last: str
) -> None:
    text = "".join(
        before + json.dumps(value, ensure_ascii=ascii_only) for before, value, ascii_only in parts
    )
    assert find_values(text + last) == (tuple(value for _, value, _ in parts), "")


@given(st.lists(st.sampled_from(["{", "}", "[", "]", '"', "a", ":", "1", ",", "\\", "</think>"])))
def test_any_reply_is_read_without_a_crash(pieces: list[str]) -> None:
    found = find_values("".join(pieces))
    assert bool(found.values) != bool(found.fault)
