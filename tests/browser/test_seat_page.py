"""Browser tests of the page of a seat: by keyboard, by touch, without script, with a friend."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect
from support.browser import (
    MAX_WAIT_MILLISECONDS,
    MIN_TOUCH_TARGET,
    check_page,
    next_question_number,
    open_page,
    overflowing_elements,
    play_first_choice,
    save_screenshot,
    serious_axe_violations,
)
from support.cli import isolate_environment
from support.game_room import SeatClient, match_config, serve_test_room
from support.stored_matches import HOSTILE_NAME

from cardsharp_tools.game_rooms.game_room import GameRoom

GAMES = ("deadmansdraw", "blef", "euchre")
SCREENS = [
    *((game, *screen) for game in GAMES for screen in ((390, "dark"), (1600, "light"))),
    ("blef", 1024, "dark"),
]

SUIT_LABELS = re.compile("^(clubs|diamonds|hearts|spades|Anchor)$")
"""What a screen reader says of a card beside its rank."""

FIND_ELEMENTS_OUT_OF_VIEW = """() => {
  const bet = document.querySelector("#board .bet .title");
  const every = (css) => [...document.querySelectorAll(css)];
  const cards = every("#board .hand .card");
  const visible = (css) => every(css).filter((one) => one.checkVisibility());
  const seen = (one) => {
    const box = one.getBoundingClientRect();
    const there = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    const isSeen = one.contains(there) || one.matches(".fan .card"); // a fan covers itself
    return box.y >= 0 && box.bottom <= innerHeight && isSeen;
  };
  const all = [...cards, bet, visible(".choice")[0], ...visible(".kind")].filter(Boolean);
  return { cards: cards.length, away: all.filter((one) => !seen(one)).map((one) => one.outerHTML) };
}"""
"""How many cards the hand has, and what of hand, bet to beat and choices is not in view."""

REDUCED_MOTION = {"reduced_motion": "reduce"}
PRESS_ACTIONS = {"mouse": Locator.click, "touch": Locator.tap}


@pytest.fixture(autouse=True)
def isolated_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Set a new data folder."""
    isolate_environment(monkeypatch, tmp_path)


@contextmanager
def serve_seats(game: str, people: int = 1) -> Iterator[list[SeatClient]]:
    """Yield the seats of a room for that game."""
    with serve_test_room(GameRoom(match_config(game, human_count=people), "Ann")) as seats:
        yield seats


def open_seat(page: Page, seat: SeatClient) -> None:
    """Open the page of a seat and wait until its script works."""
    page.goto(seat.link)
    expect(page.locator("#seat")).to_have_attribute("data-ready", "yes")


@contextmanager
def open_only_seat(browser: Browser, game: str, **context: object) -> Iterator[Page]:
    """Yield the page of a room's only seat once its script works."""
    with serve_seats(game) as (seat,), open_page(browser, **REDUCED_MOTION, **context) as page:
        open_seat(page, seat)
        yield page


def screen_options(width: int, height: int = 844) -> dict[str, object]:
    """Return a browser's options for a screen; a narrow screen is a phone."""
    is_phone = width < MIN_TOUCH_TARGET * 10
    size = {"width": width, "height": height}
    return {"viewport": size, "has_touch": is_phone, "is_mobile": is_phone}


def choose_by_keys(page: Page, game: str, turn: int) -> None:
    """Make a choice by keys alone: by its number, or by moving the focus."""
    if game == "blef":
        check = page.locator("[data-digits='88']").count()
        page.keyboard.type("88" if check else "0")
    elif turn % 3:
        page.keyboard.press("ArrowLeft")  # from the first to the last
        page.keyboard.press("Enter")
    else:
        play_first_choice(page)


def wait_until_a_press_counts(page: Page) -> None:
    """Wait until the page takes a second press for a new one, not for a double click's second."""
    expect(page.locator("body:not([data-fresh])")).to_be_attached()  # see choosing.js


