"""The pages of a contest in a real browser: for every screen, without script, and while it runs.

Those of its organiser and its teams, which have no script at all, come after what everybody sees.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from support.browser import (
    MAX_WAIT_MILLISECONDS,
    check_page,
    open_page,
    overflowing_elements,
    scroll_to_end,
)
from support.cli import write_strategy_file
from support.contests import HOSTILE, SpectatedContest, spectated_contest, team_names
from support.fake_match_host import FakeMatchHost
from support.submissions import sandbox_or_skip
from support.waiting import until

from cardsharp.contest.contest_file import create_contest_in, open_contest_in
from cardsharp.contest.director import ContestDirector
from cardsharp.contest.models import ContestSettings
from cardsharp.contest.view.pages import standalone_contest_page
from cardsharp_tools.cli.options import ArenaServerOptions
from cardsharp_tools.contest.admin_pages import serve_admin_pages
from cardsharp_tools.contest.contest_arena import run_arena_and_local_players
from cardsharp_tools.contest.contest_manager import ContestManager
from cardsharp_tools.contest.open_contest import OpenContest
from cardsharp_tools.executors.strategy_reference import SANDBOXED


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpectatedContest]:
    """Twelve teams, of which the first are what somebody hostile would call theirs."""
    yield from spectated_contest(tmp_path_factory.mktemp("cup"), [*HOSTILE, *team_names(2)], 11)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SpectatedContest]:
    """Eight teams; the second pairing runs."""
    yield from spectated_contest(tmp_path, team_names(8), 1)


def test_the_bracket_of_64_teams_scrolls_without_scrolling_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    """By the keyboard, too; the page itself does not."""
    for show in spectated_contest(tmp_path, team_names(64), 70):
        with open_page(browser) as page:
            for width in (390, 1600):
                page.set_viewport_size({"width": width, "height": 800})
                page.goto(show.address)
                region = page.get_by_role("region", name="Bracket")
                assert region.evaluate("one => one.scrollHeight > one.clientHeight")
                assert overflowing_elements(page) == {}
                scroll_to_end(region)
                boxes = page.locator("svg.box")
                lowest = boxes.evaluate_all("all => all.map((one) => one.y.baseVal.value)")
                expect(boxes.nth(lowest.index(max(lowest)))).to_be_in_viewport()


def test_it_is_read_without_script(browser: Browser, cup: SpectatedContest) -> None:
    """And loads itself anew, as long as the contest runs."""
    with open_page(browser, java_script_enabled=False) as page:
        page.goto(cup.address)
        assert page.locator("svg.running").count() == 1
        assert page.locator("tr[id^=team-]").count() == 12
        assert page.locator("noscript meta[http-equiv=refresh]").get_attribute("content") == "15"
        assert page.locator("#lost").is_hidden()
        page.get_by_role("link", name="Running now").click()
        assert page.get_by_text("left to draw").is_visible()


def test_a_running_contest_moves_on_by_itself(browser: Browser, small: SpectatedContest) -> None:
    """Moves at the bottom, then what a match's end changes; the page stays, with where one is.

    Nothing is loaded again that has not changed: the running matches alone are asked for.
    """
    with open_page(browser) as page:
        page.clock.install()
        response_names: list[str] = []
        page.on("response", lambda response: response_names.append(response.url.rpartition("/")[2]))
        page.goto(small.address)
        page.evaluate("window.stayed = true")
        for _ in range(4):
            with page.expect_response("**/contest/running"):
                page.clock.run_for(2_100)
        assert {*response_names[response_names.index("running") :]} <= {"running", "viewer.svg"}
        running = page.locator("#running")
        to_move = running.locator("tr.active .team").inner_text()
        link = page.locator(f"#running a[href='/matches/{small.match}']")
        link.focus()
        small.time_out_turn()
        page.clock.run_for(2_100)
        expect(running.locator("tr.active .team")).not_to_have_text(to_move)
        expect(link).to_be_focused()
        expect(page.locator("svg.box.decided")).to_have_count(1)
        small.finish_pairing()
        page.clock.run_for(2_100)
        expect(page.locator("svg.box.decided")).to_have_count(2)
        expect(page.get_by_text("Decided by the organiser: it was late")).to_be_visible()
        expect(link).to_have_count(0)
        assert page.evaluate("window.stayed")


def test_an_unreachable_arena_is_reported_until_it_answers(
    browser: Browser, small: SpectatedContest
) -> None:
    """Until it answers again."""
    context = browser.new_context()
    context.set_default_timeout(MAX_WAIT_MILLISECONDS)
    page = context.new_page()
    page.clock.install()
    page.goto(small.address)
    context.set_offline(True)
    page.clock.run_for(2_100)
    expect(page.get_by_role("status")).to_be_visible()
    context.set_offline(False)
    page.clock.run_for(2_100)
    expect(page.locator("#lost")).to_be_hidden()
    context.close()


def test_a_file_opens_from_disk(browser: Browser, cup: SpectatedContest, tmp_path: Path) -> None:
    """With its style, without any request, and whatever teams are called."""
    file = tmp_path / "cup.html"
    file.write_text(standalone_contest_page(cup.records), encoding="utf-8")
    with open_page(browser) as page:
        requested_urls: list[str] = []
        page.on("request", lambda request: requested_urls.append(request.url))
        page.goto(file.as_uri())
        assert requested_urls == [file.as_uri()]
        style = "one => getComputedStyle(one).borderCollapse"
        assert page.locator("table.figures").first.evaluate(style) == "collapse"
        check_page(page, "contest-file")


# --- what an organiser does by forms -------------------------------------------------------------


def looked(page: Page, name: str) -> None:
    """Look at a page on every screen: it fits, has no script, and who cannot see it can use it."""
    page.wait_for_load_state()
    for width in (1920, 1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        check_page(page, f"{name}-{width}")
    assert page.locator("script").count() == 0


def confirmed(page: Page) -> None:
    """Say yes to what is asked."""
    page.get_by_role("button", name="Yes, do it").click()


def test_a_contest_is_organised_by_forms(browser: Browser, tmp_path: Path) -> None:
    """Every act asks once, and can be thought better of or taken back; each page fits."""
    login = {"username": "admin", "password": "secret"}
    with (
        serve_admin_pages(ContestManager(tmp_path), login["password"], 0) as url,
        open_page(browser, http_credentials=login) as page,
    ):
        page.goto(url)
        page.get_by_label("Name").fill("cup")
        page.get_by_label("Matches per pairing").fill("1")
        page.get_by_role("button", name="Create…").click()
        expect(page.get_by_role("button", name="Yes, do it")).to_be_visible()
        looked(page, "organiser-ask")
        confirmed(page)
        entering = ["Goal Diggers", "Weekend Bananas", "House, captain", "W" * 90]
        page.get_by_label("One team per line").fill("\n".join(entering))
        page.get_by_role("button", name="Enter…").click()
        confirmed(page)
        expect(page.locator(".sheet")).to_have_count(len(entering))
        looked(page, "organiser-sheets")
        page.get_by_role("link", name="Back to cup").click()
        row = page.get_by_role("row", name="Weekend Bananas")
        row.get_by_text("Change").click()
        row.get_by_label("New name").fill("Monday Apples")
        row.get_by_role("button", name="Rename…").click()
        confirmed(page)
        with open_contest_in(tmp_path / "cup") as records:
            any(ContestDirector(records, FakeMatchHost()).step() for _ in range(6))
        page.reload()
        pairing = page.get_by_role("region", name="Pairings").locator("tbody tr").last
        pairing.get_by_text("Rule").click()
        pairing.get_by_label("Reason").fill("did not come")
        looked(page, "organiser-contest")
        pairing.get_by_role("button", name="Decide…").click()
        confirmed(page)
        page.get_by_role("link", name="Pause…").click()
        page.get_by_role("link", name="No, go back").click()
        expect(page.locator(".acts li")).to_have_count(6)
        page.get_by_role("link", name="Undo:").click()
        confirmed(page)
        expect(page.locator(".acts .undone")).to_have_count(1)
        page.get_by_role("link", name="Contests").click()
        expect(page.get_by_label("Matches per pairing")).to_be_visible()
        looked(page, "organiser-contests")


# --- a team submits its first version, and a bad one -----------------------------------------


PLAYS = "return Decision(position.legal_actions()[0], 'the first')"


def test_a_team_submits_in_its_browser(browser: Browser, tmp_path: Path) -> None:
    """A submission is reported on every screen; a faulty file is explained and not played."""
    sandbox_or_skip()
    good = write_strategy_file(tmp_path, "bot", PLAYS)
    bad = tmp_path / f"{'W' * 60}.py"
    bad.write_text("1 / 0")
    with create_contest_in(tmp_path / "cup", ContestSettings("cup", matches=1)) as records:
        (team, password), _ = records.add_team("One", SANDBOXED), records.add_team("Two", "steady")
        login = {"username": team.id, "password": password}
        with (
            run_arena_and_local_players(
                OpenContest(tmp_path / "cup", records), ArenaServerOptions(port=0)
            ) as (
                url,
                _,
            ),
            open_page(browser, http_credentials=login, expected_errors=True) as page,
        ):
            until(lambda: (page.goto(f"{url}/submit") or page).url.endswith("/submit"))
            expect(page.get_by_text("Nothing has been submitted yet")).to_be_visible()
            page.get_by_label("File").set_input_files(good)
            page.get_by_role("button", name="Submit").click()
            expect(page.get_by_text("1 (plays now)")).to_be_visible()
            looked(page, "submit-first")
            page.get_by_label("File").set_input_files(bad)
            page.get_by_role("button", name="Submit").click()
            expect(page.get_by_role("alert")).to_contain_text("ZeroDivisionError")
            expect(page.get_by_text("2 (plays now)")).to_have_count(0)
            looked(page, "submit-refused")
        assert records.faults_by_team()[team.id].count == 1
