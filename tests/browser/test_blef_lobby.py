"""The lobby of a service of Blef in a real browser: people play there by the API alone."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import Route as Held
from starlette.applications import Starlette
from starlette.requests import Request as Asked
from starlette.responses import JSONResponse
from starlette.routing import Route
from support.blef_v2_api import recorded_v2_requests
from support.browser import check_page, layout_violations, open_page
from support.waiting import HANG_SECONDS

from cardsharp.play.catalog import get_game
from cardsharp_tools.games.blef.remote_lobby import remote_lobby_page
from cardsharp_tools.local_play.game_service import create_game_service
from cardsharp_tools.local_server.http_server import BackgroundServer


@pytest.fixture(scope="module")
def service_url() -> Iterator[str]:
    with create_game_service(get_game("blef")) as front, front as running:
        yield running.url


@pytest.fixture(params=["its own page", "a page here"])
def service(request: pytest.FixtureRequest, service_url: str) -> Iterator[str]:
    """Yield the URL of the page: the service's page, or a local page for a remote service."""
    if request.param == "its own page":
        yield service_url
        return
    with BackgroundServer("The page", remote_lobby_page(service_url)) as server:
        yield server.url


def call_service(url: str, **body: str) -> Any:  # noqa: ANN401 - whatever JSON came
    """Return the service's response to a client without a browser."""
    method = "POST" if body else "GET"
    return requests.request(method, url, json=body or None, timeout=HANG_SECONDS).json()


def entered(page: Page, service: str, button: str, name: str = "Alice") -> None:
    page.goto(f"{service}/")
    page.get_by_label("Your name").first.fill(name)
    page.get_by_role("button", name=button).click()
    expect(page.locator("#game")).to_be_visible()


def moved(page: Page) -> None:
    """Check where there is something to check, else bet the lowest."""
    check = page.locator("#check")
    with page.expect_response("**/play"):
        (check if check.is_visible() else page.locator("#bets button").first).click()


def in_order(page: Page, name: str) -> None:
    """Nobody is kept out, nothing is wider than its place, and nothing lies on another."""
    check_page(page, f"blef-lobby-{name}")
    assert (
        layout_violations(page, check_touch_targets=(page.viewport_size or {})["width"] < 600) == []
    )


def test_a_quick_game_is_played_against_bots(browser: Browser, service: str) -> None:
    with open_page(browser, viewport={"width": 390, "height": 844}) as page:
        entered(page, service, "Quick game against bots")
        expect(page.locator("#players")).to_contain_text("Dazhbog")
        expect(page.locator("#hand .card")).to_have_count(1)
        last = page.locator("#last")
        for _ in range(12):
            if last.is_visible():
                break
            expect(page.locator("#turn:visible, #last:visible").first).to_be_visible()
            moved(page)
        expect(last).to_contain_text("lost the round")
        expect(page.locator("#turn")).to_be_visible()
        in_order(page, "turn-390")
        box = page.locator("#turn").bounding_box()
        assert box["y"] + box["height"] <= 844, "the choice is in view"


def test_two_people_meet_in_a_public_game_and_play_it_to_its_end(
    browser: Browser, service_url: str, service: str
) -> None:
    """One in a browser, the other by the API; the page never has the other's hand."""
    with open_page(browser, viewport={"width": 1280, "height": 720}) as page:
        page.goto(f"{service}/")
        expect(page.locator("#none")).to_be_visible()
        in_order(page, "1280")
        entered(page, service, "New game")
        uuid = page.url.partition("#")[2]
        page.get_by_role("button", name="Make it public").click()
        expect(page.get_by_role("button", name="Make it private")).to_be_visible()
        (listed,) = call_service(f"{service_url}/games")
        assert listed["game_uuid"] == uuid
        bob = call_service(f"{service_url}/games/{uuid}/join", nickname="Bob")["player_uuid"]
        expect(page.locator("#players")).to_contain_text("Bob")
        in_order(page, "waiting-1280")
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#hand .card")).to_have_count(1)
        in_order(page, "game-1280")
        for _ in range(200):
            state = call_service(f"{service_url}/games/{uuid}?player_uuid={bob}")
            if state["status"] == "Finished":
                break
            if state["cp_nickname"] == "Bob":
                action = "88" if state["history"] else "87"  # checks, or bets what hardly holds
                call_service(f"{service_url}/games/{uuid}/play", player_uuid=bob, action_id=action)
            else:
                page.evaluate("dispatchEvent(new Event('hashchange'))")  # looks at once
                turn = f"Round {state['round_number']}. It is your turn."
                expect(page.locator("#state")).to_have_text(turn)
                expect(page.locator("#history li")).to_have_count(len(state["history"]))
                moved(page)
        expect(page.locator("#state")).to_contain_text("has won")
        in_order(page, "over-1280")


