import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity.align import SENTENCE_FEATURES, TERM_FEATURES, Alignment, align
from judge.judges.similarity.index import Vocabulary, locate
from judge.judges.similarity.terms import DENIAL, Kind, terms
from judge.text.words import CONTENT, weight

Floats = npt.NDArray[np.float64]

PLAIN = {
    "one",
    "weight",
    "out",
    "out_weight",
    "gone",
    "gone_weight",
    "name_out",
    "name_gone",
    "number",
    "number_out",
    "number_gone",
    "gone_late",
    "denied",
}


def aligned(
    sentences: Sequence[str],
    chunks: Sequence[str],
    cited: list[list[bool]] | None = None,
    cosine: list[list[float]] | None = None,
) -> Alignment:
    broken = [terms(sentence) for sentence in sentences]
    vocabulary = Vocabulary.of(broken)
    shape = (len(sentences), len(chunks))
    return align(
        broken,
        vocabulary,
        locate(chunks, vocabulary),
        np.zeros(shape) if cosine is None else np.asarray(cosine),
        np.zeros(shape, np.bool_) if cited is None else np.asarray(cited),
    )


def items(sentence: str, chunks: Sequence[str], column: int = 0) -> dict[str, dict[str, float]]:
    """Item → feature → value, of one sentence against one column: of `PLAIN`, without zeros."""
    found = aligned([sentence], chunks)
    said = [found.laid.rows[row] for row in np.flatnonzero(found.laid.item)]
    values = found.measured(slice(None)).terms[:, column]
    assert values.shape == (len(said), len(TERM_FEATURES))
    return {
        term.key: {f: v for f, v in zip(TERM_FEATURES, row, strict=True) if v and f in PLAIN}
        for term, row in zip(said, values.tolist(), strict=True)
    }


def feature(found: Alignment, name: str) -> Floats:
    """A feature of sentences, shape (sentences, columns)."""
    values: Floats = found.measured(slice(None)).sentences[:, :, SENTENCE_FEATURES.index(name)]
    return values


def total(found: Alignment, name: str) -> list[list[float]]:
    """A feature of items, summed for each sentence and column."""
    measured = found.measured(slice(None))
    sums: Floats = np.zeros(measured.sentences.shape[:2])
    np.add.at(sums, measured.owner, measured.terms[:, :, TERM_FEATURES.index(name)])
    return [list(map(float, row)) for row in sums]


RAIN, FELL, HAMBURG, DAY = (weight(stem) for stem in ("rain", "fell", "hamburg", "day"))
ON, FOR = (weight(stem) for stem in ("on", "for"))


def test_items_that_all_stand_in_one_window() -> None:
    assert min(RAIN, FELL, HAMBURG, DAY) > CONTENT > max(ON, FOR)
    found = items("Rain fell on Hamburg for 45 days.", ["Rain fell. 45 days in Hamburg."])
    assert found == {
        "rain": {"one": 1, "weight": RAIN},
        "fell": {"one": 1, "weight": FELL},
        "hamburg": {"one": 1, "weight": HAMBURG},
        "day": {"one": 1, "weight": DAY},
        "#45": {"one": 1, "weight": 1, "number": 1},
    }


def test_a_name_in_another_chunk_is_out_and_not_gone() -> None:
    chunks = ["Rain fell.", "Hamburg."]
    assert items("Rain fell on Hamburg.", chunks)["hamburg"] == {
        "one": 1,
        "weight": HAMBURG,
        "out": 1,
        "out_weight": HAMBURG,
        "name_out": 1,
    }
    # Alone the first chunk lacks it; it is the last third of three items.
    assert items("Rain fell on Hamburg.", chunks, column=2)["hamburg"] == {
        "one": 1,
        "weight": HAMBURG,
        "out": 1,
        "out_weight": HAMBURG,
        "name_out": 1,
        "gone": 1,
        "gone_weight": HAMBURG,
        "name_gone": 1,
        "gone_late": 1,
    }


@pytest.mark.parametrize("sentence", ["Rain for 45 days.", "雨下了45天。", "雨下了四十五天。"])
@pytest.mark.parametrize("written", ["54", "about 54", ""])
def test_a_number_that_does_not_stand_there(sentence: str, written: str) -> None:
    chunk = sentence.replace("45", written).replace("四十五", written)
    lost = items(sentence, [chunk])["#45"]
    assert lost.pop("out") >= 1
    assert {f: v for f, v in lost.items() if f != "gone_late"} == {
        "one": 1,
        "weight": 1,
        "out_weight": 1,
        "gone": 1,
        "gone_weight": 1,
        "number": 1,
        "number_out": 1,
        "number_gone": 1,
    }