def choose_by_pointer(page: Page, turn: int, means: str) -> None:
    """Make a choice by mouse or touch alone: on the board if possible, else by a button."""
    press = PRESS_ACTIONS[means]
    wait_until_a_press_counts(page)
    kinds = page.locator(".kind:visible:not(:disabled)")
    if turn % 2 and kinds.count():
        press(kinds.last)
    choices = page.locator("#board .choice")
    if not choices.count():
        choices = page.locator(".choice[form=moves]:visible:not(:disabled)")
    press(choices.first if turn % 3 == 0 else choices.last)


@pytest.mark.parametrize("means", ["keys", "mouse", "touch"])
@pytest.mark.parametrize("game", GAMES)
def test_a_full_match_is_playable_by_keys_mouse_or_touch_alone(
    browser: Browser, game: str, means: str
) -> None:
    """A person plays to the end and begins the next match by one input device.

    Many choices are on the table itself: cards, the deck, the own bank, and the last bet.
    """
    by_keys, by_touch = means == "keys", means == "touch"
    with open_only_seat(browser, game, has_touch=by_touch) as page:
        number, turn, board_choice_count = next_question_number(page), 1, 0
        if by_keys:
            expect(page.locator("#asked")).to_be_focused()
            page.keyboard.press("h")
            expect(page.get_by_role("status", name="Hint")).to_be_visible()
            save_screenshot(page, f"seat-{game}-hint")
        while number:
            board_choice_count += page.locator("#board .choice").count() > 0
            expect(page.locator("#undoing")).to_have_count(int(turn > 1))
            choose_by_keys(page, game, turn) if by_keys else choose_by_pointer(page, turn, means)
            number, turn = next_question_number(page, number), turn + 1
        assert board_choice_count > turn / 4
        expect(page.locator(".over h2").first).to_contain_text("won")
        new_match_button = page.get_by_role("button", name="Play again")
        details = page.locator(".over summary").first
        if by_keys:
            check_page(page, f"seat-{game}-over")
            expect(new_match_button).to_be_focused()
            details.press("Enter")
        else:
            PRESS_ACTIONS[means](details)
        expect(page.get_by_role("link", name=re.compile("step by step|^1$"))).to_be_visible()
        new_match_button.press("Enter") if by_keys else PRESS_ACTIONS[means](new_match_button)
        expect(page.locator("#moves")).to_be_visible()


def test_an_update_takes_no_focus_from_what_is_read(browser: Browser) -> None:
    """Otherwise Enter on a summary would press a button that has got the focus."""
    numbers = count(1)

    def change_page(route: Route) -> None:
        """Change both parts that have summaries, as the analysis of a match does."""
        response = route.fetch()
        news = response.json()
        marker = f'<i data-change="{next(numbers)}"></i>'
        changed = {part: news[part] + marker for part in ("ask", "side")}
        route.fulfill(response=response, json=news | changed)

    room = GameRoom(match_config("euchre", human_count=1), "Ann")
    with (
        serve_test_room(room, timedelta(milliseconds=200)) as (seat,),
        open_page(browser, **REDUCED_MOTION) as page,
    ):
        page.route("**/news?*", change_page)
        open_seat(page, seat)
        summary = page.locator("#side summary").filter(has_text="Rules")
        marker = page.locator("#side [data-change]")
        expect(marker).to_be_attached()
        summary.focus()
        # The page may change again before it is looked at: any later change will do.
        last_number = marker.get_attribute("data-change") or ""
        expect(marker).not_to_have_attribute("data-change", last_number)
        expect(summary).to_be_focused()


