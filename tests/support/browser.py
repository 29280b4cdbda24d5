"""Headless Chromium for the tests of pages, and checks of every page that it opens.

The module also checks a page's layout on a screen, and sketches it independently of
fonts.
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

CHROMIUM_PROGRAMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
CHROMIUM_ADVICE = (
    "There is no Chromium for the tests of the pages. Install one (Debian and Ubuntu: apt-get "
    "install chromium; macOS: brew install --cask chromium; anywhere: .venv/bin/playwright install "
    "chromium), or set CHROMIUM to the program."
)
MAX_WAIT_MILLISECONDS = HANG_SECONDS * 1000
"""How long a page is waited for; one that shows what is expected is not waited for any longer."""

SCREENSHOT_FOLDER = os.environ.get("PICTURES")
"""A folder for pictures of what was looked at; none are taken without it."""


def chromium_path(playwright: Playwright) -> str | None:
    """Return the path of $CHROMIUM, an installed Chromium, or Playwright's; None without any."""
    installed_path = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, CHROMIUM_PROGRAMS)), None
    )
    bundled_path = playwright.chromium.executable_path
    return installed_path or (bundled_path if Path(bundled_path).is_file() else None)


@contextmanager
def open_page(
    browser: Browser, *, expected_errors: bool = False, **context: object
) -> Iterator[Page]:
    """Open a page in a fresh browser context; `context` sets its screen, scheme or user.

    A script error, a violation of the page's policy, an error on the console, or a request to a
    second host fails the test. A refused page does not, if `expected_errors` is True.
    """
    browser_context = browser.new_context(**context)
    browser_context.set_default_timeout(MAX_WAIT_MILLISECONDS)
    page = browser_context.new_page()
    errors: list[str] = []
    hosts: set[str] = set()

    def record_host(request: Request) -> None:
        if host := urlsplit(request.url).netloc:
            hosts.add(host)

    def record_console_error(message: ConsoleMessage) -> None:
        if message.type == "error" and not (expected_errors and "status of 4" in message.text):
            errors.append(f"console: {message.text}")

    page.on("request", record_host)
    page.on("pageerror", lambda error: errors.append(f"script: {error}"))
    page.on("console", record_console_error)
    try:
        yield page
        assert len(hosts) <= 1, f"requests went to {sorted(hosts)}"
        assert not errors, errors
    finally:
        browser_context.close()


def serious_axe_violations(page: Page) -> list[str]:
    """Return axe's serious and critical violations on the page: rule, elements, and advice."""
    page.evaluate(
        "document.getAnimations().forEach(one => one.finish())"
    )  # half faded in is no fault
    page.evaluate(_AXE)
    report = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        (
            f"{violation['id']} at "
            f"{', '.join(str(node['target']) for node in violation['nodes'])}: {violation['help']}"
        )
        for violation in report["violations"]
        if violation["impact"] in {"serious", "critical"}
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


def next_question_number(page: Page, previous_number: str = "") -> str:
    """Wait for the next question, and return its number; "" when the match is over."""
    next_state = page.locator(f'#moves input[name=number]:not([value="{previous_number}"]), .over')
    next_state.first.wait_for(state="attached")
    inputs = page.locator("#moves input[name=number]")
    return inputs.get_attribute("value") or "" if inputs.count() else ""


def play_first_choice(page: Page) -> None:
    """Play the first choice by its key; press Enter if a tenth choice shares that key."""
    ambiguous = page.locator(".choice[data-digits='10']").count()
    page.keyboard.press("1")
    if ambiguous:
        page.keyboard.press("Enter")


def save_screenshot(page: Page, name: str) -> None:
    """Save a screenshot of the page if $PICTURES names a folder."""
    if SCREENSHOT_FOLDER:
        safe_name = re.sub(r"[^\w.-]", "-", name)
        page.evaluate(
            _SET_CONTROLS_POSITION, "static"
        )  # else they lie over the middle of a long picture
        page.screenshot(path=Path(SCREENSHOT_FOLDER) / f"{safe_name}.png", full_page=True)
        page.evaluate(_SET_CONTROLS_POSITION, "")


_SET_CONTROLS_POSITION = (
    "to => document.querySelectorAll('.controls').forEach(one => one.style.position = to)"
)

# A policy forbids scripts from elsewhere on a page; what the debugger evaluates it does not.
_AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


# --- how a page lies on a screen ---------------------------------------------------------------

MIN_TOUCH_TARGET = 44  # pixels that a finger needs (WCAG 2.5.5)


def layout_violations(page: Page, *, check_touch_targets: bool) -> list[str]:
    """Return layout faults: too wide for the screen, overlapping texts, texts cut off.

    With `check_touch_targets` also elements that are too small for a finger.
    """
    return page.evaluate(f"{_SCRIPT}; faults({MIN_TOUCH_TARGET if check_touch_targets else 0})")


SCREEN_WIDTHS = (360, 390, 768, 1024, 1280, 1440, 1600, 1920)
"""Pixels of the screens on which nothing may have to be scrolled sideways."""


def overflowing_elements(page: Page) -> dict[int, list[str]]:
    """Return the elements that are wider than their container, by the screen's width."""
    overflow_by_width: dict[int, list[str]] = {}
    previous_size = page.viewport_size
    for width in SCREEN_WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        overflow_by_width[width] = page.evaluate(f"{_SCRIPT}; wide()")
    if previous_size:
        page.set_viewport_size(previous_size)
    return {width: elements for width, elements in overflow_by_width.items() if elements}


def elements_out_of_view(page: Page, selector: str) -> list[str]:
    """Return the matching elements that a user would have to scroll to see completely."""
    return page.evaluate(f"(selector) => {{ {_SCRIPT}; return outOfView(selector); }}", selector)


def check_page(page: Page, name: str) -> None:
    """Save a screenshot; assert that axe finds nothing and that no element overflows."""
    save_screenshot(page, name)
    for violations in (serious_axe_violations(page), overflowing_elements(page)):
        assert not violations, violations


def layout_sketch(page: Page) -> str:
    """Return the page's parts in reading order, each with its width in twelfths.

    A sign says where a part lies from the previous one: `|` beside it, `/` below, `^` above.
    The sketch is the same on every machine, although the sizes of texts differ.
    """
    return str(page.evaluate(f"{_SCRIPT}; sketch()"))


_SCRIPT = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")
