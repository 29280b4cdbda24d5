"""How a page lies on a screen: what is wrong with it, and a sketch of it that no font changes."""

from pathlib import Path

from playwright.sync_api import Page

FINGER = 44
"""Pixels that a finger needs (WCAG 2.5.5)."""


def faults(page: Page, *, touched: bool) -> list[str]:
    """What nobody would want to look at: wider than the screen, texts over each other, cut off.

    With `touched` also what is too small for a finger.
    """
    found: list[str] = page.evaluate(f"{_SCRIPT}; faults({FINGER if touched else 0})")
    return found


def sketch(page: Page) -> str:
    """The parts of the page in its own order: the twelfths of its width that each takes.

    A sign says where a part lies from the one before it: `|` beside it, `/` below, `^` above. Texts
    have other sizes on another machine; which part is where has not.
    """
    return str(page.evaluate(f"{_SCRIPT}; sketch()"))


_SCRIPT = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")
