from judge.text.signature import as_served, requested

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
