"""Debian's chromium, driven by Playwright, for tests of pages.

A module of tests asks for `browser`, which starts once a module: Playwright's loop runs in the
thread of the tests, so a module that uses it holds no async tests.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    Dialog,
    HttpCredentials,
    Page,
    Request,
    expect,
    sync_playwright,
)

CHROMIUM: Final = shutil.which("chromium")
PHONE: Final = 400
DESK: Final = 1_400
"""Widths of a page in CSS pixels."""

# As root there is no sandbox; the others keep chromium from calling its makers.
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

_NEAR: Final = ("file:", "data:", "blob:", "http://127.0.0.1:", "http://localhost:")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One chromium for a module of tests; the test is skipped where none is installed."""
    if CHROMIUM is None:
        pytest.skip("no chromium: apt-get install chromium")
    expect.set_options(timeout=20_000)  # a machine that has other work is no failure
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@contextmanager
def opened(
    browser: Browser,
    address: str,
    *,
    width: int = DESK,
    theme: Literal["light", "dark"] = "light",
    scripts: bool = True,
    password: str | None = None,
) -> Iterator[Page]:
    """A page in a new context, at `address`, an URL of `file:` or of loopback.

    AssertionError at the end where the page wrote to its console, failed in a script, or asked
    for anything beyond `file:`, `data:`, `blob:` and loopback.
    """
    wrong: list[str] = []
    known = None if password is None else HttpCredentials(username="judge", password=password)
    context = browser.new_context(
        color_scheme=theme,
        viewport={"width": width, "height": 900},
        java_script_enabled=scripts,
        http_credentials=known,
    )
    try:
        page = context.new_page()
        page.set_default_timeout(20_000)
        _listen(page, wrong)
        page.goto(address)
        yield page
    finally:
        context.close()
    assert wrong == []


def _listen(page: Page, wrong: list[str]) -> None:
    def refuse(dialog: Dialog) -> None:
        wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def follow(request: Request) -> None:
        if not request.url.startswith(_NEAR):
            wrong.append(f"asked for {request.url}")

    page.on("console", lambda message: wrong.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("dialog", refuse)
    page.on("request", follow)


def barriers(page: Page) -> list[str]:
    """What axe-core finds on a page that is serious or critical: the rule, and where."""
    found = Axe().run(page).response["violations"]
    return [
        f"{rule['id']}: {rule['nodes'][0]['html'][:200]}"
        for rule in found
        if rule["impact"] in {"serious", "critical"}
    ]


def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than its window."""
    width: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return width
