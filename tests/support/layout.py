"""How a page lies on a screen: what is wrong with it, and a sketch of it that no font changes."""

from pathlib import Path

from playwright.sync_api import Page

FINGER = 44  # pixels that a finger needs (WCAG 2.5.5)


def faults(page: Page, *, touched: bool) -> list[str]:
    """What nobody would want to look at: wider than the screen, texts over each other, cut off.

    With `touched` also what is too small for a finger.
    """
    found: list[str] = page.evaluate(f"{_SCRIPT}; faults({FINGER if touched else 0})")
    return found


WIDTHS = (360, 390, 768, 1024, 1280, 1440, 1600, 1920)
"""Pixels of the screens on which nothing may have to be scrolled sideways."""


def too_wide(page: Page) -> dict[int, list[str]]:
    """What of a page is wider than its place, by the width of the screen."""
    found: dict[int, list[str]] = {}
    before = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found[width] = page.evaluate(f"{_SCRIPT}; wide()")
    if before:
        page.set_viewport_size(before)
    return {width: wrong for width, wrong in found.items() if wrong}


def sketch(page: Page) -> str:
    """The parts of the page in its own order: the twelfths of its width that each takes.

    A sign says where a part lies from the one before it: `|` beside it, `/` below, `^` above. Texts
    have other sizes on another machine; which part is where has not.
    """
    return str(page.evaluate(f"{_SCRIPT}; sketch()"))


_SCRIPT = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")
