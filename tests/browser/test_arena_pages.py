"""Browser tests of the arena's pages."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from support.arena_server import ALICE, BOB, PASSWORDS, running_arena
from support.browser import (
    check_page,
    open_page,
    overflowing_elements,
    save_screenshot,
    serious_axe_violations,
)

from cardsharp_tools.local_server.arena_server import ArenaServer

MOVE_TIME = re.compile(r"\d\d:\d\d:\d\d, \d+\.\d s")  # when a move was made, and after how long

PRESS_ACTIONS = {"mouse": Locator.click, "no script": Locator.click, "touch": Locator.tap}
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaServer]:
    """An arena with one match that has a hostile tag."""
    with running_arena(tmp_path_factory.mktemp("arena")) as (arena, _):
        arena.create_match_and_get_id([ALICE, BOB], tags=[HOSTILE])
        yield arena


def open_page_as_alice(
    browser: Browser,
    **context: Any,  # noqa: ANN401 - what Playwright's contexts take
) -> AbstractContextManager[Page]:
    """Open a page whose user has logged in as Alice."""
    login = {"username": ALICE, "password": PASSWORDS[ALICE]}
    return open_page(browser, http_credentials=login, **context)


@pytest.mark.parametrize("width", [390, 1600])
def test_a_listed_match_is_opened_and_moves_on(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    """The page of a running match shows each new move without a reload by the player."""
    with running_arena(tmp_path) as (arena, client):
        match = arena.create_match_and_get_id([ALICE, BOB], tags=[HOSTILE])
        screen = {"viewport": {"width": width, "height": 900}}
        with open_page_as_alice(browser, **screen) as page:
            page.goto(f"{arena.url}/matches")
            page.locator("tbody a").first.click()
            expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
            for number in (2, 3):
                active_player = next(
                    player
                    for player in (ALICE, BOB)
                    if client.get("/api/matches?active=1", player).json()
                )
                client.post(
                    f"/api/matches/{match}", active_player, {"etype": "Draw", "autopick": True}
                )
                expect(page.locator("#count")).to_have_text(f"{number} of {number}")
            expect(page.locator("#happened")).to_contain_text(MOVE_TIME)
            check_page(page, f"arena-match-{width}")
            page.go_back()
            expect(page.locator("tbody tr")).to_have_count(1)


def find_first_choice(page: Page) -> tuple[str, Locator]:
    """Return the name of the first choice, and a card or pile on the table that makes a choice.

    Asserts that the table offers each choice of the buttons.
    """
    expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
    names = page.locator("#seat button > span:last-child").all_inner_texts()
    choice_elements = page.locator("#board .offered")
    expect(choice_elements.first).to_be_visible()
    assert {*choice_elements.evaluate_all("all => all.map(one => one.title)")} == {*names}
    draw = page.locator('#board [data-part="unseen"].offered[title="Draw"]')
    return names[0].partition(":")[0], (draw if draw.count() else choice_elements).first


FULL_MATCH_PARAMS = [
    pytest.param(means, width, "", marks=pytest.mark.slow)
    for means, width in (("touch", 390), ("keys", 768), ("mouse", 1280), ("no script", 1280))
]


@pytest.mark.parametrize(("means", "width", "until"), [("touch", 390, "Map"), *FULL_MATCH_PARAMS])
def test_a_practice_match_is_begun_and_played_to_its_end_in_the_browser(
    browser: Browser, tmp_path: Path, means: str, width: int, until: str
) -> None:
    """A person plays both seats of a practice match by one input device alone.

    The match is played to the end, or until the effect `until` occurs.
    """
    script = means != "no script"
    screen = {
        "viewport": {"width": width, "height": 844},
        "java_script_enabled": script,
        "has_touch": means == "touch",
    }
    with running_arena(tmp_path) as (arena, client), open_page_as_alice(browser, **screen) as page:
        page.goto(f"{arena.url}/matches")
        page.get_by_label("Seed").fill("practice")
        page.get_by_role("button", name="New practice match").click()
        seat = page.locator("#seat")
        expect(seat).to_contain_text("It is your turn.")
        expect(seat).to_contain_text("seed practice")
        save_screenshot(page, f"arena-seat-{width}")
        if script:
            assert serious_axe_violations(page) == []
        assert overflowing_elements(page) == {}
        seen_effects: set[str] = set()
        while seat.count() and until not in seen_effects:
            number = page.locator("#seat [name=number]").get_attribute("value")
            effect, element = (
                find_first_choice(page) if script else ("?", seat.get_by_role("button").first)
            )
            seen_effects.add(effect)
            with page.expect_navigation():  # half a page has no seat, either
                page.keyboard.press("1") if means == "keys" else PRESS_ACTIONS[means](element)
            assert page.locator(f"#seat [name=number][value='{number}']").count() == 0
        assert not script or {"Draw", "Map"} <= seen_effects
        if until:
            return
        (match,) = client.get("/api/matches", ALICE).json()
        assert match["moveCount"] > 20
        assert match["activePlayerIndex"] is None
        expect(page.locator("#facts")).to_contain_text("won")
