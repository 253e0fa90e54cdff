import tomllib
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity.senses import Sense, english_senses, han_senses
from judge.text.words import stem, stems

RAW: dict[str, Any] = tomllib.loads(
    files("judge").joinpath("data", "senses.toml").read_text("utf-8")
)
CONCEPTS: dict[str, dict[str, str]] = RAW["concepts"]
SETS: dict[str, list[str]] = {name: group.split() for name, group in RAW["exclusive"].items()}
HIDING: list[str] = RAW["other"]["zh"].split()
HAN = {word: name for name, entry in CONCEPTS.items() for word in entry.get("zh", "").split()}


def english(word: str) -> Sense:
    ((found, _, _),) = english_senses(stems(word))
    return found


def han(word: str) -> Sense:
    ((found, _, _),) = han_senses(word)
    return found


def test_every_concept_named_exists() -> None:
    keys = ("under", "less")
    entries = CONCEPTS.values()
    named = {name for entry in entries for key in keys for name in entry.get(key, "").split()}
    assert named | {name for group in SETS.values() for name in group} <= CONCEPTS.keys()


def test_every_concept_is_spelled() -> None:
    assert all(entry.get("zh", "").split() for entry in CONCEPTS.values())


def test_no_english_stem_stands_twice() -> None:
    spelled = [
        tuple(stems(spelling.replace("_", " ")))
        for entry in CONCEPTS.values()
        for spelling in entry.get("en", "").split()
    ]
    assert [stemmed for stemmed, times in Counter(spelled).items() if times > 1] == []


def test_no_chinese_word_stands_twice() -> None:
    words = [word for entry in CONCEPTS.values() for word in entry.get("zh", "").split()]
    assert [word for word, times in Counter(words + HIDING).items() if times > 1] == []


def test_no_concept_implies_two_that_exclude_each_other() -> None:
    for name, word in ((name, word) for word, name in HAN.items()):
        implies = han(word).implies
        assert [key for key, group in SETS.items() if len(implies & set(group)) > 1] == [], name


def test_no_concept_excludes_what_it_implies_and_none_implies_itself_from_above() -> None:
    for word in HAN:
        found = han(word)
        less = set(CONCEPTS[found.concept].get("less", "").split())
        assert found.implies & found.excludes <= less <= found.excludes
        above = CONCEPTS[found.concept].get("under", "").split()
        assert not any(found.concept in han(CONCEPTS[a]["zh"].split()[0]).implies for a in above)


def test_each_spelling_is_read_as_its_concept() -> None:
    for name, entry in CONCEPTS.items():
        assert {
            english(word.replace("_", " ")).concept for word in entry.get("en", "").split()
        } <= {name}
        assert {han(word).concept for word in entry["zh"].split()} == {name}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("person", "boys"),
        ("people", "doctor"),
        ("film", "movie"),
        ("died", "death"),
        ("bought", "purchased"),
        ("commenced", "began"),
        ("U.S.", "American"),
        ("animal", "puppies"),
        ("outdoors", "beach"),
        ("increased", "growth"),
        ("musicians", "guitarist"),
    ],
)
def test_an_english_word_stands_under_another(said: str, found: str) -> None:
    assert english(said).concept in english(found).implies


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("人", "男孩"),
        ("户外", "海滩"),
        ("动物", "小狗"),
        ("去世", "逝世"),
        ("开始", "启动"),
        ("购买", "买"),
    ],
)
def test_a_chinese_word_stands_under_another(said: str, found: str) -> None:
    assert han(said).concept in han(found).implies


@pytest.mark.parametrize(
    ("one", "other"),
    [("boy", "男孩"), ("United Kingdom", "英国"), ("physician", "医生"), ("won", "获胜")],
)
def test_the_languages_share_their_concepts(one: str, other: str) -> None:
    assert english(one) == han(other)


def test_what_is_broader_says_less() -> None:
    assert "boy" not in english("person").implies
    assert not english("person").excludes & english("boy").implies


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("男人", "女孩"),
        ("黑色", "白色"),
        ("坐着", "站在"),
        ("增加", "下降"),
        ("所有", "没有人"),
        ("之前", "之后"),
        ("赢得", "输掉"),
        ("室内", "户外"),
        ("厨房", "海滩"),
        ("小狗", "猫"),
        ("周一", "星期五"),
        ("合法", "非法"),
    ],
)
def test_words_that_exclude_each_other(one: str, other: str) -> None:
    assert han(one).excludes & han(other).implies
    assert han(other).excludes & han(one).implies


def test_exclusion_is_inherited_but_not_along_the_line() -> None:
    assert "female" in english("uncle").excludes
    assert not english("Scotland").excludes & english("Britain").implies


@pytest.mark.parametrize("text", HIDING)
def test_a_hiding_word_says_nothing(text: str) -> None:
    assert han_senses(text) == []
    assert any(
        text[start:end] in HAN
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
    )


def test_the_longest_word_comes_first() -> None:
    found = han_senses("科学家用人民币买了红酒")
    assert [s.concept for s, _, _ in found] == ["scientist", "buy", "wine"]


def test_words_of_several_stems() -> None:
    found = english_senses(stems("the New Zealand high school"))
    assert [(s.concept, first, last) for s, first, last in found] == [
        ("new-zealand", 1, 3),
        ("secondary-school", 3, 5),
    ]


def test_unlisted_words_have_no_sense() -> None:
    assert english_senses([stem("right")]) == []
    assert han_senses("plain ascii") == []


@given(st.text(max_size=60) | st.text(alphabet="人男女孩民币红酒科学家买了a 1", max_size=60))
def test_senses_of_any_text_are_in_order_and_apart(text: str) -> None:
    found = han_senses(text)
    assert all(0 <= start < end <= len(text) for _, start, end in found)
    assert all(one[2] <= other[1] for one, other in pairwise(found))
    assert all(HAN[text[start:end]] == own.concept for own, start, end in found)


@given(st.lists(st.sampled_from(["new", "zealand", "unit", "state", "boy", "x", ""]), max_size=12))
def test_senses_of_any_stems_are_in_order_and_apart(stemmed: list[str]) -> None:
    found = english_senses(stemmed)
    assert all(0 <= first < last <= len(stemmed) for _, first, last in found)
    assert all(one[2] <= other[1] for one, other in pairwise(found))
