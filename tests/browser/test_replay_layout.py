"""Browser tests of what the page of a match shows without scrolling, on each kind of screen."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect
from support.browser import (
    elements_out_of_view,
    layout_violations,
    open_page,
    serious_axe_violations,
)
from support.stored_matches import FAST_STRATEGIES, sample_match, serve_matches

from cardsharp_tools.game_rooms.room_server import serve_match_pages
from cardsharp_tools.match_sources.sources import find_match_source

WIDTHS = (360, 390, 768, 1280, 1920)
SCREENS = ((390, 844), (1280, 720), (1920, 1080))
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
FINAL = "final-2023"
STEPS = {FINAL: (1, 4, 40, 79), "blef": (1, 5, 6), "euchre": (1, 9, 23)}
"""Steps of each match; step 4 of the final is an effect with a card to take or to leave."""

TABLES = {
    FINAL: ".seat0, .middle, .seat1",
    "blef": ".middle, .hands",
    "euchre": ".seat0, .seat1, .seat2, .seat3, .middle",
}


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The address of the page of each match."""
    samples = {game: sample_match(game) for game in FAST_STRATEGIES if game in STEPS}
    source, match_id = find_match_source(FINAL, None)
    with ExitStack() as stack:
        final_url = stack.enter_context(serve_match_pages(source))
        log = serve_matches(tmp_path_factory.mktemp("log"), samples)
        _, url = stack.enter_context(log)
        yield {
            FINAL: f"{final_url}/matches/{match_id}",
            **{game: f"{url}/matches/{game}" for game in samples},
        }


def show_step(page: Page, address: str, step: int) -> None:
    page.goto(f"{address}#{step}")
    expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
    expect(page.locator("#summary table")).to_be_visible()
    page.evaluate("number => { location.hash = `#${number}`; }", step)
    expect(page.locator("#count")).to_contain_text(f"{step} of ")
    page.evaluate("scrollTo(0, 0)")


def controls_row_count(page: Page) -> int:
    """Return the number of rows in which the controls below the last action are."""
    tops = page.locator(".controls > :is(.button, button, input, label)").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).filter(box => box.width)"
        ".map(box => Math.round((box.top + box.bottom) / 20))"
    )
    return len({*tops})


@pytest.mark.parametrize("name", STEPS)
def test_the_table_and_the_controls_are_in_view(
    browser: Browser, addresses: dict[str, str], name: str
) -> None:
    """On a desktop the curve, the analysis and the list of steps are in view, too."""
    for width, height in SCREENS:
        screen = {"width": width, "height": height}
        with open_page(browser, viewport=screen, reduced_motion="reduce") as page:
            for step in STEPS[name]:
                show_step(page, addresses[name], step)
                assert elements_out_of_view(page, f"{TABLES[name]}, #back, #play, #slider") == []
                assert controls_row_count(page) == 1
                if width > 1000:
                    assert elements_out_of_view(page, "#curve, .explained, #turns") == []
                    assert elements_out_of_view(page, "#turns [aria-current]") == []
                    table, side = (
                        page.locator(part).bounding_box() or {} for part in ("#board", "#curve")
                    )
                    assert side["x"] > table["x"] + table["width"], "the curve is beside the table"
                else:
                    covered = page.locator(".controls").bounding_box() or {}
                    assert covered["height"] < 0.17 * height


@pytest.mark.parametrize("name", STEPS)
def test_nothing_overlaps_at_five_widths(
    browser: Browser, addresses: dict[str, str], name: str
) -> None:
    with open_page(browser, reduced_motion="reduce") as page:
        show_step(page, addresses[name], STEPS[name][-2])
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert layout_violations(page, check_touch_targets=width <= 390) == [], width
            for scheme in SCHEMES if width in {390, 1280} else ():
                page.emulate_media(color_scheme=scheme)
                assert serious_axe_violations(page) == [], (width, scheme)


def test_a_small_screen_has_all_controls_behind_one_button(
    browser: Browser, addresses: dict[str, str]
) -> None:
    """The button shows and hides them; without script all links are in one row."""
    address, screen = addresses[FINAL], {"width": 390, "height": 844}
    with open_page(browser, viewport=screen, reduced_motion="reduce") as page:
        show_step(page, address, 40)
        rest = page.locator("#first, #last, #speed, #flip")
        assert not any(element.is_visible() for element in rest.all())
        more = page.get_by_role("button", name="More controls")
        more.press("Enter")
        expect(more).to_have_attribute("aria-expanded", "true")
        assert all(element.is_visible() for element in rest.all())
        assert layout_violations(page, check_touch_targets=True) == []
        page.locator("#last").click()
        expect(page.locator("#count")).to_have_text("79 of 79")
        more.click()
        expect(page.locator("#first")).to_be_hidden()
    with open_page(browser, viewport=screen, java_script_enabled=False) as page:
        page.goto(f"{address}?step=40")
        assert controls_row_count(page) == 1
        page.locator("#first").click()
        expect(page.locator("#count")).to_have_text("1 of 79")


def test_the_final_has_the_date_of_the_contest_and_no_times(
    browser: Browser, addresses: dict[str, str]
) -> None:
    """The recording has the day and the limit of the contest; nobody recorded the times."""
    with open_page(browser) as page:
        show_step(page, addresses[FINAL], 40)
        expect(page.locator("#facts")).to_contain_text("Dead Man's Draw · 2023-02-03 · Day5")
        expect(page.locator("#happened span")).to_be_empty()
