import string
from typing import get_args

import pytest

from judge.advice.catalog import measure
from judge.advice.diagnosis.answers import ANSWERS
from judge.advice.diagnosis.table import LevelRow, Rule, said, table
from judge.advice.records import Use, Wording

SHARES = ANSWERS[:2]  # of a run, and no measures of the catalog


def braces(text: str) -> set[str | None]:
    return {field for _, field, _, _ in string.Formatter().parse(text)} - {None}


def wordings() -> list[Wording]:
    rules = [words for rule in table().rule for words in (rule.finding, *rule.advice)]
    uses = [use.name for use in table().use.values()]
    return [table().source, *rules, *uses, *table().say.values()]


@pytest.mark.parametrize("words", wordings(), ids=lambda words: words.en)
def test_both_languages_say_it(words: Wording) -> None:
    assert words.en.isascii() or "–" in words.en
    assert words.zh
    assert braces(words.en) == braces(words.zh)


def test_limits_ascend() -> None:
    for limits in table().band.values():
        assert [*limits] == ["fair", "good", "excellent"]
        assert 0 < limits["fair"] < limits["good"] < limits["excellent"] < 1
    for needed in table().production.values():
        assert [*needed] == ["minimum", "good", "excellent"]
        assert 0 < needed["minimum"] < needed["good"] < needed["excellent"] < 1


def test_every_use_is_there_and_watches_something() -> None:
    assert set(table().use) == set(get_args(Use))
    assert all(use.watch or use.target for use in table().use.values())


@pytest.mark.parametrize("rule", table().rule, ids=lambda rule: rule.name)
def test_a_rule_is_about_measures_that_there_are(rule: Rule) -> None:
    for row in rule.when:
        for name in row.measures:
            assert name in SHARES or measure(name).direction == "higher"
        if isinstance(row, LevelRow):
            assert 0 < row.than < 1
    assert rule.advice


def test_high_and_low_are_the_levels_of_production() -> None:
    recall, mrr = table().production["recall@5"], table().production["mrr"]
    limits = {
        (row.measures[0].partition("@")[0], row.op): row.than
        for rule in table().rule
        for row in rule.when
        if isinstance(row, LevelRow)
    }
    assert limits["recall", "at_least"] == limits["hit", "at_least"] == recall["good"]
    assert limits["recall", "under"] == recall["minimum"]
    assert limits["mrr", "under"] == mrr["minimum"]


def test_words_are_filled_in() -> None:
    words = said("counts", before=7, now=9)
    assert "7 queries and this one over 9" in words.en
    assert "7 个问题，本次为 9 个" in words.zh
