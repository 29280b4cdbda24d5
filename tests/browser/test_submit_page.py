"""The page `/submit` in a real browser, without script: a team's first version, and a bad one."""

from pathlib import Path

from playwright.sync_api import Browser, expect
from support.arena import until
from support.browser import picture, serious, visited
from support.cli import written
from support.layout import too_wide
from support.submissions import sandbox_or_skip

from cardsharp.contest.entries import Settings
from cardsharp.contest.faults import faults
from cardsharp.contest.sqlite import found_in
from workbench.contest.home import opened
from workbench.show.options import ArenaPlace
from workbench.submission import SANDBOXED

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
        assert faults(records)[team.id].count == 1
