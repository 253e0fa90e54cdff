import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity.index import RIVAL, SAID, Vocabulary, occurrences
from judge.judges.similarity.terms import DENIAL, terms
from tests.growth import LINEAR, growth


def found(sentence: str, texts: list[list[str]]) -> set[tuple[str, int]]:
    """What a sentence says and its segment, in texts given as lists of their segments."""
    vocabulary = Vocabulary.of([terms(sentence)])
    names = {number: key for key, number in vocabulary.number.items()}
    begins, at = [], 0
    for segments in texts:
        for segment in segments:
            begins.append(at)
            at += len(segment)
        at += 1
    whole = ["".join(segments) for segments in texts]
    ids, where = occurrences(whole, vocabulary, np.asarray(begins, np.int64))
    return {(names[i], at) for i, at in zip(ids.tolist(), where.tolist(), strict=True)}


def worded(sentence: str, texts: list[list[str]]) -> set[tuple[str, int]]:
    """The same without meanings."""
    return {(key, at) for key, at in found(sentence, texts) if key[0] not in (SAID, RIVAL)}


def test_words_pairs_and_numbers_in_their_segments() -> None:
    texts = [["Rain fell. ", "It fell for 45 days."], ["Rain!"]]
    assert worded("Rain fell on 45 days.", texts) == {
        ("rain", 0),
        ("fell", 0),
        ("rain fell", 0),
        ("rain…fell", 0),
        ("fell", 1),
        ("day", 1),
        ("#45", 1),
        ("#45 day", 1),
        ("fell…#45", 1),
        ("#45…day", 1),
        ("fell…day", 1),
        ("rain", 2),
    }


def test_chinese_words_pairs_and_numbers() -> None:
    assert worded("雨四十五天", [["雪。", "雨下了45天。"]]) == {
        ("雨", 1),
        ("天", 1),
        ("#45", 1),
        ("#45 天", 1),
        ("雨…#45", 1),
        ("#45…天", 1),
        ("雨…天", 1),
    }
    assert worded("企鹅", [["企鹅。", "鹅企。"]]) == {
        ("企", 0),
        ("鹅", 0),
        ("企 鹅", 0),
        ("企…鹅", 0),
        ("企", 1),
        ("鹅", 1),
        ("企…鹅", 1),
    }


def test_a_pair_stands_side_by_side_in_its_order_and_in_one_text() -> None:
    def pairs(texts: list[list[str]]) -> list[int]:
        return [at for key, at in found("Zebra canteen.", texts) if key == "zebra canteen"]

    assert pairs([["zebra canteen"]]) == pairs([["Zebras, canteens"]]) == [0]
    assert pairs([["canteen zebra"]]) == []
    assert pairs([["zebra of canteen"]]) == []
    assert pairs([["zebra"], ["canteen"]]) == []


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("zebra canteen", True),
        ("zebra" + " of" * 7 + " canteen", True),
        ("zebra" + " of" * 8 + " canteen", False),
        ("canteen zebra", True),
        ("canteen of of zebra", True),
        ("canteen of of of zebra", False),
        # Signs are no words.
        ("canteen of * of — … zebra", True),
        ("zebra zebra", False),
        # Far from the first zebra, near the second.
        ("zebra" + " of" * 9 + " zebra canteen", True),
    ],
)
def test_a_skip_within_8_words_ahead_and_3_back(text: str, there: bool) -> None:  # noqa: FBT001
    assert (("zebra…canteen", 0) in found("Zebra canteen.", [[text]])) is there


@pytest.mark.parametrize("texts", [[["Zebra. ", "Canteen."]], [["zebra"], ["canteen"]]])
def test_a_skip_stands_in_one_segment(texts: list[list[str]]) -> None:
    said = worded("Zebra canteen.", texts)
    assert {("zebra", 0), ("canteen", 1)} <= said
    assert "zebra…canteen" not in {key for key, _ in said}


WORDS = st.sampled_from(["zebra", "canteen", "walrus", "of"])


@given(st.lists(st.lists(st.lists(WORDS, max_size=14), min_size=1, max_size=3), max_size=3))
def test_skips_are_what_comparing_every_two_words_finds(texts: list[list[list[str]]]) -> None:
    asked = {("zebra", "canteen"), ("canteen", "walrus"), ("zebra", "walrus")}
    segments = [segment for text in texts for segment in text]
    expected = {
        (f"{first}…{second}", at)
        for at, segment in enumerate(segments)
        for i, first in enumerate(segment)
        for j, second in enumerate(segment)
        if (first, second) in asked and -3 <= j - i <= 8
    }
    said = found(
        "Zebra canteen walrus.",
        [["".join(f"{word} " for word in segment) + ". " for segment in text] for text in texts],
    )
    assert {(key, at) for key, at in said if "…" in key} == expected


def test_meanings_said_in_other_words_and_denied() -> None:
    texts = [["A gentleman. ", "A woman. ", "A zebra."]]
    assert found("Man.", texts) == {("@man", 0), ("≠man", 1)}
    assert found("男人", [["一位男士。", "一位女士。", "斑马。"]]) == {
        ("男", 0),
        ("@man", 0),
        ("≠man", 1),
    }


def test_a_narrower_word_says_the_broader_and_not_the_reverse() -> None:
    assert found("Person.", [["A boy."]]) == {("@person", 0)}
    assert found("Boy.", [["A person."]]) == set()
    assert found("人", [["男孩。"]]) == {("@person", 0)}
    assert found("男孩", [["人。"]]) == set()


def test_a_word_says_its_own_meaning_too_and_in_either_language() -> None:
    assert found("Woman.", [["A woman."]]) == {("woman", 0), ("@woman", 0)}
    assert found("Boy.", [["男孩。"]]) == {("@boy", 0)}


def test_a_spelling_of_several_words_counts_where_it_begins() -> None:
    texts = [["Rain. ", "The United States."]]
    assert found("America.", texts) == {("@america", 1)}


def test_all_negations_are_one_term() -> None:
    assert (DENIAL, 1) in found("Rain did not fall.", [["It rained. ", "It didn't."]])
    assert (DENIAL, 0) in found("没下雨", [["雨不大。"]])


@pytest.mark.parametrize("texts", [[], [""], ["", ""], [" ", "\n"]])
def test_where_nothing_stands_nothing_is_found(texts: list[str]) -> None:
    vocabulary = Vocabulary.of([terms("A man saw 45 men. 男孩")])
    ids, where = occurrences(texts, vocabulary, np.zeros(0, np.int64))
    assert ids.tolist() == where.tolist() == []


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3))
def test_any_texts_can_be_searched(sentence: str, texts: list[str]) -> None:
    vocabulary = Vocabulary.of([terms(sentence)])
    begins = np.cumsum([0, *(len(text) + 1 for text in texts)])[: len(texts)]
    ids, where = occurrences([*texts], vocabulary, begins.astype(np.int64))
    assert set(ids.tolist()) <= set(vocabulary.number.values())
    assert set(where.tolist()) <= set(range(len(texts)))


@pytest.mark.parametrize("phrase", ["zebra canteen man ", "斑马男孩食堂。"])
def test_time_is_linear(phrase: str) -> None:
    vocabulary = Vocabulary.of([terms("The man saw zebras in 45 canteens. 男孩看斑马。")])

    def search(text: str) -> None:
        occurrences([text], vocabulary, np.zeros(1, np.int64))

    assert growth(search, lambda size: phrase * size, 500) < LINEAR
