"""What a stored deal of Euchre tells of itself."""

import pytest

from cardsharp.euchre.cards import DECK
from cardsharp.euchre.records import BidEvent, DealKey, Event, PlayEvent, Record
from cardsharp.euchre.replay import is_over

HEARTS = 2
PASSES = [BidEvent(ours=False, round=n // 4, pos=n % 4, suit=-1, alone=False) for n in range(8)]


def called(plays: int, players: int = 4) -> list[Event]:
    """A first call, alone where three play, and so many plays."""
    call = BidEvent(ours=True, round=0, pos=0, suit=HEARTS, alone=players == 3)
    cards = zip(range(plays), DECK, strict=False)
    told = [PlayEvent(n // players, n % players, n % players, card) for n, card in cards]
    return [call, *told]


@pytest.mark.parametrize(
    ("events", "over"),
    [
        ([], False),
        (PASSES[:7], False),
        (PASSES, True),
        (called(0), False),
        (called(19), False),
        (called(20), True),
        (called(14, players=3), False),
        (called(15, players=3), True),
    ],
)
def test_a_deal_is_over_when_all_was_told(events: list[Event], *, over: bool) -> None:
    assert is_over(Record(DealKey("t", 0, 0), DECK, tuple(events))) is over
