"""The agreement page in a browser: at both widths, in both themes and languages, and hostile."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from judge.messages import Lang
from judge.pages.agreement import page
from judge.review.records import Agreement
from tests.browser import DESK, PHONE, barriers, opened, overflow
from tests.pages.agreements import HOSTILE, RICH, SIMILARITY, of_run

SEEN = [
    ("rich", RICH, "en", DESK, "light"),
    ("hostile", HOSTILE, "zh", PHONE, "dark"),
]


@pytest.mark.parametrize(("name", "agreement", "lang", "width", "theme"), SEEN)
def test_agreement_page_is_usable_and_runs_nothing(
    *,
    name: str,
    agreement: Agreement,
    lang: Lang,
    width: int,
    theme: Literal["light", "dark"],
    browser: Browser,
    tmp_path: Path,
) -> None:
    file = tmp_path / f"{name}.html"
    file.write_text(page(agreement, of_run(SIMILARITY), lang), "utf-8")
    with opened(browser, file.as_uri(), width=width, theme=theme) as seen:
        assert seen.inner_text("h1")
        assert barriers(seen) == []
        assert overflow(seen) == 0
