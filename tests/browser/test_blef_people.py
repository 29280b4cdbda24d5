"""Browser tests of people at a Blef service: a whole game in two browser profiles, and its lobby.

Each test runs on the service's own page and on a local page for a remote service, which speaks
the makers' API alone.
"""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, Page, expect
from support.browser import (
    check_page,
    elements_out_of_view,
    layout_violations,
    open_page,
)
from support.waiting import HANG_SECONDS

import cardsharp.games.blef.service as blef_service
from cardsharp.games.blef.actions import BETS
from cardsharp.games.blef.cards import RANKS, SUITS, BlefCard
from cardsharp.games.blef.service.request_params import is_nickname

DESKTOP = {"viewport": {"width": 1280, "height": 720}}
WIDTHS = (360, 390, 768, 1280, 1920)
SCREENS = ((390, 844), (1280, 720), (1920, 1080))
DECK = [BlefCard(value, colour) for value in range(len(RANKS)) for colour in range(len(SUITS))]


def create_game(page: Page, blef_page_url: str, name: str) -> str:
    """Create a game as this player on the page, and return the game's link."""
    page.goto(f"{blef_page_url}/")
    page.locator("#nickname").fill(name)
    page.get_by_role("button", name="New game").click()
    expect(page.locator("#players li.you .name")).to_have_text(name)
    return page.url


def join_by_link(page: Page, link: str, name: str) -> None:
    page.goto(link)
    page.locator("#guest").fill(name)
    page.get_by_role("button", name="Join", exact=True).click()
    expect(page.locator("#players li.you .name")).to_have_text(name)


def refresh(page: Page) -> None:
    """Have the page look at the game at once, instead of within a second."""
    page.evaluate("dispatchEvent(new Event('hashchange'))")


def test_a_game_starts_with_two_players_and_is_watched(
    browser: Browser, blef_page_url: str
) -> None:
    """The host cannot start alone; names may have underscores; a visitor watches the game."""
    with open_page(browser, **DESKTOP) as alice, open_page(browser, **DESKTOP) as visitor:
        link = create_game(alice, blef_page_url, "Alice_1")
        start = alice.get_by_role("button", name="Start")
        expect(start).to_be_disabled()
        expect(alice.locator("#alone")).to_be_visible()
        check_page(alice, "blef-alone")
        with open_page(browser, **DESKTOP) as bob:
            join_by_link(bob, link, "Bob_2")
        refresh(alice)
        expect(alice.locator("#limit")).to_contain_text("everybody may hold 11 cards")
        start.click()
        expect(alice.locator("#hand .card")).to_have_count(1)
        slots = alice.locator("#players .slots").first
        expect(slots).to_have_attribute("aria-label", "1 of 11 cards")
        expect(slots.locator(".full")).to_have_count(1)
        expect(slots.locator(".free")).to_have_count(10)
        visitor.goto(f"{blef_page_url}/")
        visitor.get_by_label("Link of a game").fill(link)
        visitor.get_by_role("button", name="Join or watch").click()
        expect(visitor.locator("#role")).to_be_visible()
        expect(visitor.locator("#state")).to_contain_text("Round 1.")
        expect(visitor.locator("#mine, #enter")).to_have_count(2)
        expect(visitor.locator("#mine")).to_be_hidden()
        expect(visitor.locator("#enter")).to_be_hidden()
        check_page(visitor, "blef-watched")


def test_the_link_is_copied(browser: Browser, blef_page_url: str) -> None:
    with open_page(browser, permissions=["clipboard-read", "clipboard-write"], **DESKTOP) as page:
        link = create_game(page, blef_page_url, "Alice")
        page.get_by_role("button", name="Copy").click()
        expect(page.locator("#copied")).to_have_text("The link is copied.")
        assert page.evaluate("navigator.clipboard.readText()") == link


def test_the_page_accepts_the_names_that_the_service_accepts(
    browser: Browser, blef_service_url: str
) -> None:
    names = (
        "a",
        "Bob_2",
        "a_",
        "Zoë",
        "aé\N{ARABIC-INDIC DIGIT ONE}",
        "",
        "1a",
        "_a",
        "éa",
        "a-b",
        "a b",
        "a(AI)",
    )
    with open_page(browser) as page:
        page.goto(f"{blef_service_url}/")
        for name_id in ("nickname", "guest"):
            accepted = page.evaluate(
                """([id, names]) => names.filter((name) => {
                  const input = document.getElementById(id);
                  input.value = name;
                  return input.checkValidity();
                })""",
                [name_id, names],
            )
            assert accepted == [name for name in names if is_nickname(name)]
            assert page.locator(f"#{name_id}").get_attribute("maxlength") == "32"


def make_move(page: Page, choices: random.Random) -> None:
    """Check the last bet, or bet low: a chance decides, so that games end soon."""
    check = page.locator("#check")
    element = (
        check
        if check.is_visible() and choices.random() < 0.5
        else page.locator("#bets button").first
    )
    with page.expect_response("**/play"):
        element.click()


def assert_choices_are_in_view(page: Page) -> None:
    """Assert for each screen that hand and choices are in view, and that nothing overlaps."""
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        assert elements_out_of_view(page, "#state, #players, #hand, #beat, #kinds, #bets") == []
        assert elements_out_of_view(page, "#check:not([hidden])") == []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        assert layout_violations(page, check_touch_targets=width <= 390) == [], width
    assert page.evaluate("document.activeElement.id") != "check"


