"""The browser, for all pages."""

from tests.browser import browser

__all__ = ["browser"]
