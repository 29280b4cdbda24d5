"""Parameters are read as the original reads them, but for what made it fail."""

import signal

import pytest

from cardsharp.blef.params import read_number

NO_NUMBERS = ("", " ", "abc", "NaN", "NA", "TRUE", "1_0", "1,1", "0x", "1e", "--1", "1L")
NO_NUMBERS += ("\u0661", "\u00a01")


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number_is_none(text: str) -> None:
    """Also what Python would take for one."""
    assert read_number(text) is None


def test_no_text_takes_the_square_of_its_length() -> None:
    """This one would take three minutes of the process, not some milliseconds."""

    def give_up(*_: object) -> None:
        pytest.fail("ten seconds of this process were not enough")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, 10)
    try:
        assert read_number("1" * 100_000 + "x") is None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
