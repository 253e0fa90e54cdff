import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.overlap.metrics import Prf, answer_tokens, exact_match, token_f1, token_prf

PARTS = st.one_of(st.characters(max_codepoint=127), st.sampled_from(["the ", " a ", "An", " "]))
ASCII = st.lists(PARTS, max_size=30).map("".join)
ANY = st.text(st.one_of(st.sampled_from("the a An报销标准，。3Ａé"), st.characters()), max_size=20)


def squad_tokens(text: str) -> list[str]:
    """As evaluate-v2.0.py of SQuAD has it."""
    bare = "".join(char for char in text.lower() if char not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def squad_f1(answer: str, gold: str) -> float:
    """Likewise."""
    ours, theirs = squad_tokens(answer), squad_tokens(gold)
    same = sum((Counter(ours) & Counter(theirs)).values())
    if not ours or not theirs:
        return int(ours == theirs)
    if same == 0:
        return 0
    precision, recall = same / len(ours), same / len(theirs)
    return 2 * precision * recall / (precision + recall)


@given(ASCII, ASCII)
def test_ascii_text_scores_as_squad_scores_it(answer: str, gold: str) -> None:
    assert answer_tokens(gold) == squad_tokens(gold)
    assert exact_match(answer, gold) == (squad_tokens(answer) == squad_tokens(gold))
    assert token_f1(answer, gold) == pytest.approx(squad_f1(answer, gold), abs=1e-12)


@pytest.mark.parametrize(
    ("answer", "gold", "match", "f1"),
    [
        ("the cat is on mat", "the cat is on the mat", 1.0, 1.0),  # articles do not count
        ("Paris.", "paris", 1.0, 1.0),
        ("It is Paris, France", "Paris", 0.0, 0.4),  # 1 of 4, 1 of 1
        ("U.S.A.", "USA", 1.0, 1.0),
        # 报销由部门经理审批 9, 报销由部门经理和财务审批 12, all 9 in common: 18/21
        ("报销由部门经理审批。", "报销由部门经理和财务审批", 0.0, 18 / 21),
        ("“５００元”", "500 元。", 1.0, 1.0),
        ("北京市", "京北", 0.0, 0.8),  # a bag: the order does not count
        ("使用 kubectl", "使用kubectl。", 1.0, 1.0),
        ("哈哈哈", "哈", 0.0, 0.5),  # as often as both have it
        ("Москва!", "москва", 1.0, 1.0),
        ("《三体》（第一部）", "三体第一部", 1.0, 1.0),
        # The points and signs of numbers are punctuation to SQuAD.
        ("3.5", "35", 1.0, 1.0),
        ("-5", "5", 1.0, 1.0),
        ("10:30", "1030", 1.0, 1.0),
        ("", "paris", 0.0, 0.0),
        ("The!", "…", 1.0, 1.0),  # nothing is left of either
        ("", "", 1.0, 1.0),
    ],
)
def test_by_hand(answer: str, gold: str, match: float, f1: float) -> None:
    assert exact_match(answer, gold) == match
    assert token_f1(answer, gold) == pytest.approx(f1)


def test_shares_by_hand() -> None:
    assert token_prf("It is Paris, France", "Paris") == pytest.approx((1 / 4, 1, 0.4))
    assert token_prf("Paris", "It is Paris, France") == pytest.approx((1, 1 / 4, 0.4))
    assert token_prf("The!", "…") == Prf(1.0, 1.0, 1.0)
    assert token_prf("", "paris") == token_prf("paris", "") == Prf(0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("选A", ["选", "a"]),  # a name there, and no article
        ("选 A。", ["选", "a"]),
        ("“A”股", ["a", "股"]),
        ("the 方法", ["the", "方", "法"]),
        ("a cat, the 猫", ["cat", "the", "猫"]),
        ("an ant's", ["ants"]),
    ],
)
def test_beside_chinese_no_article_is_dropped(text: str, tokens: list[str]) -> None:
    assert answer_tokens(text) == tokens


@given(ANY, ANY)
def test_range_symmetry_and_identity(answer: str, gold: str) -> None:
    assert 0 <= token_f1(answer, gold) <= 1
    assert token_f1(answer, gold) == token_f1(gold, answer)
    assert exact_match(answer, gold) <= token_f1(answer, gold)
    assert token_f1(gold, gold) == exact_match(gold, gold) == 1
