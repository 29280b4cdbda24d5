"""Kuhn poker, as it is hosted."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from cardsharp.host.rules import Rules
from kuhn import rules
from kuhn.rules import CARDS, Action, Position, State
from kuhn.strategies import STRATEGIES


class Kuhn(Rules[State, Position, Action]):
    """Six deals, one hand."""

    kind, seen, done = State, Position, Action
    strategies = STRATEGIES
    unit, most = "chips", 2.0
    every = tuple(Action)

    def deal(self, dice: Random) -> State:
        """A card for each, any as likely as another."""
        first, second = dice.sample(range(len(CARDS)), 2)
        return State((first, second))

    def to_act(self, state: State) -> int | None:
        """The players speak in turn."""
        return len(state.said) % 2 if rules.options(state.said) else None

    def view(self, state: State, seat: int) -> Position:
        """The seat's own card."""
        return Position(state.cards[seat], state.said)

    def options(self, position: Position) -> Sequence[Action]:
        """What may be said."""
        return rules.options(position.said)

    def apply(self, state: State, action: Action, _dice: Random) -> State:
        """What was said is said."""
        return replace(state, said=(*state.said, action))

    def gains(self, state: State) -> tuple[float, ...]:
        """Chips."""
        return rules.gains(state)

    def numbers(self, position: Position) -> Sequence[float]:
        """The card, and who has said what: one number each."""
        card = [float(position.card == card) for card in range(len(CARDS))]
        said = [one in position.said[at::2] for at in (0, 1) for one in Action]
        return [*card, *map(float, said)]

    def imagined(self, position: Position, dice: Random) -> State:
        """Any other card for the other player."""
        other = dice.choice([card for card in range(len(CARDS)) if card != position.card])
        mine, theirs = position.card, other
        first = len(position.said) % 2 == 0
        return State((mine, theirs) if first else (theirs, mine), position.said)


RULES = Kuhn
