"""Tests of the stores of games and deals.

The document stores below them are tested in `test_document_store_contract.py`.
"""

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
from support.blef_service import random_round
from support.store_fixtures import START, FakeClock, StoreFixture, moto_client, new_file_store

from cardsharp.core.clock import SystemClock
from cardsharp.core.timestamps import to_micros
from cardsharp.errors import StoreError, WriteConflict
from cardsharp.games.blef.service import game_store as store_module
from cardsharp.games.blef.service.game_store import (
    GameStore,
    encode_game,
    encode_round,
    to_closed_round,
)
from cardsharp.games.blef.service.records import (
    ACTIVE_WINDOW,
    MAX_TTL,
    GamePlayer,
    GameRecord,
)
from cardsharp.games.euchre.cards import DECK
from cardsharp.games.euchre.service.deal_store import (
    DEAL_STORE_FACTORY,
    DEAL_TTL,
    BidEvent,
    DealKey,
    DealStore,
    DefenseEvent,
    DiscardEvent,
    Event,
    PlayEvent,
    deal_key_of,
    encode_event,
)
from cardsharp.server.caller_quotas import caller_day_digest
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.local_cloud.template_files import create_table

MINUTE = timedelta(minutes=1)
UUIDS = [f"{number:08}-0000-4000-8000-000000000000" for number in range(40)]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[StoreFixture[GameStore]]:
    with new_file_store(store_module.GAME_STORE_FACTORY.open_file, tmp_path) as store_fixture:
        yield store_fixture


def build_game(number: int = 0, **facts: Any) -> GameRecord:  # noqa: ANN401 - any field of a game
    game = GameRecord(
        UUIDS[number],
        START,
        admin_digest="p0",
        players=(GamePlayer("p0", "k0"), GamePlayer("p1", "k1")),
    )
    return replace(game, **facts)


def update_game(store: GameStore, uuid: str = UUIDS[0], **facts: Any) -> GameRecord:  # noqa: ANN401 - the same
    """Update some fields of a stored game, and return it."""
    saved = store.read(uuid)
    game = replace(saved.game, **facts)
    store.write(saved, game)
    return game


def test_no_game_outlives_its_rounds(bench: StoreFixture) -> None:
    closed_round, current_round = random_round(Random(1), 2), random_round(Random(5), 2)
    bench.store.create(build_game())
    saved = bench.store.read(UUIDS[0])
    bench.store.write(saved, replace(saved.game, round=current_round), closed_round)
    while bench.store.read(UUIDS[0]) is not None:
        assert bench.store.closed_round(UUIDS[0], closed_round.number) is not None
        update_game(bench.store)
        bench.clock.advance(timedelta(days=13))
    assert MAX_TTL <= bench.clock.now() - START < MAX_TTL + timedelta(days=13)


def test_the_list_shows_public_games_of_the_last_half_hour_by_uuid(bench: StoreFixture) -> None:
    for number in (3, 1, 2, 0):
        bench.store.create(build_game(number))
    for number in (3, 1, 2):
        update_game(bench.store, UUIDS[number], is_public=True)
    update_game(bench.store, UUIDS[2], is_public=False)
    bench.clock.advance(ACTIVE_WINDOW - MINUTE)
    update_game(bench.store, UUIDS[1], round=random_round(Random(1), 2))
    assert bench.store.read(UUIDS[4]) is None
    public_games = bench.store.recent_public_games()
    assert [(game.uuid, game.nicknames, game.is_started) for game in public_games] == [
        (UUIDS[1], ("p0", "p1"), True),
        (UUIDS[3], ("p0", "p1"), False),
    ]
    bench.clock.advance(MINUTE + timedelta(seconds=1))
    assert [game.uuid for game in bench.store.recent_public_games()] == [UUIDS[1]]


