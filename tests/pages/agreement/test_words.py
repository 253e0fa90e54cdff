import re
import tomllib
from importlib.resources import files
from string import Formatter

import pytest

from judge.pages.agreement import Lang, Words
from judge.records import Support
from judge.review.records import StratumName
from judge.review.words import read_label
from tests.pages.agreement.findings import share

ENTRIES = {
    f"{group}.{name}": forms
    for group, entries in tomllib.loads(
        files("judge").joinpath("data", "agreement.toml").read_text("utf-8")
    ).items()
    for name, forms in entries.items()
}
# Names of people and measures are the same in Chinese texts on statistics, files are what they are.
KEPT = {"Cohen", "Krippendorff", "Brier", "ECE", "Wilson", "agreement", "json"}


def filled(template: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(template) if field}


@pytest.mark.parametrize("key", ENTRIES)
def test_every_word_stands_in_both_languages(key: str) -> None:
    forms = ENTRIES[key]
    assert set(forms) == {"en", "zh"}
    assert all(forms.values())
    assert filled(forms["en"]) == filled(forms["zh"])
    assert not re.search(r"[一-鿿]", forms["en"])
    chinese = re.sub(r"\{\w+\}", "", forms["zh"])
    assert set(re.findall(r"[A-Za-z]{2,}", chinese)) <= KEPT


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_stratum_and_label_has_a_name(lang: Lang) -> None:
    words = Words(lang)
    assert len({words(f"stratum.{name.value}") for name in StratumName}) == len(StratumName)
    labels = [*(label.value for label in Support), "rest"]
    assert len({words.named("label", label) for label in labels}) == len(labels)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("support", [*Support, None])
def test_a_label_reads_on_a_sheet_as_it_does_on_the_page(
    lang: Lang, support: Support | None
) -> None:
    word = Words(lang).named("label", "rest" if support is None else support.value)
    assert read_label(word) == (support, support is Support.FULL)


def test_a_negative_figure_bears_a_minus_sign() -> None:
    assert Words("en").coefficient(-0.7164) == "\N{MINUS SIGN}0.716"
    assert Words("zh").coefficient(-0.0001) == "0.000"


def test_figures_are_written_as_the_language_does() -> None:
    english, chinese = Words("en"), Words("zh")
    assert english.percent(0.9166) == "91.7\N{NO-BREAK SPACE}%"
    assert chinese.percent(1) == "100.0%"
    assert english.span(0.0, 0.12345) == "0.0–12.3\N{NO-BREAK SPACE}%"
    assert chinese.span(0.0, 0.12345) == "0.0%–12.3%"
    assert english.points(-0.041) == "4.1 points"
    assert chinese.points(0.041) == "4.1 个百分点"
    assert chinese.share(share(0.5, 0.25, 0.75)) == "50.0%（25.0%–75.0%）"


def test_what_is_filled_in_is_not_read_again() -> None:
    assert Words("en")("disagreement.by", label="{raw}", reviewer="{0}") == "{raw} ({0})"


def test_a_missing_word_is_an_error_and_a_missing_name_itself() -> None:
    with pytest.raises(KeyError):
        Words("en")("title.nothing")
    assert Words("zh").named("label", "{maybe}") == "{maybe}"
