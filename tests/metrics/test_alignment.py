import math

import numpy as np
import pytest

from judge.metrics.alignment import FEATURES, Alignment, align
from judge.text.terms import terms
from judge.text.windows import locate
from judge.text.words import weight


def aligned(
    sentences: list[str], chunks: list[str], cited: list[list[bool]] | None = None
) -> Alignment:
    broken = [terms(sentence) for sentence in sentences]
    vocabulary: dict[str, int] = {}
    for term in (term for each in broken for term in each):
        vocabulary.setdefault(term.key, len(vocabulary))
    shape = (len(sentences), len(chunks))
    return align(
        broken,
        vocabulary,
        locate(chunks, vocabulary),
        np.full(shape, 0.25),
        np.zeros(shape, np.bool_) if cited is None else np.asarray(cited),
    )


def features(
    sentences: list[str],
    chunks: list[str],
    cited: list[list[bool]] | None = None,
    row: int = 0,
    column: int = 0,
) -> dict[str, float]:
    measured = aligned(sentences, chunks, cited).features[row, column]
    return dict(zip(FEATURES, measured.tolist(), strict=True))


RAIN = ["Rain fell. It lasted 45 days in Hamburg."]


def test_english_by_hand() -> None:
    found = features(["Rain fell on Hamburg for 45 days."], RAIN)
    content = [weight(stem) for stem in ("rain", "fell", "hamburg", "day")]
    light = [weight(stem) for stem in ("on", "for")]
    assert min(content) > 0.2 > max(light)
    # Both segments are needed; of six words only the two light ones are missing.
    assert found["cover_best"] == pytest.approx((sum(content) / sum(content + light)) ** 2)
    assert found["missing_share"] == 0
    assert found["missing_rarest"] == max(light)
    assert found["length"] == pytest.approx(math.log(5))
    # "rain fell" of: rain fell, fell on, on hamburg, hamburg for (45 days have no word before).
    rain, fell, hamburg, _ = content
    on, for_ = light
    pairs = [rain + fell, fell + on, on + hamburg, hamburg + for_]
    assert found["pairs_best"] == found["pairs_all"] == pytest.approx(pairs[0] / sum(pairs))
    assert found["numbers_changed"] == found["numbers_changed_best"] == 0
    assert found["names_missing_best"] == found["names_missing_share"] == found["names_none"] == 0
    assert found["negation"] == 0
    assert found["cosine"] == 0.25


def test_a_changed_number_costs_what_the_rest_covers() -> None:
    right = features(["Rain fell on Hamburg for 45 days."], RAIN)
    wrong = features(["Rain fell on Hamburg for 54 days."], RAIN)
    assert wrong["numbers_changed"] == pytest.approx(math.sqrt(right["cover_best"]))
    assert wrong["numbers_changed_best"] == wrong["numbers_changed"]
    assert {k: v for k, v in wrong.items() if not k.startswith("numbers")} == {
        k: v for k, v in right.items() if not k.startswith("numbers")
    }


def test_chinese_by_hand() -> None:
    chunks = ["食堂周五关闭。"]
    assert features(["周五关闭"], chunks)["cover_best"] == pytest.approx(1)
    found = features(["周五开放"], chunks)
    zhou, wu, kai, fang = (weight(char) for char in "周五开放")
    assert min(zhou, wu, kai, fang) > 0.2
    assert found["missing_share"] == pytest.approx(2 / 4)
    assert found["missing_rarest"] == pytest.approx(max(kai, fang))
    assert found["cover_best"] == pytest.approx(((zhou + wu) / (zhou + wu + kai + fang)) ** 2)
    whole = zhou + 2 * wu + 2 * kai + fang
    assert found["pairs_best"] == pytest.approx((zhou + wu) / whole)


def test_names_that_are_missing() -> None:
    found = features(["Rain fell on Hamburg and Kowalski."], RAIN)
    lost = weight("kowalski")
    assert found["names_missing_best"] == pytest.approx(math.log1p(lost))
    assert found["names_missing_share"] == pytest.approx(lost / (lost + weight("hamburg")))
    assert features(["Rain fell."], RAIN)["names_none"] == 1


def test_a_denial_the_window_does_not_make() -> None:
    assert features(["Rain did not fall."], RAIN)["negation"] == 1
    assert features(["Rain did not fall."], ["Rain didn't fall."])["negation"] == 0
    assert features(["没有下雨。"], ["下雨。"])["negation"] == 1


def test_words_in_one_place_and_scattered() -> None:
    found = features(["Rain closes Hamburg."], ["Rain closes.", "Hamburg."])
    assert found["missing_share"] == 0
    assert found["names_missing_share"] == 0
    assert found["names_missing_best"] == pytest.approx(math.log1p(weight("hamburg")))


def test_columns_are_all_cited_and_each_alone() -> None:
    sentences, chunks = ["Rain fell.", "Rain fell."], ["Rain.", "Rain fell.", ""]
    cited = [[True, False, False], [False, False, False]]
    found = aligned(sentences, chunks, cited)
    assert found.features.shape == (2, 5, len(FEATURES))
    cover = found.features[:, :, FEATURES.index("cover_best")]
    part = (weight("rain") / (weight("rain") + weight("fell"))) ** 2
    assert cover[0] == pytest.approx([1, part, part, 1, 0])
    assert cover[1] == pytest.approx([1, 0, part, 1, 0])


def test_the_best_window_is_the_shortest_that_holds_as_much() -> None:
    chunks = ["Lunch is at noon. Rain fell on Hamburg. Trains stop."]
    broken = terms("Rain fell on Hamburg.")
    vocabulary = {term.key: number for number, term in enumerate(broken)}
    passages = locate(chunks, vocabulary)
    window = aligned(["Rain fell on Hamburg."], chunks).windows[0, 0]
    _, start, end = passages.span(int(window))
    assert chunks[0][start:end] == "Rain fell on Hamburg."


def test_nothing_shared_nothing_found() -> None:
    found = aligned(["Snow lies."], ["Rain fell.", ""])
    assert found.windows.tolist() == [[-1, -1, -1, -1]]
    assert [term.key for term in found.missing[0]] == ["snow", "lie"]


def test_a_sentence_without_terms_stands_between_others() -> None:
    found = aligned(["Rain fell.", "***", "Rain fell."], RAIN)
    assert np.array_equal(found.features[0], found.features[2])
    assert found.missing[1] == found.scattered[1] == ()