def test_a_number_in_other_words_stands_there() -> None:
    for chunk in ("Rain for forty-five days.", "Rain for 45.0 days.", "Rain 四十五 days."):
        assert items("Rain for 45 days.", [chunk])["#45"] == {"one": 1, "weight": 1, "number": 1}


def test_chinese_by_hand() -> None:
    found = items("周五开放", ["食堂周五关闭。"])
    assert list(found) == ["周", "五", "开", "放"]
    assert [each.get("gone", 0) for each in found.values()] == [0, 0, 1, 1]
    # Of four items, one has two thirds before it.
    assert [each.get("gone_late", 0) for each in found.values()] == [0, 0, 0, 1]
    assert all(not each.get("name_gone") for each in found.values())


def steep() -> float:
    """The power that features of sentences are taken to, from a cosine of one half."""
    (half,) = feature(aligned(["Rain."], ["Rain."], cosine=[[0.5]]), "cosine")[0, :1]
    return -math.log2(half)


def test_shares_of_pairs_and_skips_to_one_power() -> None:
    found = aligned(["Rain fell on Hamburg."], ["Rain fell.", "Rain fell on Hamburg.", "Hamburg."])
    # rain fell, fell on, on hamburg: their mean weights; the halves cancel.
    pairs = (RAIN + FELL) / (RAIN + FELL + FELL + ON + ON + HAMBURG)
    # rain…fell, fell…hamburg, rain…hamburg
    skips = (RAIN + FELL) / (2 * (RAIN + FELL + HAMBURG))
    assert steep() >= 1
    assert feature(found, "pairs")[0, 2:] == pytest.approx([pairs ** steep(), 1, 0])
    assert feature(found, "skips")[0, 2:] == pytest.approx([skips ** steep(), 1, 0])


def test_words_near_one_another_in_other_order_are_skips_and_no_pairs() -> None:
    penguin, goose, eats, fish = (weight(char) for char in "企鹅吃鱼")
    found = aligned(["企鹅吃鱼"], ["鱼企鹅吃"])
    pairs = (penguin + 2 * goose + eats) / (penguin + 2 * goose + 2 * eats + fish)
    assert feature(found, "pairs")[0, 0] == pytest.approx(pairs ** steep())
    assert feature(found, "skips")[0, 0] == pytest.approx(1)


def test_where_there_is_no_skip_the_chunk_does_not_matter() -> None:
    skips = feature(aligned(["Rain."], ["Rain.", "Snow.", ""]), "skips")
    assert len(set(skips.ravel().tolist())) == 1


def test_cosine_of_all_of_the_cited_and_of_each() -> None:
    found = aligned(
        ["Rain.", "Snow."],
        ["Hail.", "Wind.", "Sun."],
        [[True, True, False], [False, False, False]],
        [[0.25, 0.5, 0.75], [0.5, 0.25, 0.0]],
    )
    cosines = np.asarray([[0.75, 0.5, 0.25, 0.5, 0.75], [0.5, 0, 0.5, 0.25, 0]])
    assert feature(found, "cosine") == pytest.approx(cosines ** steep())


def test_columns_are_all_cited_and_each_alone() -> None:
    cited = [[True, False, False], [False, False, False]]
    found = aligned(["Rain fell.", "Rain fell."], ["Rain.", "Rain fell.", ""], cited)
    assert total(found, "out") == [[0, 1, 1, 0, 2], [0, 2, 1, 0, 2]]
    assert total(found, "gone") == [[0, 1, 1, 0, 2], [0, 2, 1, 0, 2]]
    assert found.measured(slice(None)).grounded.tolist() == [
        [True, True, True, True, False],
        [True, False, True, True, False],
    ]


def test_some_columns_are_a_part_of_all() -> None:
    found = aligned(["Rain fell.", "Men sat."], ["Rain.", "Rain fell.", "A boy sat."])
    whole, part = found.measured(slice(None)), found.measured(slice(1, 3))
    assert np.array_equal(part.terms, whole.terms[:, 1:3])
    assert np.array_equal(part.sentences, whole.sentences[:, 1:3])
    assert np.array_equal(part.grounded, whole.grounded[:, 1:3])
    assert np.array_equal(part.owner, whole.owner)


@pytest.mark.parametrize(
    ("sentence", "chunk", "item"),
    [
        ("A man slept on Kowalski.", "A gentleman slept.", "man"),
        ("A person slept.", "A boy slept.", "person"),
        ("Scarlet Kowalski.", "Red Kowalski.", "scarlet"),
        ("一位男士", "一位男人", "士"),
        ("人在睡觉", "男孩在睡觉", "人"),
        ("A man slept.", "A gentleman and a woman slept.", "man"),
        ("A boy slept.", "男孩 slept.", "boy"),
    ],
)
def test_another_word_with_the_meaning_makes_up_for_a_part(
    sentence: str, chunk: str, item: str
) -> None:
    found = items(sentence, [chunk])[item]
    assert 0 < found["out"] < 1
    assert 0 < found["gone"] < 1


