import pytest

from judge.cli.options import chosen
from judge.errors import ConfigError
from judge.messages import LANGS


@pytest.mark.parametrize("word", LANGS)
def test_what_is_known_is_taken(word: str) -> None:
    assert chosen("--lang", word, LANGS) == word


@pytest.mark.parametrize("word", ["", "EN", "法语", "en,zh"])
def test_what_is_not_is_named_with_what_there_is(word: str) -> None:
    with pytest.raises(ConfigError) as told:
        chosen("--lang", word, LANGS)
    assert str(told.value) == f"--lang {word!r}: give one of en, zh"


def test_a_long_one_is_cut() -> None:
    with pytest.raises(ConfigError) as told:
        chosen("--lang", "x" * 10_000, LANGS)
    assert len(str(told.value)) < 120
