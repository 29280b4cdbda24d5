"""The deals as a codec over what keeps documents; `test_keep.py` has the contract of the homes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cloud_benches import moto_client
from support.cloud_clock import FakeClock

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import Conflict
from cardsharp.euchre.cards import DECK
from cardsharp.euchre.records import (
    BidEvent,
    DealKey,
    DefenseEvent,
    Event,
    PlayEvent,
    SwapEvent,
    encode_event,
)
from cardsharp.euchre.store import LIFE, Deals, dynamo_deals, key_at
from cardsharp.keep.sqlite import SqliteKeep
from workbench.cloud.template import create_table

KEY = DealKey("7f0e", 0, 12)
CARDS = tuple(reversed(DECK))

small, numbers = st.integers(0, 7), st.integers(-1, 23)
events = st.one_of(
    st.builds(
        BidEvent, ours=st.booleans(), round=small, pos=small, suit=numbers, alone=st.booleans()
    ),
    st.builds(SwapEvent, declarer=small, card=numbers),
    st.builds(DefenseEvent, pos=small, alone=st.booleans()),
    st.builds(PlayEvent, trick=small, seq=small, pos=small, card=numbers),
)
EVENTS: tuple[Event, ...] = (
    BidEvent(ours=True, round=1, pos=1, suit=2, alone=True),
    SwapEvent(declarer=1, card=7),
    DefenseEvent(pos=2, alone=False),
    PlayEvent(trick=0, seq=1, pos=1, card=10),
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def deals(clock: FakeClock) -> Deals:
    return Deals(SqliteKeep(MEMORY, clock), clock)


@settings(max_examples=40)
@given(st.lists(events, max_size=4))
def test_a_deal_is_read_as_it_was_told(told: list[Event]) -> None:
    deals = Deals(SqliteKeep(MEMORY, SystemClock()), SystemClock())
    assert deals.read(KEY) is None
    deals.begin(KEY, CARDS)
    for event in told:
        deals.append(deals.read(KEY), event)
    record = deals.read(KEY)
    assert (record.key, record.cards, record.log) == (KEY, CARDS, tuple(told))


def test_who_read_a_deal_that_is_another_cannot_append(deals: Deals, clock: FakeClock) -> None:
    """The number of events is the same in both deals, and nobody mistakes one for the other."""
    deals.begin(KEY, CARDS)
    old = deals.read(KEY)
    deals.append(old, EVENTS[0])
    with pytest.raises(Conflict):
        deals.append(old, EVENTS[1])
    deals.begin(KEY, CARDS[::-1])
    with pytest.raises(Conflict):
        deals.append(old, EVENTS[1])
    assert (deals.read(KEY).cards, deals.read(KEY).log) == (CARDS[::-1], ())
    new = deals.read(KEY)
    clock.advance(LIFE)
    with pytest.raises(Conflict):
        deals.append(new, EVENTS[0])


@settings(max_examples=25)
@given(st.lists(st.builds(DealKey, st.text(min_size=1), small, small), unique=True, max_size=5))
def test_any_token_and_any_numbers_are_a_key_of_their_own(keys: list[DealKey]) -> None:
    keep = SqliteKeep(MEMORY, SystemClock())
    deals = Deals(keep, SystemClock())
    keys += [DealKey("a", 1, 2**31 - 1), DealKey("a#deal#1", 1, 11), DealKey("a", 11, 1)]
    for number, key in enumerate(keys):
        deals.begin(key, (*CARDS[number:], *CARDS[:number]))
    for number, key in enumerate(keys):
        assert deals.read(key).cards[0] == CARDS[number]
    assert {key_at(place) for place, _ in keep.listed()} == {*keys}


def test_an_item_of_version_02_is_played_on(clock: FakeClock) -> None:
    """It had an attribute for the cards and one for the events, and no version of ours."""
    with moto_client() as client:
        table = create_table(client, "euchreTable")
        client.put_item(
            TableName=table,
            Item={
                "pk": {"S": "token#7f0e"},
                "sk": {"S": "deal#0000000000#0000000012"},
                "cards": {"S": ",".join(map(str, CARDS))},
                "events": {"L": [{"S": encode_event(event)} for event in EVENTS[:2]]},
                "version": {"N": "2"},
                "born": {"S": "c0ffee"},
                "expires_at": {"N": str(int((clock.now() + LIFE).timestamp()))},
            },
        )
        deals = dynamo_deals(table, clock, client)
        deals.append(deals.read(KEY), EVENTS[2])
        deals.append(deals.read(KEY), EVENTS[3])
        assert (deals.read(KEY).cards, deals.read(KEY).log) == (CARDS, EVENTS)
        deals.begin(KEY, CARDS[::-1])
        assert (deals.read(KEY).cards, deals.read(KEY).log) == (CARDS[::-1], ())
