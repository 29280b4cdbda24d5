"""Earlier rounds in a Blef position, and the opponent models learned from them."""

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
from support.games import SimulationPlayer, game_simulation, new_match, play_to_end, stored_match
from support.simulated_blef_server import (
    BOT_NICKNAME,
    BOT_SECRET_UUID,
    SERVICE_URL,
    SimulatedBlefServer,
)
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
    MAX_SMALL_ROUND_CARDS,
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


def test_earlier_rounds_are_in_no_text_and_bayes_ignores_them() -> None:
    """The text of a position has no earlier rounds, because it seeds the dice of `bayes`."""
    *_, position = positions_of_first_seat("greedy", "greedy", 3)
    position_without_history = replace(position, earlier_rounds=())
    assert position.earlier_rounds
    assert repr(position) == repr(position_without_history)
    assert decide_with("bayes", position) == decide_with("bayes", position_without_history)


@pytest.mark.parametrize("has_intents", [True, False])
def test_a_stored_decision_has_the_rounds_that_were_over_then(has_intents: bool) -> None:
    played_actions = play_to_end(
        new_match(BLEF, 1),
        (SimulationPlayer(BLEF, "random", 1), SimulationPlayer(BLEF, "greedy")),
        Random(1),
    )
    [(record, moves)] = stored_match(BLEF, played_actions)
    recorded_moves = [move if has_intents else replace(move, intent=None) for move in moves]
    positions = [
        decision_point.position for decision_point in decision_points(record, recorded_moves)
    ]
    assert positions == [
        game_simulation(BLEF).current_position(played_action.state)
        for played_action in played_actions[:-1]
    ]


class CountingClient(BlefClient):
    """Bot client of a service in this process that counts the requests for each round."""

    def __init__(self, server: SimulatedBlefServer) -> None:
        super().__init__(SERVICE_URL, LIMITS)
        self.server, self.request_counts = server, Counter[str]()

    def _read_state(
        self, game: str, params: dict[str, str], *, waits: bool = False
    ) -> GameSnapshot:
        self.request_counts[params.get("round", "now")] += 1
        assert (game, waits) == (self.server.game_id, False)
        return GameSnapshot(StateBody.model_validate(self.server.state(**params)), 1)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[CountingClient]:
    """Yield a client of a game that the bot has joined and that has not started."""
    with closing(SimulatedBlefServer(tmp_path, FakeClock())) as server:
        join_params = {"nickname": BOT_NICKNAME, "player_uuid": str(BOT_SECRET_UUID)}
        server.client.post(f"/games/{server.game_id}/join", join_params)
        yield CountingClient(server)


def observe_as_new_worker(
    client: CountingClient, recorded_facts: Mapping[int, Body]
) -> Observation[int]:
    """Return the observation of a worker that has just started."""
    seat = ServiceSeat(
        SERVICE_URL, client.server.game_id, BOT_NICKNAME, "greedy", SecretStr(str(BOT_SECRET_UUID))
    )
    return BlefBotMatch("m", seat, build("greedy", Random(0)), client, None, FakeClock()).observe(
        recorded_facts
    )


def test_bot_learns_earlier_rounds_without_extra_requests(client: CountingClient) -> None:
    """Each round is requested once, for the log, also by two workers in succession."""
    recorded_facts: dict[int, Body] = {}
    decision_count, server = 0, client.server
    while server.play_rival() != "Finished":
        observation = observe_as_new_worker(client, recorded_facts)
        recorded_facts |= observation.facts
        turn = observation.turn
        if turn is None:
            continue
        past_round_numbers = range(1, turn.position.round_number)
        rounds = [
            StateBody.model_validate(server.state(round=number)) for number in past_round_numbers
        ]
        past_positions = [position_from_state(round_state, None) for round_state in rounds]
        assert turn.position.earlier_rounds == tuple(
            position.to_round() for position in past_positions if position
        )
        action = turn.match.strategy.decide(turn.position).action
        body = {"player_uuid": str(BOT_SECRET_UUID), "action_id": action}
        server.client.post(f"/games/{server.game_id}/play", body)
        decision_count += bool(rounds)
    del client.request_counts["now"]
    assert {*client.request_counts.values()} == {1}
    assert decision_count


