"""A headless Chromium for the tests of pages, and what holds of every page that it opens.

How it lies on a screen, too: what is wrong with it, and a sketch of it that no font changes.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Playwright, Request
from playwright.sync_api import TimeoutError as TooLate

from support.waiting import HANG_SECONDS

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = (
    "There is no Chromium for the tests of the pages. Install one (Debian and Ubuntu: apt-get "
    "install chromium; macOS: brew install --cask chromium; anywhere: .venv/bin/playwright install "
    "chromium), or set CHROMIUM to the program."
)
MOST_MILLISECONDS = HANG_SECONDS * 1000
"""How long a page is waited for; one that shows what is expected is not waited for any longer."""

PICTURES = os.environ.get("PICTURES")
"""A folder for pictures of what was looked at; none are taken without it."""


def chromium_path(playwright: Playwright) -> str | None:
    """The program: that of $CHROMIUM, the installed one, or the one that Playwright fetched."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    own = playwright.chromium.executable_path
    return found or (own if Path(own).is_file() else None)


@contextmanager
def open_page(
    browser: Browser, *, expected_errors: bool = False, **context: object
) -> Iterator[Page]:
    """A page in a browser that knows nothing yet; `context` is its screen, scheme or user.

    A script's error, what the page's policy forbids, an error on the console, and a request to a
    second host fail the test; that the page itself is refused does not where it is to be.
    """
    opened = browser.new_context(**context)
    opened.set_default_timeout(MOST_MILLISECONDS)
    page = opened.new_page()
    trouble: list[str] = []
    hosts: set[str] = set()

    def requested(request: Request) -> None:
        if host := urlsplit(request.url).netloc:
            hosts.add(host)

    def logged(said: ConsoleMessage) -> None:
        if said.type == "error" and not (expected_errors and "status of 4" in said.text):
            trouble.append(f"console: {said.text}")

    page.on("request", requested)
    page.on("pageerror", lambda error: trouble.append(f"script: {error}"))
    page.on("console", logged)
    try:
        yield page
        assert len(hosts) <= 1, f"requests went to {sorted(hosts)}"
        assert not trouble, trouble
    finally:
        opened.close()


def serious_axe_violations(page: Page) -> list[str]:
    """What axe calls serious or critical of the page as it stands: rule, and where it is broken."""
    page.evaluate(
        "document.getAnimations().forEach(one => one.finish())"
    )  # half faded in is no fault
    page.evaluate(_AXE)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{one['id']} at {', '.join(str(node['target']) for node in one['nodes'])}: {one['help']}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
    ]


def scroll_to_end(region: Locator) -> None:
    """Scroll by the keyboard; a browser drops the keys that come before its first painting."""
    region.focus()
    for _ in range(300):
        region.press("End")
        with suppress(TooLate):
            region.page.wait_for_function(
                "one => one.scrollTop > 0", arg=region.element_handle(), timeout=1000
            )
            return


def next_question_number(page: Page, after: str = "") -> str:
    """The number of the next question after that one; nothing when the match is over."""
    fresh = page.locator(f'#moves input[name=number]:not([value="{after}"]), .over')
    fresh.first.wait_for(state="attached")
    found = page.locator("#moves input[name=number]")
    return found.get_attribute("value") or "" if found.count() else ""


def play_first_choice(page: Page) -> None:
    """Play the first choice by its key; where a tenth begins like it, only Enter plays it."""
    ambiguous = page.locator("#moves [data-digits='10']").count()
    page.keyboard.press("1")
    if ambiguous:
        page.keyboard.press("Enter")


def save_screenshot(page: Page, name: str) -> None:
    """Keep a picture of the page where $PICTURES names a folder."""
    if PICTURES:
        safe = re.sub(r"[^\w.-]", "-", name)
        page.evaluate(_UNSTUCK, "static")  # else they lie over the middle of a long picture
        page.screenshot(path=Path(PICTURES) / f"{safe}.png", full_page=True)
        page.evaluate(_UNSTUCK, "")


_UNSTUCK = "to => document.querySelectorAll('.controls').forEach(one => one.style.position = to)"

# A policy forbids scripts from elsewhere on a page; what the debugger evaluates it does not.
_AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


# --- how a page lies on a screen ---------------------------------------------------------------

MIN_TOUCH_TARGET = 44  # pixels that a finger needs (WCAG 2.5.5)


def layout_violations(page: Page, *, check_touch_targets: bool) -> list[str]:
    """What nobody would want to look at: wider than the screen, texts over each other, cut off.

    With `touched` also what is too small for a finger.
    """
    return page.evaluate(f"{_SCRIPT}; faults({MIN_TOUCH_TARGET if check_touch_targets else 0})")


SCREEN_WIDTHS = (360, 390, 768, 1024, 1280, 1440, 1600, 1920)
"""Pixels of the screens on which nothing may have to be scrolled sideways."""


def overflowing_elements(page: Page) -> dict[int, list[str]]:
    """What of a page is wider than its place, by the width of the screen."""
    found: dict[int, list[str]] = {}
    before = page.viewport_size
    for width in SCREEN_WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found[width] = page.evaluate(f"{_SCRIPT}; wide()")
    if before:
        page.set_viewport_size(before)
    return {width: wrong for width, wrong in found.items() if wrong}


def check_page(page: Page, name: str) -> None:
    """A picture is kept; axe finds nothing, and at no width is anything wider than its place."""
    save_screenshot(page, name)
    for wrong in (serious_axe_violations(page), overflowing_elements(page)):
        assert not wrong, wrong


def layout_sketch(page: Page) -> str:
    """The parts of the page in its own order: the twelfths of its width that each takes.

    A sign says where a part lies from the one before it: `|` beside it, `/` below, `^` above. Texts
    have other sizes on another machine; which part is where has not.
    """
    return str(page.evaluate(f"{_SCRIPT}; sketch()"))


_SCRIPT = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")