@pytest.mark.parametrize(
    ("sentence", "chunk", "item"),
    [
        ("A man slept.", "A woman slept.", "man"),
        ("Red Kowalski.", "Blue Kowalski.", "red"),
        ("Kowalski sits.", "Kowalski is standing.", "sit"),
        ("男孩睡觉", "女孩睡觉", "男"),
        ("红色的车", "蓝色的车", "红"),
    ],
)
def test_a_word_that_excludes_the_meaning_is_worse_than_none(
    sentence: str, chunk: str, item: str
) -> None:
    found = items(sentence, [chunk])[item]
    assert found["denied"] == 1
    assert found["gone"] == 1


@pytest.mark.parametrize(
    ("sentence", "chunk", "item"),
    [("A man slept.", "A blorp slept.", "man"), ("A boy slept.", "A person slept.", "boy")],
)
def test_a_word_that_says_nothing_of_the_meaning_neither_helps_nor_harms(
    sentence: str, chunk: str, item: str
) -> None:
    found = items(sentence, [chunk])[item]
    assert (found["out"], found["gone"]) == (1, 1)


@pytest.mark.parametrize(
    ("sentence", "chunk", "item"),
    [("A man did not sleep.", "A woman did not sleep.", "man"), ("男孩没有跑", "女孩没有跑", "男")],
)
def test_in_a_negated_sentence_no_word_is_denied(sentence: str, chunk: str, item: str) -> None:
    found = items(sentence, [chunk])[item]
    assert found["out"] == 1
    assert "denied" not in found


@pytest.mark.parametrize(
    ("sentence", "same", "other"),
    [
        ("Rain did not fall.", "Rain didn't fall.", "Rain did fall."),
        ("企鹅没吃鱼。", "企鹅不吃鱼。", "企鹅吃鱼。"),
    ],
)
def test_a_denial_the_window_does_not_make(sentence: str, same: str, other: str) -> None:
    assert "out" not in items(sentence, [same])[DENIAL]
    assert items(sentence, [other])[DENIAL]["out"] == 1


@pytest.mark.parametrize(
    ("said", "denied", "word"),
    [
        ("The drug was approved.", "The drug was not approved.", "approv"),
        ("公司会裁员。", "公司不会裁员。", "裁"),
    ],
)
def test_what_one_side_denies_and_the_other_says_is_denied(
    said: str, denied: str, word: str
) -> None:
    for sentence, chunk in ((said, denied), (denied, said)):
        assert items(sentence, [chunk])[word]["denied"] == 1
    for both in (said, denied):
        assert "denied" not in items(both, [both])[word]
    # Where the window says it both ways, nothing is known.
    assert "denied" not in items(said, [f"{denied} {said}"])[word]


@pytest.mark.parametrize(
    ("sentence", "other", "word"),
    [
        ("All left.", "Some left.", "all"),
        ("It rained before noon.", "It rained after noon.", "befor"),
        ("More than 500 left.", "Less than 500 left.", "more"),
        ("会议之前下雨", "会议之后下雨", "前"),
    ],
)
def test_a_word_of_grammar_counts_only_where_it_is_denied(
    sentence: str, other: str, word: str
) -> None:
    quiet = items(sentence, ["Blorp. 企鹅"])[word]
    assert "out" not in quiet
    assert "gone" not in quiet
    assert items(sentence, [other])[word]["denied"] == 1
    assert "denied" not in items(sentence, [sentence])[word]


def test_a_denial_alone_grounds_nothing() -> None:
    found = aligned(["It is not so.", "Rain did not fall."], ["Snow did not melt. Rain."])
    assert found.measured(slice(1)).grounded.tolist() == [[False], [True]]


def test_the_word_itself_is_not_denied_by_another_beside_it() -> None:
    found = items("A man slept.", ["A man and a woman slept."])["man"]
    assert found == {"one": 1, "weight": weight("man")}


def test_a_meaning_elsewhere_is_out_and_partly_gone() -> None:
    found = items("A man slept on Kowalski.", ["Slept on Kowalski.", "A gentleman."])["man"]
    assert found["out"] == 1
    assert 0 < found["gone"] < 1


def test_the_best_window_is_the_shortest_that_holds_as_much() -> None:
    chunks = ["Lunch is at noon. Rain fell on Hamburg. Trains stop."]
    found = aligned(["Rain fell on Hamburg."], chunks)
    _, start, end = found.passages.span(int(found.windows[0, 0]))
    assert chunks[0][start:end] == "Rain fell on Hamburg."


