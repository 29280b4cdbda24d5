"""The pages of the cloud's match log in a real browser: the password, and a match that is live."""

from dataclasses import replace
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, expect
from support.browser import overflows, picture, serious, visited
from support.stored import any_match
from support.viewer_cloud import WORD, deployed

import viewer.app
from workbench.cloud.context import Function
from workbench.cloud.emulator import Emulator
from workbench.cloud.http_front import HttpFront


@pytest.mark.parametrize("width", [390, 1200])
def test_who_knows_the_password_watches_a_match_of_the_cloud_live(
    browser: Browser, width: int
) -> None:
    """A step is there within moments of its move, and the analysis with the end."""
    function = Function("viewer", viewer.app.handler, timedelta(seconds=29))
    _, moves = any_match("deadmansdraw")
    screen = {"viewport": {"width": width, "height": 900}}
    with (
        Emulator() as emulator,
        deployed(emulator, public=False) as cloud,
        HttpFront(function) as front,
        visited(browser, refused=True, **screen) as page,
    ):
        lease = cloud.play("live", moves[:9])
        # A browser keeps a cookie for TLS only where the host is certainly this machine.
        page.goto(f"{front.url.replace('127.0.0.1', 'localhost')}/matches/live")
        picture(page, f"door-{width}")
        assert serious(page) == []
        assert not overflows(page)
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Enter").click()
        expect(page.get_by_role("alert")).to_have_text("That is not the password.")
        page.get_by_label("Password").fill(WORD)
        page.get_by_role("button", name="Enter").click()
        expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
        expect(page.locator("#count")).to_have_text("9 of 9")
        cloud.play("live", [replace(moves[9], intent=None)], lease)
        expect(page.locator("#count")).to_have_text("10 of 10")
        cloud.end(lease)
        expect(page.locator("#curve")).to_be_visible()
        cookies = {one["name"]: one for one in page.context.cookies()}
        assert cookies["__Host-owner"]["httpOnly"]
        assert cookies["__Host-owner"]["secure"]
