"""Fixture that all browser tests share: the browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from support.browser import CHROMIUM_ADVICE, MAX_WAIT_MILLISECONDS, chromium_path


def pytest_sessionstart(session: pytest.Session) -> None:
    """Stop with instructions if the browser is not installed, in the main process only."""
    if hasattr(session.config, "workerinput"):
        return
    with sync_playwright() as playwright:
        if chromium_path(playwright) is None:
            raise pytest.UsageError(CHROMIUM_ADVICE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium without a window; `support.browser.open_page` opens pages in it."""
    # Usual are 5 s, in which a busy machine has analysed no match.
    expect.set_options(timeout=MAX_WAIT_MILLISECONDS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(playwright))
        yield chromium
        chromium.close()
