"""Rules of Blef for any sequence of actions, and secrecy of hidden cards and keys."""

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
from cardsharp.games.blef.service.records import GamePlayer, GameRecord
from cardsharp.games.blef.service.request_params import is_random_uuid, parse_lenient_number
from cardsharp.games.blef.service.wire import parse_state, position_from_state, state_body
from cardsharp.games.blef.simulation import make_deal_function, resample_hidden_hands
from cardsharp.server.seat_secrets import secret_digest
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
def test_the_number_of_possible_bets_depends_on_the_number_of_cards(cards: int, bets: int) -> None:
    """The counts are those of docs/spec/blef.md section 4."""
    assert sum(bet.size <= cards for bet in BETS) == bets


MALFORMED_NUMBERS = ("", " ", "abc", "NaN", "NA", "TRUE", "1_0", "1,1", "0x", "1e", "--1", "1L")
MALFORMED_NUMBERS += ("\u0661", "\u00a01")


@pytest.mark.parametrize(
    "text", [*MALFORMED_NUMBERS, "1" * 100_000 + "x"], ids=lambda text: text[:9]
)
def test_parse_number_returns_none_for_malformed_text(text: str) -> None:
    """The longest text would take three minutes with an algorithm of quadratic time."""
    start_cpu = process_time()
    assert parse_lenient_number(text) is None
    assert process_time() - start_cpu < 30


GAME = "01c0905c-1c0b-49b6-97c4-e7cb01262e89"
STRANGER = "99999999-9999-4999-8999-999999999999"


def uuid_of(seat: int) -> str:
    return f"00000000-0000-4000-8000-{seat:012}"


def build_game_record(current_round: Round | None, players: int) -> GameRecord:
    seated = tuple(GamePlayer(f"p{seat}", secret_digest(uuid_of(seat))) for seat in range(players))
    return GameRecord(
        GAME, START, is_public=True, admin_digest="p0", players=seated, round=current_round
    )


SECURE_RANDOMNESS = SecureRandomness()


def test_deals_are_unpredictable_and_cover_the_full_deck() -> None:
    samples = []
    for _ in range(2):
        random.seed(1)
        samples.append(
            (
                SECURE_RANDOMNESS.deal(24),
                SECURE_RANDOMNESS.random_seating_indexes(8),
                SECURE_RANDOMNESS.uuid(),
            )
        )
    assert all(first != second for first, second in zip(*samples, strict=True))
    assert is_random_uuid(samples[0][2])
    counts = Counter(card for _ in range(500) for card in SECURE_RANDOMNESS.deal(5))
    assert counts.keys() == set(DECK)
    # 104 of each are expected; 50 is more than five standard deviations away.
    assert min(counts.values()) > 50
    assert max(counts.values()) < 160
    assert all(len(set(SECURE_RANDOMNESS.deal(n))) == n for n in range(25))
    counts = Counter(SECURE_RANDOMNESS.random_seating_indexes(3) for _ in range(600))
    assert len(counts) == 6
    assert min(counts.values()) > 50


@pytest.mark.parametrize(("seat", "expected_seat"), [(0, 0), (2, 2), (3, None)])
def test_seat_lookup_compares_the_caller_with_every_player(
    monkeypatch: pytest.MonkeyPatch, seat: int, expected_seat: int | None
) -> None:
    compare = Mock(wraps=hmac.compare_digest)
    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert build_game_record(None, 3).seat_of(uuid_of(seat)) == expected_seat
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
    current_round, rounds = rules.start(players, deal), 0
    while current_round.winner is None:
        assert current_round.n_cards[current_round.turn] > 0
        assert (
            len({card for hand in current_round.hands for card in hand})
            == sum(current_round.n_cards)
            <= 24
        )
        step = rules.apply(current_round, random.choice(rules.legal_actions(current_round)), deal)
        rounds += step.closed_round is not None
        current_round = step.current_round
    max_cards = rules.max_cards(players)
    assert (players - 1) * max_cards <= rounds <= (players - 1) * max_cards + max_cards - 1
    assert rounds <= MAX_ROUNDS[players]
    assert rounds == current_round.number
    assert current_round.n_cards[current_round.winner] > 0
    assert rules.legal_actions(current_round) == ()


