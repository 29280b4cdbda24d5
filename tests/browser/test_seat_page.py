"""A seat at a table in a real browser: by keyboard, by touch, without script, with a friend."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
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
from support.stored_matches import HOSTILE

from cardsharp_tools.game_rooms.game_room import GameRoom

GAMES = ("deadmansdraw", "blef", "euchre")
SCREENS = [
    *((game, *screen) for game in GAMES for screen in ((390, "dark"), (1600, "light"))),
    ("blef", 1024, "dark"),
]

SUITS = re.compile("^(clubs|diamonds|hearts|spades|Anchor)$")
"""What a screen reader says of a card beside its rank."""

IN_VIEW = """() => {
  const bet = document.querySelector("#board .said li:last-child");
  const every = (css) => [...document.querySelectorAll(css)];
  const cards = every("#board .hands .card");
  const visible = (css) => every(css).filter((one) => one.checkVisibility());
  const seen = (one) => {
    const box = one.getBoundingClientRect();
    const there = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return box.y >= 0 && box.bottom <= innerHeight && one.contains(there);
  };
  const all = [...cards, bet, visible("#moves .choice")[0], ...visible(".kind")].filter(Boolean);
  return { cards: cards.length, away: all.filter((one) => !seen(one)).map((one) => one.outerHTML) };
}"""
"""How many cards the hand has, and what of hand, bet to beat and choices is not in view."""

STILL = {"reduced_motion": "reduce"}
PRESSED = {"mouse": Locator.click, "touch": Locator.tap}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A data folder of its own."""
    isolate_environment(monkeypatch, tmp_path)


@contextmanager
def seated(game: str, people: int = 1) -> Iterator[list[SeatClient]]:
    """The seats of a table of that game."""
    with serve_test_room(GameRoom(match_config(game, human_count=people), "Ann")) as seats:
        yield seats


def opened(page: Page, seat: SeatClient) -> None:
    """The page once its script works."""
    page.goto(seat.link)
    expect(page.locator("#seat")).to_have_attribute("data-ready", "yes")


@contextmanager
def at_the_seat(browser: Browser, game: str, **context: object) -> Iterator[Page]:
    """The page of a table's only seat, once its script works."""
    with seated(game) as (seat,), open_page(browser, **STILL, **context) as page:
        opened(page, seat)
        yield page


def of_size(width: int, height: int = 844) -> dict[str, object]:
    """A screen; a narrow one is a telephone's."""
    phone = width < MIN_TOUCH_TARGET * 10
    size = {"width": width, "height": height}
    return {"viewport": size, "has_touch": phone, "is_mobile": phone}


def choose(page: Page, game: str, turn: int) -> None:
    """A choice by keys alone: by its number, or where the focus is."""
    if game == "blef":
        check = page.locator("#moves [data-digits='88']").count()
        page.keyboard.type("88" if check else "0")
    elif turn % 3:
        page.keyboard.press("ArrowLeft")  # from the first to the last
        page.keyboard.press("Enter")
    else:
        play_first_choice(page)


def point(page: Page, turn: int, means: str) -> None:
    """A choice by mouse or touch alone: on the table, else by a button, such as a bid's."""
    press = PRESSED[means]
    kinds = page.locator(".kind:visible:not(:disabled)")
    if turn % 2 and kinds.count():
        press(kinds.last)
    choices = page.locator("#board .offered")
    if not choices.count():
        choices = page.locator("#moves .choice:visible:not(:disabled)")
    press(choices.first if turn % 3 == 0 else choices.last)


