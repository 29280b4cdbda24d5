"""What one seat, or an observer, may know of a round: the only place where hands are hidden.

The service answers from it, and it is all that a strategy sees (docs/spec/blef.md section 3).
"""

from dataclasses import dataclass, field

from cardsharp.blef.cards import Hand
from cardsharp.blef.rules import Move, Round, legal_actions


@dataclass(frozen=True, slots=True)
class Position:
    """A round as seen from seat `me`, or by an observer where that is None.

    `hands` are by seat and empty where the viewer may not see them; `n_cards` says how many
    cards are there. `earlier` are the rounds before in this game, hands open as everybody saw them,
    where whoever made the position knows them.
    """

    me: int | None
    number: int
    max_cards: int
    n_cards: tuple[int, ...]
    hands: tuple[Hand, ...]
    turn: int | None
    history: tuple[Move, ...] = ()
    # The dice of `bayes` are seeded by how a position is written: by this round alone.
    earlier: tuple[Round, ...] = field(default=(), repr=False)

    @property
    def hand(self) -> Hand:
        """The viewer's own cards."""
        return () if self.me is None else self.hands[self.me]

    @property
    def hidden(self) -> int:
        """How many cards are in play that the viewer does not see."""
        return sum(self.n_cards) - sum(len(hand) for hand in self.hands)

    @property
    def last_bet(self) -> int | None:
        """The bet to beat, None where anything may be bet or the round is over."""
        return self.round().last_bet

    def legal_actions(self) -> tuple[int, ...]:
        """The actions that the rules allow to the player to move."""
        return legal_actions(self.round())

    def round(self) -> Round:
        """The round as the rules see it, with what is hidden left out."""
        return Round(self.number, self.max_cards, self.n_cards, self.hands, self.turn, self.history)


def position_of(seen: Round, me: int | None, earlier: tuple[Round, ...] = ()) -> Position:
    """What seat `me` may see of this round: its own hand, and all hands once the round is over.

    In the last round of a finished game only the winner is still active, so that only the
    winner's hand is shown, and to anybody. `earlier` are rounds that are over.
    """
    shown = seen.active if seen.is_over else tuple({me} & set(seen.active))
    hands = tuple(hand if seat in shown else () for seat, hand in enumerate(seen.hands))
    return Position(
        me, seen.number, seen.max_cards, seen.n_cards, hands, seen.turn, seen.history, earlier
    )
