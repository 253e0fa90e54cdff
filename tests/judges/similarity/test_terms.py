from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity.terms import DENIAL, Kind, Term, skip_key, terms
from judge.text.words import CONTENT, weight

PARTS = ["Rain", "men", "not", "the", "45", "forty-five", "[1]", " ", ". ", "男孩", "没", "四十天"]
PROSE = st.text(max_size=60) | st.lists(st.sampled_from(PARTS), max_size=20).map("".join)


def keys(sentence: str, kind: Kind) -> list[str]:
    return [term.key for term in terms(sentence) if term.kind is kind]


def by_key(sentence: str) -> dict[str, Term]:
    return {term.key: term for term in terms(sentence)}


def test_words_pairs_and_numbers() -> None:
    sentence = "2. Rain fell for 45 days [1]."
    assert keys(sentence, Kind.WORD) == ["rain", "fell", "for", "day"]
    assert keys(sentence, Kind.PAIR) == ["rain fell", "fell for", "for #45", "#45 day"]
    assert keys(sentence, Kind.NUMBER) == ["#45"]


def test_skips_leap_over_light_words_and_over_one_that_tells() -> None:
    assert weight("for") < CONTENT < min(weight(stem) for stem in ("rain", "fell", "day"))
    found = keys("Rain fell for days on Hamburg.", Kind.SKIP)
    assert sorted(found) == sorted(
        ["rain…fell", "fell…day", "day…hamburg", "rain…day", "fell…hamburg"]
    )


def test_a_skip_is_of_two_words_in_their_order() -> None:
    assert keys("Rain, rain fell.", Kind.SKIP) == ["rain…fell"]
    assert keys("Rain fell.", Kind.SKIP) == [skip_key("rain", "fell")]
    assert keys("Fell rain.", Kind.SKIP) == [skip_key("fell", "rain")]
    assert keys("Rain.", Kind.SKIP) == []


def test_chinese_is_broken_the_same_way() -> None:
    assert keys("企鹅吃鱼", Kind.WORD) == ["企", "鹅", "吃", "鱼"]
    assert keys("企鹅吃鱼", Kind.PAIR) == ["企 鹅", "鹅 吃", "吃 鱼"]
    assert keys("雨四十五天", Kind.WORD) == ["雨", "天"]
    assert keys("雨四十五天", Kind.PAIR) == ["雨 #45", "#45 天"]
    assert keys("四十五天", Kind.NUMBER) == keys("45天", Kind.NUMBER) == ["#45"]
    assert sorted(keys("企鹅吃鱼", Kind.SKIP)) == sorted(
        ["企…鹅", "鹅…吃", "吃…鱼", "企…吃", "鹅…鱼"]
    )


def test_two_words_together_weigh_their_mean_and_a_number_one() -> None:
    found = by_key("Rain fell for 45 days.")
    rain, fell, for_ = (weight(stem) for stem in ("rain", "fell", "for"))
    assert found["rain"].weight == rain
    assert found["rain fell"].weight == found["rain…fell"].weight == (rain + fell) / 2
    assert found["fell for"].weight == (fell + for_) / 2
    assert found["#45"].weight == 1


def test_a_number_has_one_key_however_it_is_written() -> None:
    spellings = ["45 km", "forty-five km", "45.0 km", "四十五公里"]
    assert [keys(each, Kind.NUMBER) for each in spellings] == [["#45"]] * 4


def test_a_bare_number_is_the_word_that_must_be_found() -> None:
    assert [(term.key, term.kind) for term in terms("70.")] == [("#70", Kind.WORD)]


def test_a_name_is_capitalised_and_does_not_open_the_sentence() -> None:
    named = [term.key for term in terms("Rain fell on Kowalski. The Rain.") if term.name]
    assert named == ["rain", "kowalski"]


def test_every_term_comes_once_and_knows_its_place() -> None:
    sentence = "Rain, rain and Snow didn't come, not once."
    found = terms(sentence)
    assert len({term.key for term in found}) == len(found)
    (denial,) = [term for term in found if term.kind is Kind.NEGATION]
    assert (denial.key, sentence[denial.start : denial.end]) == (DENIAL, "didn't")


def test_words_of_the_table_have_their_sense() -> None:
    found = by_key("A man sat in the United States near Kowalski.")
    concepts = {key: each.sense.concept for key, each in found.items() if each.sense}
    assert (concepts["man"], concepts["sat"]) == ("man", "sit")
    assert concepts["unit"] == concepts["state"] == "america"
    assert found["kowalski"].sense is None


def test_every_character_of_a_chinese_word_has_its_sense() -> None:
    found = by_key("两个男孩坐下")
    concepts = {key: each.sense.concept for key, each in found.items() if each.sense}
    assert concepts == {"男": "boy", "孩": "boy", "坐": "sit", "下": "sit"}


def test_a_sentence_of_signs_has_no_terms() -> None:
    assert terms("*** [1] …") == []


@given(PROSE)
def test_any_text_can_be_broken(text: str) -> None:
    found = terms(text)
    known = {term.key for term in found}
    assert len(known) == len(found)
    assert all(0 <= term.start < term.end <= len(text) for term in found)
    assert all(0 < term.weight <= 1 for term in found)
    # Whoever looks skips up does so by their two words.
    assert all(set(term.key.split("…")) <= known for term in found if term.kind is Kind.SKIP)
