import tomllib
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity.terms import Kind, terms, tokens
from judge.text.senses import Sense, senses
from judge.text.words import CONTENT, stems, weight
from tests.growth import LINEAR, growth
from tests.judges.similarity.rows import MARKS, Row, rows

PARTS = [
    "Rain", "men", "the", "45", "forty-five", "26, 0", "[1]", " ", ". ", "男孩", "没", "四十天",
]  # fmt: skip
PROSE = st.text(max_size=60) | st.lists(st.sampled_from(PARTS), max_size=20).map("".join)


def keys(sentence: str, kind: Kind) -> list[str]:
    return [term.key for term in rows(terms([sentence])) if term.kind is kind]


def by_key(sentence: str) -> dict[str, Row]:
    return {term.key: term for term in rows(terms([sentence]))}


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
    assert [(row.key, row.weight) for row in rows(terms(["*** …"]))] == [("\n", 0)]
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
    named = [
        term.key for term in rows(terms(["Rain fell on Kowalski. The Rain, 45."])) if term.name
    ]
    assert named == ["rain", "kowalski", "45"]


def test_words_of_the_table_have_their_sense() -> None:
    def concepts(sentence: str) -> dict[str, str]:
        return {key: each.concept for key, each in by_key(sentence).items() if each.concept}

    found = concepts("A man sat in the United States by Kowalski.")
    assert found == {"man": "man", "sat": "sit", "unit": "america", "state": "america"}
    # Every character of a Chinese word has its sense.
    assert concepts("两个男孩坐下") == {"男": "boy", "孩": "boy", "坐": "sit", "下": "sit"}


@given(PROSE)
def test_any_text_can_be_broken(text: str) -> None:
    found = rows(terms([text]))
    if found[0].key == "\n":
        assert tokens(text).stems == []
        return
    known = {term.key for term in found}
    assert len(known) == len(found)
    assert all(0 <= term.start < term.end <= len(text) for term in found)
    assert all(0 < term.weight <= 1 for term in found)
    # A pair is beside what it is made of, and several sentences say what each says.
    for kind, mark in MARKS.items():
        parts = [term.key.split(mark) for term in found if term.kind is kind]
        assert all(len(each) == 2 and set(each) <= known for each in parts)
    assert rows(terms(["45 men", text]).of(1, 2)) == found


def test_time_is_linear() -> None:
    for phrase in ("Zebras saw 45 men. ", "1,", "26, 0", "一", "四十五", "1. 1 "):
        assert growth(lambda text: terms([text]), phrase.__mul__, 500) < LINEAR, phrase


# Meanings.

RAW: dict[str, Any] = tomllib.loads(
    files("judge").joinpath("data", "senses.toml").read_text("utf-8")
)
CONCEPTS: dict[str, dict[str, str]] = RAW["concepts"]
SETS: dict[str, list[str]] = {name: group.split() for name, group in RAW["exclusive"].items()}
HIDING: list[str] = RAW["other"]["zh"].split()
HAN = {word: name for name, entry in CONCEPTS.items() for word in entry.get("zh", "").split()}


def read(text: str) -> list[tuple[str, str]]:
    """Concepts, each with the text from its first word or character to its last one's first."""
    found = senses(text, tokens(text))
    return [(sense.concept, text[places[0] : places[-1] + 1]) for sense, places in found]


def sense(word: str) -> Sense:
    ((found, _),) = senses(word, tokens(word))
    return found


def test_no_word_of_the_table_has_two_meanings_or_one_at_odds_with_itself() -> None:
    spelled = [
        " ".join(stems(spelling.replace("_", " ")))
        for entry in CONCEPTS.values()
        for spelling in entry.get("en", "").split()
    ]
    spelled += [word for entry in CONCEPTS.values() for word in entry.get("zh", "").split()]
    assert [word for word, times in Counter(spelled + HIDING).items() if times > 1] == []
    for word in HAN:
        found = sense(word)
        assert [key for key, group in SETS.items() if len(found.implies & set(group)) > 1] == [], (
            word
        )
        less = set(CONCEPTS[found.concept].get("less", "").split())
        assert found.implies & found.excludes <= less <= found.excludes, word


def test_a_word_stands_under_another() -> None:
    rows = """person boys; people doctor; film movie; died death; bought purchased; began commenced;
        American U.S.; animal puppies; outdoors beach; increased growth; musicians guitarist;
        人 男孩; 户外 海滩; 动物 小狗; 去世 逝世; 开始 启动; 购买 买;
        boy 男孩; 医生 physician; 获胜 won"""
    pairs = [row.split() for row in rows.split(";")]
    assert [row for row in pairs if sense(row[0]).concept not in sense(row[1]).implies] == []
    # What is broader says less.
    assert "boy" not in sense("person").implies
    assert not sense("person").excludes & sense("boy").implies


def test_words_exclude_each_other() -> None:
    rows = """男人 女孩; 黑色 白色; 坐着 站在; 增加 下降; 所有 没有人; 之前 之后; 赢得 输掉;
        室内 户外; 厨房 海滩; 小狗 猫; 周一 星期五; 合法 非法; man woman; before after; all some"""
    pairs = [row.split() for row in rows.split(";")]
    one_sided = [
        (one, other)
        for one, other in pairs
        if one != "all" and not (sense(one).excludes & sense(other).implies)
    ]
    assert one_sided == []
    # Exclusion is inherited, but not along the line.
    assert "female" in sense("uncle").excludes
    assert not sense("Scotland").excludes & sense("Britain").implies


def test_the_longest_word_comes_first_and_a_hiding_one_says_nothing() -> None:
    han = [("scientist", "科学家"), ("buy", "买了"), ("wine", "红酒")]
    assert read("科学家用人民币买了红酒") == han
    assert read("the New Zealand high school") == [
        ("new-zealand", "New Z"),
        ("secondary-school", "high s"),
    ]
    assert [text for text in [*HIDING, "right", "plain ascii"] if read(text)] == []


@given(st.text(max_size=60) | st.text(alphabet="人男女孩民币红酒科学家买了a 1", max_size=60))
def test_senses_of_any_text_are_in_order_and_apart(text: str) -> None:
    chinese = [each for each in senses(text, tokens(text)) if isinstance(each[1], range)]
    assert all(one[-1] < other[0] for (_, one), (_, other) in pairwise(chinese))
    told = [(text[places[0] : places[-1] + 1], own.concept) for own, places in chinese]
    assert [word for word, concept in told if HAN[word] != concept] == []
