"""What a position tells of the rounds before, and how the default reads the others from them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from fault_simulation.transport import LIMITS
from pydantic import SecretStr
from support.blef_service import positions_of_first_seat
from support.games import StrategyPlayer, game_simulation, new_match, play_on, stored_match
from support.simulated_blef_server import NAME, SECRET, SERVICE, SimulatedBlefServer
from support.store_fixtures import FakeClock

from cardsharp.bot.bot_match import Observation
from cardsharp.bot.service_seats import ServiceSeat
from cardsharp.games.blef.actions import BETS, CHECK, LOST_MARKER
from cardsharp.games.blef.bot.client import BlefClient, GameSnapshot
from cardsharp.games.blef.bot.seat_match import BlefBotMatch
from cardsharp.games.blef.cards import DECK, RANKS
from cardsharp.games.blef.history.log_records import SEQUENCES_PER_ROUND
from cardsharp.games.blef.history.replay import decision_points
from cardsharp.games.blef.position import Position
from cardsharp.games.blef.rules import Round, RoundMove
from cardsharp.games.blef.service.wire import StateBody, position_from_state
from cardsharp.games.blef.strategies import Decision, build
from cardsharp.games.blef.strategies.bayes import Bayes
from cardsharp.games.blef.strategies.bet_probabilities import card_bits
from cardsharp.games.blef.strategies.betting_model import (
    BettingModel,
    BettingProbabilities,
    bet_features,
    bet_features_if_true,
)
from cardsharp.games.blef.strategies.opponent_model import (
    CARDS_ONLY,
    OpponentModel,
    opponent_model_of,
    opponent_models,
    prefers_best_response,
)
from cardsharp.games.blef.strategies.opponent_types import NO_BET
from cardsharp.play.catalog import get_game
from cardsharp.store.match_log import Body

BLEF = get_game("blef")
NUMBERS = {bet.name: number for number, bet in enumerate(BETS)}


def test_it_is_in_no_text_and_bayes_decides_as_without() -> None:
    """The dice of `bayes` are seeded by that text."""
    *_, position = positions_of_first_seat("greedy", "greedy", 3)
    without = replace(position, earlier_rounds=())
    assert position.earlier_rounds
    assert repr(position) == repr(without)
    assert decided("bayes", position) == decided("bayes", without)


@pytest.mark.parametrize("intents", [True, False])
def test_a_stored_decision_has_the_rounds_that_were_over_then(intents: bool) -> None:
    notes = play_on(
        new_match(BLEF, 1),
        (StrategyPlayer(BLEF, "random", 1), StrategyPlayer(BLEF, "greedy")),
        Random(1),
    )
    [(record, moves)] = stored_match(BLEF, notes)
    told = [move if intents else replace(move, intent=None) for move in moves]
    found = [asked.position for asked in decision_points(record, told)]
    assert found == [game_simulation(BLEF).current_position(note.state) for note in notes[:-1]]


class Asking(BlefClient):
    """The bot's client at a service in this process, which counts what it asks for."""

    def __init__(self, place: SimulatedBlefServer) -> None:
        super().__init__(SERVICE, LIMITS)
        self.place, self.asked = place, Counter[str]()

    def _state(self, game: str, params: dict[str, str], *, waits: bool = False) -> GameSnapshot:
        self.asked[params.get("round", "now")] += 1
        assert (game, waits) == (self.place.table, False)
        return GameSnapshot(StateBody.model_validate(self.place.state(**params)), 1)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Asking]:
    """At a game that we have joined and that has not started."""
    with closing(SimulatedBlefServer(tmp_path, FakeClock())) as place:
        joined = {"nickname": NAME, "player_uuid": str(SECRET)}
        place.client.post(f"/games/{place.table}/join", joined)
        yield Asking(place)


def looked(client: Asking, known: Mapping[int, Body]) -> Observation[int]:
    """What a worker sees who has just come."""
    seat = ServiceSeat(SERVICE, client.place.table, NAME, "greedy", SecretStr(str(SECRET)))
    return BlefBotMatch("m", seat, build("greedy", Random(0)), client, None, FakeClock()).observe(
        known
    )


def test_the_bot_knows_the_rounds_before_without_a_request_more(client: Asking) -> None:
    """Each is asked for once, for the log, also by two workers one after the other."""
    known: dict[int, Body] = {}
    decided, place = 0, client.place
    while place.play_rival() != "Finished":
        sight = looked(client, known)
        known |= sight.facts
        turn = sight.turn
        if turn is None:
            continue
        over = range(1, turn.position.round_number)
        rounds = [StateBody.model_validate(place.state(round=number)) for number in over]
        seen = [position_from_state(one, None) for one in rounds]
        assert turn.position.earlier_rounds == tuple(one.to_round() for one in seen if one)
        action = turn.match.strategy.decide(turn.position).action
        body = {"player_uuid": str(SECRET), "action_id": action}
        place.client.post(f"/games/{place.table}/play", body)
        decided += bool(rounds)
    del client.asked["now"]
    assert {*client.asked.values()} == {1}
    assert decided


@pytest.mark.parametrize("end", [{"player": None}, {"hands": {"A": ["7 of clubs"]}}])
def test_a_log_that_cannot_be_read_costs_no_move(client: Asking, end: Body) -> None:
    told: list[Body] = [{"player": "A", "actionId": action} for action in (3, CHECK, LOST_MARKER)]
    told[-1] = {**told[-1], "hands": {}, **end}
    while True:
        client.place.play_rival()
        sight = looked(client, dict(enumerate(told, SEQUENCES_PER_ROUND)))
        if sight.turn is not None:
            assert sight.turn.position.earlier_rounds == ()
            return


