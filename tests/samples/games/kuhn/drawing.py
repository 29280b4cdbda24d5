"""Text display of Kuhn poker."""

from collections.abc import Iterable

from cardsharp.play.hosted_rules import TextRenderer
from kuhn.rules import CARDS, Action, Position


class Cards(TextRenderer[Position, Action]):
    """The own card, and what was said."""

    rules = """\
There are three cards: Jack, Queen and King. Each of two players
antes a chip and is dealt one card.

The first player checks or bets a chip; after a check the second
player may do either. Whoever is bet at calls, for a chip, or
folds and loses the ante. Else the higher card takes all."""

    def lines(self, position: Position) -> Iterable[str]:
        """Two lines."""
        return [
            f"Your card: {CARDS[position.card]}",
            f"Said: {', '.join(position.past_actions) or '-'}",
        ]


DRAWING = Cards()
