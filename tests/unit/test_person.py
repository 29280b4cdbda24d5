"""What a person at a terminal may type, and how choices are listed."""

import pytest

from cardsharp.blef.actions import CHECK, name_of
from workbench.show.screen import Choice, matching

EVERY = [Choice(str(action), name_of(action), action) for action in range(CHECK + 1)]


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("11", ["Pair of aces"]),
        ("PAIR OF ACES", ["Pair of aces"]),
        ("pair aces", ["Pair of aces"]),
        ("flush hearts", ["Flush, hearts"]),
        ("three aces", ["Three of a kind, aces"]),
        ("big straight", ["Big straight (10-A)"]),
        ("great flush hearts", ["Great straight flush (9-A), hearts"]),
        ("check", ["Check"]),
        ("che", ["Check"]),
        ("hi ki", ["High card, king"]),
        ("aces nines", []),
        ("89", []),
        ("", []),
        ("²", []),
    ],
)
def test_a_move_is_known_by_its_number_its_name_or_words_of_it(text: str, means: list[str]) -> None:
    assert [one.name for one in matching(text, EVERY)] == means