def test_active_and_total_counts_match_any_sequence_of_changes(bench: StoreFixture) -> None:
    rng = Random(11)
    change_times: dict[str, Any] = {}
    for step in range(60):
        uuid = UUIDS[rng.randrange(20)]
        if uuid not in change_times:
            bench.store.create(GameRecord(uuid, bench.clock.now()))
        else:
            update_game(bench.store, uuid, is_public=rng.random() < 0.5)
        change_times[uuid] = bench.clock.now()
        if step % 6 == 0:
            # Games in the first minute of the half hour may count or not.
            ages = [(bench.clock.now() - change_time) for change_time in change_times.values()]
            min_active = sum(age < ACTIVE_WINDOW for age in ages)
            max_active = sum(age < ACTIVE_WINDOW + MINUTE for age in ages)
            assert min_active <= bench.store.count_recently_changed_games() <= max_active
            assert bench.store.count_unexpired_games() == len(change_times)
            bench.store.read(uuid)  # which is no change
        bench.clock.advance(timedelta(seconds=rng.randrange(200)))


def test_a_stored_game_that_cannot_be_read_is_not_quoted(
    bench: StoreFixture, tmp_path: Path
) -> None:
    bench.store.create(build_game(round=random_round(Random(1), 2)))
    with closing(sqlite3.connect(tmp_path / "deep" / "store.db")) as db, db:
        db.execute("UPDATE documents SET body = replace(body, '\"turn\"', '\"truth\"')")
    with pytest.raises(StoreError, match=r"^A stored game cannot be read\.$") as error_info:
        bench.store.read(UUIDS[0])
    assert error_info.value.__cause__ is None


def test_items_of_version_0_2_are_listed_counted_and_played_on() -> None:
    """A game, a closed round, a caller's count and a count bucket of 0.2 can be used."""
    clock, game, closed_round = FakeClock(), build_game(is_public=True), random_round(Random(1), 2)
    expiry = {"N": str(int(game.expires_at(START).timestamp()))}
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
    round_item = {
        "round_json": {"S": json.dumps(encode_round(to_closed_round(START, closed_round)))}
    }
    items: list[tuple[str, str, dict[str, Any]]] = [
        (f"game#{game.uuid}", "game", record),
        (f"game#{game.uuid}", f"round#{closed_round.number:05}", round_item),
        (f"caller#{caller_day_digest(START.date(), 'me')}", "games", {"game_count": {"N": "2"}}),
        (f"census#changed#{START:%Y-%m-%dT%H}", f"at#{START:%H:%M}#0", {"game_count": {"N": "1"}}),
    ]
    with moto_client() as client:
        table = create_table(client, "BlefTable")
        for pk, sk, attributes in items:
            keys = {"pk": {"S": pk}, "sk": {"S": sk}, "expires_at": expiry}
            client.put_item(TableName=table, Item={**keys, **attributes})
        store = store_module.GAME_STORE_FACTORY.open_dynamodb_store(table, clock, client)
        assert [public_game.nicknames for public_game in store.recent_public_games()] == [
            ("p0", "p1")
        ]
        saved = store.read(game.uuid)
        assert (saved.game, saved.version, saved.changed_at) == (game, 7, START)
        assert store.closed_round(game.uuid, closed_round.number) == to_closed_round(
            START, closed_round
        )
        assert [
            store.count_creation_if_allowed("me", 3),
            store.count_creation_if_allowed("me", 3),
        ] == [True, False]
        assert store.count_recently_changed_games() == 1
        clock.advance(MINUTE)
        updated_game = update_game(store, is_public=True, admin_digest="p1")
        saved = store.read(game.uuid)
        assert (saved.game, saved.version) == (updated_game, 8)
        assert (store.recent_public_games()[0].changed, store.count_recently_changed_games()) == (
            START + MINUTE,
            1,
        )


# --- Euchre -------------------------------------------------------------------------------------


KEY = DealKey("7f0e", 0, 12)
CARDS = tuple(reversed(DECK))

small_integers, card_numbers = st.integers(0, 7), st.integers(-1, 23)
events = st.one_of(
    st.builds(
        BidEvent,
        is_answer=st.booleans(),
        round=small_integers,
        bid_index=small_integers,
        suit=card_numbers,
        alone=st.booleans(),
    ),
    st.builds(DiscardEvent, caller_seat=small_integers, card=card_numbers),
    st.builds(DefenseEvent, seat=small_integers, alone=st.booleans()),
    st.builds(
        PlayEvent,
        trick=small_integers,
        trick_position=small_integers,
        seat=small_integers,
        card=card_numbers,
    ),
)
EVENTS: tuple[Event, ...] = (
    BidEvent(is_answer=True, round=1, bid_index=1, suit=2, alone=True),
    DiscardEvent(caller_seat=1, card=7),
    DefenseEvent(seat=2, alone=False),
    PlayEvent(trick=0, trick_position=1, seat=1, card=10),
)