@pytest.mark.parametrize("means", ["keys", "mouse", "touch"])
@pytest.mark.parametrize("game", GAMES)
def test_a_full_match_is_playable_by_keys_mouse_or_touch_alone(
    browser: Browser, game: str, means: str
) -> None:
    """To the end and into the next; the bets of Blef are on no card, all else mostly is."""
    by_keys, touched = means == "keys", means == "touch"
    with at_the_seat(browser, game, has_touch=touched) as page:
        number, turn, on_the_table = next_question_number(page), 1, 0
        if by_keys:
            assert page.locator(".choice:focus").count() == 1
            page.keyboard.press("h")
            expect(page.get_by_role("status", name="Hint")).to_be_visible()
            save_screenshot(page, f"seat-{game}-hint")
        while number:
            on_the_table += page.locator("#board .offered").count() > 0
            choose(page, game, turn) if by_keys else point(page, turn, means)
            number, turn = next_question_number(page, number), turn + 1
        assert (on_the_table > turn / 2) is (game != "blef")
        expect(page.locator(".over h2").first).to_contain_text("won")
        expect(page.get_by_role("link", name=re.compile("step by step|^1$"))).to_be_visible()
        new_match_button = page.get_by_role("button", name="Play again")
        if by_keys:
            check_page(page, f"seat-{game}-over")
            expect(new_match_button).to_be_focused()
            page.keyboard.press("Enter")
        else:
            PRESSED[means](new_match_button)
        expect(page.locator("#moves")).to_be_visible()


@pytest.mark.parametrize(("game", "width", "scheme"), SCREENS)
def test_the_seat_page_is_accessible_on_every_screen(
    browser: Browser, game: str, width: int, scheme: str
) -> None:
    """On a telephone whatever is to be touched is as large as a finger."""
    with at_the_seat(browser, game, color_scheme=scheme, **of_size(width)) as page:
        number = next_question_number(page)
        save_screenshot(page, f"seat-{game}-{width}-{scheme}")
        assert serious_axe_violations(page) == []
        assert page.locator("script:not([src])").count() == 0
        suits = page.locator("#board").get_by_role("img", name=SUITS)
        expect(suits.first).to_be_visible()
        for _ in range(3 if width < MIN_TOUCH_TARGET * 10 else 0):
            buttons = page.locator(".ask button:visible, summary:visible").all()
            boxes = [box for box in map(Locator.bounding_box, buttons) if box is not None]
            assert min(min(box["width"], box["height"]) for box in boxes) >= MIN_TOUCH_TARGET
            page.locator("#moves .choice:not(:disabled)").first.tap()
            number = next_question_number(page, number)
        assert overflowing_elements(page) == {}


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844), (768, 1024)])
def test_hand_bets_and_choices_of_blef_are_in_view_at_once(
    browser: Browser, width: int, height: int
) -> None:
    """In each round, with the bet to beat; of the bets one kind is there at a time."""
    with at_the_seat(browser, "blef", **of_size(width, height)) as page:
        number, max_choices, turn = next_question_number(page), 0, 0
        while number:
            looked_at = page.evaluate(IN_VIEW)
            assert looked_at["cards"] > 0
            assert looked_at["away"] == []
            max_choices = max(max_choices, page.locator(".choice:visible").count())
            if turn in {0, 12, 24}:
                save_screenshot(page, f"seat-blef-{width}x{height}-{turn}")
            choose(page, "blef", turn)
            number, turn = next_question_number(page, number), turn + 1
        assert 6 <= max_choices <= 31


def test_a_kind_of_bets_is_picked_and_then_its_rank(browser: Browser) -> None:
    """By the mouse, and by a number that is typed, which shows its kind."""
    with at_the_seat(browser, "blef") as page:
        number = next_question_number(page)
        visible = page.locator("#moves .choice:visible")
        assert visible.count() == 6
        page.get_by_role("button", name="Pair", exact=True).click()
        expect(page.get_by_role("button", name="Pair of aces", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="High card, ace")).to_be_hidden()
        page.keyboard.type("1")
        expect(page.get_by_role("button", name="High card, 10")).to_be_focused()
        page.get_by_role("button", name="Pair", exact=True).click()
        page.get_by_role("button", name="Pair of aces", exact=True).click()
        next_question_number(page, number)
        expect(page.locator("#news, .recap").first).to_contain_text("Pair of aces")
        last = page.locator("#moves [data-digits]:not(:disabled)").last
        with page.expect_request("**/move") as sent:  # the 1 of before is forgotten
            page.keyboard.type(last.get_attribute("data-digits") or "")
        assert f"key={last.get_attribute('value')}" in (sent.value.post_data or "").split("&")


