from xml.etree import ElementTree as ET

import pytest

from judge.pages.agreement.chart import chart
from judge.pages.agreement.words import Words
from tests.pages.agreement.findings import FAITHFULNESS


def drawn(*, whole: bool = False, **changes: float | None) -> ET.Element:
    score = FAITHFULNESS.model_copy(update=changes)
    # Made by hand in the lines above, and nothing from outside is in it.
    return ET.fromstring(chart(score, Words("en"), whole=whole))  # noqa: S314


def found(figure: ET.Element, kind: str, class_: str) -> list[ET.Element]:
    return [part for part in figure.iter(kind) if part.get("class") == class_]


def test_marks_stand_where_the_figures_say() -> None:
    figure = drawn()
    (judge,) = found(figure, "line", "judge")
    (people,) = found(figure, "circle", "people")
    (band,) = found(figure, "rect", "band")
    assert (judge.get("x1"), people.get("cx")) == ("82.40%", "78.30%")
    # From .741 to .8199.
    assert (band.get("x"), band.get("width")) == ("74.10%", "7.89%")


def test_it_says_what_it_shows_without_colours() -> None:
    figure = drawn()
    (svg,) = figure.iter("svg")
    assert svg.get("role") == "img"
    label = (svg.get("aria-label") or "").replace("\N{NO-BREAK SPACE}", " ")
    assert "Judge: 82.4 %. People: 78.3 %, 95 % interval 74.1–82.0 %." in label
    said = [part.text or "" for part in svg.iter("text")]
    assert any(words.startswith("judge 82.4") for words in said)
    assert any(words.startswith("people 78.3") for words in said)


@pytest.mark.parametrize(("at", "anchor"), [(0.0, "start"), (0.5, "middle"), (1.0, "end")])
def test_words_stay_within_the_bar(at: float, anchor: str) -> None:
    figure = drawn(raw=at, corrected=at, low=at, high=at)
    for class_ in ("judge", "people"):
        (words,) = found(figure, "text", class_)
        assert words.get("text-anchor") == anchor


def test_where_all_was_labelled_no_band_is_spoken_of() -> None:
    figure = drawn(whole=True, low=0.783, high=0.783)
    (svg,) = figure.iter("svg")
    label = (svg.get("aria-label") or "").replace("\N{NO-BREAK SPACE}", " ")
    assert label.endswith("People: 78.3 %, all were labelled.")
    (key,) = figure.iter("figcaption")
    assert key.text == "Line: the judge. Dot: people."


def test_a_judge_that_said_nothing_has_no_mark() -> None:
    figure = drawn(raw=None)
    assert not found(figure, "line", "judge")
    assert not found(figure, "text", "judge")
    (svg,) = figure.iter("svg")
    assert "Judge: not measured." in (svg.get("aria-label") or "")
