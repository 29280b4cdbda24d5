"""My strategy for Dead Man's Draw: one class with one method, from a position to a decision.

Nothing is remembered between decisions; all that you may know is in the position. Try it:

  cardsharp play --strategy mine.py      # a match
  cardsharp show last                    # every turn, and why
  cardsharp lab duel mine.py draw-3      # how strong is it?
  cardsharp ladder mine.py               # who is the next to beat?
"""

from random import Random

from cardsharp.games.deadmansdraw import (
    DRAW,
    END_TURN,
    Action,
    Decision,
    Position,
    ProbabilityOption,
    strategy,
)
from cardsharp.play.strategy import format_percent

MAX_BUST_CHANCE = 0.3  # draw as long as the chance to bust is at most this; try other numbers


@strategy("mine")
class MyStrategy:
    """Draws while a bust is unlikely, and answers effects with the highest card."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng  # draw all random numbers from it: the same seed gives the same match

    def decide(self, position: Position) -> Decision:
        """Return one of `position.legal_actions()`, with a reason for `cardsharp why`."""
        legal = position.legal_actions()
        if position.pending is not None:  # an effect needs an answer: a Hook, a Sword, a Map ...
            return Decision(max(legal, key=card_value), "The highest card that is offered.")
        if END_TURN not in legal:
            return Decision(DRAW, "There is no choice.")
        risk = bust_chance(position)
        # Options that you considered. print() works, too; its text is stored in the same place.
        options = (
            ProbabilityOption(DRAW, 1 - risk, "not to bust"),
            ProbabilityOption(END_TURN, 1 - MAX_BUST_CHANCE),
        )
        if risk <= MAX_BUST_CHANCE:
            return Decision(DRAW, f"Only {format_percent(risk)} to bust.", options)
        return Decision(END_TURN, f"{format_percent(risk)} to bust is too much.", options)


def bust_chance(position: Position) -> float:
    """Return the share of the unseen cards whose suit is already in the play area."""
    lying = {card.suit for card in position.play_area}
    bad = sum(card.suit in lying for card in position.unseen)
    return bad / max(1, len(position.unseen))


def card_value(action: Action) -> int:
    """Return the value of the card that an answer names, 0 if it names none."""
    card = None if action.response is None else action.response.card
    return 0 if card is None else card.value
