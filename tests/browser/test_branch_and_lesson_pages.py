"""Browser tests of branches of a match and of lessons.

A branch is begun on the page of its match, played, and viewed in a file. The questions of a
lesson are answered by keys and by forms, and the answers are remembered.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from support.browser import (
    check_page,
    next_question_number,
    open_page,
    overflowing_elements,
    play_first_choice,
    save_screenshot,
    serious_axe_violations,
)
from support.cli import isolate_environment
from support.game_room import play_branch
from support.stored_matches import sample_match

from cardsharp.pages.match_pages import standalone_match_page
from cardsharp.pages.rendered_match import render_branches, render_match
from cardsharp.play.catalog import get_game
from cardsharp_tools.cli import main
from cardsharp_tools.cli.commands.lesson import LessonOptions, start_lesson
from cardsharp_tools.game_rooms.lesson_pages import lesson_routes
from cardsharp_tools.game_rooms.lessons import ExerciseDeck
from cardsharp_tools.game_rooms.match_branch import find_branch_point
from cardsharp_tools.game_rooms.room_server import serve_match_pages
from cardsharp_tools.match_sources.match_logs import (
    data_folder,
    default_store,
    import_match,
    open_log,
)
from cardsharp_tools.match_sources.sources import find_source


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_a_branch_is_played_from_a_step(
    browser: Browser, width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A branch is begun by mouse, played by keys with an undo, and listed under its match."""
    isolate_environment(monkeypatch, tmp_path)
    record, moves = sample_match("deadmansdraw")
    with open_log(default_store()) as log:
        import_match(record, moves, log)
    screen = {"viewport": {"width": width, "height": 844}, "reduced_motion": "reduce"}
    with serve_match_pages(find_source(None)) as url, open_page(browser, **screen) as page:
        page.goto(f"{url}/matches/{record.match_id}#{len(moves) - 12}")
        expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
        page.get_by_label("Cards").select_option("same")
        page.get_by_label("Against").select_option("draw-3")
        assert overflowing_elements(page) == {}
        page.get_by_role("button", name="Play on from this step").click()
        expect(page.locator("#seat")).to_have_attribute("data-ready", "yes")
        expect(page.locator("#news")).to_contain_text("The cards come in the same order.")
        expect(page.locator("#moves")).to_be_visible()
        save_screenshot(page, f"branch-seat-{width}")
        expect(page.locator("#undoing")).to_have_count(0)
        number = next_question_number(page)
        play_first_choice(page)
        number = next_question_number(page, number)
        page.keyboard.press("u")
        number = next_question_number(page, number)
        expect(page.locator("#news")).to_contain_text("Taken back")
        while number:
            play_first_choice(page)
            number = next_question_number(page, number)
        assert serious_axe_violations(page) == []
        page.goto(f"{url}/matches/{record.match_id}")
        expect(page.locator("#branches li")).to_contain_text("the same cards")
        check_page(page, f"branch-match-{width}")


def test_a_match_file_shows_the_steps_of_a_branch(browser: Browser, tmp_path: Path) -> None:
    """A branch in a file has its own steps, and a link leads back to the original match."""
    record, moves = sample_match("deadmansdraw")
    branch = play_branch(find_branch_point(record, moves, 9)).match_log_records()[0]
    rendered_branches = {branch[0].match_id: render_match(*branch)}
    branch_ids = {record.match_id: [*rendered_branches]}
    branches = render_branches(
        record.match_id, lambda match_id: branch_ids.get(match_id, ()), rendered_branches.get
    )
    file = tmp_path / "match.html"
    file.write_text(standalone_match_page(render_match(record, moves), None, branches))
    with open_page(browser) as page:
        page.goto(file.as_uri())
        expect(page.locator("#match")).to_have_attribute("data-ready", "yes")
        page.locator("[data-branch]").last.click()
        step, total = branches[0].branch.step, len(branch[1])
        expect(page.locator("#count")).to_have_text(f"{step} of {total}")
        assert page.locator("#turns a").count() == total
        expect(page.locator("#happened")).to_contain_text(
            branches[0].match.steps[step - 1].description_without_player
        )
        page.get_by_role("link", name="The match as it was played").click()
        expect(page.locator("#count")).to_have_text(f"1 of {len(moves)}")


