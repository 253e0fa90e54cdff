import pytest

from judge.cli.render.counting import counted


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1234567, "1,234,567 rows")]
)
def test_one_is_not_several(count: int, said: str) -> None:
    assert counted(count, "row") == said