@settings(max_examples=40)
@given(st.lists(events, max_size=4))
def test_a_deal_is_read_with_the_events_that_were_appended(raw_events: list[Event]) -> None:
    deals = DealStore(SqliteDocumentStore(MEMORY_PATH, SystemClock()), SystemClock())
    assert deals.read(KEY) is None
    deals.begin(KEY, CARDS)
    for event in raw_events:
        deals.append(deals.read(KEY), event)
    record = deals.read(KEY)
    assert (record.key, record.cards, record.raw_events) == (KEY, CARDS, tuple(raw_events))


def test_appending_to_a_stale_deal_raises_write_conflict() -> None:
    """A deal that was begun again or has expired is not mistaken for the one that was read.

    The number of events alone cannot tell them apart: it is the same in both deals.
    """
    clock = FakeClock()
    deals = DealStore(SqliteDocumentStore(MEMORY_PATH, clock), clock)
    deals.begin(KEY, CARDS)
    old_deal = deals.read(KEY)
    deals.append(old_deal, EVENTS[0])
    with pytest.raises(WriteConflict):
        deals.append(old_deal, EVENTS[1])
    deals.begin(KEY, CARDS[::-1])
    with pytest.raises(WriteConflict):
        deals.append(old_deal, EVENTS[1])
    assert (deals.read(KEY).cards, deals.read(KEY).raw_events) == (CARDS[::-1], ())
    new_deal = deals.read(KEY)
    clock.advance(DEAL_TTL)
    with pytest.raises(WriteConflict):
        deals.append(new_deal, EVENTS[0])


@settings(max_examples=12)
@given(
    st.lists(
        st.builds(DealKey, st.text(min_size=1), small_integers, small_integers),
        unique=True,
        max_size=5,
    )
)
def test_deals_of_any_token_and_numbers_have_distinct_keys(keys: list[DealKey]) -> None:
    documents = SqliteDocumentStore(MEMORY_PATH, SystemClock())
    deals = DealStore(documents, SystemClock())
    keys += [DealKey("a", 1, 2**31 - 1), DealKey("a#deal#1", 1, 11), DealKey("a", 11, 1)]
    for number, key in enumerate(keys):
        deals.begin(key, (*CARDS[number:], *CARDS[:number]))
    for number, key in enumerate(keys):
        assert deals.read(key).cards[0] == CARDS[number]
    assert {deal_key_of(document_key) for document_key, _ in documents.keys_and_expiries()} == {
        *keys
    }


def test_an_item_of_version_02_is_played_on() -> None:
    """An item of 0.2 has one attribute for the cards, one for the events, and no version."""
    clock = FakeClock()
    with moto_client() as client:
        table = create_table(client, "EuchreTable")
        client.put_item(
            TableName=table,
            Item={
                "pk": {"S": "token#7f0e"},
                "sk": {"S": "deal#0000000000#0000000012"},
                "cards": {"S": ",".join(map(str, CARDS))},
                "events": {"L": [{"S": encode_event(event)} for event in EVENTS[:2]]},
                "version": {"N": "2"},
                "born": {"S": "c0ffee"},
                "expires_at": {"N": str(int((clock.now() + DEAL_TTL).timestamp()))},
            },
        )
        deals = DEAL_STORE_FACTORY.open_dynamodb_store(table, clock, client)
        deals.append(deals.read(KEY), EVENTS[2])
        deals.append(deals.read(KEY), EVENTS[3])
        assert (deals.read(KEY).cards, deals.read(KEY).raw_events) == (CARDS, EVENTS)
        deals.begin(KEY, CARDS[::-1])
        assert (deals.read(KEY).cards, deals.read(KEY).raw_events) == (CARDS[::-1], ())
