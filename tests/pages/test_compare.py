"""The page of runs side by side, in a browser: what it shows, and hostile texts as text."""

import itertools
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from tests.browser import DESK, PHONE, barriers, opened, overflow
from tests.commands import judge, line, write

OPENS = "The canteen opens at seven."
MOON = "Nobody ever danced on the purple moon."
EVIL = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" onclick='alert(3)' {{ 7*7 }}"
)
BIDI = "abc\u202egnp.exe"
WORD = "W" * 1_000_000


@pytest.fixture(scope="module", autouse=True)
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Made before the browser starts, whose loop runs in this thread."""
    place = tmp_path_factory.mktemp("compare")
    plain = [line(f"q{n}", OPENS) for n in range(8)]
    first = [*plain, line("食堂", "食堂七点开门。", ["食堂七点开门，三点关门。"], "食堂几点开门？")]
    first += [line(EVIL, OPENS, query=f"{EVIL} {BIDI}"), line("word", OPENS, query=WORD)]
    second = [line(f"q{n}", OPENS, [MOON] if n < 6 else [OPENS]) for n in range(8)]
    second += [line("食堂", "食堂在月球上跳舞。", ["食堂七点开门，三点关门。"], "食堂几点开门？")]
    second += [line(EVIL, f"{EVIL} {BIDI} {MOON}", query=EVIL), line("word", f"A {WORD}.")]
    for name, lines in (("a", first), ("b", second), ("c", first)):
        keyed = [each | {"of": EVIL if "q" in str(each["qid"]) else "zh"} for each in lines]
        source = write(place / f"{name}.jsonl", keyed)
        assert judge("score", source, "-o", place / name).code == 0
    words = ("--by", "of", "--fail-if-worse", "faithfulness=0.02")
    runs = [place / name for name in ("a", "b", "c")]
    for lang in ("en", "zh"):
        page = place / f"{lang}.html"
        assert judge("compare", *runs[:2], *words, "--lang", lang, "-o", page).code == 1
    assert judge("report", runs[0], "-o", runs[0] / "report.html").code == 0
    assert judge("report", runs[1], "-o", place / "b.html").code == 0
    assert judge("compare", *runs, "-o", place / "three.html").code == 0
    return {name: place / f"{name}.html" for name in ("en", "zh", "three")}


@pytest.mark.no_cover
def test_the_page_shows_both_answers_and_is_usable(
    browser: Browser, pages: dict[str, Path]
) -> None:
    themes: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", PHONE), ("dark", DESK))
    for lang, (theme, width) in itertools.product(("en", "zh"), themes):
        address = pages[lang].as_uri()
        with opened(browser, address, width=width, theme=theme) as page:
            text = page.locator("main").inner_text()
            assert "−0.8" in text
            assert page.locator("article").count() == 9
            # Equal text: the sentence that lost its support is marked on both sides.
            assert page.locator("article", has_text="q0").locator("li.changed").count() == 2
            assert EVIL.partition(" ")[0] in text
            assert page.evaluate("document.images.length + document.scripts.length") == 0
            assert overflow(page) == 0
            assert barriers(page) == [], (lang, theme)


def test_three_runs_have_a_trend_whose_points_link_to_reports(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["three"].as_uri(), width=PHONE) as page:
        chart = page.get_by_role("group", name="looks supported")
        assert (chart.locator("circle").count(), chart.locator("line.course").count()) == (3, 2)
        # a and c are supported in all answers, b in 2 of the 9 that are decided; 120 pixels are 1.
        heights = [float(each.get_attribute("cy") or 0) for each in chart.locator("circle").all()]
        assert heights == [10, round(130 - 120 * 2 / 9, 1), 10]
        links = [each.get_attribute("href") for each in chart.get_by_role("link").all()]
        assert links == ["a/report.html", "b.html"]
        assert (overflow(page), barriers(page)) == (0, [])
        chart.get_by_role("link").first.click()
        assert page.locator("h1").inner_text() == "Report: a"