@given(players=players, seed=seeds)
def test_the_api_shows_a_player_exactly_the_position_of_its_seat(players: int, seed: int) -> None:
    """A bot that reads the API gets exactly the position that the rules give its seat."""
    current_round = random_round(Random(seed), players)
    assert position_from_state(state_body(build_game_record(None, players), None), "p0") is None
    for seat in (None, *range(players)):
        position = position_of(current_round, seat)
        body = state_body(build_game_record(current_round, players), position).model_dump_json()
        assert (
            position_from_state(parse_state(body), None if seat is None else f"p{seat}") == position
        )
        assert position.hand == (() if seat is None else current_round.hands[seat])
        assert position.hidden_card_count == sum(current_round.n_cards) - len(position.hand)


@contextmanager
def serve_round(current_round: Round, base: str = "/v2") -> Iterator[BlefHandlerClient]:
    clock = FakeClock()
    with closing(GAME_STORE_FACTORY.open_file(MEMORY_PATH, clock)) as store:
        store.create(build_game_record(current_round, len(current_round.n_cards)))
        yield BlefHandlerClient(store, clock, base=base)


def all_visible_output(
    client: BlefHandlerClient, current_round: Round, viewer: int | None
) -> Iterator[object]:
    """Yield the responses that a viewer can get in a round, and all that is logged and fed."""
    credentials = {} if viewer is None else {"player_uuid": uuid_of(viewer)}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("", credentials),
        ("", {**credentials, "round": current_round.number}),
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
    feed_client = client.with_feed(sockets)
    for subscription_params in (credentials, {}):
        topic, key = resolve_topic_and_viewer(
            client.blef, {"game_uuid": GAME, **subscription_params}
        )
        feed_client.subscribe(topic, str(subscription_params), key)
    with capture_log() as log:
        for path, query in requests:
            yield client.get(f"/games/{GAME}{path}", **query)
        # Rounds before this one are not in the store: a failure, and it is logged.
        yield client.get(f"/games/{GAME}", round=current_round.number - 1 or 1)
        for path in ("/games", "/games/active"):
            yield client.get(path)
        # Whoever is to move sees its own hand; those who watch are told that it has bet.
        client.get(
            f"/games/{GAME}/play", player_uuid=uuid_of(current_round.turn or 0), action_id=87
        )
    yield sockets.sent
    yield [
        {name: value for name, value in json.loads(line).items() if name != "timestamp"}
        for line in log.getvalue().splitlines()
    ]


@settings(max_examples=case_count(10, full=100), deadline=None)
@given(
    players=players,
    eliminated_count=st.integers(0, 3),
    seed=seeds,
    base=st.sampled_from(["/v2", ""]),
)
def test_hidden_cards_change_no_answer(
    players: int, eliminated_count: int, seed: int, base: str
) -> None:
    random = Random(seed)
    current_round = random_round(random, players, min(eliminated_count, players - 2))
    viewer = random.choice([None, *range(players)])
    resampled_round = resample_hidden_hands(current_round, viewer, random)
    with (
        serve_round(current_round, base) as first_client,
        serve_round(resampled_round, base) as second_client,
    ):
        assert list(all_visible_output(first_client, current_round, viewer)) == list(
            all_visible_output(second_client, resampled_round, viewer)
        )


def test_the_comparison_would_notice_a_leak() -> None:
    random = Random(7)
    current_round = random_round(random, 3)
    resampled_round = resample_hidden_hands(current_round, None, random)
    with serve_round(current_round) as first_client, serve_round(resampled_round) as second_client:
        assert list(all_visible_output(first_client, current_round, 1)) != list(
            all_visible_output(second_client, resampled_round, 1)
        )


def test_no_text_or_store_shows_a_card_a_key_or_a_uuid(capsys: pytest.CaptureFixture[str]) -> None:
    """A copy of the store, such as a backup, must not let its reader play for a player."""
    game = build_game_record(random_round(Random(1), 2), 2)
    text = f"{game!r} {game.round!s}"
    assert "Card" not in text
    assert secret_digest(uuid_of(0)) not in text
    clock = FakeClock()
    document_store = SqliteDocumentStore(MEMORY_PATH, clock)
    started_game = BlefHandlerClient(GameStore(document_store, clock), clock).create_and_start(4)
    with document_store._file.locked_connection() as db:
        dump = "\n".join(db.iterdump())
    assert started_game.game_id in dump
    assert not any(uuid in dump for uuid in started_game.uuids.values())
    assert capsys.readouterr().out == ""
