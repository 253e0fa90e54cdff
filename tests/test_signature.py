from hypothesis import given
from hypothesis import strategies as st

from judge.signature import Signature

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
    assert str(parse("llm:m@h|t:0").backed_by(parse(SIMILARITY))) == (
        "llm:m@h|t:0|fallback:similarity:lexical|prior:0.9"
    )


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


def test_two_signatures_differ_in_the_parts_they_do_not_share() -> None:
    rows = [
        (LLM, LLM, ()),
        (LLM, LLM.replace("t:0", "t:default"), ("t",)),
        (LLM, LLM.replace("json_schema", "text"), ("options",)),
        (LLM, LLM.replace("llm:m", "llm:other"), ("llm",)),
        ("llm:m@h|t:0", SIMILARITY, ("llm", "t", "similarity", "prior")),
        ("similarity:a|t:1|t:2", "similarity:a|t:1|t:3", ("t",)),
        ("", "fake", ("options",)),
    ]
    assert [parse(a).differs_in(parse(b)) for a, b, _ in rows] == [named for *_, named in rows]
    assert [parse(b).differs_in(parse(a)) == () for a, b, _ in rows] == [
        not named for *_, named in rows
    ]
