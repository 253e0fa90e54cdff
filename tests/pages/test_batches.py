"""The service's pages, as a person sees them: log in, send a file, look, label, import."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import DESK, PHONE, barriers, browser, opened, overflow
from tests.commands import line, write
from tests.service_process import Serving, judged

__all__ = ["browser"]
KEY = "0123456789abcdef"


@pytest.fixture(scope="module", autouse=True)
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two batches, judged before there is a browser."""
    place = tmp_path_factory.mktemp("pair")
    judged(place, "a")
    judged(place, "b")
    return place


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("data"), tokens=f"web:{KEY}") as serving:
        yield serving


@pytest.mark.no_cover
def test_a_file_is_sent_judged_reported_and_labelled(
    place: Path, serving: Serving, browser: Browser
) -> None:
    with opened(browser, serving.url, width=DESK, password=KEY) as page:
        expect(page.locator("#none")).to_be_visible()
        said = "The canteen opens at seven. It closes at three. Dogs are welcome."
        page.set_input_files("#file", write(place / "samples.jsonl", [line("q", said)]))
        page.fill("#name", "<script>alert(1)</script> \u202egnp.exe")
        page.keyboard.press("Enter")
        row = page.locator("#rows tr")
        expect(row).to_contain_text("<script>alert(1)</script> \ufffdgnp.exe")
        expect(row).to_contain_text("1 / 1", timeout=60_000)
        expect(row).to_contain_text("looks supported, by similarity")
        assert (barriers(page), "\u202e" in page.content()) == ([], False)
        page.get_by_role("link", name=re.compile("^Report")).click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator(".said").first).to_be_visible()
        page.go_back()
        page.set_viewport_size({"width": PHONE, "height": 900})
        page.emulate_media(color_scheme="dark")
        assert (barriers(page), overflow(page)) == ([], 0)
        boxes = [each.bounding_box() for each in page.locator("#rows td small").all()]
        # Beside the name of their column, not below.
        assert [box["x"] > PHONE / 3 for box in boxes if box] == [True, True]

        page.get_by_role("link", name="中文").click()
        expect(page.get_by_role("heading", name="批次")).to_be_visible()
        page.get_by_role("link", name=re.compile("标注")).click()
        expect(page.locator("#reviewer")).to_be_focused()
        page.keyboard.type("李雷")
        page.keyboard.press("Enter")
        expect(page.locator("#place")).to_have_text(re.compile("第 1 句"))
        assert (barriers(page), overflow(page)) == ([], 0)
        for number in (2, 3):
            page.keyboard.press("1")
            expect(page.locator("#place")).to_have_text(re.compile(f"第 {number} 句"))
        page.keyboard.press("3")
        expect(page.locator("#ended")).to_be_focused()
        assert (barriers(page), overflow(page)) == ([], 0)
        page.get_by_role("button", name="导入标签").press("Enter")
        expect(page.locator("#imported")).to_have_text("已导入 3 个标签。")
        page.get_by_role("link", name="标签对自动评判的评价").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("人工抽查结果")
        page.go_back()
        page.get_by_role("link", name=re.compile("批次")).click()
        expect(page.get_by_role("link", name="人工一致性")).to_be_visible()


@pytest.mark.no_cover
def test_requests_are_sent_by_hand_from_the_page_of_swagger(
    serving: Serving, browser: Browser
) -> None:
    with opened(browser, f"{serving.url}/docs", width=DESK, password=KEY) as page:
        page.get_by_text("/v1/evaluations", exact=True).click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute", exact=True).click()
        expect(page.locator(".live-responses-table .response .response-col_status")).to_have_text(
            re.compile("200")
        )


def test_two_chosen_batches_lead_to_their_comparison(pair: Path, browser: Browser) -> None:
    with Serving(pair) as serving, opened(browser, serving.url, width=DESK) as page:
        page.get_by_label("Compare of a").check()
        expect(page.locator("#chosen")).to_have_text("Choose two batches to compare them.")
        page.get_by_label("Compare of b").check()
        assert barriers(page) == []
        page.get_by_role("link", name="Compare b with a").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("b compared with a")
