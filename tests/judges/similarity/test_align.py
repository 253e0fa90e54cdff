import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity.align import (
    SENTENCE_FEATURES,
    TERM_FEATURES,
    Alignment,
    Passages,
    align,
)
from judge.judges.similarity.terms import terms
from judge.text.words import CONTENT, weight

Floats = npt.NDArray[np.float64]


def aligned(
    sentences: Sequence[str],
    chunks: Sequence[str],
    cited: list[list[bool]] | None = None,
    cosine: list[list[float]] | None = None,
) -> Alignment:
    said, passages = terms(sentences), Passages(chunks)
    shape = (len(sentences), len(chunks))
    return align(
        said,
        passages,
        passages.standing(said),
        np.zeros(len(said.owner), np.bool_),
        np.zeros(shape) if cosine is None else np.asarray(cosine),
        np.zeros(shape, np.bool_) if cited is None else np.asarray(cited),
    )


def keys(found: Alignment) -> list[str]:
    """The word of each row."""
    words = list(found.said.words)
    return [words[number] for number in found.said.number.tolist()]


def items(sentence: str, chunks: Sequence[str], column: int = 0) -> dict[str, dict[str, float]]:
    """Item → feature → value, of one sentence against one column, without zeros."""
    found = aligned([sentence], chunks)
    said = [keys(found)[row] for row in np.flatnonzero(found.said.items)]
    values = found.terms[:, column]
    assert values.shape == (len(said), len(TERM_FEATURES))
    return {
        term: {name: value for name, value in zip(TERM_FEATURES, row, strict=True) if value}
        for term, row in zip(said, values.tolist(), strict=True)
    }


def feature(found: Alignment, name: str) -> Floats:
    """A feature of sentences, shape (sentences, columns)."""
    values: Floats = found.sentences[:, :, SENTENCE_FEATURES.index(name)]
    return values


def total(found: Alignment, name: str) -> list[list[float]]:
    """A feature of items, summed for each sentence and column."""
    sums: Floats = np.zeros(found.sentences.shape[:2])
    np.add.at(sums, found.owner, found.terms[:, :, TERM_FEATURES.index(name)])
    return [list(map(float, row)) for row in sums]


RAIN, FELL, HAMBURG, DAY = (weight(stem) for stem in ("rain", "fell", "hamburg", "day"))
ON, FOR = (weight(stem) for stem in ("on", "for"))
LOST = {"one": 1, "out_weight": HAMBURG, "name_out": 1}
GONE = {"gone": 1, "gone_weight": HAMBURG, "name_gone": 1, "gone_late": 1}


def test_items_by_hand() -> None:
    assert min(RAIN, FELL, HAMBURG, DAY) > CONTENT > max(ON, FOR)
    found = items("Rain fell on Hamburg for 45 days.", ["Rain fell. 45 days in Hamburg."])
    assert found == {key: {"one": 1} for key in ("rain", "fell", "hamburg", "45", "day")}
    # A name in another chunk is out and not gone; alone, the first chunk lacks it.
    chunks = ["Rain fell.", "Hamburg."]
    assert items("Rain fell on Hamburg.", chunks)["hamburg"] == LOST
    assert items("Rain fell on Hamburg.", chunks, column=2)["hamburg"] == LOST | GONE
    # A number is told as a name is, in digits or in characters.
    weighed = ("one", "out_weight", "name_out", "gone", "gone_weight", "name_gone")
    for sentence in ("Rain for 45 days.", "雨下了四十五天。"):
        lost = items(sentence, [sentence.replace("45", "54").replace("四十五", "五十四")])["45"]
        assert {key: value for key, value in lost.items() if key != "gone_late"} == dict.fromkeys(
            weighed, 1
        )
    # Of four items, one has two thirds before it.
    chinese = items("周五开放", ["食堂周五关闭。"])
    assert [each.get("gone", 0) for each in chinese.values()] == [0, 0, 1, 1]
    assert [each.get("gone_late", 0) for each in chinese.values()] == [0, 0, 0, 1]


def steep() -> float:
    """The power that features of sentences are taken to, from a cosine of one half."""
    (half,) = feature(aligned(["Rain."], ["Rain."], cosine=[[0.5]]), "cosine")[0, :1]
    return -math.log2(half)


def test_shares_of_pairs_to_one_power() -> None:
    found = aligned(["Rain fell on Hamburg."], ["Rain fell.", "Rain fell on Hamburg.", "Hamburg."])
    # rain fell, fell on, on hamburg: their mean weights; the halves cancel.
    pairs = (RAIN + FELL) / (RAIN + FELL + FELL + ON + ON + HAMBURG)
    assert steep() >= 1
    assert feature(found, "pairs")[0, 2:] == pytest.approx([pairs ** steep(), 1, 0])
    penguin, goose, eats, fish = (weight(char) for char in "企鹅吃鱼")
    found = aligned(["企鹅吃鱼"], ["鱼企鹅吃"])
    pairs = (penguin + 2 * goose + eats) / (penguin + 2 * goose + 2 * eats + fish)
    assert feature(found, "pairs")[0, 0] == pytest.approx(pairs ** steep())


