import pytest

from judge.answer.patterns import compile_pattern


def test_a_good_pattern() -> None:
    found = compile_pattern(r"<(\d+)>").search("as said <12>")
    assert found is not None
    assert found[1] == "12"


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "(" * 5000 + ")" * 5000, "[z-a]"])
def test_a_bad_one_is_a_value_error(pattern: str) -> None:
    with pytest.raises(ValueError, match="is no regular expression: "):
        compile_pattern(pattern)
