"""Every page at three widths, light and dark: it keeps nobody out, and each part is in place.

A snapshot of pixels would differ from machine to machine with the fonts that it has. What is kept,
in `layout.txt`, is which part of a page is where, which no font changes; what must hold of any
page, such as that no text lies on another, is looked for on each. `LAYOUT=write make test-browser`
writes the file anew; `PICTURES=folder make test-browser` keeps a picture of every page as well.

At last planted faults are found: that the tests of pages would notice.
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
from support.stored_matches import PLAYERS, sample_match, serve_matches, with_names

from cardsharp.contest.view.pages import standalone_contest_page
from cardsharp.pages.analysis_view import build_analysis_view
from cardsharp.pages.match_pages import standalone_match_page
from cardsharp.pages.rendered_match import render_match
from cardsharp.play.catalog import get_game
from cardsharp_tools.cli import main
from cardsharp_tools.local_play.game_service import create_game_service

LAYOUT_FILE = Path(__file__).with_name("layout.txt")
WRITE = os.environ.get("LAYOUT") == "write"
WIDTHS = (390, 1024, 1600)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
AXE = ((390, "light"), (1600, "dark"))
"""Where axe looks: colours are those of a scheme, whatever the width."""

LONG = "The Very Long Name of a Team That Would Not Stop, Ever, for Anybody"
UNBROKEN = "W" * 60

Maker = Callable[[Path], AbstractContextManager[str]]
"""What serves or writes pages with the help of a folder, and where they are then."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Maker], str]]:
    """Return a function that gives the address of a maker's pages; a maker starts on demand."""
    with ExitStack() as stack:
        yield cache(lambda make: stack.enter_context(make(tmp_path_factory.mktemp("shelf"))))


@contextmanager
def matches(folder: Path) -> Iterator[str]:
    """The pages of a log with matches of all games, one of which is still played."""
    logged_matches = {name: sample_match(name) for name in PLAYERS}
    logged_matches["long"] = with_names(logged_matches["deadmansdraw"], LONG, UNBROKEN)
    logged_matches |= {
        f"{name}-{number}": logged_matches[name] for number in range(5) for name in PLAYERS
    }
    for place, (name, (record, moves)) in enumerate(logged_matches.items()):
        logged_matches[name] = (
            replace(record, started_at=record.started_at + timedelta(minutes=place)),
            moves,
        )
    record, moves = sample_match("deadmansdraw", 3)
    with serve_matches(folder, logged_matches) as (log, address):
        lease = log.acquire_lease("live", "test", timedelta(minutes=5), record.header)
        log.write_facts(lease, {move.sequence: move.facts for move in moves[:30] if move.facts})
        yield address


@contextmanager
def no_matches(folder: Path) -> Iterator[str]:
    with serve_matches(folder, {}) as (_, address):
        yield address


@contextmanager
def arena(folder: Path) -> Iterator[str]:
    """An arena with matches at different moments, of several tags."""
    with running_arena(folder) as (server, client):
        for number in range(9):
            tags = [f"Day1_Round{number % 3 + 1}", "Day1", *([LONG] if number == 4 else [])]
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


def contest(number: int, decided: int | None, practice: int = 0) -> Maker:
    @contextmanager
    def open_contest(folder: Path) -> Iterator[str]:
        for show in spectated_contest(folder, team_names(number), decided, practice):
            yield show.address

    return open_contest


@contextmanager
def blef(_folder: Path) -> Iterator[str]:
    with create_game_service(get_game("blef")) as front, front as running:
        yield running.url


@contextmanager
def files(folder: Path) -> Iterator[str]:
    """The pages that are files: of matches, of a contest, and statistics."""
    texts = {}
    for name in ("deadmansdraw", "euchre"):
        match = render_match(*sample_match(name))
        texts[name] = standalone_match_page(match, build_analysis_view(match))
    for show in spectated_contest(folder, team_names(8), None):
        texts["contest"] = standalone_contest_page(show.records)
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    statistics = folder / "statistics.html"
    assert main(["stats", str(SAMPLE.file), "--limit", "2", "--html", str(statistics)]) == 0
    yield folder.as_uri()


