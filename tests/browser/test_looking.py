"""That the tests of pages would notice: planted faults are found."""

import pytest
from playwright.sync_api import Browser
from support.browser import overflows, serious, visited


def test_what_keeps_people_out_is_found(browser: Browser) -> None:
    with visited(browser) as page:
        page.set_content("<html lang=en><title>x</title><button></button></html>")
        assert [found.split(" ")[0] for found in serious(page)] == ["button-name"]


def test_an_error_in_a_script_fails_the_test(browser: Browser) -> None:
    with pytest.raises(AssertionError, match="no such thing"), visited(browser) as page:
        page.set_content("<script>throw new Error('no such thing')</script>")


def test_what_is_wider_than_the_screen_is_found(browser: Browser) -> None:
    with visited(browser, viewport={"width": 390, "height": 600}) as page:
        page.set_content("<p style='width: 500px'>wide</p>")
        assert overflows(page)