def test_a_person_joins_by_link_and_sees_a_refusal(
    browser: Browser, service_url: str, service: str
) -> None:
    uuid = call_service(f"{service_url}/games/create")["game_uuid"]
    call_service(f"{service_url}/games/{uuid}/join", nickname="Alice")
    with open_page(browser, expected_errors=True) as page:
        page.goto(f"{service}/#{uuid}")
        for name in ("Alice", "Bob"):
            page.locator("#guest").fill(name)
            page.get_by_role("button", name="Join").click()
            if name == "Alice":
                expect(page.locator("#said")).not_to_be_empty()
        expect(page.locator("#players")).to_contain_text("Bob")
        expect(page.locator("#enter")).to_be_hidden()


def test_a_stale_response_does_not_ask_a_player_to_join(browser: Browser, service_url: str) -> None:
    """A look without a seat is answered when we have one, and before the look with it."""
    uuid = call_service(f"{service_url}/games/create")["game_uuid"]
    delayed_routes: list[Held] = []
    with open_page(browser) as page:
        page.goto(f"{service_url}/#{uuid}")
        page.locator("#guest").fill("Bob")
        page.route(re.compile(rf"/games/{uuid}(\?|$)"), lambda route: delayed_routes.append(route))  # noqa: PLW0108
        with page.expect_request(f"**/games/{uuid}"):
            pass
        with page.expect_request("**player_uuid=*"):
            page.get_by_role("button", name="Join").click()
        for route in delayed_routes:
            with page.expect_response(route.request.url):
                route.continue_()
        expect(page.locator("#players")).to_contain_text("Bob")
        expect(page.locator("#enter")).to_be_hidden()


@pytest.mark.parametrize("path", ["games/create", "openapi.json"])
def test_the_local_page_rejects_requests_from_another_site(service_url: str, path: str) -> None:
    """A form of somebody else's can send no JSON, and only what the API documents is passed on."""
    with BackgroundServer("The page", remote_lobby_page(service_url)) as server:
        assert requests.post(f"{server.url}/{path}", "{}", timeout=HANG_SECONDS).status_code == 404
        named = {"Host": "elsewhere.example"}
        assert (
            requests.get(f"{server.url}/games", headers=named, timeout=HANG_SECONDS).status_code
            == 400
        )


GAME = re.compile("/games/[0-9a-f-]{36}")
VIEWS = [
    row for row in recorded_v2_requests() if GAME.fullmatch(row["path"]) and row["status"] == 200
]
"""Every view of a game that the makers' service was recorded to give."""


def makers(current_views: list[dict[str, Any]]) -> Starlette:
    """The makers' service at the moment of a view, `now[0]`; past rounds as it ever told them."""
    past = {(row["path"], row["query"].get("round")): row["body"] for row in VIEWS}

    def answered(request: Asked) -> JSONResponse:
        number = request.query_params.get("round")
        body = current_views[0]["body"] if number is None else past.get((request.url.path, number))
        return JSONResponse(body if body is not None else {"error": "not recorded"})

    return Starlette(routes=[Route("/{path:path}", answered)])


def test_the_local_page_shows_each_recorded_view_of_the_original_service(browser: Browser) -> None:
    """Each recorded view, as who asked for it sees it."""
    joined = [
        row
        for row in recorded_v2_requests()
        if row["path"].endswith("/join") and row["status"] == 200
    ]
    names = {row["body"]["player_uuid"]: row["query"]["nickname"] for row in joined}
    views, turns = [row for row in VIEWS if "round" not in row["query"]], 0
    current_views = views[:1]
    with (
        BackgroundServer("The service", makers(current_views)) as service,
        BackgroundServer("The page", remote_lobby_page(service.url)) as server,
        open_page(browser) as page,
    ):
        page.goto(server.url)
        for place, view in enumerate(views):
            current_views[:] = [view]
            seen, uuid = view["body"], view["path"][7:]
            secret = view["query"].get("player_uuid")
            name = names.get(secret)
            seat = json.dumps(name and {"nickname": name, "secret": secret})
            page.evaluate(
                "([key, seat]) => localStorage.setItem(key, seat)", [f"blef {uuid}", seat]
            )
            page.goto(f"{server.url}/?{place}#{uuid}")
            expect(page.locator("#title")).to_have_text(f"Room {seen['room']}")
            expect(page.locator("#players li")).to_have_count(len(seen["players"]))
            expect(page.locator("#history li")).to_have_count(len(seen["history"]))
            hands = {hand["nickname"]: hand["hand"] for hand in seen["hands"]}
            expect(page.locator("#hand .card")).to_have_count(len(hands.get(name, [])))
            is_my_turn = (
                seen["status"] == "Running" and name is not None and seen["cp_nickname"] == name
            )
            expect(page.locator("#turn")).to_be_visible(visible=is_my_turn)
            turns += is_my_turn
    assert turns > 0
