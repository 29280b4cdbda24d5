"""Browser tests of every page at three widths, light and dark.

A snapshot of pixels would differ between machines with other fonts. `layout.txt` holds the position
of each part of a page, which depends less on them. It was written with the fonts that Debian's
Chromium recommends (`fonts-liberation`); without any such font headings are narrower. General
rules, such as that texts do not overlap, are checked on each page. `LAYOUT=write make test-browser`
writes the file anew; `PICTURES=folder make test-browser` saves a picture of every page too.

The last tests plant faults and check that the other tests would detect them.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect
from support.arena_server import ADMIN, ALICE, BOB, PASSWORDS, running_arena
from support.browser import (
    layout_sketch,
    layout_violations,
    open_page,
    overflowing_elements,
    save_screenshot,
    serious_axe_violations,
)
from support.contests import spectated_contest, team_names
from support.recordings import SAMPLE
from support.stored_matches import FAST_STRATEGIES, sample_match, serve_matches, with_names

from cardsharp.contest.view.pages import standalone_contest_page
from cardsharp.pages.analysis_view import build_analysis_view
from cardsharp.pages.match_pages import standalone_match_page
from cardsharp.pages.rendered_match import render_match
from cardsharp.play.catalog import get_game
from cardsharp_tools.cli import main
from cardsharp_tools.local_play.game_service import unstarted_game_service

LAYOUT_FILE = Path(__file__).with_name("layout.txt")
UPDATES_LAYOUT = os.environ.get("LAYOUT") == "write"
WIDTHS = (390, 1024, 1600)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
AXE_SCREENS = ((390, "light"), (1600, "dark"))
"""Where axe looks: colours are those of a scheme, whatever the width."""

LONG_NAME = "The Very Long Name of a Team That Would Not Stop, Ever, for Anybody"
UNBROKEN_NAME = "W" * 60

PageSource = Callable[[Path], AbstractContextManager[str]]
"""What serves or writes pages with the help of a folder, and where they are then."""


@pytest.fixture(scope="module")
def page_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[PageSource], str]]:
    """Return a function that gives the address of a source's pages; it starts sources on demand."""
    with ExitStack() as stack:
        yield cache(lambda source: stack.enter_context(source(tmp_path_factory.mktemp("shelf"))))


@contextmanager
def serve_sample_matches(folder: Path) -> Iterator[str]:
    """Serve the pages of a log with matches of all games, one of them live."""
    logged_matches = {name: sample_match(name) for name in FAST_STRATEGIES}
    logged_matches["long"] = with_names(logged_matches["deadmansdraw"], LONG_NAME, UNBROKEN_NAME)
    logged_matches |= {
        f"{name}-{number}": logged_matches[name] for number in range(5) for name in FAST_STRATEGIES
    }
    for match_index, (name, (record, moves)) in enumerate(logged_matches.items()):
        logged_matches[name] = (
            replace(record, started_at=record.started_at + timedelta(minutes=match_index)),
            moves,
        )
    record, moves = sample_match("deadmansdraw", 3)
    with serve_matches(folder, logged_matches) as (log, address):
        lease = log.acquire_lease("live", "test", timedelta(minutes=5), record.header)
        log.write_facts(lease, {move.sequence: move.facts for move in moves[:30] if move.facts})
        yield address


@contextmanager
def serve_empty_log(folder: Path) -> Iterator[str]:
    with serve_matches(folder, {}) as (_, address):
        yield address


@contextmanager
def serve_arena(folder: Path) -> Iterator[str]:
    """Serve an arena with matches in different states, with several tags."""
    with running_arena(folder) as (server, client):
        for number in range(9):
            tags = [f"Day1_Round{number % 3 + 1}", "Day1", *([LONG_NAME] if number == 4 else [])]
            match = server.create_match_and_get_id(
                [ALICE, BOB][:: 1 if number % 2 else -1], tags=tags
            )
            for _ in range(number):
                for player in (ALICE, BOB):
                    client.post(f"/api/matches/{match}", player, {"etype": "Draw", "autopick": 1})
            if number > 5:
                client.request(
                    "DELETE", f"/api/matches/{match}/terminate", ADMIN, {"winnerId": ALICE}
                )
        yield server.url


def contest_source(number: int, decided_count: int | None, practice: int = 0) -> PageSource:
    @contextmanager
    def open_contest(folder: Path) -> Iterator[str]:
        for spectated in spectated_contest(folder, team_names(number), decided_count, practice):
            yield spectated.url

    return open_contest


@contextmanager
def serve_blef(_folder: Path) -> Iterator[str]:
    with unstarted_game_service(get_game("blef")) as front, front as running:
        yield running.url


@contextmanager
def write_page_files(folder: Path) -> Iterator[str]:
    """Write pages that are files: of matches, of a contest, and of statistics."""
    page_texts = {}
    for name in ("deadmansdraw", "euchre"):
        match = render_match(*sample_match(name))
        page_texts[name] = standalone_match_page(match, build_analysis_view(match))
    for spectated in spectated_contest(folder, team_names(8), None):
        page_texts["contest"] = standalone_contest_page(spectated.records)
    for name, text in page_texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    statistics = folder / "statistics.html"
    assert main(["stats", str(SAMPLE.file), "--limit", "2", "--html", str(statistics)]) == 0
    yield folder.as_uri()


