"""A lesson in a real browser: answered on the cards, by keys and by forms, and remembered."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from support.browser import picture, serious, visited
from support.cli import clean
from support.layout import too_wide

from cardsharp.games import game
from workbench.cli import main
from workbench.cli.lesson import LessonOptions, begun
from workbench.show.lookup import data_folder
from workbench.table.lesson import Lessons, lesson_routes
from workbench.table.served import pages_over
from workbench.watch.sources import source_of

OPPONENTS = {"deadmansdraw": "draw-3", "blef": "threshold", "euchre": "rules"}


@contextmanager
def lesson_of(name: str, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a lesson about a match in which a person took the first choices."""
    clean(patch, folder)
    patch.setattr("sys.stdin", io.StringIO("1\n88\n" * 4000))
    assert main([name, "versus", OPPONENTS[name], "--seed", "3"]) == 0
    lesson = begun(game(name), LessonOptions(number=3))
    with pages_over(source_of(None), more=lesson_routes(lesson)) as address:
        yield f"{address}/lesson/1"


@pytest.mark.parametrize(
    ("name", "width"),
    [("deadmansdraw", 390), ("deadmansdraw", 1920), ("blef", 1280), ("euchre", 1280)],
)
def test_a_question_is_answered_and_explained(
    browser: Browser, name: str, width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a card or pile where one is a choice, then by key; the match is a click away."""
    screen = {"viewport": {"width": width, "height": 844}, "reduced_motion": "reduce"}
    with lesson_of(name, tmp_path, monkeypatch) as url, visited(browser, **screen) as page:
        page.goto(url)
        expect(page.locator(".choice:focus")).to_have_count(1)
        if name == "euchre":
            expect(page.locator("#headline")).to_contain_text(re.compile(r"core: you \d, they \d"))
        picture(page, f"lesson-{name}-{width}-asked")
        assert serious(page) == []
        assert too_wide(page) == {}
        if page.locator(".few").count():
            expect(page.locator("#moves .choice:not(:disabled)").last).to_be_in_viewport()
        offered = page.locator("#board .offered")
        with page.expect_navigation():
            (offered if offered.count() else page.locator("#moves .choice:visible")).first.click()
        expect(page.get_by_role("status")).to_contain_text("keeps")
        expect(page.locator("#ask")).to_contain_text("Then you chose")
        picture(page, f"lesson-{name}-{width}-told")
        assert serious(page) == []
        assert too_wide(page) == {}
        with page.expect_navigation():
            page.get_by_role("link", name="Next question").click()
        expect(page.locator("h1")).to_contain_text("Question 2 of 3")
        expect(page.locator(".choice:focus")).to_have_count(1)
        with page.expect_navigation():
            page.keyboard.press("1" if page.locator(".few").count() else "Enter")
        expect(page.get_by_role("status")).to_contain_text("keeps")
        page.get_by_role("link", name="There it is in the match").click()
        expect(page.locator("#match")).to_have_attribute("data-ready", "yes")


def test_a_lesson_goes_without_script_and_is_remembered(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first answer to a question counts, in the file that the terminal's lesson has, too."""
    with (
        lesson_of("deadmansdraw", tmp_path, monkeypatch) as url,
        visited(browser, java_script_enabled=False) as page,
    ):
        page.goto(url)
        for _ in range(3):
            with page.expect_navigation():
                page.locator("#moves .choice").first.click()
            expect(page.get_by_role("status")).to_contain_text("keeps")
            if page.get_by_role("link", name="Next question").count():
                with page.expect_navigation():
                    page.get_by_role("link", name="Next question").click()
        expect(page.locator("#ask")).to_contain_text("of 3 answered well")
        cards = Lessons.read(data_folder() / "lessons.json").cards
        assert sum(one.due.year > 1 for one in cards) == 3
        page.goto(url)
        assert page.locator("#moves").count() == 0
