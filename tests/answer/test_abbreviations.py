from judge.answer.abbreviations import abbreviations


def test_every_section_has_its_words() -> None:
    words = abbreviations()
    assert "dr" in words.never_end
    assert "inc" in words.may_end
    assert "etc" in words.closes_list
    assert "fig" in words.before_number
    assert "the" in words.starters


def test_words_are_written_as_they_are_looked_up() -> None:
    for section in abbreviations():
        assert all(word == word.lower().strip().removesuffix(".") for word in section)


def test_a_word_stands_in_one_section_of_abbreviations() -> None:
    words = abbreviations()
    assert not words.never_end & words.may_end
    assert not words.never_end & words.before_number
    assert not words.may_end & words.before_number
    assert not words.closes_list & (words.never_end | words.may_end | words.before_number)
