from hypothesis import given
from hypothesis import strategies as st

from judge.signature import Signature, parts_apart

LLM = "llm:m@h|prompt:p-v1@0|json_schema|t:0|fallback:similarity:lexical|prior:0.9"
SIMILARITY = "similarity:lexical|prior:0.9"

parts = st.text(st.characters(exclude_characters="|"))


parse = Signature.parse


@given(st.text() | st.lists(parts, min_size=1).map("|".join))
def test_parsing_and_printing_a_signature_changes_nothing(text: str) -> None:
    assert str(parse(text)) == text


def test_a_part_by_its_name() -> None:
    rows = [
        (LLM, "t", "0"),
        (LLM, "llm", "m@h"),
        (LLM, "fallback", "similarity:lexical"),  # its own signature stands behind it
        (LLM, "similarity", None),
        (LLM, "json_schema", None),
        ("similarity:lexical|t:0.8|t:0.9", "t", "0.8"),
        ("similarity:lexical|top:3", "t", None),
        ("similarity:lexical|t:", "t", ""),
        ("", "t", None),
    ]
    assert [parse(text).part(name) for text, name, _ in rows] == [value for *_, value in rows]


def test_parts_are_appended_without_empty_ones() -> None:
    made = parse(SIMILARITY).having("w:200", "", "split:3")
    assert str(made) == f"{SIMILARITY}|w:200|split:3"
    assert made.having() == made
    assert str(made.without("w", "similarity")) == f"{SIMILARITY}|split:3"


def test_a_requested_signature_names_no_serving_model() -> None:
    for text in (LLM, SIMILARITY, "fake", ""):
        assert str(parse(text).requested()) == text
    assert str(parse(LLM.replace("|prompt", "|served:m-1|prompt")).requested()) == LLM


def test_the_model_that_served_is_taken_from_another_signature() -> None:
    first, second = (parse(LLM.replace("|prompt", f"|served:{name}|prompt")) for name in ("a", "b"))
    assert first.served_by(second) == second
    assert parse(LLM).served_by(second) == second
    assert str(first.served_by(parse(LLM))) == LLM
    # A judge and a result name it at one place, or one run would bear two signatures.
    behind = parse(f"{LLM}|served:a")
    assert parse(LLM).served_by(behind) == behind


def test_the_parts_in_which_signatures_differ_are_listed() -> None:
    rows = [
        (LLM, LLM, []),
        (LLM, LLM.replace("t:0", "t:default"), ["t: 0, default"]),
        (LLM, LLM.replace("json_schema", "text"), ["options: json_schema, text"]),
        (LLM, LLM.replace("prior:0.9", "prior:0.8"), ["fallback prior: 0.9, 0.8"]),
        ("llm:m@h|t:0", SIMILARITY, ["judge: llm:m@h, similarity:lexical"]),
        ("similarity:a|t:1|t:2", "similarity:a|t:1|t:3", ["t: 1 2, 1 3"]),
    ]
    assert [list(parts_apart((a, b))) for a, b, _ in rows] == [parts for *_, parts in rows]
