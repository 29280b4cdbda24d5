"""Fixtures that browser tests share: the browser, and the page of a Blef service."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from support.browser import CHROMIUM_ADVICE, MAX_WAIT_MILLISECONDS, chromium_path

from cardsharp.play.catalog import get_game
from cardsharp_tools.games.blef.remote_lobby import remote_lobby_page
from cardsharp_tools.local_play.game_service import unstarted_game_service
from cardsharp_tools.local_server.http_server import BackgroundServer


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


@pytest.fixture(scope="module")
def blef_service_url() -> Iterator[str]:
    """Yield the URL of a Blef service."""
    with unstarted_game_service(get_game("blef")) as front, front as running:
        yield running.url


@pytest.fixture(params=["its own page", "a page here"])
def blef_page_url(request: pytest.FixtureRequest, blef_service_url: str) -> Iterator[str]:
    """Yield the URL of the page: the service's page, or a local page for a remote service."""
    if request.param == "its own page":
        yield blef_service_url
        return
    with BackgroundServer("The page", remote_lobby_page(blef_service_url)) as server:
        yield server.url
