"""Kuhn poker, as it is hosted."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from cardsharp.play.hosted_rules import HostedRules
from kuhn import rules
from kuhn.rules import CARDS, Action, Position, State
from kuhn.strategies import STRATEGIES


class Kuhn(HostedRules[State, Position, Action]):
    """Six deals, one hand."""

    state_type, position_type, action_type = State, Position, Action
    strategies = STRATEGIES
    unit, max_return = "chips", 2.0
    action_space = tuple(Action)

    def initial_state(self, rng: Random) -> State:
        """A card for each, any as likely as another."""
        first, second = rng.sample(range(len(CARDS)), 2)
        return State((first, second))

    def current_seat(self, state: State) -> int | None:
        """The players speak in turn."""
        return len(state.said) % 2 if rules.options(state.said) else None

    def position_for(self, state: State, seat: int) -> Position:
        """The seat's own card."""
        return Position(state.cards[seat], state.said)

    def legal_actions_in(self, position: Position) -> Sequence[Action]:
        """What may be said."""
        return rules.options(position.said)

    def next_state(self, state: State, action: Action, _dice: Random) -> State:
        """What was said is said."""
        return replace(state, said=(*state.said, action))

    def returns(self, state: State) -> tuple[float, ...]:
        """Chips."""
        return rules.gains(state)

    def encode_position(self, position: Position) -> Sequence[float]:
        """The card, and who has said what: one number each."""
        card = [float(position.card == card) for card in range(len(CARDS))]
        said = [one in position.said[at::2] for at in (0, 1) for one in Action]
        return [*card, *map(float, said)]

    def sample_state(self, position: Position, rng: Random) -> State:
        """Any other card for the other player."""
        other = rng.choice([card for card in range(len(CARDS)) if card != position.card])
        mine, theirs = position.card, other
        first = len(position.said) % 2 == 0
        return State((mine, theirs) if first else (theirs, mine), position.said)


RULES = Kuhn
