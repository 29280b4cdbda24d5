"""Games and deals as codecs over what keeps documents; `test_keep.py` has the homes' contract."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.blef import random_round
from support.cloud_benches import START, Bench, FakeClock, in_file, moto_client

from cardsharp.blef import store as store_module
from cardsharp.blef.records import RECENT, WHOLE_LIFE, GameRecord, Player
from cardsharp.blef.store import Games, caller_on, closed_at, encode_game, encode_round
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.codec import to_micros
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import Conflict, StoreError
from cardsharp.euchre.cards import DECK
from cardsharp.euchre.store import (
    DEAL_STORE,
    LIFE,
    BidEvent,
    DealKey,
    Deals,
    DefenseEvent,
    Event,
    PlayEvent,
    SwapEvent,
    encode_event,
    key_at,
)
from cardsharp.keep.sqlite import SqliteKeep
from workbench.cloud.template import create_table

MINUTE = timedelta(minutes=1)
UUIDS = [f"{number:08}-0000-4000-8000-000000000000" for number in range(40)]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench[Games]]:
    with in_file(store_module.GAME_STORE.in_file, tmp_path) as ready:
        yield ready


def new(number: int = 0, **facts: Any) -> GameRecord:  # noqa: ANN401 - any field of a game
    game = GameRecord(
        UUIDS[number], START, admin="p0", players=(Player("p0", "k0"), Player("p1", "k1"))
    )
    return replace(game, **facts)


def change(store: Games, uuid: str = UUIDS[0], **facts: Any) -> GameRecord:  # noqa: ANN401 - the same
    """Change some fields of a game."""
    saved = store.read(uuid)
    game = replace(saved.game, **facts)
    store.write(saved, game)
    return game


def test_no_game_outlives_its_rounds(bench: Bench) -> None:
    closed, live = random_round(Random(1), 2), random_round(Random(5), 2)
    bench.store.create(new())
    saved = bench.store.read(UUIDS[0])
    bench.store.write(saved, replace(saved.game, round=live), closed)
    while bench.store.read(UUIDS[0]) is not None:
        assert bench.store.closed_round(UUIDS[0], closed.number) is not None
        change(bench.store)
        bench.clock.advance(timedelta(days=13))
    assert WHOLE_LIFE <= bench.clock.now() - START < WHOLE_LIFE + timedelta(days=13)


def test_the_list_shows_public_games_of_the_last_half_hour_by_uuid(bench: Bench) -> None:
    for number in (3, 1, 2, 0):
        bench.store.create(new(number))
    for number in (3, 1, 2):
        change(bench.store, UUIDS[number], public=True)
    change(bench.store, UUIDS[2], public=False)
    bench.clock.advance(RECENT - MINUTE)
    change(bench.store, UUIDS[1], round=random_round(Random(1), 2))
    assert bench.store.read(UUIDS[4]) is None
    listed = bench.store.listed()
    assert [(one.uuid, one.nicknames, one.started) for one in listed] == [
        (UUIDS[1], ("p0", "p1"), True),
        (UUIDS[3], ("p0", "p1"), False),
    ]
    bench.clock.advance(MINUTE + timedelta(seconds=1))
    assert [one.uuid for one in bench.store.listed()] == [UUIDS[1]]


def test_counts_are_right_after_any_changes_at_any_times(bench: Bench) -> None:
    random = Random(11)
    changed: dict[str, Any] = {}
    for step in range(60):
        uuid = UUIDS[random.randrange(20)]
        if uuid not in changed:
            bench.store.create(GameRecord(uuid, bench.clock.now()))
        else:
            change(bench.store, uuid, public=random.random() < 0.5)
        changed[uuid] = bench.clock.now()
        if step % 6 == 0:
            # Games in the first minute of the half hour may count or not.
            ages = [(bench.clock.now() - at) for at in changed.values()]
            least = sum(age < RECENT for age in ages)
            most = sum(age < RECENT + MINUTE for age in ages)
            assert least <= bench.store.count_active() <= most
            assert bench.store.count_all() == len(changed)
            bench.store.read(uuid)  # which is no change
        bench.clock.advance(timedelta(seconds=random.randrange(200)))


def test_a_stored_game_that_cannot_be_read_is_not_quoted(bench: Bench, tmp_path: Path) -> None:
    bench.store.create(new(round=random_round(Random(1), 2)))
    with closing(sqlite3.connect(tmp_path / "deep" / "store.db")) as db, db:
        db.execute("UPDATE documents SET body = replace(body, '\"turn\"', '\"truth\"')")
    with pytest.raises(StoreError, match=r"^A stored game cannot be read\.$") as failed:
        bench.store.read(UUIDS[0])
    assert failed.value.__cause__ is None


def test_items_of_version_0_2_are_listed_counted_and_played_on() -> None:
    """A game, its closed round, a caller's count and a bucket, with attributes of their own."""
    clock, game, closed = FakeClock(), new(public=True), random_round(Random(1), 2)
    end = {"N": str(int(game.expires(START).timestamp()))}
    micros = {"N": str(to_micros(START))}
    record = {
        "game_version": {"N": "7"},
        "game_json": {"S": json.dumps(encode_game(game))},
        "changed_at": micros,
        "write_receipts": {"S": "a b"},
        "listed_as": {"S": "public"},
        "nicknames_json": {"S": '["p0", "p1"]'},
        "is_started": {"BOOL": False},
    }
    a_round = {"round_json": {"S": json.dumps(encode_round(closed_at(START, closed)))}}
    items: list[tuple[str, str, dict[str, Any]]] = [
        (f"game#{game.uuid}", "game", record),
        (f"game#{game.uuid}", f"round#{closed.number:05}", a_round),
        (f"caller#{caller_on(START.date(), 'me')}", "games", {"game_count": {"N": "2"}}),
        (f"census#changed#{START:%Y-%m-%dT%H}", f"at#{START:%H:%M}#0", {"game_count": {"N": "1"}}),
    ]
    with moto_client() as client:
        table = create_table(client, "blefTable")
        for pk, sk, attributes in items:
            keys = {"pk": {"S": pk}, "sk": {"S": sk}, "expires_at": end}
            client.put_item(TableName=table, Item={**keys, **attributes})
        store = store_module.GAME_STORE.in_table(table, clock, client)
        assert [one.nicknames for one in store.listed()] == [("p0", "p1")]
        saved = store.read(game.uuid)
        assert (saved.game, saved.version, saved.changed) == (game, 7, START)
        assert store.closed_round(game.uuid, closed.number) == closed_at(START, closed)
        assert [store.admit("me", 3), store.admit("me", 3)] == [True, False]
        assert store.count_active() == 1
        clock.advance(MINUTE)
        changed = change(store, public=True, admin="p1")
        saved = store.read(game.uuid)
        assert (saved.game, saved.version) == (changed, 8)
        assert (store.listed()[0].changed, store.count_active()) == (START + MINUTE, 1)


# --- Euchre -------------------------------------------------------------------------------------


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


def test_who_read_a_deal_that_is_another_cannot_append() -> None:
    """The number of events is the same in both deals, and nobody mistakes one for the other."""
    clock = FakeClock()
    deals = Deals(SqliteKeep(MEMORY, clock), clock)
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


@settings(max_examples=12)
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


def test_an_item_of_version_02_is_played_on() -> None:
    """It had an attribute for the cards and one for the events, and no version of ours."""
    clock = FakeClock()
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
        deals = DEAL_STORE.in_table(table, clock, client)
        deals.append(deals.read(KEY), EVENTS[2])
        deals.append(deals.read(KEY), EVENTS[3])
        assert (deals.read(KEY).cards, deals.read(KEY).log) == (CARDS, EVENTS)
        deals.begin(KEY, CARDS[::-1])
        assert (deals.read(KEY).cards, deals.read(KEY).log) == (CARDS[::-1], ())
