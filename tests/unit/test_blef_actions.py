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
from support.blef_service import BlefHandlerClient, capture_log, random_round
from support.blef_v2_api import RecordingSockets
from support.case_counts import case_count
from support.store_fixtures import START, FakeClock

from cardsharp.games.blef import rules
from cardsharp.games.blef.actions import BETS, CHECK, LOST_MARKER, action_name
from cardsharp.games.blef.cards import DECK
from cardsharp.games.blef.position import position_of
from cardsharp.games.blef.rules import Round
from cardsharp.games.blef.service.bootstrap import resolve_topic_and_viewer
from cardsharp.games.blef.service.game_changes import SecureRandomness
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY, GameStore
from cardsharp.games.blef.service.records import GamePlayer, GameRecord, uuid_digest
from cardsharp.games.blef.service.request_params import is_random_uuid, parse_lenient_number
from cardsharp.games.blef.service.wire import parse_state, position_from_state, state_body
from cardsharp.games.blef.simulation import make_deal_function, resample_hidden_hands
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp.store.sqlite_file import MEMORY_PATH


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
        LOST_MARKER: "Lost the round",
    }
    assert {action: action_name(action) for action in names} == names


@pytest.mark.parametrize(("cards", "bets"), [(2, 12), (3, 18), (4, 39), (5, 83), (6, 88)])
def test_so_many_bets_can_be_true_with_so_many_cards(cards: int, bets: int) -> None:
    """The counts of docs/spec/blef.md section 4."""
    assert sum(bet.size <= cards for bet in BETS) == bets


NO_NUMBERS = ("", " ", "abc", "NaN", "NA", "TRUE", "1_0", "1,1", "0x", "1e", "--1", "1L")
NO_NUMBERS += ("\u0661", "\u00a01")


@pytest.mark.parametrize("text", [*NO_NUMBERS, "1" * 100_000 + "x"], ids=lambda text: text[:9])
def test_parse_number_returns_none_for_malformed_text(text: str) -> None:
    """The last one would take three minutes if it took the square of its length."""
    began = process_time()
    assert parse_lenient_number(text) is None
    assert process_time() - began < 30


GAME = "01c0905c-1c0b-49b6-97c4-e7cb01262e89"
STRANGER = "99999999-9999-4999-8999-999999999999"


def uuid_of(seat: int) -> str:
    return f"00000000-0000-4000-8000-{seat:012}"


def game_of(live: Round | None, players: int) -> GameRecord:
    seated = tuple(GamePlayer(f"p{seat}", uuid_digest(uuid_of(seat))) for seat in range(players))
    return GameRecord(GAME, START, is_public=True, admin_digest="p0", players=seated, round=live)


CHANCE = SecureRandomness()


def test_deals_are_unpredictable_and_cover_the_full_deck() -> None:
    seen = []
    for _ in range(2):
        random.seed(1)
        seen.append((CHANCE.deal(24), CHANCE.random_seating_indexes(8), CHANCE.uuid()))
    assert all(first != second for first, second in zip(*seen, strict=True))
    assert is_random_uuid(seen[0][2])
    counted = Counter(card for _ in range(500) for card in CHANCE.deal(5))
    assert counted.keys() == set(DECK)
    # 104 of each are expected; 50 is more than five standard deviations away.
    assert min(counted.values()) > 50
    assert max(counted.values()) < 160
    assert all(len(set(CHANCE.deal(n))) == n for n in range(25))
    counted = Counter(CHANCE.random_seating_indexes(3) for _ in range(600))
    assert len(counted) == 6
    assert min(counted.values()) > 50


@pytest.mark.parametrize(("seat", "expected_seat"), [(0, 0), (2, 2), (3, None)])
def test_seat_lookup_compares_the_caller_with_every_player(
    monkeypatch: pytest.MonkeyPatch, seat: int, expected_seat: int | None
) -> None:
    compare = Mock(wraps=hmac.compare_digest)
    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert game_of(None, 3).seat_of(uuid_of(seat)) == expected_seat
    assert compare.call_count == 3


MAX_ROUNDS = {2: 21, 3: 23, 4: 23, 5: 19, 6: 23, 7: 20, 8: 23}  # docs/spec/blef.md section 2
players = st.integers(2, 8)
seeds = st.integers(0, 2**32)


