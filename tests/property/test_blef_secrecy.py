"""The hands of a running round reach nobody but their owner.

Two games that differ in hidden cards alone are answered with the same bytes, whoever asks for
whatever.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.blef import Client, logged, random_round
from support.blef_next import NotedSockets
from support.cloud_clock import START, FakeClock

from cardsharp.blef.assembly import announce, subscribe
from cardsharp.blef.cards import DECK, Hand
from cardsharp.blef.records import GameRecord, Player, key_of
from cardsharp.blef.rules import Round
from cardsharp.blef.store import Games, sqlite_games
from cardsharp.cloud.feeds import memory_watchers
from cardsharp.cloud.sockets import Feed
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.keep.sqlite import SqliteKeep

GAME = "01c0905c-1c0b-49b6-97c4-e7cb01262e89"
STRANGER = "99999999-9999-4999-8999-999999999999"


def uuid_of(seat: int) -> str:
    return f"00000000-0000-4000-8000-{seat:012}"


def with_others_hands(live: Round, seat: int | None, random: Random) -> Round:
    """The same round with new cards for everybody but the player at a seat."""
    own = () if seat is None else live.hands[seat]
    deck = [card for card in DECK if card not in own]
    random.shuffle(deck)
    hands: list[Hand] = [
        own if other == seat else tuple(sorted((deck.pop() for _ in hand), reverse=True))
        for other, hand in enumerate(live.hands)
    ]
    return replace(live, hands=tuple(hands))


@contextmanager
def serving(live: Round, base: str = "/v2") -> Iterator[Client]:
    """Yield a client of a service that has this round in its one game."""
    clock = FakeClock()
    store = sqlite_games(MEMORY, clock)
    players = tuple(Player(f"p{seat}", key_of(uuid_of(seat))) for seat in range(len(live.n_cards)))
    game = GameRecord(GAME, START, public=True, admin="p0", players=players, round=live)
    store.create(game)
    try:
        yield Client(store, clock, base=base)
    finally:
        store.close()


def everything_said(client: Client, live: Round, viewer: int | None) -> Iterator[object]:
    """Every answer that a viewer can get without ending the round, what is logged and fed."""
    mine = {} if viewer is None else {"player_uuid": uuid_of(viewer)}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("", mine),
        ("", {**mine, "round": live.number}),
        ("", {**mine, "round": -1}),
        ("", {**mine, "round": 99}),
        ("", {"player_uuid": STRANGER}),
        ("", {**mine, "wait": "true"}),
        ("/join", {"nickname": "x"}),
        ("/start", {"admin_uuid": uuid_of(0)}),
        ("/make-public", {"admin_uuid": uuid_of(0)}),
        ("/play", {}),
        ("/play", {**mine, "action_id": 0}),
        ("/play", {**mine, "action_id": 87}),
    ]
    sockets = NotedSockets()
    feed = Feed(memory_watchers(client.clock), sockets, client.clock)
    client.blef.hear = partial(announce, feed)
    for about in (mine, {}):
        topic, key = subscribe(client.blef, {"game_uuid": GAME, **about})
        feed.watch(topic, str(about), key)
    with logged() as log:
        for path, query in asked:
            yield client.get(f"/games/{GAME}{path}", **query)
        # Rounds before this one are not in the store: a failure, and it is logged.
        yield client.get(f"/games/{GAME}", round=live.number - 1 or 1)
        for path in ("/games", "/games/active"):
            yield client.get(path)
        # Whoever is to move sees its own hand; those who watch are told that it has bet.
        client.get(f"/games/{GAME}/play", player_uuid=uuid_of(live.turn or 0), action_id=87)
    yield sockets.sent
    yield [
        {name: value for name, value in json.loads(line).items() if name != "timestamp"}
        for line in log.getvalue().splitlines()
    ]


@settings(max_examples=60, deadline=None)
@given(
    players=st.integers(2, 8),
    out=st.integers(0, 3),
    seed=st.integers(0, 2**32),
    base=st.sampled_from(["/v2", ""]),
)
def test_hidden_cards_change_no_answer(players: int, out: int, seed: int, base: str) -> None:
    random = Random(seed)
    live = random_round(random, players, min(out, players - 2))
    viewer = random.choice([None, *range(players)])
    other = with_others_hands(live, viewer, random)
    with serving(live, base) as one, serving(other, base) as two:
        assert list(everything_said(one, live, viewer)) == list(everything_said(two, other, viewer))


def test_the_comparison_would_notice_a_leak() -> None:
    """Who sees the hand that differs gets other bytes."""
    random = Random(7)
    live = random_round(random, 3)
    other = with_others_hands(live, None, random)
    with serving(live) as one, serving(other) as two:
        assert list(everything_said(one, live, 1)) != list(everything_said(two, other, 1))


def test_no_text_or_store_shows_a_card_a_key_or_a_uuid(capsys: pytest.CaptureFixture[str]) -> None:
    """What is copied out of a store, by a backup or a look, lets nobody play for another."""
    live = random_round(Random(1), 2)
    game = GameRecord(GAME, START, players=(Player("p0", key_of(uuid_of(0))),), round=live)
    shown = f"{game!r} {live!s}"
    assert "Card" not in shown
    assert key_of(uuid_of(0)) not in shown
    clock = FakeClock()
    keep = SqliteKeep(MEMORY, clock)
    table = Client(Games(keep, clock), clock).started(4)
    with keep._file.reading() as db:
        dumped = "\n".join(db.iterdump())
    assert table.game in dumped
    assert not any(uuid in dumped for uuid in table.uuids.values())
    assert capsys.readouterr().out == ""
