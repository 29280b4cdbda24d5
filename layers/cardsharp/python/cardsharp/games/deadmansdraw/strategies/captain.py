"""`captain`: the tournament strategy. It searches for the highest probability to win."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Protocol, TypeVar

from cardsharp.games.deadmansdraw.actions import (
    DRAW,
    END_TURN,
    Action,
    EffectType,
    PendingEffect,
    respond,
)
from cardsharp.games.deadmansdraw.cards import SERVER_DECK
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import (
    DeadMansDrawDecision,
    IsLate,
    PointsOption,
    ProbabilityOption,
    strategy,
)
from cardsharp.games.deadmansdraw.strategies.explanations import describe_option, explain_choice
from cardsharp.games.deadmansdraw.strategies.search.card_sets import (
    CARD_NUMBER,
    NO_CARD,
    card_set,
)
from cardsharp.games.deadmansdraw.strategies.search.compiled_search import (
    build_endgame_solver,
    build_turn_search,
)
from cardsharp.games.deadmansdraw.strategies.search.endgame import (
    EndgameTurn,
    SearchLimitExceeded,
)
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import (
    SearchLimits,
    never_late,
)
from cardsharp.games.deadmansdraw.strategies.search.search_budget import (
    PLAIN_LIMITS,
    lab_limits,
    local_limits,
)
from cardsharp.games.deadmansdraw.strategies.search.simulated_turn import (
    SimulatedTurn,
    TableSets,
)
from cardsharp.games.deadmansdraw.strategies.search.turn_search import TurnSearch
from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model
from cardsharp.games.deadmansdraw.strategies.steady import Steady

WEIGHT_FILE = "captain"
QUICK_CAPTAIN = "captain-quick"
# leave the card that an Oracle showed, and continue the turn
REFUSE_ORACLE = respond(EffectType.ORACLE)

_log = logging.getLogger(__name__)


class Captain:
    """Plays the option with the highest probability to win the match.

    A position that cannot occur in a match, such as one with a card twice or with an unknown suit,
    is left to `steady`. The search is limited in nodes and not in seconds, so that a decision does
    not depend on the speed of the machine. Without `limits` of its own, captain has those of
    `search_budget.py`. Only as a last resort, if the deadline says that time is short, the strategy
    chooses among the options that it has evaluated so far.
    """

    def __init__(
        self, model: ValueModel, limits: SearchLimits | None = None, is_late: IsLate | None = None
    ) -> None:
        self._model = model
        self._limits = limits or lab_limits()
        self._has_own_limits = limits is not None
        self._is_late = is_late or never_late

    def with_deadline(self, is_late: IsLate) -> "Captain":
        """Return this captain with a function that returns True once time is short."""
        return Captain(self._model, self._limits, is_late)

    def with_cpu_seconds(self, cpu_seconds: float | None) -> "Captain":
        """Return this captain with the limits for such decisions, unless it has its own."""
        if self._has_own_limits:
            return self
        return Captain(self._model, local_limits(cpu_seconds), self._is_late)

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """Return the action with the highest probability to win; of equal ones, the first."""
        if not is_standard_deck(position):
            return Steady(Random(0)).decide(position)
        search = build_turn_search(self._model, self._limits)
        weighing = OptionEvaluator(position, search, self._is_late)
        options = weighing.evaluate_options()
        best = max(options, key=lambda option: option.value)
        return DeadMansDrawDecision(best.action, explain_choice(position, best.action), options)


@strategy("captain")
def captain(_rng: Random) -> Captain:
    """Plays the option with the highest probability to win."""
    return Captain(load_model(WEIGHT_FILE))


@strategy(QUICK_CAPTAIN)
def quick_captain(_rng: Random) -> Captain:
    """Plays like `captain` in plain Python: it solves the last five cards only."""
    return Captain(load_model(WEIGHT_FILE), PLAIN_LIMITS)


def is_standard_deck(position: DeadMansDrawPosition) -> bool:
    """Return True if every card is of the server's deck, and each is in one place only."""
    cards = [
        *position.own_bank,
        *position.opponent_bank,
        *position.play_area,
        *position.discard_pile,
    ]
    cards += position.unseen
    if position.pending is not None and position.pending.effect_type is EffectType.MAP:
        cards += position.pending.cards
    numbers = set(map(CARD_NUMBER.get, cards))
    return len(numbers) == len(cards) and None not in numbers


def to_simulated_turn(position: DeadMansDrawPosition) -> SimulatedTurn:
    """Return the turn for the search. The cards that a Map offers count as discarded."""
    pending, known_top = position.pending, position.known_top
    discard = card_set(position.discard_pile)
    if pending is not None and pending.effect_type is EffectType.MAP:
        discard |= card_set(pending.cards)
    table = TableSets(
        own_bank=card_set(position.own_bank),
        opponent_bank=card_set(position.opponent_bank),
        draw_pile=card_set(position.unseen),
        discard_pile=discard,
        known_top=NO_CARD if known_top is None else CARD_NUMBER[known_top],
    )
    return SimulatedTurn(table, (CARD_NUMBER[card] for card in position.play_area))


_Turn = TypeVar("_Turn", contravariant=True)  # noqa: PLC0105 (one letter more says nothing)