@settings(max_examples=60, deadline=None)
@given(players=players, seed=seeds)
def test_every_game_ends_within_its_round_limit_with_a_single_winner(
    players: int, seed: int
) -> None:
    random, deal = Random(seed), make_deal_function(Random(seed))
    live, rounds = rules.start(players, deal), 0
    while live.winner is None:
        assert live.n_cards[live.turn] > 0
        assert len({card for hand in live.hands for card in hand}) == sum(live.n_cards) <= 24
        step = rules.apply(live, random.choice(rules.legal_actions(live)), deal)
        rounds += step.closed_round is not None
        live = step.current_round
    max_cards = rules.max_cards(players)
    assert (players - 1) * max_cards <= rounds <= (players - 1) * max_cards + max_cards - 1
    assert rounds <= MAX_ROUNDS[players]
    assert rounds == live.number
    assert live.n_cards[live.winner] > 0
    assert rules.legal_actions(live) == ()


@given(players=players, seed=seeds)
def test_the_api_shows_a_player_exactly_the_position_of_its_seat(players: int, seed: int) -> None:
    """So a bot that reads the API sees what one beside the rules would, and no more."""
    live = random_round(Random(seed), players)
    assert position_from_state(state_body(game_of(None, players), None), "p0") is None
    for me in (None, *range(players)):
        position = position_of(live, me)
        body = state_body(game_of(live, players), position).model_dump_json()
        assert position_from_state(parse_state(body), None if me is None else f"p{me}") == position
        assert position.hand == (() if me is None else live.hands[me])
        assert position.hidden_card_count == sum(live.n_cards) - len(position.hand)


@contextmanager
def serving(live: Round, base: str = "/v2") -> Iterator[BlefHandlerClient]:
    clock = FakeClock()
    with closing(GAME_STORE_FACTORY.open_file(MEMORY_PATH, clock)) as store:
        store.create(game_of(live, len(live.n_cards)))
        yield BlefHandlerClient(store, clock, base=base)


def all_visible_output(
    client: BlefHandlerClient, live: Round, viewer: int | None
) -> Iterator[object]:
    """Every answer that a viewer can get without ending the round, what is logged and fed."""
    credentials = {} if viewer is None else {"player_uuid": uuid_of(viewer)}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("", credentials),
        ("", {**credentials, "round": live.number}),
        ("", {**credentials, "round": -1}),
        ("", {**credentials, "round": 99}),
        ("", {"player_uuid": STRANGER}),
        ("", {**credentials, "wait": "true"}),
        ("/join", {"nickname": "x"}),
        ("/start", {"admin_uuid": uuid_of(0)}),
        ("/make-public", {"admin_uuid": uuid_of(0)}),
        ("/play", {}),
        ("/play", {**credentials, "action_id": 0}),
        ("/play", {**credentials, "action_id": 87}),
    ]
    sockets = RecordingSockets()
    feed = client.with_feed(sockets)
    for about in (credentials, {}):
        topic, key = resolve_topic_and_viewer(client.blef, {"game_uuid": GAME, **about})
        feed.subscribe(topic, str(about), key)
    with capture_log() as log:
        for path, query in requests:
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


@settings(max_examples=case_count(10, full=100), deadline=None)
@given(players=players, out=st.integers(0, 3), seed=seeds, base=st.sampled_from(["/v2", ""]))
def test_hidden_cards_change_no_answer(players: int, out: int, seed: int, base: str) -> None:
    random = Random(seed)
    live = random_round(random, players, min(out, players - 2))
    viewer = random.choice([None, *range(players)])
    other = resample_hidden_hands(live, viewer, random)
    with serving(live, base) as first_client, serving(other, base) as second_client:
        assert list(all_visible_output(first_client, live, viewer)) == list(
            all_visible_output(second_client, other, viewer)
        )


def test_the_comparison_would_notice_a_leak() -> None:
    random = Random(7)
    live = random_round(random, 3)
    other = resample_hidden_hands(live, None, random)
    with serving(live) as first_client, serving(other) as second_client:
        assert list(all_visible_output(first_client, live, 1)) != list(
            all_visible_output(second_client, other, 1)
        )


def test_no_text_or_store_shows_a_card_a_key_or_a_uuid(capsys: pytest.CaptureFixture[str]) -> None:
    """A copy of the store, such as a backup, must not let its reader play for a player."""
    game = game_of(random_round(Random(1), 2), 2)
    text = f"{game!r} {game.round!s}"
    assert "Card" not in text
    assert uuid_digest(uuid_of(0)) not in text
    clock = FakeClock()
    keep = SqliteDocumentStore(MEMORY_PATH, clock)
    table = BlefHandlerClient(GameStore(keep, clock), clock).create_and_start(4)
    with keep._file.locked_connection() as db:
        dumped = "\n".join(db.iterdump())
    assert table.game in dumped
    assert not any(uuid in dumped for uuid in table.uuids.values())
    assert capsys.readouterr().out == ""
