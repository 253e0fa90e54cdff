"""The label page in a browser, served by `judge label` in a separate process."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from judge import review
from judge.config import Config
from judge.jobs.job import Job
from tests.browser import DESK, PHONE, barriers, browser, opened, overflow
from tests.commands import line, start, write
from tests.review_runs import cells, score

__all__ = ["browser"]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \u202egnp.exe </script>"
NAMES = ("supported", "supported", "unsupported", "unsupported", "partial", "supported")


@contextmanager
def labelling(run: Path, *words: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`judge label`, and where its page is."""
    process = start("label", run, "--no-open", *words)
    try:
        assert process.stdout is not None
        said = next((line for line in process.stdout if "http" in line), "")
        assert said, process.communicate()[1]
        yield process, re.findall(r"http://\S+", said)[0]
    finally:
        process.kill()
        process.communicate()


def at(page: Page, number: int) -> None:
    """Wait until the page shows this sentence."""
    expect(page.locator("#place")).to_have_text(re.compile(rf"(?<!\d){number}(?!\d).*(of|共)"))


def sheet(run: Path, reviewer: str) -> dict[str, tuple[str, str, str]]:
    """Return the labels in a reviewer's file by row."""
    (path,) = (run / "review").glob(f"*.{reviewer}.csv")
    rows = cells(path)
    assert {row["reviewer"].casefold() for row in rows} == {reviewer}
    return {
        row["review_id"]: (row["human_support"], row["human_skip"], row["human_note"])
        for row in rows
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Made before there is a browser, whose loop runs in this thread."""
    place = tmp_path_factory.mktemp("runs")
    (place / "plain").mkdir()
    long = "w" * 100_000
    chunks = {HOSTILE: f"{HOSTILE} The canteen opens at seven.", "b": long}
    answer = f"The canteen opens at seven, {HOSTILE}.\n\n{long}"
    samples = write(place / "hostile.jsonl", [line("h", answer, chunks, HOSTILE)])
    Job(samples, place / "hostile", Config(cache=False)).run()
    return {"plain": score(place / "plain", [NAMES[:3], NAMES[3:]]), "hostile": place / "hostile"}


def press(page: Page, keys: str, number: int = 0) -> None:
    """Press keys, a word each, and wait for the sentence of this number, or for the end."""
    for key in keys.split():
        page.keyboard.press(key)
    if number:
        at(page, number)
    else:
        expect(page.locator("#ended")).to_be_visible()


def comment(page: Page, note: str) -> None:
    """Comment on the sentence that is shown, by keys, and wait until that is kept."""
    page.keyboard.press("c")
    page.keyboard.type(note)
    page.keyboard.press("Escape")
    expect(page.locator("#news")).to_have_text("Kept: Comment.")


def test_labels_are_given_by_keys_and_outlive_kill_9(
    place: Path, runs: dict[str, Path], browser: Browser
) -> None:
    run, note = runs["plain"], "not 1 of these is a key: s u"
    drawn = review.draw(run, place / "review.csv", size=6).draw.sentences
    ids = [each.review_id for each in drawn]
    with labelling(run, "--reviewer", "Ann") as (process, address):
        with opened(browser, address) as page:
            at(page, 1)
            expect(page.locator("#answer mark")).to_contain_text(drawn[0].text)
            body = page.locator("body").inner_text()
            assert not re.search("llm|0.99|similarity|unscored|stratum", body)
            press(page, "1", 2)
            comment(page, note)
            press(page, "2", 3)
            press(page, "s", 4)
            press(page, "4", 5)
            press(page, "u", 4)
            expect(page.locator("#count")).to_have_text("2 of 6 labelled, 1 skipped")
            press(page, "ArrowLeft", 3)
            page.reload()
            at(page, 3)
            expect(page.locator("#skip")).to_have_attribute("aria-pressed", "true")
            press(page, "ArrowLeft", 2)
            expect(page.locator("#note")).to_have_value(note)
            expect(page.locator("[aria-pressed=true]")).to_contain_text("In part")
        process.kill()
    first = {ids[0]: ("full", "", ""), ids[1]: ("partial", "", note)}
    first[ids[2]] = ("", "yes", "")
    assert sheet(run, "ann") == first

    with labelling(run, "--reviewer", "Ann") as (process, address):
        with opened(browser, address) as page:
            at(page, 4)
            press(page, "3", 5)
            press(page, "1", 6)
            press(page, "5")
            press(page, "s", 3)
        where = address.replace("Ann", "Bo")
        with opened(browser, where) as page, opened(browser, where) as other:
            at(page, 1)
            at(other, 1)
            press(page, "1", 2)
            comment(other, note)  # the label, of the other screen, stays
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, err) == (130, "")
        assert "labelled 5 of 6, skipped 1" in out
        assert f"judge review import {run}" in out
    assert sheet(run, "ann")[ids[5]] == ("no_claim", "", "")
    assert sheet(run, "bo") == {ids[0]: ("full", "", note)}


def test_hostile_texts_are_shown_in_both_languages_widths_and_themes(
    runs: dict[str, Path], browser: Browser
) -> None:
    shown = HOSTILE.replace("\u202e", "\ufffd")
    looks: tuple[tuple[str, str, int, Literal["light", "dark"]], ...]
    looks = (("en", "Supported", DESK, "light"), ("zh", "支持", PHONE, "dark"))
    with labelling(runs["hostile"]) as (_, address):
        for lang, said, width, theme in looks:
            where = address.replace("lang=en", f"lang={lang}")
            with opened(browser, where, width=width, theme=theme) as page:
                at(page, 1)
                expect(page.locator("#query")).to_have_text(shown)
                expect(page.locator("#answer mark")).to_contain_text(shown)
                expect(page.locator("#evidence h4").first).to_contain_text(shown)
                expect(page.locator(".say").first).to_contain_text(said)
                assert barriers(page) == []
                page.set_viewport_size({"width": 700, "height": 450})  # 1400 by 900 at 200 %
                page.keyboard.press("ArrowDown")
                boxes = [page.locator(name).bounding_box() for name in ("#evidence", "#say")]
                assert boxes[0] is not None
                assert boxes[1] is not None
                assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
                page.set_viewport_size({"width": width, "height": 900})
                page.keyboard.press("ArrowRight")
                at(page, 2)
                expect(page.locator("#answer mark")).to_contain_text("www")
                assert overflow(page) == 0
                page.keyboard.press("?")
                assert barriers(page) == []
        with opened(browser, address, scripts=False) as page:
            expect(page.get_by_text("label the sheet of judge review draw")).to_be_visible()
