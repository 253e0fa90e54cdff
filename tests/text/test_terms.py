from judge.text.terms import DENIAL, Kind, terms


def keys(sentence: str, kind: Kind) -> list[str]:
    return [term.key for term in terms(sentence) if term.kind is kind]


def test_words_pairs_and_numbers() -> None:
    sentence = "2. Rain fell for 45 days [1]."
    assert keys(sentence, Kind.WORD) == ["rain", "fell", "for", "day"]
    assert keys(sentence, Kind.PAIR) == ["rain fell", "fell for"]
    assert keys(sentence, Kind.NUMBER) == ["#45"]


def test_chinese_is_broken_the_same_way() -> None:
    assert keys("四十五天", Kind.WORD) == ["四", "十", "五", "天"]
    assert keys("四十五天", Kind.PAIR) == ["四 十", "十 五", "五 天"]
    assert keys("四十五天", Kind.NUMBER) == keys("45天", Kind.NUMBER) == ["#45"]


def test_a_name_is_capitalised_and_does_not_open_the_sentence() -> None:
    named = [term.key for term in terms("Rain fell on Kowalski. The Rain.") if term.name]
    assert named == ["rain", "kowalski"]


def test_every_term_comes_once_and_knows_its_place() -> None:
    sentence = "Rain, rain and Snow didn't come, not once."
    found = terms(sentence)
    assert len({term.key for term in found}) == len(found)
    (denial,) = [term for term in found if term.kind is Kind.NEGATION]
    assert (denial.key, sentence[denial.start : denial.end]) == (DENIAL, "didn't")


def test_a_sentence_of_signs_has_no_terms() -> None:
    assert terms("*** [1] …") == []
