"""The page of an exam, in a browser: what it shows, and hostile items as text."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser
from pydantic import JsonValue

from judge.exam.items import CANARY
from tests.browser import DESK, PHONE, barriers, opened, overflow
from tests.commands import judge, line, write

EVIL = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" onclick='alert(3)' {{ 7*7 }}"
)
BIDI = "abc\u202egnp.exe"
MOON = "Nobody ever danced on the purple moon."


def item(
    qid: str, said: Sequence[tuple[str, str]], query: str = "When?", **others: str
) -> dict[str, JsonValue]:
    """A line of items: sentences, each with its right label."""
    answer = " ".join(text for text, _ in said)
    labels: list[JsonValue] = [
        {
            "sentence": place,
            "start": answer.index(text),
            "end": answer.index(text) + len(text),
            "text": text,
            "support": gold,
            "supported": gold == "full",
            "reviewers": 1,
            "judged": None,
            "signature": "",
        }
        for place, (text, gold) in enumerate(said)
    ]
    chunks = {f"{EVIL} {BIDI}": f"The canteen opens at seven. {EVIL} {BIDI} {'W' * 5_000}"}
    return line(qid, answer, chunks, query) | {"labels": labels} | others


@pytest.fixture(scope="module", autouse=True)
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Made before the browser starts, whose loop runs in this thread."""
    place = tmp_path_factory.mktemp("exam")
    opens = "The canteen opens at seven."
    lines = [item(f"q{n}", [(opens, "none")], category="negation") for n in range(3)]
    lines += [item(f"r{n}", [(opens, "full")], language="zh") for n in range(3)]
    lines += [
        item(EVIL, [(opens, "contradicted"), (MOON, "none")], f"{EVIL} {BIDI}", category=EVIL)
    ]
    items = write(place / "items.jsonl", lines)
    first, now = place / "first.json", place / "now.json"
    assert judge("exam", "--items", items, "-o", now).code == 0
    assert judge("exam", "--items", items, "--prior", 0.0001, "-o", first).code == 0
    words = ("exam", "show", now, "--against", first)
    for lang in ("en", "zh"):
        page = place / f"{lang}.html"
        ran = judge(*words, "--items", items, "--lang", lang, "-o", page)
        assert (ran.code, ran.err) == (0, "")
    assert judge(*words, "-o", place / "bare.html").code == 0
    sat = judge("exam", "--items", items, "--category", "own", "-o", place / "sat.html")
    assert sat.out.splitlines()[-1] == f"written to {place / 'sat.html'}"
    for wrong, said in ((place / "x.json", "ends not in .html"), (now, "ends not in .html")):
        ran = judge("exam", "show", now, "-o", wrong)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert said in ran.err
    return {name: place / f"{name}.html" for name in ("en", "zh", "bare", "sat")}


def test_the_page_tells_what_was_wrong_and_is_usable(
    browser: Browser, pages: dict[str, Path]
) -> None:
    told = {
        "en": ("Not fit,", "negation: 3 of 3", "Against the earlier sitting", "right is"),
        "zh": ("不合格", "否定：3 句中 3 句", "与先前一次相比", "引文，见"),
    }
    themes: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", PHONE), ("dark", DESK))
    for lang, (theme, width) in itertools.product(("en", "zh"), themes):
        address = pages[lang].as_uri()
        with opened(browser, address, width=width, theme=theme, scripts=True) as page:
            text = page.locator("main").inner_text()
            assert [each for each in told[lang] if each not in text] == []
            # Three called full that are not, and a sentence of the hostile one; no right one.
            assert page.locator("article").count() == 4
            named = page.locator("h4", has_text=EVIL)
            assert page.locator("article", has=named).locator("li").count() == 2
            assert page.locator("meta[name=canary]").get_attribute("content") == CANARY
            assert page.evaluate("document.images.length + document.scripts.length") == 0
            assert "\u202e" not in page.content()
            assert overflow(page) == 0
            assert barriers(page) == [], (lang, theme)


def test_texts_that_are_not_at_hand_are_owned_up_to(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["bare"].as_uri(), scripts=False) as page:
        assert "not at hand, or have changed since: 4;" in page.locator("main").inner_text()
        assert page.locator("article .chunk").count() == 0
        assert page.locator("article").count() == 4
    with opened(browser, pages["sat"].as_uri(), scripts=False) as page:
        assert "Nothing: every sentence was judged right." in page.locator("main").inner_text()
