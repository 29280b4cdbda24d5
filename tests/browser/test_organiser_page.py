"""The pages of organiser and teams in a real browser, without script."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from support.arena import until
from support.browser import picture, serious, too_wide, visited
from support.cli import written
from support.contest_tables import FakeTables
from support.submissions import sandbox_or_skip

from cardsharp.contest.director import Director
from cardsharp.contest.entries import Settings
from cardsharp.contest.sqlite import found_in, kept_in
from workbench.contest.home import opened
from workbench.contest.organiser_site import organiser_served
from workbench.contest.venue import Venue
from workbench.show.options import ArenaPlace
from workbench.submission import SANDBOXED

LOGIN = {"username": "admin", "password": "secret"}


def confirmed(page: Page) -> None:
    """Say yes to what is asked."""
    page.get_by_role("button", name="Yes, do it").click()


def founded(page: Page, url: str) -> None:
    """A contest is asked for; the page asks whether to begin it."""
    page.goto(url)
    page.get_by_label("Name").fill("cup")
    page.get_by_label("Matches a pairing").fill("1")
    page.get_by_role("button", name="Create…").click()
    expect(page.get_by_role("button", name="Yes, do it")).to_be_visible()


def entered(page: Page, *teams: str) -> None:
    page.get_by_label("One a line").fill("\n".join(teams))
    page.get_by_role("button", name="Enter…").click()
    confirmed(page)
    expect(page.locator(".sheet")).to_have_count(len(teams))


def renamed(page: Page) -> None:
    page.get_by_role("link", name="Back to cup").click()
    row = page.get_by_role("row", name="Weekend Bananas")
    row.get_by_text("Change").click()
    row.get_by_label("New name").fill("Monday Apples")
    row.get_by_role("button", name="Rename…").click()
    confirmed(page)


def undone(page: Page) -> None:
    """To pause is thought better of; the last act is taken back."""
    page.get_by_role("link", name="Pause…").click()
    page.get_by_role("link", name="No, go back").click()
    expect(page.locator(".acts li")).to_have_count(6)
    page.get_by_role("link", name="Undo:").click()
    confirmed(page)
    expect(page.locator(".acts .undone")).to_have_count(1)


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_a_contest_is_organised_by_forms(browser: Browser, tmp_path: Path, width: int) -> None:
    """Every act asks once; each page fits, and whoever cannot see it finds what is on it."""

    def looked(name: str) -> None:
        page.wait_for_load_state()
        picture(page, f"organiser-{name}-{width}")
        assert page.locator("script").count() == 0
        assert too_wide(page) == {}
        assert serious(page) == []

    with (
        organiser_served(Venue(tmp_path), "secret", 0) as url,
        visited(browser, viewport={"width": width, "height": 900}, http_credentials=LOGIN) as page,
    ):
        founded(page, url)
        looked("ask")
        confirmed(page)
        entered(page, "Goal Diggers", "Weekend Bananas", "House, captain", "W" * 90)
        looked("sheets")
        renamed(page)
        with kept_in(tmp_path / "cup") as records:
            any(Director(records, FakeTables()).step() for _ in range(6))
        page.reload()
        pairing = page.get_by_role("region", name="Pairings").locator("tbody tr").last
        pairing.get_by_text("Rule").click()
        pairing.get_by_label("Reason").fill("did not come")
        looked("contest")
        pairing.get_by_role("button", name="Decide…").click()
        confirmed(page)
        undone(page)
        page.get_by_role("link", name="Contests").click()
        expect(page.get_by_label("Matches a pairing")).to_be_visible()
        looked("contests")


# --- a team submits its first version, and a bad one -----------------------------------------


PLAYS = "return Decision(position.legal_actions()[0], 'the first')"


def test_a_team_submits_in_its_browser(browser: Browser, tmp_path: Path) -> None:
    """What it is told fits every screen; what is wrong with a file is said, and that plays not."""
    sandbox_or_skip()
    good = written(tmp_path, "bot", PLAYS)
    bad = tmp_path / f"{'W' * 60}.py"
    bad.write_text("1 / 0")
    with found_in(tmp_path / "cup", Settings("cup", matches=1)) as records:
        (team, word), _ = records.enter("One", SANDBOXED), records.enter("Two", "steady")
        with (
            opened(records, tmp_path / "cup", ArenaPlace(port=0)) as (url, _),
            visited(
                browser, http_credentials={"username": team.id, "password": word}, refused=True
            ) as page,
        ):

            def looked(name: str) -> None:
                for width in (390, 1280, 1920):
                    page.set_viewport_size({"width": width, "height": 900})
                    picture(page, f"submit-{name}-{width}")
                    assert too_wide(page) == {}

            until(lambda: (page.goto(f"{url}/submit") or page).url.endswith("/submit"))
            expect(page.get_by_text("Nothing has been submitted yet")).to_be_visible()
            page.get_by_label("File").set_input_files(good)
            page.get_by_role("button", name="Submit").click()
            expect(page.get_by_text("1 (plays now)")).to_be_visible()
            looked("first")
            page.get_by_label("File").set_input_files(bad)
            page.get_by_role("button", name="Submit").click()
            expect(page.get_by_role("alert")).to_contain_text("ZeroDivisionError")
            expect(page.get_by_text("2 (plays now)")).to_have_count(0)
            looked("refused")
            assert (serious(page), page.locator("script").count()) == ([], 0)
        assert records.faults()[team.id].count == 1
