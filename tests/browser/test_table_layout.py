"""Layout of the table where a person plays, at five widths, at every question of a match.

No control lies on another, nothing that is needed to decide has to be scrolled to, cards have a
size that one likes to hold, labels have two lines at most, and Enter plays nothing by accident.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import support.browser
from playwright.sync_api import Browser, Page, expect
from support.browser import next_question_number, open_page, save_screenshot
from support.cli import isolate_environment
from support.game_room import match_config, serve_test_room

from cardsharp_tools.game_rooms.game_room import GameRoom

GAMES = ("deadmansdraw", "blef", "euchre")
SCREENS = ((360, 740), (390, 844), (768, 1024), (1280, 720), (1920, 1080))
DESKTOP_WIDTH = 1000  # pixels from which the panel is beside the table
MIN_CARD_HEIGHTS = {"phone": 72, "desktop": 96}

MEASURE_TABLE = (Path(support.browser.__file__).parent / "table_layout.js").read_text("utf-8")
"""Function of a page that returns what is wrong with its table on this screen."""


WAIT_FOR_FRAME = "() => new Promise((done) => requestAnimationFrame(done))"
"""Function of a page that ends after its script has been told of a new size."""


@pytest.fixture(autouse=True)
def isolated_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Set a new data folder."""
    isolate_environment(monkeypatch, tmp_path)


@contextmanager
def open_table(browser: Browser, game: str, bots: int | None = None) -> Iterator[Page]:
    """Yield the page of the only person at a table of that game, against `bots` opponents."""
    overrides = {} if bots is None else {"bot_count": bots}
    room = GameRoom(match_config(game, **overrides), "Ann")
    with (
        serve_test_room(room) as (seat,),
        open_page(browser, reduced_motion="reduce") as page,
    ):
        page.goto(seat.link)
        expect(page.locator("#seat")).to_have_attribute("data-ready", "yes")
        yield page


def show_screen(page: Page, width: int, height: int) -> None:
    """Show the page on a screen of that size, and wait until its script knows it."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(WAIT_FOR_FRAME)


def measure_screens(
    page: Page, name: str, screens: Sequence[tuple[int, int]] = SCREENS
) -> dict[str, list[str]]:
    """Return the faults of the table by screen."""
    faults = {}
    for width, height in screens:
        show_screen(page, width, height)
        kind = "desktop" if width >= DESKTOP_WIDTH else "phone"
        faults[f"{name} {width}x{height}"] = page.evaluate(MEASURE_TABLE, MIN_CARD_HEIGHTS[kind])
        save_screenshot(page, f"table-{name}-{width}")
    return {screen: found for screen, found in faults.items() if found}


def measure_each_kind(page: Page, name: str) -> dict[str, list[str]]:
    """Return the faults when one kind of choices after the other is shown, by screen.

    The smallest screen has no room for eight players and the 30 bets of a full house.
    """
    screens = SCREENS[1:] if page.locator("#board .seat7").count() else SCREENS
    faults: dict[str, list[str]] = {}
    show_screen(page, *SCREENS[0])  # a large screen shows all kinds at once
    for kind in page.locator(".kind:visible:not(:disabled)").all():
        show_screen(page, *SCREENS[0])
        kind.click()
        page.locator("#asked").focus()
        faults |= measure_screens(page, f"{name} {kind.inner_text()}", screens)
    return faults


def measure_match(page: Page, game: str, max_questions: int) -> dict[str, list[str]]:
    """Play with different choices, and return the faults at each question by screen."""
    faults: dict[str, list[str]] = {}
    number, turn = next_question_number(page), 0
    while number and turn < max_questions:
        expect(page.locator("#asked")).to_be_focused()
        faults |= measure_screens(page, f"{game} {turn}")
        faults |= measure_each_kind(page, f"{game} {turn}")
        choices = page.locator(".choice[form=moves]:not(:disabled)")
        place = (turn * 5) % choices.count() if turn % 4 else 0
        choices.nth(min(place, 6)).dispatch_event("click")
        number, turn = next_question_number(page, number), turn + 1
    return faults


@pytest.mark.parametrize(
    ("game", "bots", "questions"),
    [
        ("deadmansdraw", None, 14),
        ("blef", 3, 3),
        ("blef", 1, 2),
        ("euchre", None, 12),
    ],
)
def test_a_decision_needs_no_scrolling_and_no_control_lies_on_another(
    browser: Browser, game: str, bots: int | None, questions: int
) -> None:
    """The first questions of a match are measured on five screens."""
    with open_table(browser, game, bots) as page:
        assert measure_match(page, game, questions) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "bots"),
    [
        ("deadmansdraw", None),
        ("blef", 3),
        ("blef", 7),
        ("euchre", None),
    ],
)
def test_a_whole_match_keeps_its_layout(browser: Browser, game: str, bots: int | None) -> None:
    """Every question of a match is measured on five screens."""
    with open_table(browser, game, bots) as page:
        assert measure_match(page, game, 500) == {}
