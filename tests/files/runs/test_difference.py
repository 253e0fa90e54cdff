import pytest

from judge.files.runs.difference import difference
from judge.records.run import RunInput, RunRecord

LLM = "llm:m@h|t:0"
BEGUN = RunRecord(
    signature=LLM,
    correctness=f"{LLM}|c",
    config={"seed": 0, "review_rate": 0.02, "faithful_from": 0.8, "gold_match": "exact"},
    versions={},
    input=RunInput(path="in.jsonl", sha256="a", samples=3),
    started="2026-11-21T00:00:00+00:00",
)


def changed(**fields: object) -> RunRecord:
    return BEGUN.model_copy(update=fields)


def test_a_run_does_not_differ_from_itself() -> None:
    assert difference(BEGUN, BEGUN) is None
    assert difference(changed(correctness=None), changed(correctness=None)) is None


def test_which_model_a_server_picked_is_no_difference() -> None:
    served = {"signature": "llm:m@h|served:m-2|t:0", "correctness": "llm:m@h|served:m-2|t:0|c"}
    assert difference(BEGUN, changed(**served)) is None


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"input": RunInput(path="b.jsonl", sha256="b", samples=3)}, "input (in.jsonl)"),
        ({"signature": "llm:n@h|t:0"}, "signature (llm:m@h|t:0)"),
        ({"correctness": None}, "correctness (llm:m@h|t:0|c)"),
        ({"correctness": "llm:m@h|t:0|d"}, "correctness (llm:m@h|t:0|c)"),
        ({"config": {**BEGUN.config, "seed": 1}}, "seed (0)"),
        ({"config": {**BEGUN.config, "faithful_from": 0.9}}, "faithful_from (0.8)"),
        ({"config": {**BEGUN.config, "correct_from": 0.9}}, "correct_from (None)"),
        ({"config": {**BEGUN.config, "gold_match": "prefix"}}, "gold_match (exact)"),
    ],
)
def test_what_differs_is_named_with_what_it_was(fields: dict[str, object], named: str) -> None:
    assert difference(BEGUN, changed(**fields)) == named


def test_other_settings_may_change_on_the_way() -> None:
    assert difference(BEGUN, changed(config={**BEGUN.config, "concurrency": 1})) is None
