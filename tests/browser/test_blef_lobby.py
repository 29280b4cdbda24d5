"""Browser tests of the lobby of a Blef service, beside clients that use the API."""

import json
import re
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

from cardsharp_tools.games.blef.remote_lobby import remote_lobby_page
from cardsharp_tools.local_server.http_server import BackgroundServer


def call_service(url: str, **body: str) -> Any:  # noqa: ANN401 - whatever JSON came
    """Return the service's response to a client without a browser."""
    method = "POST" if body else "GET"
    return requests.request(method, url, json=body or None, timeout=HANG_SECONDS).json()


def enter_lobby(page: Page, blef_page_url: str, button: str, name: str = "Alice") -> None:
    page.goto(f"{blef_page_url}/")
    page.get_by_label("Your name").first.fill(name)
    page.get_by_role("button", name=button).click()
    expect(page.locator("#game")).to_be_visible()


def make_move(page: Page) -> None:
    """Check the last bet if there is one; bet the lowest otherwise."""
    check = page.locator("#check")
    with page.expect_response("**/play"):
        (check if check.is_visible() else page.locator("#bets button").first).click()


def assert_page_in_order(page: Page, name: str) -> None:
    """Assert that the page is accessible and that no element overflows or covers another."""
    check_page(page, f"blef-lobby-{name}")
    assert (
        layout_violations(page, check_touch_targets=(page.viewport_size or {})["width"] < 600) == []
    )


def test_a_quick_game_is_played_against_bots(browser: Browser, blef_page_url: str) -> None:
    with open_page(browser, viewport={"width": 390, "height": 844}) as page:
        enter_lobby(page, blef_page_url, "Quick game against bots")
        expect(page.locator("#players")).to_contain_text("Dazhbog")
        expect(page.locator("#hand .card")).to_have_count(1)
        last = page.locator("#last")
        for _ in range(12):
            if last.is_visible():
                break
            expect(page.locator("#turn:visible, #last:visible").first).to_be_visible()
            make_move(page)
        expect(last).to_contain_text("lost the round")
        expect(page.locator("#turn")).to_be_visible()
        assert_page_in_order(page, "turn-390")
        box = page.locator("#turn").bounding_box()
        assert box["y"] + box["height"] <= 844, "the choice is in view"


def test_two_people_meet_in_a_public_game_and_play_it_to_its_end(
    browser: Browser, blef_service_url: str, blef_page_url: str
) -> None:
    """One person plays in a browser, the other by the API.

    The page shows each round, and its own turns.
    """
    with open_page(browser, viewport={"width": 1280, "height": 720}) as page:
        page.goto(f"{blef_page_url}/")
        expect(page.locator("#none")).to_be_visible()
        assert_page_in_order(page, "1280")
        enter_lobby(page, blef_page_url, "New game")
        uuid = page.url.partition("#")[2]
        page.get_by_role("button", name="Make it public").click()
        expect(page.get_by_role("button", name="Make it private")).to_be_visible()
        (listed_game,) = call_service(f"{blef_service_url}/games")
        assert listed_game["game_uuid"] == uuid
        bob_uuid = call_service(f"{blef_service_url}/games/{uuid}/join", nickname="Bob")[
            "player_uuid"
        ]
        expect(page.locator("#players")).to_contain_text("Bob")
        assert_page_in_order(page, "waiting-1280")
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#hand .card")).to_have_count(1)
        assert_page_in_order(page, "game-1280")
        for _ in range(200):
            state = call_service(f"{blef_service_url}/games/{uuid}?player_uuid={bob_uuid}")
            if state["status"] == "Finished":
                break
            if state["cp_nickname"] == "Bob":
                action = "88" if state["history"] else "87"  # checks, or bets what hardly holds
                call_service(
                    f"{blef_service_url}/games/{uuid}/play", player_uuid=bob_uuid, action_id=action
                )
            else:
                page.evaluate("dispatchEvent(new Event('hashchange'))")  # looks at once
                turn = f"Round {state['round_number']}. It is your turn."
                expect(page.locator("#state")).to_have_text(turn)
                expect(page.locator("#history li")).to_have_count(len(state["history"]))
                make_move(page)
        expect(page.locator("#state")).to_contain_text("has won")
        assert_page_in_order(page, "over-1280")


def test_a_person_joins_by_link_and_sees_a_refusal(
    browser: Browser, blef_service_url: str, blef_page_url: str
) -> None:
    uuid = call_service(f"{blef_service_url}/games/create")["game_uuid"]
    call_service(f"{blef_service_url}/games/{uuid}/join", nickname="Alice")
    with open_page(browser, expected_errors=True) as page:
        page.goto(f"{blef_page_url}/#{uuid}")
        for name in ("Alice", "Bob"):
            page.locator("#guest").fill(name)
            page.get_by_role("button", name="Join").click()
            if name == "Alice":
                expect(page.locator("#said")).not_to_be_empty()
        expect(page.locator("#players")).to_contain_text("Bob")
        expect(page.locator("#enter")).to_be_hidden()


