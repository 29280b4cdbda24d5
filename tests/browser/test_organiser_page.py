"""The organiser's page in a real browser, without script: from a new contest to its last act."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from support.browser import picture, serious, visited
from support.contest_tables import FakeTables
from support.layout import too_wide

from cardsharp.contest.director import Director
from cardsharp.contest.sqlite import kept_in
from workbench.contest.organiser_site import organiser_served
from workbench.contest.venue import Venue

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
