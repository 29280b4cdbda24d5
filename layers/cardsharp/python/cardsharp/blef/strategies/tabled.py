"""What our tables play where two players are left: how often each action is taken."""

from cardsharp.blef.position import Position
from cardsharp.blef.strategies import large
from cardsharp.blef.strategies.equilibrium import CHECK_ONLY, SOLVED, Mixture, cards_of, planned
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.sight import OPENING, Shape
from cardsharp.blef.strategies.trained import WHOLE, TrainedTables, trained


def tabled(position: Position) -> Mixture | None:
    """What is played with up to eighteen cards in play, None where no table has an answer."""
    if cards_of(position) in SOLVED:
        return planned(position)
    return looked_up(trained(), position) or mixed(large.known(), position)


def looked_up(tables: TrainedTables, position: Position) -> Mixture | None:
    """What a table plays, None where no table has an answer."""
    cards = cards_of(position)
    if cards not in tables.rounds:
        return None
    shape, role = Shape(cards), len(position.history) % 2
    bets = (OPENING, OPENING, OPENING, *(move.action for move in position.history))
    if not {OPENING, *shape.bets}.issuperset(bets[-2:]):
        return CHECK_ONLY if bets[-1] not in shape.bets else None
    number = shape.row(role, (card.value for card in position.hand), bets[-3:])
    row = tables.rounds[cards][role].find(number)
    mixed = tuple((shape.action(choice), parts / WHOLE) for choice, parts in row.items())
    return mixed or (CHECK_ONLY if position.history else None)


def mixed(known: large.Large, position: Position) -> Mixture | None:
    """What is played in a large round, None where nothing is known of it."""
    cards = cards_of(position)
    own, other = cards[::-1] if len(position.history) % 2 else cards
    if (own, other) not in known.rounds:
        return None
    bets = (OPENING, OPENING, *(move.action for move in position.history))
    return large.mixture(known, (own, other), bits_of(position.hand), bets[-2:])