def test_the_best_chunk_holds_the_best_window() -> None:
    found = aligned(["Rain fell on Hamburg."], ["Rain.", "Rain fell on Hamburg.", "Hamburg."])
    windows = found.windows[0].tolist()
    assert windows[0] == windows[3]
    assert [found.passages.span(w)[0] for w in windows[2:]] == [0, 1, 2]


def test_nothing_shared_nothing_found() -> None:
    found = aligned(["Snow lies."], ["Rain fell.", ""])
    assert found.windows.tolist() == [[-1, -1, -1, -1]]
    assert [term.key for term in found.missing()[0]] == ["snow", "lie"]
    assert [term.key for term in found.scattered()[0]] == ["snow", "lie"]
    assert not found.measured(slice(None)).grounded.any()


def test_words_of_grammar_ground_nothing() -> None:
    assert max(weight(stem) for stem in ("it", "is", "the")) < CONTENT
    assert not aligned(["It is."], ["It is the rain."]).measured(slice(None)).grounded.any()


def test_what_is_lost_has_no_synonym_there() -> None:
    found = aligned(["A man closes Hamburg."], ["A gentleman closes.", "Hamburg, Hamburg."])
    assert found.missing() == ((),)
    assert [[term.key for term in lost] for lost in found.scattered()] == [["hamburg"]]


@pytest.mark.parametrize("chunks", [["Rain fell."], [""], ["", " \n"]])
def test_a_sentence_without_terms_stands_between_others(chunks: list[str]) -> None:
    found = aligned(["Rain fell.", "***", "Rain fell."], chunks)
    measured = found.measured(slice(None))
    assert measured.owner.tolist() == [0, 0, 2, 2]
    assert np.array_equal(measured.terms[:2], measured.terms[2:])
    assert np.array_equal(measured.sentences[0], measured.sentences[2])
    assert found.missing()[1] == found.scattered()[1] == ()
    assert not measured.grounded[1].any()


PARTS = [
    "Rain",
    "men",
    "women",
    "a boy",
    "not",
    "the",
    "45",
    "9",
    " ",
    ". ",
    "男孩",
    "女",
    "四十天",
]
PROSE = st.text(max_size=30) | st.lists(st.sampled_from(PARTS), max_size=12).map(" ".join)


@given(st.lists(PROSE, min_size=1, max_size=4), st.lists(PROSE, min_size=1, max_size=4))
def test_a_column_of_one_chunk_is_what_that_chunk_gives_alone(
    sentences: list[str], chunks: list[str]
) -> None:
    whole = aligned(sentences, chunks).measured(slice(None))
    assert np.isfinite(whole.terms).all()
    assert ((whole.sentences >= 0) & (whole.sentences <= 1 + 1e-9)).all()
    for column, chunk in enumerate(chunks, 2):
        alone = aligned(sentences, [chunk]).measured(slice(2, 3))
        assert np.allclose(whole.terms[:, column], alone.terms[:, 0])
        assert np.allclose(whole.sentences[:, column], alone.sentences[:, 0])
        assert np.array_equal(whole.grounded[:, column], alone.grounded[:, 0])


@given(st.lists(PROSE, min_size=2, max_size=3), st.lists(PROSE, min_size=1, max_size=3))
def test_a_sentence_is_measured_alike_whatever_stands_beside_it(
    sentences: list[str], chunks: list[str]
) -> None:
    whole = aligned(sentences, chunks).measured(slice(None))
    for row, sentence in enumerate(sentences):
        alone = aligned([sentence], chunks).measured(slice(None))
        assert np.allclose(whole.terms[whole.owner == row], alone.terms)
        assert np.allclose(whole.sentences[row], alone.sentences[0])


@pytest.mark.parametrize(
    ("sentence", "chunk"),
    [("Zebra canteen.", "canteen 1 2 3 zebra"), ("四川企鹅", "四十五天企鹅")],
)
def test_another_sentences_number_changes_nothing(sentence: str, chunk: str) -> None:
    alone = aligned([sentence], [chunk]).measured(slice(None))
    beside = aligned([sentence, "Rain 45."], [chunk]).measured(slice(None))
    assert beside.terms[beside.owner == 0] == pytest.approx(alone.terms)
    assert beside.sentences[0] == pytest.approx(alone.sentences[0])


@given(PROSE)
def test_a_text_lacks_nothing_of_itself(text: str) -> None:
    assert aligned([text], [text]).missing() == ((),)
    assert {term.kind for term in terms(text)} <= set(Kind)
