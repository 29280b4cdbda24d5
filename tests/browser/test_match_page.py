"""Browser tests of the page of a match: each game, with and without script, live, as a file.

The page of the cloud's match log, which needs a password, is tested as well.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from support.api_gateway import function_server
from support.browser import check_page, open_page, serious_axe_violations
from support.deployed_viewer import VIEWER_PASSWORD, deployed_viewer
from support.recordings import SAMPLE, RecordedMatches, parametrize_sample_and_all
from support.stored_matches import (
    FAST_STRATEGIES,
    HOSTILE_NAME,
    recorded_matches,
    sample_match,
    serve_matches,
    with_names,
)

import pages.app
from cardsharp.pages.match_pages import standalone_match_page
from cardsharp.pages.rendered_match import render_match
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.lambda_events import LambdaFunction
from cardsharp_tools.match_sources.match_logs import import_match

TTL = timedelta(minutes=1)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page of a sample match."""
    matches = {"deadmansdraw": sample_match("deadmansdraw")}
    with serve_matches(tmp_path_factory.mktemp("log"), matches) as (_, address):
        yield f"{address}/matches/deadmansdraw"


def open_match_page(page: Page, url: str) -> None:
    """Open the page of a match and wait until its script has all steps."""
    page.goto(url)
    expect(page.locator("#match")).to_have_attribute("data-ready", "yes")


def read_step_position(page: Page) -> tuple[int, int]:
    """Return the number of the current step, and the number of steps."""
    step_number, total = page.locator("#count").inner_text().split(" of ")
    return int(step_number), int(total)


def test_steps_go_by_button_key_slider_list_and_address(browser: Browser, url: str) -> None:
    """Every control moves by a step or a turn; seats are flipped, and decisions explained."""
    with open_page(browser) as page:
        open_match_page(page, f"{url}#5")
        total = len(sample_match("deadmansdraw")[1])
        assert read_step_position(page) == (5, total)
        page.locator("#forward").click()
        assert read_step_position(page)[0] == 6
        page.locator("body").press("ArrowLeft")
        page.locator("body").press("ArrowLeft")
        assert read_step_position(page)[0] == 4
        page.locator("body").press("End")
        assert read_step_position(page)[0] == total
        page.locator("#turns a").nth(8).click()
        assert read_step_position(page)[0] == 9
        assert page.url.endswith("#9")
        page.locator("#slider").fill("3")
        assert read_step_position(page)[0] == 3
        page.evaluate("location.hash = '#11'")
        expect(page.locator("#count")).to_have_text(f"11 of {total}")
        page.locator("#turns a").first.click()
        page.locator("body").press("PageDown")
        start = read_step_position(page)[0]
        current = page.locator("#turns > li").nth(1).locator("[aria-current]")
        expect(current).to_have_count(1)
        page.locator("body").press("ArrowRight")
        page.locator("body").press("PageUp")
        assert read_step_position(page)[0] == start
        top = "document.querySelector('.seat0').getBoundingClientRect().top"
        unflipped_top = page.evaluate(top)
        page.locator("body").press("f")
        assert page.evaluate(top) > unflipped_top
        page.locator("#flip").click()
        assert page.evaluate(top) == unflipped_top
        page.locator("#turns a.ours").first.click()
        expect(page.locator("#thought h2 b")).to_have_text("one")


STEP_AND_GET_DURATIONS = """() => {
  document.getElementById("turn-forward").click();
  return document.getAnimations().filter((one) => !(one instanceof CSSAnimation))
    .map((one) => one.effect.getComputedTiming().duration);
}"""


def test_cards_animate_their_moves_unless_reduced_motion_is_preferred(
    browser: Browser, url: str, tmp_path: Path
) -> None:
    """Animations take at most 200 ms, on a served page and in a file."""
    file = tmp_path / "match.html"
    file.write_text(
        standalone_match_page(render_match(*sample_match("deadmansdraw"))), encoding="utf-8"
    )
    for address in (url, file.as_uri()):
        for motion in ("no-preference", "reduce"):
            with open_page(browser, reduced_motion=motion) as page:
                open_match_page(page, f"{address}#1")
                durations = [
                    duration for _ in range(6) for duration in page.evaluate(STEP_AND_GET_DURATIONS)
                ]
            assert bool(durations) is (motion == "no-preference")
            assert all(0 < duration <= 200 for duration in durations)


