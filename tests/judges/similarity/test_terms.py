from hypothesis import given, settings
from hypothesis import strategies as st

from judge.judges.similarity.terms import Kind, Term, terms, tokens
from judge.text.words import CONTENT, weight
from tests.growth import LINEAR, growth

PARTS = [
    "Rain", "men", "the", "45", "forty-five", "26, 0", "[1]", " ", ". ", "男孩", "没", "四十天",
]  # fmt: skip
PROSE = st.text(max_size=60) | st.lists(st.sampled_from(PARTS), max_size=20).map("".join)


def keys(sentence: str, kind: Kind) -> list[str]:
    return [term.key for term in terms(sentence) if term.kind is kind]


def by_key(sentence: str) -> dict[str, Term]:
    return {term.key: term for term in terms(sentence)}


def test_words_and_numbers_in_whatever_writing() -> None:
    wanted = {
        "Rain fell for 45 days": "rain fell for 45 day",
        "１２ men, 3.5 km, 1,234.5 km": "12 men 3.5 km 1234.5 km",
        "26, 000 men and 1. 1 million": "26000 men and 1.1 million",
        "In 1995, 2013 men": "in 1995 2013 men",
        "July 1, 1969": "juli 1 1969",
        "Twenty Zebras": "20 zebra",
        "B12 and 12B": "b12 and 12 b",
        "雨四十五天，二〇二三年": "雨 45 天 2023 年",
        "十分好，万一下雨": "十 分 好 万 一 下 雨",
        "*** …": "",
    }
    told = {text: " ".join(tokens(text).stems) for text in wanted}
    assert told == wanted


def test_a_sentence_is_words_pairs_and_skips() -> None:
    sentence = "Rain fell for 45 days."
    assert keys(sentence, Kind.WORD) == ["rain", "fell", "for", "45", "day"]
    assert keys(sentence, Kind.PAIR) == ["rain fell", "fell for", "for 45", "45 day"]
    # A skip leaps over light words, and over one that tells.
    assert weight("for") < CONTENT < min(weight(stem) for stem in ("rain", "fell", "day", "45"))
    assert set(keys(sentence, Kind.SKIP)) == {
        "rain…fell", "fell…45", "45…day", "rain…45", "fell…day",
    }  # fmt: skip
    assert keys("Rain, rain fell.", Kind.SKIP) == ["rain…fell"]
    assert keys("Rain.", Kind.SKIP) == []
    assert terms("*** …") == []
    # Chinese is broken the same way.
    assert keys("企鹅吃鱼", Kind.PAIR) == ["企 鹅", "鹅 吃", "吃 鱼"]
    skips = {"企…鹅", "鹅…吃", "吃…鱼", "企…吃", "鹅…鱼"}
    assert set(keys("企鹅吃鱼", Kind.SKIP)) == skips


def test_two_words_together_weigh_their_mean() -> None:
    found = by_key("Rain fell for 45 days.")
    rain, fell, light = (weight(stem) for stem in ("rain", "fell", "for"))
    assert found["rain"].weight == rain
    assert found["rain fell"].weight == found["rain…fell"].weight == (rain + fell) / 2
    assert found["fell for"].weight == (fell + light) / 2
    assert found["45"].weight == 1


def test_a_name_is_a_number_or_capitalised_within_the_sentence() -> None:
    named = [term.key for term in terms("Rain fell on Kowalski. The Rain, 45.") if term.name]
    assert named == ["rain", "kowalski", "45"]


def test_words_of_the_table_have_their_sense() -> None:
    def concepts(sentence: str) -> dict[str, str]:
        return {key: each.sense.concept for key, each in by_key(sentence).items() if each.sense}

    found = concepts("A man sat in the United States by Kowalski.")
    assert found == {"man": "man", "sat": "sit", "unit": "america", "state": "america"}
    # Every character of a Chinese word has its sense.
    assert concepts("两个男孩坐下") == {"男": "boy", "孩": "boy", "坐": "sit", "下": "sit"}


@settings(deadline=None)
@given(PROSE)
def test_any_text_can_be_broken(text: str) -> None:
    found = terms(text)
    known = {term.key for term in found}
    assert len(known) == len(found)
    assert all(0 <= term.start < term.end <= len(text) for term in found)
    assert all(0 < term.weight <= 1 for term in found)
    # Whoever looks pairs and skips up does so by their two words.
    for kind, mark in ((Kind.PAIR, " "), (Kind.SKIP, "…")):
        parts = [term.key.split(mark) for term in found if term.kind is kind]
        assert all(len(each) == 2 and set(each) <= known for each in parts)


def test_time_is_linear() -> None:
    for phrase in ("Zebras saw 45 men. ", "1,", "26, 0", "一", "四十五", "1. 1 "):
        assert growth(terms, phrase.__mul__, 500) < LINEAR, phrase
