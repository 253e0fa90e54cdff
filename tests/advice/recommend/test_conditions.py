import pytest

from judge.advice.recommend.conditions import Condition, Fact, holds


@pytest.mark.parametrize(
    ("condition", "fact", "expected"),
    [
        ("<= 5", 5.0, True),
        ("<= 5", 5.5, False),
        ("< 1", 1.0, False),
        ("> 10000", 10_000, False),
        ("> 10000", 10_000.5, True),
        (">= 20", 20, True),
        (">= 0", None, False),
        ("<= 5", None, False),
        (("high",), "high", True),
        (("high",), "normal", False),
        (("sparse", "dense"), "dense", True),
        (("sparse",), None, False),
    ],
)
def test_one_condition(condition: Condition, fact: Fact, expected: bool) -> None:  # noqa: FBT001
    assert holds({"x": condition}, {"x": fact}) is expected


def test_all_must_hold() -> None:
    when: dict[str, Condition] = {"relevant": "<= 15", "ratio": "> 10000"}
    assert holds(when, {"relevant": 10, "ratio": 20_000})
    assert not holds(when, {"relevant": 10, "ratio": 20})
    assert holds({}, {})


def test_a_fact_or_comparison_that_is_none_is_a_fault_of_the_table() -> None:
    with pytest.raises(KeyError, match="relevnt"):
        holds({"relevnt": "<= 5"}, {"relevant": 1})
    with pytest.raises(KeyError, match="=="):
        holds({"relevant": "== 5"}, {"relevant": 1})