@pytest.mark.parametrize(("game", "width", "scheme"), SCREENS)
def test_the_seat_page_is_accessible_on_every_screen(
    browser: Browser, game: str, width: int, scheme: str
) -> None:
    """The page has no violation, and on a phone every touch target is large enough."""
    with open_only_seat(browser, game, color_scheme=scheme, **screen_options(width)) as page:
        number = next_question_number(page)
        save_screenshot(page, f"seat-{game}-{width}-{scheme}")
        assert serious_axe_violations(page) == []
        assert page.locator("script:not([src])").count() == 0
        suits = page.locator("#board").get_by_role("img", name=SUIT_LABELS)
        expect(suits.first).to_be_visible()
        for _ in range(3 if width < MIN_TOUCH_TARGET * 10 else 0):
            buttons = page.locator(".ask button:visible, summary:visible").all()
            boxes = [box for box in map(Locator.bounding_box, buttons) if box is not None]
            assert min(min(box["width"], box["height"]) for box in boxes) >= MIN_TOUCH_TARGET
            wait_until_a_press_counts(page)
            page.locator(".choice[form=moves]:not(:disabled)").first.tap()
            number = next_question_number(page, number)
        assert overflowing_elements(page) == {}


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844), (768, 1024)])
def test_hand_bets_and_choices_of_blef_are_in_view_at_once(
    browser: Browser, width: int, height: int
) -> None:
    """The hand, the bet to beat and the choices are in view in each round.

    The page shows one kind of bets at a time.
    """
    with open_only_seat(browser, "blef", **screen_options(width, height)) as page:
        number, max_choices, turn = next_question_number(page), 0, 0
        while number:
            visibility = page.evaluate(FIND_ELEMENTS_OUT_OF_VIEW)
            assert visibility["cards"] > 0
            assert visibility["away"] == []
            max_choices = max(max_choices, page.locator(".choice:visible").count())
            if turn in {0, 12, 24}:
                save_screenshot(page, f"seat-blef-{width}x{height}-{turn}")
            choose_by_keys(page, "blef", turn)
            number, turn = next_question_number(page, number), turn + 1
        assert 6 <= max_choices <= 31


def test_a_kind_of_bets_is_picked_and_then_its_rank(browser: Browser) -> None:
    """A bet is chosen by the mouse, or by its number, which opens its kind."""
    with open_only_seat(browser, "blef") as page:
        number = next_question_number(page)
        visible = page.locator(".choice[form=moves]:visible")
        assert visible.count() == 6
        page.get_by_role("button", name="Pair", exact=True).click()
        expect(page.get_by_role("button", name="Pair of aces", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="High card, ace")).to_be_hidden()
        page.keyboard.type("1")
        expect(page.get_by_role("button", name="High card, 10")).to_be_focused()
        page.get_by_role("button", name="Pair", exact=True).click()
        page.get_by_role("button", name="Pair of aces", exact=True).click()
        next_question_number(page, number)
        expect(page.locator("#news, .recap").first).to_contain_text(
            "pair of aces", ignore_case=True
        )
        last = page.locator(".choice[data-digits]:not(:disabled)").last
        with page.expect_request("**/move") as move_request:  # the 1 of before is forgotten
            page.keyboard.type(last.get_attribute("data-digits") or "")
        assert f"key={last.get_attribute('value')}" in (move_request.value.post_data or "").split(
            "&"
        )


@pytest.mark.parametrize("script", [True, False])
def test_bets_show_their_chances_given_the_players_cards(browser: Browser, script: bool) -> None:
    """The probabilities are right for a hand of one card and one unseen card.

    With script they stay visible at the next question.
    """
    with (
        serve_seats("blef") as (seat,),
        open_page(browser, **REDUCED_MOTION, java_script_enabled=script) as page,
    ):
        page.goto(seat.link)
        number, asides = (
            next_question_number(page),
            page.locator("fieldset[data-kind='High card'] .aside"),
        )
        assert asides.count() == 6
        expect(asides.first).to_be_hidden()
        page.get_by_text("Probabilities").click()
        expect(asides.first).to_be_visible()
        assert sorted(asides.all_inner_texts()) == [*["17 %"] * 5, "certain"]
        save_screenshot(page, f"seat-blef-chances-{script}")
        if script:
            page.keyboard.type("0")
            next_question_number(page, number)
            expect(page.locator(".ask .aside").first).to_be_attached()
            expect(page.locator("#moves .asides")).to_have_attribute("open", "")


