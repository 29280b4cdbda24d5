"""Kuhn poker as a hosted game."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from cardsharp.play.hosted_rules import HostedRules
from kuhn import rules
from kuhn.rules import CARDS, Action, Position, State
from kuhn.strategies import STRATEGIES


class Kuhn(HostedRules[State, Position, Action]):
    """Rules of Kuhn poker: one hand, six possible deals."""

    state_type, position_type, action_type = State, Position, Action
    strategies = STRATEGIES
    unit, max_return = "chips", 2.0
    action_space = tuple(Action)

    def initial_state(self, rng: Random) -> State:
        """Deal a card to each seat, all deals equally likely."""
        first, second = rng.sample(range(len(CARDS)), 2)
        return State((first, second))

    def current_seat(self, state: State) -> int | None:
        """Return the seat to act; the players act in turn."""
        return len(state.past_actions) % 2 if rules.options(state.past_actions) else None

    def position_for(self, state: State, seat: int) -> Position:
        """Return the seat's card and the actions so far."""
        return Position(state.cards[seat], state.past_actions)

    def legal_actions_in(self, position: Position) -> Sequence[Action]:
        """Return the legal actions."""
        return rules.options(position.past_actions)

    def next_state(self, state: State, action: Action, _dice: Random) -> State:
        """Append the action to the past actions."""
        return replace(state, past_actions=(*state.past_actions, action))

    def returns(self, state: State) -> tuple[float, ...]:
        """Return the chips that each seat has won."""
        return rules.gains(state)

    def encode_position(self, position: Position) -> Sequence[float]:
        """Encode the card and the actions of each player as one number each."""
        card = [float(position.card == card) for card in range(len(CARDS))]
        action_flags = [
            action in position.past_actions[at::2] for at in (0, 1) for action in Action
        ]
        return [*card, *map(float, action_flags)]

    def sample_state(self, position: Position, rng: Random) -> State:
        """Sample a state that fits: any other card for the other player."""
        other = rng.choice([card for card in range(len(CARDS)) if card != position.card])
        seat_card, opponent_card = position.card, other
        first = len(position.past_actions) % 2 == 0
        return State(
            (seat_card, opponent_card) if first else (opponent_card, seat_card),
            position.past_actions,
        )


RULES = Kuhn
