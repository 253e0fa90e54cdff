import pytest

from judge.advice.recommend.figures import figure


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (1.5, "1.5"),
        (5_000_000.0, "5,000,000"),
        (1_999.5, "2,000"),
        (1 / 3, "0.333"),
        (499_999.25, "499,999"),
        (None, "–"),
        ("high", "high"),
    ],
)
def test_a_figure(value: float | str | None, said: str) -> None:
    assert figure(value) == said