def test_stepping_in_the_browser_matches_the_page_drawn_by_the_server(
    browser: Browser, url: str
) -> None:
    """A step by script shows the same board as the server's page of that step."""
    with open_page(browser) as page:
        open_match_page(page, f"{url}#1")
        for number in (2, 9, 30, 12):
            page.locator("#slider").fill(str(number))
            board_text = page.locator("#board").inner_text()
            with open_page(browser, java_script_enabled=False) as scriptless_page:
                scriptless_page.goto(f"{url}?step={number}")
                assert scriptless_page.locator("#board").inner_text() == board_text


def test_it_plays_by_itself_and_stops(browser: Browser, url: str) -> None:
    with open_page(browser) as page:
        page.clock.install(time=0)
        open_match_page(page, f"{url}#5")
        page.clock.pause_at(3600)  # from here on it goes as far as it is told
        page.locator("#speed").select_option("400")
        page.locator("body").press(" ")
        page.clock.run_for(1300)
        assert read_step_position(page)[0] == 8
        page.locator("#play").click()
        page.clock.run_for(5000)
        assert read_step_position(page)[0] == 8


def test_the_analysis_shows_the_cost_of_decisions_and_links_to_them(
    browser: Browser, url: str
) -> None:
    """The page has a curve that follows the step, both accuracies, and the worst decisions."""
    with open_page(browser) as page:
        open_match_page(page, f"{url}#1")
        expect(page.locator("#summary tbody tr")).to_have_count(2)
        expect(page.locator("#worth")).to_contain_text("%")
        marked = page.locator(".marked a").first
        number = int(marked.get_attribute("data-step") or 0)
        marked.click()
        assert read_step_position(page)[0] == number
        expect(page.locator("#judged .mark")).to_have_count(1)
        expect(page.locator("#cursor")).to_have_attribute("transform", f"translate({number})")
        check_page(page, "analysis")
        page.locator("#curve").click(position={"x": 1, "y": 5})
        assert read_step_position(page)[0] == 1


def test_without_script_links_lead_from_step_to_step(browser: Browser, url: str) -> None:
    """Links lead to each step and to the analysis without script."""
    with open_page(browser, java_script_enabled=False) as page:
        page.goto(f"{url}?step=2")
        page.get_by_role("link", name="Analysis of the match").click()
        expect(page.locator("#summary tbody tr")).to_have_count(2)
        page.locator("#forward").click()
        assert read_step_position(page)[0] == 3
        expect(page.locator("#curve")).to_have_count(1)
        page.locator("#turns a").first.click()
        assert read_step_position(page)[0] == 1
        assert not page.locator("#slider").is_visible()


def test_a_live_match_moves_on_by_itself(browser: Browser, tmp_path: Path) -> None:
    """The page follows a live match only if it shows the last step."""
    record, moves = sample_match("deadmansdraw")
    facts = {move.sequence: move.facts for move in moves if move.facts is not None}
    with serve_matches(tmp_path, {}) as (log, address), open_page(browser) as page:
        lease = log.acquire_lease("live", "test", TTL, record.header)

        def write_moves(start: int, end: int) -> None:
            log.write_facts(lease, {number: facts[number] for number in range(start, end)})

        write_moves(0, 4)
        open_match_page(page, f"{address}/matches/live")
        write_moves(4, 6)
        expect(page.locator("#count")).to_have_text("6 of 6")
        assert page.locator("#turns a").count() == 6
        page.locator("body").press("Home")
        write_moves(6, len(facts))
        expect(page.locator("#turns a")).to_have_count(len(facts))
        expect(page.locator("#count")).to_have_text(f"1 of {len(facts)}")
        log.finish(lease, record.outcome or {})
        expect(page.locator("#facts")).to_contain_text("won")
        assert page.locator("#turns > li").count() == len(
            {str(frame.step.turn) for frame in render_match(record, moves).steps}
        )


