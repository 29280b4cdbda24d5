"""Earlier rounds in a position, and the opponent models that the default learns from them."""

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
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import Round, RoundMove
from cardsharp.games.blef.service.wire import StateBody, position_from_state
from cardsharp.games.blef.strategies import BlefDecision, build
from cardsharp.games.blef.strategies.bayes import Bayes
from cardsharp.games.blef.strategies.bet_probabilities import card_bits
from cardsharp.games.blef.strategies.betting_model import (
    BettingModel,
    PreparedBettingModel,
    bet_features,
    bet_features_if_believed,
)
from cardsharp.games.blef.strategies.opponent_model import (
    CARDS_ONLY,
    OpponentModel,
    opponent_model_of,
    opponent_models_by_seat,
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
    recorded_moves = [move if intents else replace(move, intent=None) for move in moves]
    positions = [
        decision_point.position for decision_point in decision_points(record, recorded_moves)
    ]
    assert positions == [game_simulation(BLEF).current_position(note.state) for note in notes[:-1]]


class CountingClient(BlefClient):
    """The bot's client at a service in this process, which counts what it asks for."""

    def __init__(self, place: SimulatedBlefServer) -> None:
        super().__init__(SERVICE, LIMITS)
        self.place, self.request_counts = place, Counter[str]()

    def _read_state(
        self, game: str, params: dict[str, str], *, waits: bool = False
    ) -> GameSnapshot:
        self.request_counts[params.get("round", "now")] += 1
        assert (game, waits) == (self.place.table, False)
        return GameSnapshot(StateBody.model_validate(self.place.state(**params)), 1)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[CountingClient]:
    """At a game that we have joined and that has not started."""
    with closing(SimulatedBlefServer(tmp_path, FakeClock())) as place:
        joined = {"nickname": NAME, "player_uuid": str(SECRET)}
        place.client.post(f"/games/{place.table}/join", joined)
        yield CountingClient(place)


def looked(client: CountingClient, recorded_facts: Mapping[int, Body]) -> Observation[int]:
    """Return the observation of a worker that has just started."""
    seat = ServiceSeat(SERVICE, client.place.table, NAME, "greedy", SecretStr(str(SECRET)))
    return BlefBotMatch("m", seat, build("greedy", Random(0)), client, None, FakeClock()).observe(
        recorded_facts
    )


def test_bot_learns_earlier_rounds_without_extra_requests(client: CountingClient) -> None:
    """Each is asked for once, for the log, also by two workers one after the other."""
    recorded_facts: dict[int, Body] = {}
    decided, place = 0, client.place
    while place.play_rival() != "Finished":
        sight = looked(client, recorded_facts)
        recorded_facts |= sight.facts
        turn = sight.turn
        if turn is None:
            continue
        over = range(1, turn.position.round_number)
        rounds = [StateBody.model_validate(place.state(round=number)) for number in over]
        seen = [position_from_state(round_state, None) for round_state in rounds]
        assert turn.position.earlier_rounds == tuple(
            position.to_round() for position in seen if position
        )
        action = turn.match.strategy.decide(turn.position).action
        body = {"player_uuid": str(SECRET), "action_id": action}
        place.client.post(f"/games/{place.table}/play", body)
        decided += bool(rounds)
    del client.request_counts["now"]
    assert {*client.request_counts.values()} == {1}
    assert decided


@pytest.mark.parametrize("end", [{"player": None}, {"hands": {"A": ["7 of clubs"]}}])
def test_a_log_that_cannot_be_read_costs_no_move(client: CountingClient, end: Body) -> None:
    log_facts: list[Body] = [
        {"player": "A", "actionId": action} for action in (3, CHECK, LOST_MARKER)
    ]
    log_facts[-1] = {**log_facts[-1], "hands": {}, **end}
    while True:
        client.place.play_rival()
        sight = looked(client, dict(enumerate(log_facts, SEQUENCES_PER_ROUND)))
        if sight.turn is not None:
            assert sight.turn.position.earlier_rounds == ()
            return


def decided(name: str, position: BlefPosition) -> BlefDecision:
    return build(name, Random(1)).decide(position)


def over(hands: tuple[str, str], *bets: int) -> Round:
    cards = [tuple(c for c in DECK if RANKS[c.value] in hand)[:2] for hand in hands]
    moves = [RoundMove(place % 2, action) for place, action in enumerate((*bets, CHECK))]
    return Round(1, 11, (2, 2), tuple(cards), None, (*moves, RoundMove(0, LOST_MARKER)))


def chance(reading: OpponentModel, bet: int) -> float:
    kings = card_bits([card for card in DECK if RANKS[card.value] == "K"][:2])
    return reading.likelihood(CARDS_ONLY, bet_features(kings, 2), NO_BET, bet)


def test_observed_lies_and_checks_shape_the_opponent_model() -> None:
    lied = over(("9", "A"), NUMBERS["High card, ace"], NUMBERS["Pair of aces"])
    honest = over(("A", "9"), NUMBERS["High card, ace"], NUMBERS["Pair of aces"])
    initial_model, liar, true = (
        opponent_model_of((observed_round,) * n, 0)
        for observed_round, n in ((lied, 0), (lied, 4), (honest, 4))
    )
    king_bet, queen_bet = NUMBERS["High card, king"], NUMBERS["High card, queen"]
    assert chance(liar, king_bet) < chance(initial_model, king_bet)
    assert chance(liar, queen_bet) > chance(initial_model, queen_bet)
    assert chance(true, queen_bet) < chance(liar, queen_bet)
    bets_on = over(("9", "A"), 0, NUMBERS["Pair of 9s"], NUMBERS["Pair of aces"])
    pair = NUMBERS["Pair of queens"]
    nines = bet_features(card_bits(DECK[:1]), 2)
    initial_model, later = (opponent_model_of((bets_on,) * n, 0) for n in (0, 3))
    assert later.likelihood(CARDS_ONLY, nines, pair, CHECK) < initial_model.likelihood(
        CARDS_ONLY, nines, pair, CHECK
    )
    assert later.habit_and_model_weights != initial_model.habit_and_model_weights
    assert sum(later.habit_and_model_weights) == pytest.approx(1)


def test_model_separates_opening_lies_from_truthful_answers() -> None:
    """The model learns the preferences for opening bets separately.

    A player that believes a bet counts on its cards. Where the bet cannot be true, belief
    changes nothing.
    """
    taste = BettingModel()
    hands = [
        bet_features(card_bits(DECK[4 * value : 4 * value + 1]), 2) for value in range(len(RANKS))
    ]
    for value in [1, 2, 3, 4] * 3:
        taste = taste.updated(hands[value], NO_BET, value + 1, 0.7)
        taste = taste.updated(hands[value], 0, value, 0.7)
    probabilities = PreparedBettingModel(taste)
    assert probabilities.action_probability(hands[2], NO_BET, 2) < 0.1
    assert probabilities.action_probability(hands[2], 0, 2) > 0.5
    king, four = card_bits(DECK[16:17]), NUMBERS["Four of a kind, kings"]
    believed = bet_features_if_believed(king, 2, NUMBERS["Pair of kings"])
    assert believed.levels == bet_features(card_bits(DECK[16:18]), 1).levels
    assert bet_features_if_believed(king, 1, four) is bet_features(king, 1)
    assert bet_features_if_believed(king, 2, NO_BET) is bet_features(king, 2)


def test_model_expects_checks_of_bets_that_are_rarely_true() -> None:
    """Of two that are as likely by the player's own cards, rather the one that is seldom true."""
    hand = bet_features(card_bits(DECK[:3]), 5)
    first_bet, second_bet = next(
        (low, high)
        for low, high in combinations(range(len(BETS) - 1), 2)
        if hand.levels[low] == hand.levels[high] and hand.bare[low] > hand.bare[high]
    )
    taste = BettingModel()
    assert PreparedBettingModel(taste).check_probability(hand, first_bet) == PreparedBettingModel(
        taste
    ).check_probability(hand, second_bet)
    for _ in range(3):
        taste = taste.updated(hand, second_bet, CHECK, 0.5).updated(
            hand, first_bet, len(BETS) - 1, 0.5
        )
    assert (
        PreparedBettingModel(taste).check_probability(hand, second_bet)
        > PreparedBettingModel(taste).check_probability(hand, first_bet) + 0.1
    )


@pytest.mark.parametrize(
    ("name", "min_share", "max_share"), [("greedy", 0.6, 1), ("solved", 0, 0.2)]
)
def test_best_response_is_preferred_against_greedy_but_seldom_against_solved(
    name: str, min_share: float, max_share: float
) -> None:
    positions = [
        position for seed in range(3) for position in positions_of_first_seat("greedy", name, seed)
    ]
    preferences = [
        prefers_best_response(position, opponent_models_by_seat(position)) for position in positions
    ]
    assert min_share <= sum(preferences) / len(preferences) <= max_share


def test_each_active_opponent_has_a_model_and_an_eliminated_player_has_none() -> None:
    """With three at the table no table of ours says how to play."""
    for position in positions_of_first_seat("random", "greedy", 5, seats=3):
        read = opponent_models_by_seat(position)
        assert read.keys() == {*position.to_round().active_seats} - {0}
        assert prefers_best_response(position, read)
    assert all(model.decisions > 0 for model in read.values())


def test_the_default_plays_the_solved_table_or_bayes_with_opponent_models() -> None:
    as_bayes = 0
    for position in [*positions_of_first_seat("greedy", "threshold(0.2,0.5)", 7)][::3]:
        read, unread = opponent_models_by_seat(position), replace(position, earlier_rounds=())
        if prefers_best_response(position, read):
            assert decided("reader", position) == Bayes(Random(1)).decide(position, read)
            as_bayes += 1
        else:
            assert decided("reader", position) == decided("solved", position)
        assert decided("reader", unread) == decided("solved", unread)
    assert as_bayes > 3