@pytest.mark.parametrize("end_facts", [{"player": None}, {"hands": {"A": ["7 of clubs"]}}])
def test_a_log_that_cannot_be_read_costs_no_move(client: CountingClient, end_facts: Body) -> None:
    log_facts: list[Body] = [
        {"player": "A", "actionId": action} for action in (3, CHECK, LOST_MARKER)
    ]
    log_facts[-1] = {**log_facts[-1], "hands": {}, **end_facts}
    while True:
        client.server.play_rival()
        observation = observe_as_new_worker(client, dict(enumerate(log_facts, SEQUENCES_PER_ROUND)))
        if observation.turn is not None:
            assert observation.turn.position.earlier_rounds == ()
            return


def decide_with(name: str, position: BlefPosition) -> BlefDecision:
    return build(name, Random(1)).decide(position)


def finished_round(hands: tuple[str, str], *bets: int) -> Round:
    cards = [tuple(card for card in DECK if RANKS[card.value] in hand)[:2] for hand in hands]
    moves = [RoundMove(move_index % 2, action) for move_index, action in enumerate((*bets, CHECK))]
    return Round(1, 11, (2, 2), tuple(cards), None, (*moves, RoundMove(0, LOST_MARKER)))


def king_bet_likelihood(model: OpponentModel, bet: int) -> float:
    kings = card_bits([card for card in DECK if RANKS[card.value] == "K"][:2])
    return model.likelihood(CARDS_ONLY, bet_features(kings, 2), NO_BET, bet)


def test_observed_lies_and_checks_shape_the_opponent_model() -> None:
    bluffed_round = finished_round(("9", "A"), NUMBERS["High card, ace"], NUMBERS["Pair of aces"])
    truthful_round = finished_round(("A", "9"), NUMBERS["High card, ace"], NUMBERS["Pair of aces"])
    initial_model, bluffer_model, truthful_model = (
        opponent_model_of((observed_round,) * n, 0)
        for observed_round, n in ((bluffed_round, 0), (bluffed_round, 4), (truthful_round, 4))
    )
    king_bet, queen_bet = NUMBERS["High card, king"], NUMBERS["High card, queen"]
    assert king_bet_likelihood(bluffer_model, king_bet) < king_bet_likelihood(
        initial_model, king_bet
    )
    assert king_bet_likelihood(bluffer_model, queen_bet) > king_bet_likelihood(
        initial_model, queen_bet
    )
    assert king_bet_likelihood(truthful_model, queen_bet) < king_bet_likelihood(
        bluffer_model, queen_bet
    )
    raised_round = finished_round(("9", "A"), 0, NUMBERS["Pair of 9s"], NUMBERS["Pair of aces"])
    queens_bet = NUMBERS["Pair of queens"]
    nines_features = bet_features(card_bits(DECK[:1]), 2)
    initial_model, updated_model = (opponent_model_of((raised_round,) * n, 0) for n in (0, 3))
    assert updated_model.likelihood(
        CARDS_ONLY, nines_features, queens_bet, CHECK
    ) < initial_model.likelihood(CARDS_ONLY, nines_features, queens_bet, CHECK)
    assert updated_model.habit_and_model_weights != initial_model.habit_and_model_weights
    assert sum(updated_model.habit_and_model_weights) == pytest.approx(1)