@pytest.mark.parametrize("script", [True, False])
def test_bets_show_their_chances_given_the_players_cards(browser: Browser, script: bool) -> None:
    """One card in hand and one unseen; by script they are there for the next question, too."""
    with seated("blef") as (seat,), open_page(browser, **STILL, java_script_enabled=script) as page:
        page.goto(seat.link)
        number, asides = (
            next_question_number(page),
            page.locator("fieldset[data-kind='High card'] .aside"),
        )
        assert asides.count() == 6
        expect(asides.first).to_be_hidden()
        page.get_by_text("Probabilities by your own cards").click()
        expect(asides.first).to_be_visible()
        assert sorted(asides.all_inner_texts()) == [*["17 %"] * 5, "certain"]
        save_screenshot(page, f"seat-blef-chances-{script}")
        if script:
            page.keyboard.type("0")
            next_question_number(page, number)
            expect(page.locator("#moves .aside").first).to_be_attached()
            expect(page.locator("#moves .asides")).to_have_attribute("open", "")


def test_it_is_played_without_script(browser: Browser) -> None:
    """To the end, by forms alone."""
    with seated("blef") as (seat,), open_page(browser, java_script_enabled=False) as page:
        page.goto(seat.link)
        for _ in range(200):
            if page.locator(".over").count():
                break
            enabled = page.locator("#moves .choice:not(:disabled)")
            if enabled.count():
                enabled.first.click()
            else:
                page.reload()
        expect(page.locator(".over h2").first).to_contain_text("won")
        page.get_by_text("History of the match").click()
        expect(page.get_by_text("lost the round").first).to_be_visible()


def test_two_play_by_a_link(browser: Browser) -> None:
    """A name may have any characters; a player who leaves is reported and can be replaced."""
    with (
        seated("blef", people=2) as (host, guest),
        open_page(browser, **STILL) as ann,
        open_page(browser, **of_size(390), **STILL) as other,
    ):
        opened(ann, host)
        link = ann.locator("input.link").input_value()
        assert link == guest.link
        check_page(ann, "seat-waiting")
        other.goto(link)
        save_screenshot(other, "seat-invited")
        other.get_by_label("Your name").fill(HOSTILE)
        other.get_by_role("button", name="Take the seat").click()
        expect(ann.locator("h1")).to_contain_text(HOSTILE[:24])
        expect(other.locator("h1")).to_contain_text("you v Ann")
        first, second = (ann, other) if ann.locator("#moves").count() else (other, ann)
        assert second.locator("#moves").count() == 0
        first.locator("#moves .choice:not(:disabled)").first.click()
        expect(second.locator("#moves")).to_be_visible()
        expect(second.locator("#news")).to_contain_text("High card")
        other.get_by_text("Leave the match").click()
        other.get_by_role("button", name="Leave").click()
        expect(ann.get_by_text("has left the match")).to_be_visible()
        check_page(ann, "seat-left")
        ann.get_by_role("button", name="Let a bot play").click()
        expect(ann.locator("#moves")).to_be_visible()
        expect(other.get_by_role("button", name="Take the seat again")).to_be_visible()


def test_an_old_form_plays_nothing_and_says_so(browser: Browser) -> None:
    """From a second window that has been asleep."""
    with at_the_seat(browser, "blef") as page:
        number = next_question_number(page)
        assert SeatClient(page.url).post_from_script("move", number=number, key="0") == ""
        next_question_number(page, number)
        page.locator("#moves input[name=number]").evaluate(f"one => one.value = '{number}'")
        page.locator("#moves .choice:not(:disabled)").first.click()
        expect(page.get_by_role("alert")).to_contain_text("nothing was played")


def test_a_choice_is_sent_as_a_full_page_if_its_request_fails(browser: Browser) -> None:
    """The page is sent instead, with what was chosen; that a table is gone is told."""
    context = browser.new_context(**STILL)  # type: ignore[arg-type]
    context.set_default_timeout(MAX_WAIT_MILLISECONDS)
    page = context.new_page()
    with seated("blef") as (seat,):
        opened(page, seat)
        number = next_question_number(page)
        page.route("**/move", lambda route: route.abort(), times=1)
        with page.expect_navigation():
            page.locator("#moves .choice:visible").first.click()
        assert next_question_number(page, number) != number
        expect(page.get_by_text("nothing was played")).to_have_count(0)
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    context.close()
