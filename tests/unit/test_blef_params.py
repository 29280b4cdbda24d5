"""Parameters are read as the original reads them, but for what made it fail."""

import math
import signal

import pytest

from cardsharp.blef.params import read_number, read_uuid

NUMBERS = {
    "1": 1,
    "1.0": 1,
    "1e0": 1,
    "+1": 1,
    " 1": 1,
    "1 ": 1,
    "\t1\n": 1,
    "-1": -1,
    ".5": 0.5,
    "5.": 5,
    "1e9": 1e9,
    "0x1F": 31,
    "0X1f": 31,
    "0x1p4": 16,
    "0x" + "f" * 400: math.inf,
    "1e999": math.inf,
    "-1e999": -math.inf,
    "Inf": math.inf,
    "-inf": -math.inf,
    "infinity": math.inf,
    "-0x" + "f" * 400: -math.inf,
}
NO_NUMBERS = ("", " ", "abc", "NaN", "NA", "TRUE", "1_0", "1,1", "0x", "1e", "--1", "1L")
NO_NUMBERS += ("\u0661", "\u00a01")
UUID = "01c0905c-1c0b-49b6-97c4-e7cb01262e89"


@pytest.mark.parametrize(("text", "number"), NUMBERS.items())
def test_a_number_is_read(text: str, number: float) -> None:
    assert read_number(text) == number


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


def test_a_uuid_is_read_as_a_whole_and_in_lower_case() -> None:
    assert read_uuid(UUID.upper()) == UUID
    for text in (f"x{UUID}", f"{UUID}\n", f"{{{UUID}}}", UUID.replace("-", ""), "", "abc"):
        assert read_uuid(text) is None
