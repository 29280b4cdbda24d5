"""What may be said, how parameters are read, and that nobody can foretell or find out a secret."""

import hmac
import random
import signal
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.blef import random_round, seeded_deal
from support.cloud_clock import START

from cardsharp.blef import rules
from cardsharp.blef.actions import BETS, CHECK, LOST, name_of
from cardsharp.blef.cards import DECK
from cardsharp.blef.changes import SecretChance
from cardsharp.blef.params import is_random, read_number
from cardsharp.blef.position import position_of
from cardsharp.blef.records import ClosedRound, GameRecord, Player, key_of
from cardsharp.blef.rules import Round
from cardsharp.blef.store import decode_game, decode_round, encode_game, encode_round
from cardsharp.blef.wire import parse_state, position_in, state_body


@pytest.mark.parametrize(
    ("action", "name"),
    [
        (0, "High card, 9"),
        (11, "Pair of aces"),
        (12, "Two pair, 10s and 9s"),
        (26, "Two pair, aces and kings"),
        (27, "Small straight (9-K)"),
        (35, "Three of a kind, aces"),
        (36, "Full house, 9s over 10s"),
        (65, "Full house, aces over kings"),
        (69, "Flush, spades"),
        (75, "Four of a kind, aces"),
        (87, "Great straight flush (9-A), spades"),
        (CHECK, "Check"),
        (LOST, "Lost the round"),
    ],
)
def test_an_action_has_the_name_of_the_rule_book(action: int, name: str) -> None:
    assert name_of(action) == name


@pytest.mark.parametrize(("cards", "bets"), [(2, 12), (3, 18), (4, 39), (5, 83), (6, 88)])
def test_so_many_bets_can_be_true_with_so_many_cards(cards: int, bets: int) -> None:
    """The counts of docs/spec/blef.md section 4."""
    assert sum(bet.size <= cards for bet in BETS) == bets


NO_NUMBERS = ("", " ", "abc", "NaN", "NA", "TRUE", "1_0", "1,1", "0x", "1e", "--1", "1L")
NO_NUMBERS += ("\u0661", "\u00a01")


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


@pytest.mark.parametrize("uuid", ["first", "last", "nobody"])
def test_every_player_is_compared_with_who_asks(monkeypatch: pytest.MonkeyPatch, uuid: str) -> None:
    compared, compare = [], hmac.compare_digest

    def count(one: str, two: str) -> bool:
        compared.append((one, two))
        return compare(one, two)

    game = GameRecord("", START)
    for name in ("first", "second", "last"):
        game = game.joined_by(name, name)
    monkeypatch.setattr(hmac, "compare_digest", count)
    assert game.seat_of(uuid) == {"first": 0, "last": 2}.get(uuid)
    assert len(compared) == 3


MOST_ROUNDS = {2: 21, 3: 23, 4: 23, 5: 19, 6: 23, 7: 20, 8: 23}
"""docs/spec/blef.md section 2."""

cards = st.sets(st.sampled_from(DECK))
players = st.integers(2, 8)
seeds = st.integers(0, 2**32)


def check_round(live: Round, before: Round, closed: Round | None) -> None:
    """What must be true after every action."""
    assert sum(live.n_cards) <= 24
    pool = [card for hand in live.hands for card in hand]
    assert len(set(pool)) == len(pool)
    if closed is None:
        assert len(live.history) == len(before.history) + 1
        return
    assert [move.action for move in closed.history[-2:]] == [CHECK, LOST]
    assert (closed.n_cards, closed.hands) == (before.n_cards, before.hands)
    changed = [seat for seat, n in enumerate(live.n_cards) if n != before.n_cards[seat]]
    assert changed == [closed.history[-1].seat], "each round has exactly one loser"
    if live.winner is None:
        assert tuple(map(len, live.hands)) == live.n_cards
        assert (live.number, live.history) == (before.number + 1, ())


@settings(max_examples=60, deadline=None)
@given(players=players, seed=seeds)
def test_every_game_ends_in_time_with_one_winner(players: int, seed: int) -> None:
    random, deal = Random(seed), seeded_deal(seed)
    live, rounds = rules.start(players, deal), 0
    while live.winner is None:
        assert live.turn is not None
        assert live.n_cards[live.turn] > 0
        step = rules.apply(live, random.choice(rules.legal_actions(live)), deal)
        check_round(step.live, live, step.closed)
        rounds += step.closed is not None
        live = step.live
    most = rules.max_cards(players)
    assert (players - 1) * most <= rounds <= (players - 1) * most + most - 1
    assert rounds <= MOST_ROUNDS[players]
    assert rounds == live.number
    assert live.n_cards[live.winner] > 0
    assert rules.legal_actions(live) == ()


def table_of(live: Round | None, names: tuple[str, ...]) -> GameRecord:
    seated = tuple(Player(name, key_of(name)) for name in names)
    return GameRecord("", START, admin=names[0], players=seated, public=True, round=live)


@given(players=players, seed=seeds)
def test_a_stored_game_is_read_back_as_it_was(players: int, seed: int) -> None:
    live = random_round(Random(seed), players)
    game = table_of(live, tuple(f"\u00e9{seat}" for seat in range(players)))
    assert decode_game("", encode_game(game)) == game
    closed = ClosedRound(live, START)
    assert decode_round(encode_round(closed)) == closed


@given(players=players, seed=seeds)
def test_the_api_shows_a_player_exactly_the_position_of_its_seat(players: int, seed: int) -> None:
    """So a bot that reads the API sees what one beside the rules would, and no more."""
    live = random_round(Random(seed), players)
    names = tuple(f"p{seat}" for seat in range(players))
    assert position_in(state_body(table_of(None, names), None), names[0]) is None
    for me in (None, *range(players)):
        position = position_of(live, me)
        body = state_body(table_of(live, names), position).model_dump_json()
        assert position_in(parse_state(body), None if me is None else names[me]) == position
        assert position.hand == (() if me is None else live.hands[me])
        assert position.hidden == sum(live.n_cards) - len(position.hand)
