"""Fixture that all browser tests share: the browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from support.browser import MAX_WAIT_MILLISECONDS, MISSING, chromium_path


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say what to install before any test, and before there are several processes."""
    if hasattr(session.config, "workerinput"):
        return
    with sync_playwright() as playwright:
        if chromium_path(playwright) is None:
            raise pytest.UsageError(MISSING)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium without a window; `support.browser.visited` opens pages in it."""
    # Usual are 5 s, in which a busy machine has analysed no match.
    expect.set_options(timeout=MAX_WAIT_MILLISECONDS)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium_path(playwright))
        yield running
        running.close()