@pytest.mark.slow
def test_two_people_and_a_bot_play_a_whole_game_in_two_profiles(
    browser: Browser, blef_service_url: str, blef_page_url: str
) -> None:
    """They play by mouse to the end, read the analysis, and meet again in a rematch."""
    choices = random.Random(7)
    with open_page(browser, **DESKTOP) as alice, open_page(browser, **DESKTOP) as bob:
        link = create_game(alice, blef_page_url, "Alice")
        join_by_link(bob, link, "Bob_2")
        alice.get_by_role("button", name="Invite a bot").click()
        expect(alice.locator("#players")).to_contain_text("Dazhbog (AI)")
        alice.get_by_role("button", name="Start").click()
        played = play_to_end(blef_service_url, link.partition("#")[2], (alice, bob), choices)
        assert set(played) == {"Alice", "Bob_2"}
        for page in (alice, bob):
            refresh(page)
            expect(page.locator("#state")).to_contain_text("has won.")
            expect(page.locator("#analysis tbody tr")).to_have_count(3)
        assert_analysis_matches_the_game(alice, blef_service_url, link.partition("#")[2])
        check_page(alice, "blef-after")
        bob.get_by_role("button", name="Rematch with the same players").click()
        expect(bob.locator("#players")).to_contain_text("Dazhbog (AI)")
        expect(alice.locator("#invitation")).to_contain_text("Bob_2 is waiting in room")
        alice.get_by_role("button", name="Join the rematch").click()
        alice.wait_for_url(bob.url)
        expect(alice.locator("#setup")).to_be_visible()
        expect(alice.locator("#players li")).to_have_count(3)
        assert alice.url.partition("#")[2] == bob.url.partition("#")[2] != link.partition("#")[2]


def play_to_end(
    blef_service_url: str, game: str, pages: tuple[Page, ...], choices: random.Random
) -> dict[str, int]:
    """Play a game on the pages to its end; return how often each player has moved there."""
    moves: dict[str, int] = {}
    is_checked = False
    for _ in range(2000):
        state = requests.get(f"{blef_service_url}/games/{game}", timeout=HANG_SECONDS).json()
        if state["status"] == "Finished":
            return moves
        for page in pages:
            name = page.locator("#players li.you .name").inner_text()
            if name != state["cp_nickname"]:
                continue
            refresh(page)
            turn = f"Round {state['round_number']}. It is your turn."
            expect(page.locator("#state")).to_have_text(turn)
            expect(page.locator("#history li")).to_have_count(len(state["history"]))
            expect(page.locator("#turn")).to_be_visible()
            if not is_checked and page.locator("#history li").count():
                assert_choices_are_in_view(page)
                page.set_viewport_size(DESKTOP["viewport"])
                is_checked = True
            make_move(page, choices)
            moves[name] = moves.get(name, 0) + 1
    raise AssertionError("the game has no end")


def assert_analysis_matches_the_game(page: Page, blef_service_url: str, game: str) -> None:
    """Each closed round is listed, the last one first, and its outcome is that of the rules."""
    url = f"{blef_service_url}/games/{game}"
    total = requests.get(url, timeout=HANG_SECONDS).json()["round_number"] - 1
    summaries = page.locator("#analysis summary").all_inner_texts()
    assert len(summaries) == total
    for number, summary in zip(range(total, 0, -1), summaries, strict=True):
        closed_round = requests.get(f"{url}?round={number}", timeout=HANG_SECONDS).json()
        bet = BETS[closed_round["history"][-3]["action_id"]]
        cards = [
            BlefCard(card["value"], card["colour"])
            for hand in closed_round["hands"]
            for card in hand["hand"]
        ]
        verb = "held" if bet.holds(cards) else "did not hold"
        assert summary.startswith(f"Round {number}: {bet.name} {verb}, so ")


def test_the_analysis_knows_the_rules_and_the_probabilities(
    browser: Browser, blef_service_url: str
) -> None:
    """Its script agrees with the library on each bet for random pools of cards."""
    choices = random.Random(5)
    pools = [choices.sample(DECK, choices.randint(1, len(DECK))) for _ in range(60)]
    page_text = requests.get(f"{blef_service_url}/", timeout=HANG_SECONDS).text
    (script,) = re.findall(r'<script type="module">(.*?)// The lobby', page_text, re.DOTALL)
    with open_page(browser) as page:
        page.set_content("<title>x</title>")

        def evaluate(code: str, value: Any) -> Any:  # noqa: ANN401 - whatever JSON came
            return page.evaluate(f"(given) => {{ {script}; return {code}; }}", value)

        wire_pools = [[{"value": v, "colour": c} for v, c in pool] for pool in pools]
        held = evaluate("given.map((pool) => CLAIMS.map((_, bet) => holds(pool, bet)))", wire_pools)
        assert held == [[bet.holds(pool) for bet in BETS] for pool in pools]
        own = [{"value": 0, "colour": 0}]
        assert evaluate("chance(given, 3, 0, 1)", own) == 1
        # One nine of two unknown cards: 1 - (20 / 23) * (19 / 22) for the pair of nines.
        assert evaluate("chance(given, 3, 6, 1)", own) == pytest.approx(0.249, abs=0.03)
        assert evaluate("chance(given, 3, 7, 1)", own) == pytest.approx(0.024, abs=0.015)
        assert evaluate("chance(given, 3, 6, 1)", own) == evaluate("chance(given, 3, 6, 1)", own)


def test_each_file_of_the_page_is_in_the_page(blef_service_url: str) -> None:
    """No placeholder of the scripts is left, and the bets have their names."""
    text = requests.get(f"{blef_service_url}/", timeout=HANG_SECONDS).text
    assert "{{" not in text
    assert json.dumps(BETS[0].name) in text
    folder = Path(blef_service.__file__).with_name("page")
    assert {file.name for file in folder.iterdir()} == {
        "analysis.js",
        "lobby.css",
        "lobby.html",
        "lobby.js",
    }
