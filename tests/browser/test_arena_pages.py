"""The arena's own pages in a real browser."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from support.arena import ALICE, BOB, PASSWORDS, running_arena
from support.browser import overflows, picture, serious, visited

from workbench.arena.server import ArenaServer

TIMED = re.compile(r"\d\d:\d\d:\d\d, \d+\.\d s")
"""When a move was made, and after how long."""

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaServer]:
    """An arena with one match, whose tag is what somebody hostile would write."""
    with running_arena(tmp_path_factory.mktemp("arena")) as (arena, _):
        arena.create_match([ALICE, BOB], tags=[HOSTILE])
        yield arena


def seen_by_alice(
    browser: Browser,
    **context: Any,  # noqa: ANN401 - what Playwright's contexts take
) -> AbstractContextManager[Page]:
    """A page of somebody who has logged in as Alice."""
    login = {"username": ALICE, "password": PASSWORDS[ALICE]}
    return visited(browser, http_credentials=login, **context)


@pytest.mark.parametrize("width", [390, 1600])
def test_a_match_is_opened_from_the_list_and_moves_on(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    """A player sees each card within a second of the action, without asking again and again."""
    with running_arena(tmp_path) as (arena, client):
        match = arena.create_match([ALICE, BOB], tags=[HOSTILE])
        screen = {"viewport": {"width": width, "height": 900}}
        with seen_by_alice(browser, **screen) as page:
            page.goto(f"{arena.url}/matches")
            page.locator("tbody a").first.click()
            expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
            for number in (2, 3):
                mover = next(
                    one for one in (ALICE, BOB) if client.get("/api/matches?active=1", one).json()
                )
                client.post(f"/api/matches/{match}", mover, {"etype": "Draw", "autopick": True})
                expect(page.locator("#count")).to_have_text(f"{number} of {number}", timeout=3000)
            expect(page.locator("#happened")).to_contain_text(
                re.compile(r"\d\d:\d\d:\d\d, \d+\.\d s")
            )
            picture(page, f"arena-match-{width}")
            assert serious(page) == []
            assert not overflows(page)
            page.go_back()
            expect(page.locator("tbody tr")).to_have_count(1)


def on_the_cards(page: Page) -> None:
    """Every choice is a card or pile on the table, by which it is made, until a Map has come."""
    seen: set[str] = set()
    for _ in range(200):
        buttons = page.locator("#seat button")
        if not buttons.count():
            break
        names = buttons.locator(":scope > span:last-child").all_inner_texts()
        offered = page.locator("#board .offered")
        expect(offered.first).to_be_visible()
        titles = {one.get_attribute("title") for one in offered.all()}
        assert titles == {*names}
        effect = names[0].partition(":")[0]
        if effect == "Map":
            break
        seen.add(effect)
        number = page.locator("#seat [name=number]").get_attribute("value")
        draws = page.locator('#board [data-part="unseen"].offered[title="Draw"]')
        with page.expect_navigation():
            (draws if draws.count() else offered.first).click()
        expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
        assert page.locator("#seat [name=number]").get_attribute("value") != number
    assert {"Draw", "Map"} <= {*seen, effect}, seen


@pytest.mark.parametrize(("script", "width"), [(True, 390), (False, 1280)])
def test_a_practice_match_is_begun_and_played_to_its_end_in_the_browser(
    browser: Browser, tmp_path: Path, *, script: bool, width: int
) -> None:
    """By buttons and, where script runs, by keys; whoever has ordered it plays both seats."""
    screen = {"viewport": {"width": width, "height": 844}, "java_script_enabled": script}
    with running_arena(tmp_path) as (arena, client), seen_by_alice(browser, **screen) as page:
        page.goto(f"{arena.url}/matches")
        page.get_by_label("Seed").fill("practice")
        page.get_by_role("button", name="New practice match").click()
        seat = page.locator("#seat")
        expect(seat).to_contain_text("It is your turn.")
        expect(seat).to_contain_text("seed practice")
        if script:
            expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
            page.keyboard.press("1")
            expect(page.locator("#seat [name=number]")).to_have_value("2")
            picture(page, f"arena-seat-{width}")
            assert serious(page) == []
            assert not overflows(page)
            on_the_cards(page)
            return
        for _ in range(400):
            if not seat.count():
                break
            with page.expect_navigation():  # half a page has no seat, either
                seat.get_by_role("button").first.click()
        (match,) = client.get("/api/matches", ALICE).json()
        assert match["moveCount"] > 20
        assert match["activePlayerIndex"] is None
        expect(page.locator("#facts")).to_contain_text("won")
