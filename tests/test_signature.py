from judge.signature import as_served, part, requested

LLM = "llm:m@h|prompt:p-v1@0|t:0|fallback:similarity:lexical|prior:0.9"


def test_what_was_requested_names_no_model_that_served() -> None:
    assert requested(LLM.replace("|prompt", "|served:m-1|prompt")) == LLM
    assert requested(LLM) == LLM
    assert requested("similarity:lexical|prior:0.9") == "similarity:lexical|prior:0.9"


def test_the_model_that_served_is_taken_from_another_signature() -> None:
    first, second = (LLM.replace("|prompt", f"|served:{name}|prompt") for name in ("a", "b"))
    assert as_served(first, second) == second
    assert as_served(LLM, second) == second
    assert as_served(first, LLM) == LLM


def test_a_part_by_its_name() -> None:
    assert part(LLM, "t") == "0"
    assert part(LLM, "llm") == "m@h"
    # What stands behind a fallback is its own signature.
    assert part(LLM, "fallback") == "similarity:lexical"
    assert part(LLM, "similarity") is None
    assert part("similarity:lexical|t:0.8|t:0.9", "t") == "0.8"
    assert part("similarity:lexical|top:3", "t") is None
    assert part("similarity:lexical|t:", "t") == ""
    assert part("", "t") is None
