import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# The reference library takes a second or so to import; the tests themselves are quick.
from rouge_score.rouge_scorer import RougeScorer

from judge.overlap.metrics import MOST_TOKENS, Prf, rouge

NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
WORDS = st.lists(st.sampled_from(["the", "Cats", "sat-on", "mats.", "3.2", "\n", "_"]), max_size=12)
ASCII = st.one_of(WORDS.map(" ".join), st.text(st.characters(max_codepoint=127), max_size=40))
ANY = st.text(st.one_of(st.sampled_from("报销标准abc \n"), st.characters()), max_size=24)


@given(ASCII, ASCII)
def test_ascii_text_scores_as_rouge_score_scores_it(answer: str, gold: str) -> None:
    for stem in (False, True):
        theirs = RougeScorer(list(NAMES), use_stemmer=stem).score(gold, answer)
        assert rouge(answer, gold, stem=stem) == {name: tuple(theirs[name]) for name in NAMES}


def test_the_cat_by_hand() -> None:
    found = rouge("the cat is on mat", "the cat is on the mat")
    # 5 words, all of them in the reference's 6; 3 of 4 pairs, of the reference's 5.
    assert found["rouge1"] == pytest.approx((5 / 5, 5 / 6, 10 / 11))
    assert found["rouge2"] == pytest.approx((3 / 4, 3 / 5, 2 / 3))
    assert found["rougeL"] == pytest.approx((5 / 5, 5 / 6, 10 / 11))


def test_lins_police_example() -> None:
    gold = "police killed the gunman"
    ordered = rouge("police kill the gunman", gold)["rougeL"]
    turned = rouge("the gunman kill police", gold)["rougeL"]
    assert ordered is not None
    assert turned is not None
    assert (ordered.f, turned.f) == (0.75, 0.5)


def test_lins_union_of_subsequences() -> None:
    # w1 w2 of the first sentence and w1 w3 w5 of the second: 4 of the reference's 5.
    found = rouge("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5")["rougeLsum"]
    assert found == pytest.approx((4 / 10, 4 / 5, 8 / 15))


def test_chinese_by_hand() -> None:
    found = rouge("差旅标准", "差旅费标准。")
    assert found["rouge1"] == pytest.approx((4 / 4, 4 / 5, 8 / 9))
    assert found["rouge2"] == pytest.approx((2 / 3, 2 / 4, 4 / 7))  # 差旅, 标准
    assert found["rougeL"] == pytest.approx((4 / 4, 4 / 5, 8 / 9))


def test_sentences_count_for_the_sum_only() -> None:
    # One subsequence over the whole: three of five; sentence by sentence all are found.
    found = rouge("第二句\n第一", "第一\n第二句")
    assert found["rougeL"] == pytest.approx((0.6, 0.6, 0.6))
    assert found["rougeLsum"] == pytest.approx((1.0, 1.0, 1.0))


def test_other_scripts_are_not_dropped() -> None:
    assert rouge("Москва столица", "Столица — Москва")["rouge1"] == (1.0, 1.0, 1.0)


def test_stems() -> None:
    assert rouge("reports 报", "reporting 报")["rouge1"] == (0.5, 0.5, 0.5)
    assert rouge("reports 报", "reporting 报", stem=True)["rouge1"] == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(("answer", "gold"), [("", "a b"), ("a b", ""), ("", ""), ("👍", "👍")])
def test_nothing_to_compare_is_zero(answer: str, gold: str) -> None:
    assert rouge(answer, gold) == dict.fromkeys(NAMES, (0, 0, 0))


@pytest.mark.parametrize(("ours", "theirs"), [(2_001, 2_000), (MOST_TOKENS + 1, 1)])
def test_too_long_is_none_and_no_hang(ours: int, theirs: int) -> None:
    found = rouge("a " * ours, "a " * theirs)
    assert found["rougeL"] is None
    assert found["rougeLsum"] is None
    assert found["rouge1"] is not None
    assert found["rouge1"].recall == 1


def test_lines_without_a_word_cost_nothing() -> None:
    found = rouge("a" + "\n!" * 10_000, "a" + "\n?" * 10_000)
    assert found["rougeLsum"] == (1, 1, 1)


@settings(deadline=None)
@given(ANY, ANY)
def test_range_symmetry_and_identity(answer: str, gold: str) -> None:
    turned = rouge(gold, answer)
    for name, found in rouge(answer, gold).items():
        other = turned[name]
        assert found is not None
        assert other is not None
        assert all(0 <= part <= 1 for part in found)
        if name != "rougeLsum":  # which takes the sentences of the reference one by one
            assert found.f == pytest.approx(other.f)
            assert found.precision == pytest.approx(other.recall)
    whole = f"an extra {gold}"
    assert set(rouge(whole, whole).values()) == {Prf(1.0, 1.0, 1.0)}
