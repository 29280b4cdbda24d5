"""Whatever is played, a game of Blef keeps to its rules."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from support.blef import random_round, seeded_deal
from support.cloud_clock import START

from cardsharp.blef import rules
from cardsharp.blef.actions import BETS, CHECK, LOST
from cardsharp.blef.cards import DECK
from cardsharp.blef.position import position_of
from cardsharp.blef.records import ClosedRound, GameRecord, Player, key_of
from cardsharp.blef.rules import Round
from cardsharp.blef.store import decode_game, decode_round, encode_game, encode_round
from cardsharp.blef.wire import parse_state, position_in, state_body

MOST_ROUNDS = {2: 21, 3: 23, 4: 23, 5: 19, 6: 23, 7: 20, 8: 23}
"""docs/spec/blef.md section 2."""

cards = st.sets(st.sampled_from(DECK))
players = st.integers(2, 8)
seeds = st.integers(0, 2**32)


@given(pool=cards, more=cards)
def test_more_cards_never_make_a_true_bet_false(pool: set[object], more: set[object]) -> None:
    both = [card for card in DECK if card in pool | more]
    few = [card for card in DECK if card in pool]
    for bet in BETS:
        assert not bet.holds(few) or bet.holds(both)
        assert not bet.holds(few) or len(few) >= bet.size


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
