"""Another course of a match in a real browser: begun on its page, played, looked at in a file."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from support.branches import played
from support.browser import picture, press_first, serious, visited
from support.cli import clean
from support.layout import too_wide
from support.stored import any_match

from cardsharp.viewer.pages import match_file
from cardsharp.viewer.shown import branches_of, shown
from workbench.show.keeping import keep_match
from workbench.show.lookup import open_log, own_store
from workbench.table.branch import branch_point
from workbench.table.served import pages_over
from workbench.watch.sources import source_of


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_a_step_is_decided_anew_and_taken_back(
    browser: Browser, width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By mouse to the seat, by keys to the end; then it is listed under its match."""
    clean(monkeypatch, tmp_path)
    record, moves = any_match("deadmansdraw")
    with open_log(own_store()) as log:
        keep_match(record, moves, log)
    screen = {"viewport": {"width": width, "height": 844}, "reduced_motion": "reduce"}
    with pages_over(source_of(None)) as url, visited(browser, **screen) as page:
        page.goto(f"{url}/matches/{record.match_id}#{len(moves) - 12}")
        expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
        page.get_by_label("Cards").select_option("same")
        page.get_by_label("Against").select_option("draw-3")
        assert too_wide(page) == {}
        page.get_by_role("button", name="Decide this step anew").click()
        expect(page.locator("#seat")).to_have_attribute("data-ready", "yes")
        expect(page.locator("#news")).to_contain_text("The same cards come.")
        expect(page.locator("#moves")).to_be_visible()
        picture(page, f"branch-seat-{width}")
        page.keyboard.press("u")
        expect(page.locator("#news")).to_contain_text("take")
        number = page.locator("#moves input[name=number], .over")
        while not page.locator(".over").count():
            before = number.first.get_attribute("value")
            press_first(page)
            fresh = f'#moves input[name=number]:not([value="{before}"]), .over'
            page.locator(fresh).first.wait_for(state="attached")
        assert serious(page) == []
        page.goto(f"{url}/matches/{record.match_id}")
        expect(page.locator("#branches li")).to_contain_text("the same cards")
        picture(page, f"branch-match-{width}")
        assert serious(page) == []


def test_branches_are_gone_through_in_a_file(browser: Browser, tmp_path: Path) -> None:
    """From where one begins it has its own steps; then the match as it was played again."""
    record, moves = any_match("deadmansdraw")
    branch = played(branch_point(record, moves, 9)).parts[0]
    drawn = {branch[0].match_id: shown(*branch)}
    ids = {record.match_id: [*drawn]}
    branches = branches_of(record.match_id, lambda one: ids.get(one, ()), drawn.get)
    file = tmp_path / "match.html"
    file.write_text(match_file(shown(record, moves), None, branches))
    with visited(browser) as page:
        page.goto(file.as_uri())
        expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
        page.locator("[data-branch]").last.click()
        step, total = branches[0].branch.step, len(branch[1])
        expect(page.locator("#count")).to_have_text(f"{step} of {total}")
        assert page.locator("#turns a").count() == total
        expect(page.locator("#happened")).to_contain_text(
            branches[0].match.frames[step - 1].happened
        )
        page.get_by_role("link", name="As it was played").click()
        expect(page.locator("#count")).to_have_text(f"1 of {len(moves)}")