def test_a_stale_response_does_not_ask_a_player_to_join(
    browser: Browser, blef_service_url: str
) -> None:
    """A delayed response to a request without a seat does not bring the form back."""
    uuid = call_service(f"{blef_service_url}/games/create")["game_uuid"]
    delayed_routes: list[Held] = []
    with open_page(browser) as page:
        page.goto(f"{blef_service_url}/#{uuid}")
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


def test_the_list_of_games_takes_no_focus_from_its_buttons(
    browser: Browser, blef_service_url: str
) -> None:
    """The list is drawn again every second; Enter must still join the game."""
    uuid = call_service(f"{blef_service_url}/games/create")["game_uuid"]
    game_url = f"{blef_service_url}/games/{uuid}"
    admin = call_service(f"{game_url}/join", nickname="Alice")["player_uuid"]
    call_service(f"{game_url}/make-public", admin_uuid=admin)
    with open_page(browser) as page:
        page.goto(f"{blef_service_url}/")
        button = page.locator("#games").get_by_role("button", name="Join").first
        button.focus()
        for _ in range(2):
            with page.expect_response("**/games"):
                pass
        expect(button).to_be_focused()


def test_a_kind_of_bets_keeps_the_focus_when_it_is_chosen(
    browser: Browser, blef_page_url: str
) -> None:
    """A person who plays by keys goes on from there to its bets."""
    with open_page(browser) as page:
        enter_lobby(page, blef_page_url, "Quick game against bots")
        kind = page.locator("#kinds button").nth(1)
        kind.press("Enter")
        expect(kind).to_have_attribute("aria-pressed", "true")
        expect(kind).to_be_focused()


@pytest.mark.parametrize("path", ["games/create", "openapi.json"])
def test_the_local_page_rejects_requests_from_another_site(
    blef_service_url: str, path: str
) -> None:
    """A form of another site cannot send JSON, and only documented paths are forwarded."""
    with BackgroundServer("The page", remote_lobby_page(blef_service_url)) as server:
        assert requests.post(f"{server.url}/{path}", "{}", timeout=HANG_SECONDS).status_code == 404
        headers = {"Host": "elsewhere.example"}
        assert (
            requests.get(f"{server.url}/games", headers=headers, timeout=HANG_SECONDS).status_code
            == 400
        )


GAME_PATH = re.compile("/games/[0-9a-f-]{36}")
RECORDED_VIEWS = [
    row
    for row in recorded_v2_requests()
    if GAME_PATH.fullmatch(row["path"]) and row["status"] == 200
]
"""Every view of a game that the makers' service was recorded to give."""


def create_recorded_service(current_views: list[dict[str, Any]]) -> Starlette:
    """Create the original service with its recorded responses.

    Its current view is `current_views[0]`; past rounds are as they were recorded.
    """
    past_rounds = {(row["path"], row["query"].get("round")): row["body"] for row in RECORDED_VIEWS}

    def respond(request: Asked) -> JSONResponse:
        number = request.query_params.get("round")
        body = (
            current_views[0]["body"]
            if number is None
            else past_rounds.get((request.url.path, number))
        )
        return JSONResponse(body if body is not None else {"error": "not recorded"})

    return Starlette(routes=[Route("/{path:path}", respond)])


def test_the_local_page_shows_each_recorded_view_of_the_original_service(browser: Browser) -> None:
    """The page shows each recorded view as the player who requested it sees it."""
    join_requests = [
        row
        for row in recorded_v2_requests()
        if row["path"].endswith("/join") and row["status"] == 200
    ]
    names = {row["body"]["player_uuid"]: row["query"]["nickname"] for row in join_requests}
    views, turn_count = [row for row in RECORDED_VIEWS if "round" not in row["query"]], 0
    current_views = views[:1]
    with (
        BackgroundServer("The service", create_recorded_service(current_views)) as service,
        BackgroundServer("The page", remote_lobby_page(service.url)) as server,
        open_page(browser) as page,
    ):
        page.goto(server.url)
        for view_index, view in enumerate(views):
            current_views[:] = [view]
            game_view, uuid = view["body"], view["path"][7:]
            secret = view["query"].get("player_uuid")
            name = names.get(secret)
            seat = json.dumps(name and {"nickname": name, "secret": secret})
            page.evaluate(
                "([key, seat]) => localStorage.setItem(key, seat)", [f"blef {uuid}", seat]
            )
            page.goto(f"{server.url}/?{view_index}#{uuid}")
            expect(page.locator("#title")).to_have_text(f"Room {game_view['room']}")
            expect(page.locator("#players li")).to_have_count(len(game_view["players"]))
            expect(page.locator("#history li")).to_have_count(len(game_view["history"]))
            hands = {hand["nickname"]: hand["hand"] for hand in game_view["hands"]}
            expect(page.locator("#hand .card")).to_have_count(len(hands.get(name, [])))
            is_my_turn = (
                game_view["status"] == "Running"
                and name is not None
                and game_view["cp_nickname"] == name
            )
            expect(page.locator("#turn")).to_be_visible(visible=is_my_turn)
            turn_count += is_my_turn
    assert turn_count > 0