@pytest.mark.parametrize("width", [390, 1200])
def test_a_user_with_the_password_watches_a_live_match_in_the_cloud(
    browser: Browser, width: int
) -> None:
    """A move appears within moments, and the analysis when the match ends."""
    function = LambdaFunction("viewer", pages.app.handler, timedelta(seconds=29))
    _, moves = sample_match("deadmansdraw")
    screen = {"viewport": {"width": width, "height": 900}}
    with (
        Emulator() as emulator,
        deployed_viewer(emulator, public=False) as cloud,
        function_server(function) as front,
        open_page(browser, expected_errors=True, **screen) as page,
    ):
        lease = cloud.log_moves("live", moves[:9])
        # A browser keeps a cookie for TLS only where the host is certainly this machine.
        page.goto(f"{front.url.replace('127.0.0.1', 'localhost')}/matches/live")
        check_page(page, f"door-{width}")
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Enter").click()
        expect(page.get_by_role("alert")).to_have_text("This password is wrong.")
        page.get_by_label("Password").fill(VIEWER_PASSWORD)
        page.get_by_role("button", name="Enter").click()
        expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
        expect(page.locator("#count")).to_have_text("9 of 9")
        cloud.log_moves("live", [replace(moves[9], intent=None)], lease)
        expect(page.locator("#count")).to_have_text("10 of 10")
        cloud.finish_match(lease)
        expect(page.locator("#curve")).to_be_visible()
        cookies = {cookie["name"]: cookie for cookie in page.context.cookies()}
        assert cookies["__Host-owner"]["httpOnly"]
        assert cookies["__Host-owner"]["secure"]


def test_a_list_renews_itself(browser: Browser, tmp_path: Path) -> None:
    with serve_matches(tmp_path, {}) as (log, address), open_page(browser) as page:
        page.clock.install()
        page.goto(f"{address}/matches")
        expect(page.get_by_text("No match was found")).to_be_visible()
        import_match(*sample_match("euchre"), log)
        page.clock.run_for(5000)
        expect(page.locator("tbody tr")).to_have_count(1)
        assert serious_axe_violations(page) == []


@pytest.mark.parametrize("name", [*FAST_STRATEGIES, "hostile"])
def test_a_file_opens_from_disk_without_a_network(
    browser: Browser, name: str, tmp_path: Path
) -> None:
    hostile = with_names(sample_match("deadmansdraw", 7), HOSTILE_NAME, "b")
    file = tmp_path / "match.html"
    match = hostile if name == "hostile" else sample_match(name)
    file.write_text(standalone_match_page(render_match(*match)), encoding="utf-8")
    with open_page(browser, offline=True) as page:
        open_match_page(page, f"{file.as_uri()}#4")
        assert read_step_position(page)[0] == 4
        page.locator("body").press("ArrowRight")
        assert read_step_position(page)[0] == 5
        assert serious_axe_violations(page) == []


@parametrize_sample_and_all(pytest.mark.slow, pytest.mark.timeout(3600))
def test_recorded_matches_render(
    browser: Browser, matches: RecordedMatches, tmp_path: Path
) -> None:
    """Each step of recorded matches renders without an error of script, policy or console.

    Twelve matches represent the sample, since a renderer without a graphics card is slow.
    """
    file, rendered_count = tmp_path / "match.html", 0
    with open_page(browser, offline=True, reduced_motion="reduce") as page:
        for match in islice(recorded_matches(matches), 12 if matches is SAMPLE else None):
            file.write_text(standalone_match_page(render_match(*match)), encoding="utf-8")
            open_match_page(page, file.as_uri())
            total = read_step_position(page)[1]
            page.evaluate(
                "total => { for (let at = 1; at <= total; at++) "
                "document.getElementById('turns').querySelectorAll('a')[at - 1].click(); }",
                total,
            )
            assert read_step_position(page) == (total, len(match[1]))
            rendered_count += 1
    assert rendered_count == 12 if matches is SAMPLE else rendered_count > 700
