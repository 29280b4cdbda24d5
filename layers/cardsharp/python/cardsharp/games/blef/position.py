"""Blef position: the information about a round that one seat, or an observer, has.

This is the only module that hides hands. The service answers from it, and a strategy sees nothing
else (docs/spec/blef.md section 3).
"""

from dataclasses import dataclass, field

from cardsharp.games.blef.cards import Hand
from cardsharp.games.blef.rules import Round, RoundMove, legal_actions


@dataclass(frozen=True, slots=True)
class BlefPosition:
    """A round as seen from `seat`, or by an observer if `seat` is None.

    `hands` are by seat, and empty where the viewer may not see them; `card_counts` has the
    number of cards by seat. `earlier_rounds` are the closed rounds of this game with open
    hands, if the creator of the position has them.
    """

    seat: int | None
    round_number: int
    max_cards: int
    card_counts: tuple[int, ...]
    hands: tuple[Hand, ...]
    turn: int | None
    history: tuple[RoundMove, ...] = ()
    # `bayes` seeds its random generator by the `repr` of a position: by this round alone.
    earlier_rounds: tuple[Round, ...] = field(default=(), repr=False)

    @property
    def hand(self) -> Hand:
        """The viewer's own cards."""
        return () if self.seat is None else self.hands[self.seat]

    @property
    def hidden_card_count(self) -> int:
        """Number of cards in play that the viewer does not see."""
        return sum(self.card_counts) - sum(len(hand) for hand in self.hands)

    @property
    def last_bet(self) -> int | None:
        """Bet that must be beaten, None if any bet is legal or the round is over."""
        return self.to_round().last_bet

    def legal_actions(self) -> tuple[int, ...]:
        """Return the legal actions of the player to move."""
        return legal_actions(self.to_round())

    def to_round(self) -> Round:
        """Return the round as the rules need it, without the hidden hands."""
        return Round(
            self.round_number, self.max_cards, self.card_counts, self.hands, self.turn, self.history
        )


def position_of(
    round_: Round, seat: int | None, earlier_rounds: tuple[Round, ...] = ()
) -> BlefPosition:
    """Return the position of a seat: its hand, and all hands once the round is over.

    In the last round of a finished game only the winner is still active, so only the winner's
    hand is visible, to everybody. `earlier_rounds` are rounds that are over.
    """
    visible_seats = (
        round_.active_seats if round_.is_over else tuple({seat} & set(round_.active_seats))
    )
    hands = tuple(hand if seat in visible_seats else () for seat, hand in enumerate(round_.hands))
    return BlefPosition(
        seat,
        round_.number,
        round_.max_cards,
        round_.n_cards,
        hands,
        round_.turn,
        round_.history,
        earlier_rounds,
    )