def test_columns_are_all_chunks_the_cited_ones_and_each_alone() -> None:
    cited = [[True, False, False], [False, False, False]]
    found = aligned(["Rain fell.", "Rain fell."], ["Rain.", "Rain fell.", ""], cited)
    assert total(found, "gone") == [[0, 1, 1, 0, 2], [0, 2, 1, 0, 2]]
    assert found.grounded.tolist() == [
        [True, True, True, True, False],
        [True, False, True, True, False],
    ]
    cosines = [[0.25, 0.5, 0.75], [0.5, 0.25, 0.0]]
    cited = [[True, True, False], [False, False, False]]
    found = aligned(["Rain.", "Snow."], ["Hail.", "Wind.", "Sun."], cited, cosines)
    wanted = np.asarray([[0.75, 0.5, 0.25, 0.5, 0.75], [0.5, 0, 0.5, 0.25, 0]])
    assert feature(found, "cosine") == pytest.approx(wanted ** steep())


def test_meanings_make_up_for_a_part_and_what_excludes_them_denies() -> None:
    rows = [
        # Another word with the meaning, or with a narrower one.
        ("A man slept on Kowalski.", "A gentleman slept.", "man", "part"),
        ("A person slept.", "A boy slept.", "person", "part"),
        ("一位男士", "一位男人", "士", "part"),
        ("人在睡觉", "男孩在睡觉", "人", "part"),
        ("A man slept.", "A gentleman and a woman slept.", "man", "part"),
        ("A boy slept.", "男孩 slept.", "boy", "part"),
        # A word that excludes it.
        ("A man slept.", "A woman slept.", "man", "denied"),
        ("Kowalski sits.", "Kowalski is standing.", "sit", "denied"),
        ("男孩睡觉", "女孩睡觉", "男", "denied"),
        ("红色的车", "蓝色的车", "红", "denied"),
        # A word that says nothing of it, and the word itself beside another.
        ("A man slept.", "A blorp slept.", "man", "gone"),
        ("A boy slept.", "A person slept.", "boy", "gone"),
        ("A man slept.", "A man and a woman slept.", "man", "there"),
        # A word of grammar counts only where it is denied.
        ("All left.", "Some left.", "all", "denied"),
        ("It rained before noon.", "It rained after noon.", "befor", "denied"),
        ("会议之前下雨", "会议之后下雨", "前", "denied"),
        ("All left.", "Blorp 企鹅", "all", "quiet"),
        ("All left.", "All left.", "all", "quiet"),
    ]
    told = []
    for sentence, chunk, key, _ in rows:
        found = items(sentence, [chunk])[key]
        gone = found.get("gone", 0)
        state = "denied" if found.get("denied") else "part" if 0 < gone < 1 else "gone"
        told.append(state if gone or found.get("denied") else "there" if found else "quiet")
    assert told == [wanted for *_, wanted in rows]


def test_late_is_the_last_third_of_the_items_by_place() -> None:
    words = [f"blorp{letter}" for letter in "abcdefghi"]
    assert min(map(weight, words)) > CONTENT
    wanted = {1: [], 2: [], 3: [2], 4: [3], 5: [4], 6: [4, 5], 9: [6, 7, 8]}
    for many, late in wanted.items():
        said = ["Zebra.", " ".join(words[:many]), "Zebra."]
        found = total(aligned(said, ["Snow."]), "gone_late")
        assert [row[0] for row in found] == [0, len(late), 0]
        each = items(said[1], ["Snow."]).values()
        assert [at for at, own in enumerate(each) if own.get("gone_late")] == late, many
    # A word is told by where it is a name.
    told = items("Zebra and canteen walrus of Zebra.", ["Snow."])
    assert [key for key, own in told.items() if own.get("gone_late")] == ["zebra"]


PARTS = [
    "Rain", "men", "women", "a boy", "not", "the", "45", "9", " ", ". ", "男孩", "女", "四十天",
]  # fmt: skip
PROSE = st.text(max_size=30) | st.lists(st.sampled_from(PARTS), max_size=12).map(" ".join)
TEXTS = st.lists(PROSE, min_size=1, max_size=4)


@pytest.mark.no_cover
@given(TEXTS, TEXTS)
def test_a_sentence_against_a_chunk_is_what_both_give_alone(
    sentences: list[str], chunks: list[str]
) -> None:
    whole = aligned(sentences, chunks)
    assert np.isfinite(whole.terms).all()
    assert ((whole.sentences >= 0) & (whole.sentences <= 1 + 1e-5)).all()
    for row, sentence in enumerate(sentences):
        for column, chunk in enumerate(chunks, 2):
            alone = aligned([sentence], [chunk])
            assert np.allclose(whole.terms[whole.owner == row, column], alone.terms[:, 2])
            assert np.allclose(whole.sentences[row, column], alone.sentences[0, 2], atol=1e-5)
            assert whole.grounded[row, column] == alone.grounded[0, 2]


@given(PROSE)
def test_a_text_lacks_nothing_of_itself(text: str) -> None:
    found = aligned([text], [text])
    lacking = [key for key, out in zip(keys(found), found.missing, strict=True) if out]
    assert lacking in ([], ["\n"])