def test_model_separates_opening_lies_from_truthful_answers() -> None:
    """Opening bets and answers have separate preferences in the model.

    A player that believes a bet counts on its cards. Belief has no effect if the bet cannot
    be true.
    """
    betting_model = BettingModel()
    hands = [
        bet_features(card_bits(DECK[4 * value : 4 * value + 1]), 2) for value in range(len(RANKS))
    ]
    for value in [1, 2, 3, 4] * 3:
        betting_model = betting_model.updated(hands[value], NO_BET, value + 1, 0.7)
        betting_model = betting_model.updated(hands[value], 0, value, 0.7)
    probabilities = PreparedBettingModel(betting_model)
    assert probabilities.action_probability(hands[2], NO_BET, 2) < 0.1
    assert probabilities.action_probability(hands[2], 0, 2) > 0.5
    king, four_kings_bet = card_bits(DECK[16:17]), NUMBERS["Four of a kind, kings"]
    believed_features = bet_features_if_believed(king, 2, NUMBERS["Pair of kings"])
    assert believed_features.levels == bet_features(card_bits(DECK[16:18]), 1).levels
    assert bet_features_if_believed(king, 1, four_kings_bet) is bet_features(king, 1)
    assert bet_features_if_believed(king, 2, NO_BET) is bet_features(king, 2)


def test_model_expects_checks_of_bets_that_are_rarely_true() -> None:
    """Of two bets that are equally likely by the hand, a check hits the rarer one."""
    hand = bet_features(card_bits(DECK[:3]), 5)
    first_bet, second_bet = next(
        (low, high)
        for low, high in combinations(range(len(BETS) - 1), 2)
        if hand.levels[low] == hand.levels[high] and hand.bare[low] > hand.bare[high]
    )
    betting_model = BettingModel()
    assert PreparedBettingModel(betting_model).check_probability(
        hand, first_bet
    ) == PreparedBettingModel(betting_model).check_probability(hand, second_bet)
    for _ in range(3):
        betting_model = betting_model.updated(hand, second_bet, CHECK, 0.5).updated(
            hand, first_bet, len(BETS) - 1, 0.5
        )
    assert (
        PreparedBettingModel(betting_model).check_probability(hand, second_bet)
        > PreparedBettingModel(betting_model).check_probability(hand, first_bet) + 0.1
    )


@pytest.mark.parametrize(
    ("name", "min_share", "max_share"), [("greedy", 0.6, 1), ("solved", 0, 0.1)]
)
def test_small_rounds_are_played_by_tables_unless_the_opponent_is_predictable(
    name: str, min_share: float, max_share: float
) -> None:
    preferences = [
        prefers_best_response(position, opponent_models_by_seat(position))
        for seed in range(4)
        for position in positions_of_first_seat("greedy", name, seed)
        if 4 <= sum(position.card_counts) <= MAX_SMALL_ROUND_CARDS
    ]
    assert min_share <= sum(preferences) / len(preferences) <= max_share


def test_each_active_opponent_has_a_model_and_an_eliminated_player_has_none() -> None:
    """Every opponent still in the game has a model; with three players no table applies."""
    for position in positions_of_first_seat("random", "greedy", 5, seats=3):
        opponent_models = opponent_models_by_seat(position)
        assert opponent_models.keys() == {*position.to_round().active_seats} - {0}
        assert prefers_best_response(position, opponent_models)
    assert all(model.decisions > 0 for model in opponent_models.values())


def test_the_default_plays_the_solved_table_or_bayes_with_opponent_models() -> None:
    table_count = bayes_count = 0
    for position in [*positions_of_first_seat("greedy", "threshold(0.2,0.5)", 7)][::3]:
        opponent_models = opponent_models_by_seat(position)
        if prefers_best_response(position, opponent_models):
            assert decide_with("reader", position) == Bayes(Random(1)).decide(
                position, opponent_models
            )
            bayes_count += 1
        else:
            assert decide_with("reader", position) == decide_with("solved", position)
            table_count += 1
    assert min(table_count, bayes_count) > 0


@pytest.mark.parametrize("opponent", ["solved", "bayes", "greedy"])
def test_nobody_can_make_the_default_play_its_tables_in_a_large_round(opponent: str) -> None:
    """What it has learned of a player is public: a switch to the tables could be provoked."""
    large_round_count = 0
    for position in [*positions_of_first_seat("solved", opponent, 3)][::3]:
        if sum(position.card_counts) > MAX_SMALL_ROUND_CARDS:
            models = opponent_models_by_seat(position)
            expected = Bayes(Random(1)).decide(position, models)
            assert decide_with("reader", position) == expected
            large_round_count += 1
    assert large_round_count > 3
