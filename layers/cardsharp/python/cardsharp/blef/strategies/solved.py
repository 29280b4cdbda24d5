"""`solved`: plays by trained tables where two players are left, as `bayes` does elsewhere.

The tables come from `cardsharp research blef`. They mix, with real dice, so that nobody can tell
what a bet says of the hand. With three cards or fewer the exact tables of `bayes` are played, with
eight and more what is known of large rounds. Where the rounds before show a habit of the other
(`recognition.py`), `bayes` decides, and reckons with it.
"""

from dataclasses import replace
from random import Random

from cardsharp.blef.actions import CHECK, name_of
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import large
from cardsharp.blef.strategies.base import Decision, Option, choices
from cardsharp.blef.strategies.bayes import Bayes
from cardsharp.blef.strategies.equilibrium import SOLVED, Mixture, cards_of
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.recognition import recognised
from cardsharp.blef.strategies.registry import strategy
from cardsharp.blef.strategies.sight import OPENING, Shape
from cardsharp.blef.strategies.trained import WHOLE, Tables, trained
from cardsharp.strategy import percent

_TOLD = 0.01
"""What is taken less often is not told among the options."""

_READ = "The rounds before show a habit."

_CHECK_ONLY: Mixture = ((CHECK, 1.0),)


@strategy("solved")
class Solved:
    """Mixes as trained tables say; asks `bayes` where they say nothing."""

    def __init__(
        self, rng: Random, tables: Tables | None = None, known: large.Large | None = None
    ) -> None:
        self._rng, self._bayes = rng, Bayes(rng)
        self._tables = trained() if tables is None else tables
        self._known = large.known() if known is None else known

    def decide(self, position: Position) -> Decision:
        """One of the actions of the table's row, each as often as the table takes it.

        Of somebody who shows a habit, what `bayes` does who knows of it.
        """
        choices(position)
        if habits := recognised(position):
            decision = self._bayes.decide(position, habits)
            return replace(decision, reason=f"{_READ} {decision.reason}")
        mixed = looked_up(self._tables, position) or _mixed(self._known, position)
        if mixed is None:
            return self._bayes.decide(position)
        actions, chances = zip(*mixed, strict=True)
        (action,) = self._rng.choices(actions, chances)
        options = tuple(
            Option(one, often, "how often the table has it")
            for one, often in mixed
            if often >= _TOLD or one == action
        )
        reason = f"The table of this round has {name_of(action)} with "
        return Decision(action, f"{reason}{percent(dict(mixed)[action])}.", options)


def looked_up(tables: Tables, position: Position) -> Mixture | None:
    """What a table plays, None where no table has an answer."""
    cards = cards_of(position)
    if cards in SOLVED or cards not in tables.rounds:
        return None
    shape, role = Shape(cards), len(position.history) % 2
    bets = (OPENING, OPENING, OPENING, *(move.action for move in position.history))
    if not {OPENING, *shape.bets}.issuperset(bets[-2:]):
        return _CHECK_ONLY if bets[-1] not in shape.bets else None
    number = shape.row(role, (card.value for card in position.hand), bets[-3:])
    row = tables.rounds[cards][role].find(number)
    mixed = tuple((shape.action(choice), parts / WHOLE) for choice, parts in row.items())
    return mixed or (_CHECK_ONLY if position.history else None)


def _mixed(known: large.Large, position: Position) -> Mixture | None:
    """What is played in a large round, None where nothing is known of it."""
    cards = cards_of(position)
    own, other = cards[::-1] if len(position.history) % 2 else cards
    if (own, other) not in known.rounds:
        return None
    bets = (OPENING, OPENING, *(move.action for move in position.history))
    return large.mixture(known, (own, other), bits_of(position.hand), bets[-2:])