def test_a_match_is_played_without_script(browser: Browser) -> None:
    """A match is played to the end by forms alone."""
    with serve_seats("blef") as (seat,), open_page(browser, java_script_enabled=False) as page:
        page.goto(seat.link)
        for _ in range(200):
            if page.locator(".over").count():
                break
            enabled = page.locator(".choice[form=moves]:not(:disabled)")
            if enabled.count():
                enabled.first.click()
            else:
                page.reload()
        expect(page.locator(".over h2").first).to_contain_text("won")
        page.get_by_text("History of the match").click()
        expect(page.get_by_text("lost the round").first).to_be_visible()


def test_a_guest_joins_by_a_link_and_is_replaced_by_a_bot(browser: Browser) -> None:
    """A name may have any characters; a player who leaves is reported and can be replaced."""
    with (
        serve_seats("blef", people=2) as (host, guest),
        open_page(browser, **REDUCED_MOTION) as host_page,
        open_page(browser, **screen_options(390), **REDUCED_MOTION) as guest_page,
    ):
        open_seat(host_page, host)
        link = host_page.locator("input.link").input_value()
        assert link == guest.link
        check_page(host_page, "seat-waiting")
        guest_page.goto(link)
        save_screenshot(guest_page, "seat-invited")
        guest_page.get_by_label("Your name").fill(HOSTILE_NAME)
        guest_page.get_by_role("button", name="Take the seat").click()
        expect(host_page.locator("h1")).to_contain_text(HOSTILE_NAME[:24])
        expect(guest_page.locator("h1")).to_contain_text("You v Ann")
        first, second = (
            (host_page, guest_page)
            if host_page.locator("#moves").count()
            else (guest_page, host_page)
        )
        assert second.locator("#moves").count() == 0
        first.locator(".choice[form=moves]:not(:disabled)").first.click()
        expect(second.locator("#moves")).to_be_visible()
        expect(second.locator("#news")).to_contain_text("high card", ignore_case=True)
        guest_page.get_by_text("Leave the match").click()
        guest_page.get_by_role("button", name="Leave").click()
        expect(host_page.get_by_text("has left the match")).to_be_visible()
        check_page(host_page, "seat-left")
        host_page.get_by_role("button", name="Let a bot play").click()
        expect(host_page.locator("#moves")).to_be_visible()
        expect(guest_page.get_by_role("button", name="Take the seat again")).to_be_visible()


def test_an_outdated_form_plays_nothing_and_reports_it(browser: Browser) -> None:
    """A form of an old question, such as one in a second window, is rejected with a message."""
    with open_only_seat(browser, "blef") as page:
        number = next_question_number(page)
        assert SeatClient(page.url).post_from_script("move", number=number, key="0") == ""
        next_question_number(page, number)
        page.locator("#moves input[name=number]").evaluate(f"one => one.value = '{number}'")
        page.locator(".choice[form=moves]:not(:disabled)").first.click()
        expect(page.get_by_role("alert")).to_contain_text("nothing was played")


def test_a_choice_is_sent_as_a_full_page_if_its_request_fails(browser: Browser) -> None:
    """The choice is sent by a form instead; a stopped server is reported."""
    context = browser.new_context(**REDUCED_MOTION)  # type: ignore[arg-type]
    context.set_default_timeout(MAX_WAIT_MILLISECONDS)
    page = context.new_page()
    with serve_seats("blef") as (seat,):
        open_seat(page, seat)
        number = next_question_number(page)
        page.route("**/move", lambda route: route.abort(), times=1)
        with page.expect_navigation():
            page.locator(".choice[form=moves]:visible").first.click()
        assert next_question_number(page, number) != number
        expect(page.get_by_text("nothing was played")).to_have_count(0)
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    context.close()
