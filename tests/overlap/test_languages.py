from typing import get_args

import pytest
from sacrebleu.metrics.bleu import BLEU

from judge.overlap.languages import LANGUAGE_NAMES, LanguageBleus
from judge.overlap.metrics import Language, language_of
from judge.overlap.records import LanguageBleu

DIGITS = ("500 100 20 3", "500 100 20 4")
CHINESE = ("报销由部门经理审批。", "报销由部门经理和财务审批。")
THAI = ("ภาษาไทย", "ภาษาลาว")
ENGLISH = ("the cat is on mat", "the cat is on the mat")


def totals(*pairs: tuple[str, str]) -> tuple[LanguageBleu, ...]:
    bleus = LanguageBleus()
    for answer, gold in pairs:
        bleus.add(answer, gold, language_of(gold))
    return bleus.totals()


def sacrebleu(tokenizer: str, *pairs: tuple[str, str]) -> float:
    answers, golds = zip(*pairs, strict=True)
    return float(BLEU(tokenize=tokenizer).corpus_score(list(answers), [list(golds)]).score)


def test_every_language_has_a_name() -> None:
    assert tuple(LANGUAGE_NAMES) == get_args(Language)


@pytest.mark.parametrize(
    ("pair", "language", "tokenizer"),
    [(CHINESE, "zh", "zh"), (THAI, "unspaced", "char"), (ENGLISH, "other", "13a")],
)
def test_without_a_letter_it_counts_with_the_most(
    pair: tuple[str, str], language: str, tokenizer: str
) -> None:
    for pairs in ((DIGITS, pair), (pair, DIGITS)):
        (found,) = totals(*pairs)
        assert (found.language, found.answers) == (language, 2)
        assert found.score == pytest.approx(sacrebleu(tokenizer, *pairs))
        assert f"|tok:{tokenizer}|" in found.signature


def test_the_most_are_those_with_letters() -> None:
    found = totals(DIGITS, DIGITS, ENGLISH, THAI, THAI)
    assert [(item.language, item.answers) for item in found] == [("unspaced", 4), ("other", 1)]
    found = totals(DIGITS, DIGITS, THAI, ENGLISH)  # of equals the first by name
    assert [(item.language, item.answers) for item in found] == [("other", 3), ("unspaced", 1)]


def test_without_any_letter_it_is_other() -> None:
    (found,) = totals(DIGITS)
    assert found.language == "other"
    assert found.score == pytest.approx(sacrebleu("13a", DIGITS))


def test_the_most_answers_first_then_by_name() -> None:
    found = totals(ENGLISH, THAI, CHINESE, THAI)
    assert [item.language for item in found] == ["unspaced", "other", "zh"]
    assert [item.language for item in totals(CHINESE, ENGLISH)] == ["other", "zh"]


def test_totals_can_be_asked_for_twice() -> None:
    bleus = LanguageBleus()
    bleus.add(*DIGITS, None)
    bleus.add(*ENGLISH, "other")
    assert bleus.totals() == bleus.totals()
    assert LanguageBleus().totals() == ()


def test_an_answers_own_score() -> None:
    bleus = LanguageBleus()
    assert bleus.add(*ENGLISH, "other") == pytest.approx(57.89, abs=0.005)
    # 3/4, 2/3, 1/2 and none of one, which is smoothed to 1/2.
    assert bleus.add(*DIGITS, None) == pytest.approx(100 * 0.125**0.25)


def test_too_short_for_four_tokens() -> None:
    assert [item.too_short for item in totals(("Paris", "Paris"), CHINESE)] == [True, False]
