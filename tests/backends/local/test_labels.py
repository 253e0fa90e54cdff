from itertools import permutations

import numpy as np
import pytest

from judge.backends.local.scorer import Roles, read_labels, relations
from judge.errors import ConfigError

THREES = [
    ("entailment", "neutral", "contradiction"),
    ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
    ("SUPPORTS", "NOT ENOUGH INFO", "REFUTES"),
    ("supported", "not enough information", "refuted"),
    ("蕴含", "中立", "矛盾"),
]


@pytest.mark.parametrize("names", THREES, ids=lambda names: names[0])
def test_three_labels_in_any_order(names: tuple[str, str, str]) -> None:
    for order in permutations(names):
        roles = read_labels(dict(enumerate(order)))
        assert roles == Roles(order.index(names[0]), order.index(names[2]), single=False)


TWOS = [
    ("consistent", "inconsistent"),
    ("supported", "unsupported"),
    ("Supported", "Not Supported"),
    ("entailment", "not_entailment"),
    ("faithful", "hallucinated"),
    ("ENTAILED", "NON_ENTAILED"),
    ("entailment", "non-entailment"),
    ("entailment", "no_entailment"),
    ("consistent", "not_consistent"),
    ("grounded", "Not Grounded"),
    ("true", "false"),
    ("True", "Untrue"),
    ("yes", "no"),
    ("一致", "不一致"),
    ("蕴含", "非蕴含"),
    ("支持", "未支持"),
    ("是", "否"),
    ("真", "假"),
]


@pytest.mark.parametrize("names", TWOS, ids=lambda names: names[0])
def test_two_labels_tell_nothing_of_contradiction(names: tuple[str, str]) -> None:
    assert read_labels({0: names[0], 1: names[1]}) == Roles(0, None, single=False)
    assert read_labels({1: names[0], 0: names[1]}) == Roles(1, None, single=False)


def test_two_labels_one_of_which_contradicts() -> None:
    assert read_labels({0: "entailment", 1: "contradiction"}) == Roles(0, 1, single=False)


def test_two_labels_without_names_and_one() -> None:
    assert read_labels({0: "LABEL_0", 1: "LABEL_1"}) == Roles(1, None, single=False)
    assert read_labels({0: "LABEL_0"}) == Roles(1, None, single=True)
    assert read_labels({0: "consistent"}) == Roles(1, None, single=True)
    assert read_labels({0: "hallucination"}) == Roles(0, None, single=True)
    assert read_labels({0: "not_entailed"}) == Roles(0, None, single=True)


@pytest.mark.parametrize(
    "names",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("POSITIVE", "NEGATIVE"),
        ("neutral", "contradiction"),
        ("entailment", "supported"),
        ("entailment", "contradiction", "refutes"),
        ("entailment", "joy"),
        ("joy",),
        ("contradiction",),
        ("refuted",),
        ("not_contradiction",),
        (),
    ],
    ids=str,
)
def test_labels_that_do_not_say_are_refused_by_name(names: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="id2label") as caught:
        read_labels(dict(enumerate(names)))
    assert all(repr(name) in str(caught.value) for name in names)


def test_logits_become_probabilities() -> None:
    # Softmax of (0, ln 2, ln 5) is (1, 2, 5) / 8.
    logits = np.log(np.array([[1.0, 2.0, 5.0], [8.0, 1.0, 1.0]]))
    first, second = relations(logits, Roles(2, 0, single=False))
    assert [first.entailed, first.contradicted] == pytest.approx([5 / 8, 1 / 8])
    assert [second.entailed, second.contradicted] == pytest.approx([0.1, 0.8])
    assert relations(logits, Roles(1, None, single=False))[0].contradicted == 0


def test_one_logit_becomes_its_sigmoid() -> None:
    logits = np.log(np.array([[3.0], [1.0], [1 / 3]]))
    shares = [each.entailed for each in relations(logits, Roles(1, None, single=True))]
    assert shares == pytest.approx([0.75, 0.5, 0.25])
    shares = [each.entailed for each in relations(logits, Roles(0, None, single=True))]
    assert shares == pytest.approx([0.25, 0.5, 0.75])


def test_great_logits_do_not_overflow() -> None:
    (sure,) = relations(np.array([[1e4, -1e4]]), Roles(0, 1, single=False))
    assert (sure.entailed, sure.contradicted) == (1.0, 0.0)
    assert relations(np.empty((0, 3)), Roles(0, 1, single=False)) == []