class _TurnEvaluator(Protocol[_Turn]):
    """Evaluator of actions in a turn: the limited search, or the endgame solver."""

    def value_of_ending_turn(self, turn: _Turn) -> float: ...
    def value_of_drawing(self, turn: _Turn) -> float: ...
    def value_of_hook_target(self, turn: _Turn, card: int) -> float: ...
    def value_of_sword_target(self, turn: _Turn, card: int) -> float: ...
    def value_of_cannon_target(self, turn: _Turn, card: int, kraken_draws: int) -> float: ...
    def value_of_taking_map_card(self, turn: _Turn, card: int) -> float: ...
    def value_of_taking_oracle_card(self, turn: _Turn, card: int, kraken_draws: int) -> float: ...


class OptionEvaluator:
    """Options of one position with their win probabilities."""

    def __init__(
        self, position: DeadMansDrawPosition, search: TurnSearch, is_late: IsLate = never_late
    ) -> None:
        self.position = position
        self.search = search
        self.late = is_late
        self.turn = to_simulated_turn(position)
        self._endgame_turn_end_count = 0

    @property
    def evaluated_turn_end_count(self) -> int:
        """Number of ends of turns that were evaluated."""
        return self.search.nodes + self._endgame_turn_end_count

    def evaluate_options(self) -> tuple[PointsOption, ...]:
        """Return the legal actions with their values, in a fixed order.

        Cards come in the order of the deck, then Draw, then EndTurn. Refusing an Oracle's card is
        left out: stopping or taking the card is never worse.
        """
        actions = self.position.legal_actions()
        if actions == (DRAW,):
            return (self._build_option(DRAW, self._evaluate_forced_draw()),)
        chosen = sorted(
            (action for action in actions if action != REFUSE_ORACLE), key=_action_sort_key
        )
        # An exact result is better than any estimate, so the endgame solver comes first. It returns
        # nothing if its nodes do not suffice; then the limited search estimates the values.
        return self._solve_to_the_end(chosen) or self._search_options(chosen)

    def _solve_to_the_end(self, actions: Sequence[Action]) -> tuple[PointsOption, ...]:
        """Return the options, searched to the end of the match.

        They are empty if that takes too many nodes.
        """
        limits = self.search.limits
        if not limits.endgame_cards or self.turn.pile_count > limits.endgame_cards:
            return ()
        values, self._endgame_turn_end_count = _solve_endgame(
            self.position, tuple(actions), limits.max_leaves, self.late
        )
        return tuple(map(self._build_option, actions, values))

    def _search_options(self, actions: Sequence[Action]) -> tuple[PointsOption, ...]:
        weighed: list[PointsOption] = []
        for action in actions:
            if weighed and self.late():
                _log.warning("Time is short: %d of %d weighed.", len(weighed), len(actions))
                break
            value = _evaluate_action(self.position, action, self.search, self.turn)
            weighed.append(self._build_option(action, value))
        return tuple(weighed)

    def _evaluate_forced_draw(self) -> float:
        search, turn = self.search, self.turn
        if not turn.pile_count:
            return search.value_of_stopping(turn)
        if turn.lying:
            return search.estimate_draw_and_stop_values(turn)[0]
        # The turn begins here. Its value is what the opponent leaves by a turn that banks nothing.
        swapped = TableSets(
            turn.opponent_bank, turn.own_bank, turn.pile, turn.discard, turn.known_top
        )
        return 1.0 - search.value_of_stopping(SimulatedTurn(swapped))

    def _build_option(self, action: Action, value: float) -> PointsOption:
        return ProbabilityOption(action, value, describe_option(self.position, action))


# `adaptive` searches again with other weights, which an exact endgame does not use
@lru_cache(maxsize=1)
def _solve_endgame(
    position: DeadMansDrawPosition, actions: tuple[Action, ...], max_nodes: int, is_late: IsLate
) -> tuple[tuple[float, ...], int]:
    """Return the value of each action, and the number of evaluated ends of turns.

    There are no values if the solver reaches `max_nodes` or the time is up.
    """
    endgame, root = build_endgame_solver(max_nodes, is_late), to_simulated_turn(position)
    sets = root.own_bank, root.opponent_bank, root.pile, root.discard
    turn = EndgameTurn(*sets, root.area, root.saved, root.known_top)
    try:
        values = [_evaluate_action(position, action, endgame, turn) for action in actions]
    except SearchLimitExceeded:
        values = []
    return tuple(values), endgame.ends


def _evaluate_action(
    position: DeadMansDrawPosition, action: Action, evaluator: _TurnEvaluator[_Turn], turn: _Turn
) -> float:
    if action == END_TURN:
        return evaluator.value_of_ending_turn(turn)
    if position.pending is None or action.card is None:
        return evaluator.value_of_drawing(turn)
    return _evaluate_answer(position.pending, CARD_NUMBER[action.card], evaluator, turn)


def _evaluate_answer(
    pending: PendingEffect, card: int, evaluator: _TurnEvaluator[_Turn], turn: _Turn
) -> float:
    owed = pending.remaining_draws
    match pending.effect_type:
        case EffectType.HOOK:
            return evaluator.value_of_hook_target(turn, card)
        case EffectType.SWORD:
            return evaluator.value_of_sword_target(turn, card)
        case EffectType.CANNON:
            return evaluator.value_of_cannon_target(turn, card, owed)
        case EffectType.MAP:
            return evaluator.value_of_taking_map_card(turn, card)
        case _:
            return evaluator.value_of_taking_oracle_card(turn, card, owed)


def _action_sort_key(action: Action) -> int:
    if action.card is None:
        return len(SERVER_DECK) + (action == END_TURN)
    return CARD_NUMBER[action.card]