PAGES: dict[str, tuple[PageSource, str]] = {
    "list": (serve_sample_matches, "/matches"),
    "list-empty": (serve_empty_log, "/matches"),
    "no-such-match": (serve_sample_matches, "/matches/none"),
    **{
        f"{game}-{moment}": (serve_sample_matches, f"/matches/{game}{number}")
        for game in FAST_STRATEGIES
        for moment, number in (("start", "#1"), ("middle", "#23"), ("end", ""))
    },
    "long-names": (serve_sample_matches, "/matches/long#30"),
    "live": (serve_sample_matches, "/matches/live"),
    "file-deadmansdraw": (write_page_files, "/deadmansdraw.html"),
    "file-euchre": (write_page_files, "/euchre.html"),
    "arena-list": (serve_arena, "/matches"),
    "arena-list-none": (serve_arena, "/matches?tags=none"),
    "arena-tags": (serve_arena, "/matches/statistics"),
    "arena-statistics": (serve_arena, "/matches/statistics?tag=Day1"),
    "arena-no-match": (serve_arena, f"/matches/{'0' * 24}"),
    "arena-api": (serve_arena, "/docs"),
    "blef-lobby": (serve_blef, "/"),
    "blef-api": (serve_blef, "/v2/docs"),
    "contest-before": (contest_source(5, 0), ""),
    "contest-8": (contest_source(8, 5), ""),
    "contest-20": (contest_source(20, 24, 90), ""),
    "contest-64": (contest_source(64, 70), ""),
    "contest-over": (contest_source(8, None), ""),
    "contest-file": (write_page_files, "/contest.html"),
    "statistics-file": (write_page_files, "/statistics.html"),
}
"""Each page there is, and in which state, by name."""


def read_layouts() -> dict[str, str]:
    lines = LAYOUT_FILE.read_text(encoding="utf-8").splitlines() if LAYOUT_FILE.exists() else []
    return dict(line.split(": ", 1) for line in lines)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_in_order_on_every_screen(
    browser: Browser, page_address: Callable[[PageSource], str], name: str
) -> None:
    """A page is accessible, nothing overflows or is covered, and each part keeps its position."""
    user = ALICE if name == "arena-list" else ADMIN
    login = {"username": user, "password": PASSWORDS[user]}
    (source, path), is_missing = PAGES[name], name == "no-such-match"
    address = page_address(source) + path
    with open_page(
        browser, http_credentials=login, reduced_motion="reduce", expected_errors=is_missing
    ) as page:
        open_complete_page(page, address)
        inspections = {width: inspect_page(page, name, width) for width in WIDTHS}
        assert overflowing_elements(page) == {}
    assert {width: violations for width, (_, violations) in inspections.items() if violations} == {}
    sketches = {f"{name} {width}": sketch for width, (sketch, _) in inspections.items()}
    if UPDATES_LAYOUT:
        update_layout_file(sketches)
    assert {key: read_layouts().get(key) for key in sketches} == sketches


def open_complete_page(page: Page, address: str) -> None:
    """Open a page and wait until its script has loaded everything."""
    page.goto(address)
    if page.locator("#lobby").count():
        expect(page.locator("#none")).to_be_visible()
    if page.locator(".match").count():
        expect(page.locator(".match")).to_have_attribute("data-ready", "yes")
    if page.locator(".match[data-judged]").count() and "live" not in address:
        expect(page.locator("#summary table")).to_be_visible()


def inspect_page(page: Page, name: str, width: int) -> tuple[str, list[str]]:
    """Return the layout sketch of a page at a width, and its violations in both schemes."""
    page.set_viewport_size({"width": width, "height": 900})
    violations = layout_violations(page, check_touch_targets=width == WIDTHS[0])
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        save_screenshot(page, f"{name}-{width}-{scheme}")
        if (width, scheme) in AXE_SCREENS:
            violations += serious_axe_violations(page)
    return layout_sketch(page), violations


def update_layout_file(sketches: dict[str, str]) -> None:
    layouts = read_layouts() | sketches
    order = [f"{name} {width}" for name in PAGES for width in WIDTHS]
    lines = [f"{key}: {layouts[key]}\n" for key in order if key in layouts]
    LAYOUT_FILE.write_text("".join(lines), encoding="utf-8")


def test_the_layout_file_lists_exactly_the_existing_pages() -> None:
    assert set(read_layouts()) == {f"{name} {width}" for name in PAGES for width in WIDTHS}


# --- that the tests of pages would notice --------------------------------------------------------


def test_faulty_pages_are_detected(browser: Browser) -> None:
    with open_page(browser, viewport={"width": 390, "height": 600}) as page:
        page.set_content("<html lang=en><title>x</title><button></button></html>")
        assert [violation.split(" ")[0] for violation in serious_axe_violations(page)] == [
            "button-name"
        ]
        page.set_content("<p style='width: 500px'>wide</p>")
        assert 390 in overflowing_elements(page)
    with pytest.raises(AssertionError, match="no such thing"), open_page(browser) as page:
        page.set_content("<script>throw new Error('no such thing')</script>")
