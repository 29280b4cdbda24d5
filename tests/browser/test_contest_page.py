"""Browser tests of a contest's pages: on every screen, without script, and while it runs.

The pages of its organiser and its teams, which have no script, are tested at the end.
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
from support.contests import HOSTILE_NAMES, SpectatedContest, spectated_contest, team_names
from support.fake_match_host import FakeMatchHost
from support.submissions import skip_without_sandbox
from support.waiting import wait_until

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
def large_contest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpectatedContest]:
    """A contest of twelve teams; the first teams have hostile names."""
    yield from spectated_contest(
        tmp_path_factory.mktemp("cup"), [*HOSTILE_NAMES, *team_names(2)], 11
    )


@pytest.fixture
def running_contest(tmp_path: Path) -> Iterator[SpectatedContest]:
    """A contest of eight teams whose second pairing is running."""
    yield from spectated_contest(tmp_path, team_names(8), 1)


def test_the_bracket_of_64_teams_scrolls_without_scrolling_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    """The bracket scrolls by keyboard to its last box, and the page does not scroll."""
    for contest in spectated_contest(tmp_path, team_names(64), 70):
        with open_page(browser) as page:
            for width in (390, 1600):
                page.set_viewport_size({"width": width, "height": 800})
                page.goto(contest.url)
                region = page.get_by_role("region", name="Bracket")
                assert region.evaluate("one => one.scrollHeight > one.clientHeight")
                assert overflowing_elements(page) == {}
                scroll_to_end(region)
                boxes = page.locator("svg.box")
                lowest = boxes.evaluate_all("all => all.map((one) => one.y.baseVal.value)")
                expect(boxes.nth(lowest.index(max(lowest)))).to_be_in_viewport()


def test_the_contest_page_works_without_script(
    browser: Browser, large_contest: SpectatedContest
) -> None:
    """The contest's page works without script and reloads itself while the contest runs."""
    with open_page(browser, java_script_enabled=False) as page:
        page.goto(large_contest.url)
        assert page.locator("svg.running").count() == 1
        assert page.locator("tr[id^=team-]").count() == 12
        assert page.locator("noscript meta[http-equiv=refresh]").get_attribute("content") == "15"
        assert page.locator("#lost").is_hidden()
        page.get_by_role("link", name="Running now").click()
        assert page.get_by_text("left to draw").is_visible()


def test_a_running_contest_moves_on_by_itself(
    browser: Browser, running_contest: SpectatedContest
) -> None:
    """The page shows new moves and the end of a match, and the focus stays in place.

    Only the running matches are requested; nothing that is unchanged is loaded again.
    """
    with open_page(browser) as page:
        page.clock.install()
        response_names: list[str] = []
        page.on("response", lambda response: response_names.append(response.url.rpartition("/")[2]))
        page.goto(running_contest.url)
        page.evaluate("window.stayed = true")
        for _ in range(4):
            with page.expect_response("**/contest/running"):
                page.clock.run_for(2_100)
        assert {*response_names[response_names.index("running") :]} <= {"running", "viewer.svg"}
        running = page.locator("#running")
        active_team = running.locator("tr.active .team").inner_text()
        link = page.locator(f"#running a[href='/matches/{running_contest.match_id}']")
        link.focus()
        running_contest.time_out_turn()
        page.clock.run_for(2_100)
        expect(running.locator("tr.active .team")).not_to_have_text(active_team)
        expect(link).to_be_focused()
        expect(page.locator("svg.box.decided")).to_have_count(1)
        running_contest.finish_pairing()
        page.clock.run_for(2_100)
        expect(page.locator("svg.box.decided")).to_have_count(2)
        expect(page.get_by_text("Decided by the organiser: it was late")).to_be_visible()
        expect(link).to_have_count(0)
        assert page.evaluate("window.stayed")


def test_an_unreachable_arena_is_reported_until_it_answers(
    browser: Browser, running_contest: SpectatedContest
) -> None:
    """A message stays on the page until the arena answers again."""
    context = browser.new_context()
    context.set_default_timeout(MAX_WAIT_MILLISECONDS)
    page = context.new_page()
    page.clock.install()
    page.goto(running_contest.url)
    context.set_offline(True)
    page.clock.run_for(2_100)
    expect(page.get_by_role("status")).to_be_visible()
    context.set_offline(False)
    page.clock.run_for(2_100)
    expect(page.locator("#lost")).to_be_hidden()
    context.close()