PAGES: dict[str, tuple[Maker, str]] = {
    "list": (matches, "/matches"),
    "list-empty": (no_matches, "/matches"),
    "no-such-match": (matches, "/matches/none"),
    **{
        f"{game}-{moment}": (matches, f"/matches/{game}{number}")
        for game in PLAYERS
        for moment, number in (("start", "#1"), ("middle", "#23"), ("end", ""))
    },
    "long-names": (matches, "/matches/long#30"),
    "live": (matches, "/matches/live"),
    "file-deadmansdraw": (files, "/deadmansdraw.html"),
    "file-euchre": (files, "/euchre.html"),
    "arena-list": (arena, "/matches"),
    "arena-list-none": (arena, "/matches?tags=none"),
    "arena-tags": (arena, "/matches/statistics"),
    "arena-statistics": (arena, "/matches/statistics?tag=Day1"),
    "arena-no-match": (arena, f"/matches/{'0' * 24}"),
    "arena-api": (arena, "/docs"),
    "blef-lobby": (blef, "/"),
    "blef-api": (blef, "/v2/docs"),
    "contest-before": (contest(5, 0), ""),
    "contest-8": (contest(8, 5), ""),
    "contest-20": (contest(20, 24, 90), ""),
    "contest-64": (contest(64, 70), ""),
    "contest-over": (contest(8, None), ""),
    "contest-file": (files, "/contest.html"),
    "statistics-file": (files, "/statistics.html"),
}
"""Each page there is, and in which state, by name."""


def read_layouts() -> dict[str, str]:
    lines = LAYOUT_FILE.read_text(encoding="utf-8").splitlines() if LAYOUT_FILE.exists() else []
    return dict(line.split(": ", 1) for line in lines)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_in_order_on_every_screen(
    browser: Browser, place: Callable[[Maker], str], name: str
) -> None:
    """Axe finds nothing, nothing is hidden, cut or too small, and each part is where it was."""
    user = ALICE if name == "arena-list" else ADMIN
    login = {"username": user, "password": PASSWORDS[user]}
    (make, path), missing = PAGES[name], name == "no-such-match"
    address = place(make) + path
    with open_page(
        browser, http_credentials=login, reduced_motion="reduce", expected_errors=missing
    ) as page:
        open_complete_page(page, address)
        looks = {width: looked_at(page, name, width) for width in WIDTHS}
        assert overflowing_elements(page) == {}
    assert {width: wrong for width, (_, wrong) in looks.items() if wrong} == {}
    sketches = {f"{name} {width}": sketch for width, (sketch, _) in looks.items()}
    if WRITE:
        keep(sketches)
    assert {key: read_layouts().get(key) for key in sketches} == sketches


def open_complete_page(page: Page, address: str) -> None:
    """The page with all that its script fetches."""
    page.goto(address)
    if page.locator("#lobby").count():
        expect(page.locator("#none")).to_be_visible()
    if page.locator(".match").count():
        expect(page.locator(".match")).to_have_attribute("data-ready", "yes")
    if page.locator(".match[data-judged]").count() and "live" not in address:
        expect(page.locator("#summary table")).to_be_visible()


def looked_at(page: Page, name: str, width: int) -> tuple[str, list[str]]:
    """The sketch of the page at that width, and what is wrong with it in either scheme."""
    page.set_viewport_size({"width": width, "height": 900})
    wrong = layout_violations(page, check_touch_targets=width == WIDTHS[0])
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        save_screenshot(page, f"{name}-{width}-{scheme}")
        if (width, scheme) in AXE:
            wrong += serious_axe_violations(page)
    return layout_sketch(page), wrong


def keep(sketches: dict[str, str]) -> None:
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
