"""The rules of Blef, whatever is played, and that nobody can foretell or find out a secret."""

import hmac
import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from random import Random
from time import process_time
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.blef import Client, logged, random_round
from support.blef_next import NotedSockets
from support.cloud_benches import START, FakeClock
from support.size import cases

from cardsharp.blef import rules
from cardsharp.blef.actions import BETS, CHECK, LOST, name_of
from cardsharp.blef.assembly import subscribe
from cardsharp.blef.cards import DECK
from cardsharp.blef.changes import SecretChance
from cardsharp.blef.params import is_random, read_number
from cardsharp.blef.position import position_of
from cardsharp.blef.records import GameRecord, Player, key_of
from cardsharp.blef.rules import Round
from cardsharp.blef.simulation import dealing, dealt_anew
from cardsharp.blef.store import GAME_STORE, Games
from cardsharp.blef.wire import parse_state, position_in, state_body
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.keep.sqlite import SqliteKeep


def test_actions_have_the_names_of_the_rule_book() -> None:
    names = {
        0: "High card, 9",
        11: "Pair of aces",
        12: "Two pair, 10s and 9s",
        26: "Two pair, aces and kings",
        27: "Small straight (9-K)",
        35: "Three of a kind, aces",
        36: "Full house, 9s over 10s",
        65: "Full house, aces over kings",
        69: "Flush, spades",
        75: "Four of a kind, aces",
        87: "Great straight flush (9-A), spades",
        CHECK: "Check",
        LOST: "Lost the round",
    }
    assert {action: name_of(action) for action in names} == names


@pytest.mark.parametrize(("cards", "bets"), [(2, 12), (3, 18), (4, 39), (5, 83), (6, 88)])
def test_so_many_bets_can_be_true_with_so_many_cards(cards: int, bets: int) -> None:
    """The counts of docs/spec/blef.md section 4."""
    assert sum(bet.size <= cards for bet in BETS) == bets


NO_NUMBERS = ("", " ", "abc", "NaN", "NA", "TRUE", "1_0", "1,1", "0x", "1e", "--1", "1L")
NO_NUMBERS += ("\u0661", "\u00a01")


@pytest.mark.parametrize("text", [*NO_NUMBERS, "1" * 100_000 + "x"], ids=lambda text: text[:9])
def test_what_is_no_number_is_none(text: str) -> None:
    """The last one would take three minutes if it took the square of its length."""
    began = process_time()
    assert read_number(text) is None
    assert process_time() - began < 30


GAME = "01c0905c-1c0b-49b6-97c4-e7cb01262e89"
STRANGER = "99999999-9999-4999-8999-999999999999"


def uuid_of(seat: int) -> str:
    return f"00000000-0000-4000-8000-{seat:012}"


def game_of(live: Round | None, players: int) -> GameRecord:
    seated = tuple(Player(f"p{seat}", key_of(uuid_of(seat))) for seat in range(players))
    return GameRecord(GAME, START, public=True, admin="p0", players=seated, round=live)


CHANCE = SecretChance()


def test_nobody_can_foretell_a_deal_and_everybody_is_dealt_everything() -> None:
    seen = []
    for _ in range(2):
        random.seed(1)
        seen.append((CHANCE.deal(24), CHANCE.seats(8), CHANCE.uuid()))
    assert all(one != two for one, two in zip(*seen, strict=True))
    assert is_random(seen[0][2])
    counted = Counter(card for _ in range(500) for card in CHANCE.deal(5))
    assert counted.keys() == set(DECK)
    # 104 of each are expected; 50 is more than five standard deviations away.
    assert min(counted.values()) > 50
    assert max(counted.values()) < 160
    assert all(len(set(CHANCE.deal(n))) == n for n in range(25))
    counted = Counter(CHANCE.seats(3) for _ in range(600))
    assert len(counted) == 6
    assert min(counted.values()) > 50


@pytest.mark.parametrize(("seat", "found"), [(0, 0), (2, 2), (3, None)])
def test_every_player_is_compared_with_who_asks(
    monkeypatch: pytest.MonkeyPatch, seat: int, found: int | None
) -> None:
    compare = Mock(wraps=hmac.compare_digest)
    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert game_of(None, 3).seat_of(uuid_of(seat)) == found
    assert compare.call_count == 3


MOST_ROUNDS = {2: 21, 3: 23, 4: 23, 5: 19, 6: 23, 7: 20, 8: 23}  # docs/spec/blef.md section 2
players = st.integers(2, 8)
seeds = st.integers(0, 2**32)


@settings(max_examples=60, deadline=None)
@given(players=players, seed=seeds)
def test_every_game_ends_in_time_with_one_winner(players: int, seed: int) -> None:
    random, deal = Random(seed), dealing(Random(seed))
    live, rounds = rules.start(players, deal), 0
    while live.winner is None:
        assert live.n_cards[live.turn] > 0
        assert len({card for hand in live.hands for card in hand}) == sum(live.n_cards) <= 24
        step = rules.apply(live, random.choice(rules.legal_actions(live)), deal)
        rounds += step.closed is not None
        live = step.live
    most = rules.max_cards(players)
    assert (players - 1) * most <= rounds <= (players - 1) * most + most - 1
    assert rounds <= MOST_ROUNDS[players]
    assert rounds == live.number
    assert live.n_cards[live.winner] > 0
    assert rules.legal_actions(live) == ()


@given(players=players, seed=seeds)
def test_the_api_shows_a_player_exactly_the_position_of_its_seat(players: int, seed: int) -> None:
    """So a bot that reads the API sees what one beside the rules would, and no more."""
    live = random_round(Random(seed), players)
    assert position_in(state_body(game_of(None, players), None), "p0") is None
    for me in (None, *range(players)):
        position = position_of(live, me)
        body = state_body(game_of(live, players), position).model_dump_json()
        assert position_in(parse_state(body), None if me is None else f"p{me}") == position
        assert position.hand == (() if me is None else live.hands[me])
        assert position.hidden == sum(live.n_cards) - len(position.hand)


@contextmanager
def serving(live: Round, base: str = "/v2") -> Iterator[Client]:
    clock = FakeClock()
    with closing(GAME_STORE.in_file(MEMORY, clock)) as store:
        store.create(game_of(live, len(live.n_cards)))
        yield Client(store, clock, base=base)


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
    feed = client.fed_into(sockets)
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


@settings(max_examples=cases(10, every=100), deadline=None)
@given(players=players, out=st.integers(0, 3), seed=seeds, base=st.sampled_from(["/v2", ""]))
def test_hidden_cards_change_no_answer(players: int, out: int, seed: int, base: str) -> None:
    random = Random(seed)
    live = random_round(random, players, min(out, players - 2))
    viewer = random.choice([None, *range(players)])
    other = dealt_anew(live, viewer, random)
    with serving(live, base) as one, serving(other, base) as two:
        assert list(everything_said(one, live, viewer)) == list(everything_said(two, other, viewer))


def test_the_comparison_would_notice_a_leak() -> None:
    random = Random(7)
    live = random_round(random, 3)
    other = dealt_anew(live, None, random)
    with serving(live) as one, serving(other) as two:
        assert list(everything_said(one, live, 1)) != list(everything_said(two, other, 1))


def test_no_text_or_store_shows_a_card_a_key_or_a_uuid(capsys: pytest.CaptureFixture[str]) -> None:
    """What is copied out of a store, by a backup or a look, lets nobody play for another."""
    game = game_of(random_round(Random(1), 2), 2)
    shown = f"{game!r} {game.round!s}"
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