def test_a_file_opens_from_disk(
    browser: Browser, large_contest: SpectatedContest, tmp_path: Path
) -> None:
    """A file has its style, makes no request, and renders hostile team names."""
    file = tmp_path / "cup.html"
    file.write_text(standalone_contest_page(large_contest.records), encoding="utf-8")
    with open_page(browser) as page:
        requested_urls: list[str] = []
        page.on("request", lambda request: requested_urls.append(request.url))
        page.goto(file.as_uri())
        assert requested_urls == [file.as_uri()]
        style = "one => getComputedStyle(one).borderCollapse"
        assert page.locator("table.figures").first.evaluate(style) == "collapse"
        check_page(page, "contest-file")


# --- what an organiser does by forms -------------------------------------------------------------


def check_every_screen(page: Page, name: str) -> None:
    """Check a page on every screen: it fits, has no script, and is accessible."""
    page.wait_for_load_state()
    for width in (1920, 1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        check_page(page, f"{name}-{width}")
    assert page.locator("script").count() == 0


def confirm_action(page: Page) -> None:
    """Confirm the requested action."""
    page.get_by_role("button", name="Yes, do it").click()


def test_a_contest_is_organised_by_forms(browser: Browser, tmp_path: Path) -> None:
    """Every action is confirmed once, can be cancelled or undone, and each page fits."""
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
        check_every_screen(page, "organiser-ask")
        confirm_action(page)
        team_names_to_add = ["Goal Diggers", "Weekend Bananas", "House, captain", "W" * 90]
        page.get_by_label("One team per line").fill("\n".join(team_names_to_add))
        page.get_by_role("button", name="Enter…").click()
        confirm_action(page)
        expect(page.locator(".sheet")).to_have_count(len(team_names_to_add))
        check_every_screen(page, "organiser-sheets")
        page.get_by_role("link", name="Back to cup").click()
        row = page.get_by_role("row", name="Weekend Bananas")
        row.get_by_text("Change").click()
        row.get_by_label("New name").fill("Monday Apples")
        row.get_by_role("button", name="Rename…").click()
        confirm_action(page)
        with open_contest_in(tmp_path / "cup") as records:
            any(ContestDirector(records, FakeMatchHost()).step() for _ in range(6))
        page.reload()
        pairing = page.get_by_role("region", name="Pairings").locator("tbody tr").last
        pairing.get_by_text("Rule").click()
        pairing.get_by_label("Reason").fill("did not come")
        check_every_screen(page, "organiser-contest")
        pairing.get_by_role("button", name="Decide…").click()
        confirm_action(page)
        page.get_by_role("link", name="Pause…").click()
        page.get_by_role("link", name="No, go back").click()
        expect(page.locator(".acts li")).to_have_count(6)
        page.get_by_role("link", name="Undo:").click()
        confirm_action(page)
        expect(page.locator(".acts .undone")).to_have_count(1)
        page.get_by_role("link", name="Contests").click()
        expect(page.get_by_label("Matches per pairing")).to_be_visible()
        check_every_screen(page, "organiser-contests")


# --- a team submits its first version, and a bad one -----------------------------------------


STRATEGY_BODY = "return Decision(position.legal_actions()[0], 'the first')"


def test_a_team_submits_in_its_browser(browser: Browser, tmp_path: Path) -> None:
    """A submission is reported on every screen; a faulty file is explained and not played."""
    skip_without_sandbox()
    valid_file = write_strategy_file(tmp_path, "bot", STRATEGY_BODY)
    faulty_file = tmp_path / f"{'W' * 60}.py"
    faulty_file.write_text("1 / 0")
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
            wait_until(lambda: (page.goto(f"{url}/submit") or page).url.endswith("/submit"))
            expect(page.get_by_text("Nothing has been submitted yet")).to_be_visible()
            page.get_by_label("File").set_input_files(valid_file)
            page.get_by_role("button", name="Submit").click()
            expect(page.get_by_text("1 (plays now)")).to_be_visible()
            check_every_screen(page, "submit-first")
            page.get_by_label("File").set_input_files(faulty_file)
            page.get_by_role("button", name="Submit").click()
            expect(page.get_by_role("alert")).to_contain_text("ZeroDivisionError")
            expect(page.get_by_text("2 (plays now)")).to_have_count(0)
            check_every_screen(page, "submit-refused")
        assert records.faults_by_team()[team.id].count == 1