def decided(name: str, position: Position) -> Decision:
    return build(name, Random(1)).decide(position)


def over(hands: tuple[str, str], *said: int) -> Round:
    cards = [tuple(c for c in DECK if RANKS[c.value] in hand)[:2] for hand in hands]
    moves = [RoundMove(place % 2, action) for place, action in enumerate((*said, CHECK))]
    return Round(1, 11, (2, 2), tuple(cards), None, (*moves, RoundMove(0, LOST_MARKER)))


def chance(reading: OpponentModel, bet: int) -> float:
    kings = card_bits([card for card in DECK if RANKS[card.value] == "K"][:2])
    return reading.likelihood(CARDS_ONLY, bet_features(kings, 2), NO_BET, bet)


def test_what_was_seen_is_expected_of_lies_and_doubts() -> None:
    lied = over(("9", "A"), NUMBERS["High card, ace"], NUMBERS["Pair of aces"])
    honest = over(("A", "9"), NUMBERS["High card, ace"], NUMBERS["Pair of aces"])
    before, liar, true = (
        opponent_model_of((one,) * n, 0) for one, n in ((lied, 0), (lied, 4), (honest, 4))
    )
    own, other = NUMBERS["High card, king"], NUMBERS["High card, queen"]
    assert chance(liar, own) < chance(before, own)
    assert chance(liar, other) > chance(before, other)
    assert chance(true, other) < chance(liar, other)
    bets_on = over(("9", "A"), 0, NUMBERS["Pair of 9s"], NUMBERS["Pair of aces"])
    pair = NUMBERS["Pair of queens"]
    nines = bet_features(card_bits(DECK[:1]), 2)
    before, later = (opponent_model_of((bets_on,) * n, 0) for n in (0, 3))
    assert later.likelihood(CARDS_ONLY, nines, pair, CHECK) < before.likelihood(
        CARDS_ONLY, nines, pair, CHECK
    )
    assert later.habit_weights != before.habit_weights
    assert sum(later.habit_weights) == pytest.approx(1)


def test_who_opens_with_lies_and_answers_with_the_truth_is_expected_to() -> None:
    """What is liked when a round is opened is learned apart.

    Who believes a bet sees its cards, and is no different where it cannot be true.
    """
    taste = BettingModel()
    hands = [
        bet_features(card_bits(DECK[4 * value : 4 * value + 1]), 2) for value in range(len(RANKS))
    ]
    for value in [1, 2, 3, 4] * 3:
        taste = taste.updated(hands[value], NO_BET, value + 1, 0.7)
        taste = taste.updated(hands[value], 0, value, 0.7)
    drawn = BettingProbabilities(taste)
    assert drawn.action_probability(hands[2], NO_BET, 2) < 0.1
    assert drawn.action_probability(hands[2], 0, 2) > 0.5
    king, four = card_bits(DECK[16:17]), NUMBERS["Four of a kind, kings"]
    believed = bet_features_if_true(king, 2, NUMBERS["Pair of kings"])
    assert believed.levels == bet_features(card_bits(DECK[16:18]), 1).levels
    assert bet_features_if_true(king, 1, four) is bet_features(king, 1)
    assert bet_features_if_true(king, 2, NO_BET) is bet_features(king, 2)


def test_who_doubts_bets_that_are_high_to_everybody_is_expected_to() -> None:
    """Of two that are as likely by the player's own cards, rather the one that is seldom true."""
    hand = bet_features(card_bits(DECK[:3]), 5)
    one, other = next(
        (low, high)
        for low, high in combinations(range(len(BETS) - 1), 2)
        if hand.levels[low] == hand.levels[high] and hand.bare[low] > hand.bare[high]
    )
    taste = BettingModel()
    assert BettingProbabilities(taste).check_probability(hand, one) == BettingProbabilities(
        taste
    ).check_probability(hand, other)
    for _ in range(3):
        taste = taste.updated(hand, other, CHECK, 0.5).updated(hand, one, len(BETS) - 1, 0.5)
    assert (
        BettingProbabilities(taste).check_probability(hand, other)
        > BettingProbabilities(taste).check_probability(hand, one) + 0.1
    )


@pytest.mark.parametrize(("name", "least", "most"), [("greedy", 0.6, 1), ("solved", 0, 0.2)])
def test_who_plays_by_the_table_is_not_read(name: str, least: float, most: float) -> None:
    positions = [one for seed in range(3) for one in positions_of_first_seat("greedy", name, seed)]
    found = [prefers_best_response(one, opponent_models(one)) for one in positions]
    assert least <= sum(found) / len(found) <= most


def test_of_several_each_is_known_for_itself_and_whoever_is_out_is_nobody() -> None:
    """With three at the table no table of ours says how to play."""
    for position in positions_of_first_seat("random", "greedy", 5, seats=3):
        read = opponent_models(position)
        assert read.keys() == {*position.to_round().active_seats} - {0}
        assert prefers_best_response(position, read)
    assert all(one.decisions > 0 for one in read.values())


def test_the_default_plays_the_table_or_as_bayes_who_knows_what_was_read() -> None:
    as_bayes = 0
    for position in [*positions_of_first_seat("greedy", "threshold(0.2,0.5)", 7)][::3]:
        read, unread = opponent_models(position), replace(position, earlier_rounds=())
        if prefers_best_response(position, read):
            assert decided("reader", position) == Bayes(Random(1)).decide(position, read)
            as_bayes += 1
        else:
            assert decided("reader", position) == decided("solved", position)
        assert decided("reader", unread) == decided("solved", unread)
    assert as_bayes > 3