# --- a lesson ------------------------------------------------------------------------------------


OPPONENTS = {"deadmansdraw": "draw-3", "blef": "threshold", "euchre": "rules"}


@contextmanager
def serve_lesson(name: str, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the address of a lesson about a match in which a person took the first choices."""
    isolate_environment(patch, folder)
    patch.setattr("sys.stdin", io.StringIO("1\n88\n" * 4000))
    assert main([name, "versus", OPPONENTS[name], "--seed", "3"]) == 0
    lesson = start_lesson(get_game(name), LessonOptions(count=3))
    with serve_match_pages(find_source(None), extra_routes=lesson_routes(lesson)) as address:
        yield f"{address}/lesson/1"


@pytest.mark.parametrize(
    ("name", "width"),
    [("deadmansdraw", 390), ("deadmansdraw", 1920), ("blef", 1280), ("euchre", 1280)],
)
def test_a_question_is_answered_and_explained(
    browser: Browser, name: str, width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A question is answered by a click on a card or pile, and the next one by a key.

    The answer is explained, and a link leads to the match.
    """
    screen = {"viewport": {"width": width, "height": 844}, "reduced_motion": "reduce"}
    with serve_lesson(name, tmp_path, monkeypatch) as url, open_page(browser, **screen) as page:
        page.goto(url)
        expect(page.locator("#asked")).to_be_focused()
        if name == "euchre":
            expect(page.locator("#headline")).to_contain_text(re.compile(r"core: you \d, they \d"))
        check_page(page, f"lesson-{name}-{width}-asked")
        if page.locator(".few").count():
            expect(page.locator(".choice[form=moves]:not(:disabled)").last).to_be_in_viewport()
        choice_elements = page.locator("#board .choice")
        with page.expect_navigation():
            (
                choice_elements
                if choice_elements.count()
                else page.locator(".choice[form=moves]:visible")
            ).first.click()
        expect(page.get_by_role("status")).to_contain_text("Value of ")
        expect(page.locator("#ask")).to_contain_text("In the match you chose")
        check_page(page, f"lesson-{name}-{width}-told")
        with page.expect_navigation():
            page.get_by_role("link", name="Next question").click()
        expect(page.locator("h1")).to_contain_text("Question 2 of 3")
        expect(page.locator("#asked")).to_be_focused()
        with page.expect_navigation():
            page.keyboard.press("1") if page.locator(".few").count() else page.keyboard.type("88")
        expect(page.get_by_role("status")).to_contain_text("Value of ")
        page.get_by_role("link", name="View it in the match").click()
        expect(page.locator("#match")).to_have_attribute("data-ready", "yes")


def test_a_lesson_works_without_script_and_saves_its_answers(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first answer to a question counts, in the file of the terminal's lesson too."""
    with (
        serve_lesson("deadmansdraw", tmp_path, monkeypatch) as url,
        open_page(browser, java_script_enabled=False) as page,
    ):
        page.goto(url)
        for _ in range(3):
            with page.expect_navigation():
                page.locator(".choice[form=moves]").first.click()
            expect(page.get_by_role("status")).to_contain_text("Value of ")
            if page.get_by_role("link", name="Next question").count():
                with page.expect_navigation():
                    page.get_by_role("link", name="Next question").click()
        expect(page.locator("#ask")).to_contain_text("of 3 answered correctly")
        cards = ExerciseDeck.read(data_folder() / "lessons.json").cards
        assert sum(card.due.year > 1 for card in cards) == 3
        page.goto(url)
        assert page.locator("#moves").count() == 0
