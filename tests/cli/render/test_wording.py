import pytest

from judge.cli.render.wording import meaning
from judge.records import Flag, FlagName


@pytest.mark.parametrize("name", FlagName)
def test_every_flag_has_words(name: FlagName) -> None:
    assert meaning(Flag(name=name))


def test_what_is_missing_is_said_in_the_sentence_s_own_characters() -> None:
    flag = Flag(name=FlagName.MISMATCH_NUMBER, sentence=0, detail="9.9\nbillion")
    assert meaning(flag) == "9.9 billion: not in the evidence"
