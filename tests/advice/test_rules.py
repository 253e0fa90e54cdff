import re
from string import Formatter
from typing import get_args

import pytest

from judge.advice.catalog import family_of
from judge.advice.diagnose import ANSWERS
from judge.advice.recommend import family_needs
from judge.advice.records import Use
from judge.advice.rules import Condition, Fact, advice_table, diagnosis_table, holds
from judge.messages import Messages

HAN = re.compile(r"[\u4e00-\u9fff]")
CUTS = {"small": 1, "k": 2, "wide": 3, "large": 4, "depth": 5, "pool": 6}


def figures(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("room", ["recommend", "diagnosis", "measures"])
def test_every_text_stands_in_both_languages_with_the_same_figures(room: str) -> None:
    texts = Messages.of(room)
    for key in texts:
        en, zh = texts.template(key, "en"), texts.template(key, "zh")
        if room != "measures":  # which names characters that are folded
            assert not HAN.search(en), key
        assert HAN.search(zh) or len(zh) < 20, key
        assert figures(en) == figures(zh), key


def test_every_rule_of_advice_has_its_texts_and_names_measures_that_there_are() -> None:
    rules, texts = advice_table(), Messages.of("recommend")
    keys = {f"rule.{rule.text}" for rule in rules.scenario}
    keys |= {f"rule.{rule.text}" for rule in rules.advice}
    keys |= {f"note.{note.say}" for note in rules.note}
    keys |= {f"family.{family}.{way}" for family in rules.family for way in ("fits", "lacks")}
    for rule in rules.advice:
        for stated in (rule.primary, rule.secondary, rule.supplementary, rule.avoid):
            for name, reason in stated or ():
                assert family_of(re.sub(r"@k\Z", "@1", name.format(**CUTS))) == "retrieval"
                keys.add(f"reason.{reason}")
    # None is missing, and none is left over.
    assert {key for key in texts if not key.startswith("words.")} == keys
    names = [row.rule for row in rules.scenario] + [row.rule for row in rules.advice]
    assert len(set(names)) == len(names)
    assert set(family_needs()) <= set(rules.family)


def test_every_diagnosis_has_its_texts_and_names_measures_that_there_are() -> None:
    rules, texts = diagnosis_table(), Messages.of("diagnosis")
    keys = {"source", *(f"use.{use}" for use in rules.use)}
    for rule in rules.rule:
        keys |= {f"finding.{rule.name}", *(f"advice.{name}" for name in rule.advice)}
        for row in rule.when:
            for name in row.measures:
                assert name in ANSWERS or family_of(name) == "retrieval"
    assert {key for key in texts if not key.startswith("say.")} == keys
    assert set(rules.use) == set(get_args(Use))


CONDITIONS: list[tuple[Condition, Fact, bool]] = [
    ("<= 5", 5.0, True),
    ("<= 5", 5.5, False),
    ("< 1", 1.0, False),
    ("> 10000", 10_000, False),
    ("> 10000", 10_000.5, True),
    (">= 20", 20, True),
    (">= 0", None, False),
    (("high",), "high", True),
    (("sparse", "dense"), "dense", True),
    (("sparse",), "normal", False),
    (("sparse",), None, False),
]


def test_conditions() -> None:
    for condition, fact, expected in CONDITIONS:
        assert holds({"x": condition}, {"x": fact}) is expected, condition
    when: dict[str, Condition] = {"relevant": "<= 15", "ratio": "> 10000"}
    assert holds(when, {"relevant": 10, "ratio": 20_000})
    assert not holds(when, {"relevant": 10, "ratio": 20})
    for wrong in ({"relevnt": "<= 5"}, {"relevant": "== 5"}):
        with pytest.raises(KeyError):
            holds(wrong, {"relevant": 1})
