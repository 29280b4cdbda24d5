"""Blef in one process, for two to eight players."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from random import Random

from cardsharp.blef import rules
from cardsharp.blef.actions import LOST
from cardsharp.blef.cards import DECK, sort_hand
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.rules import Deal, Round
from cardsharp.blef.strategies import Strategy, build
from cardsharp.errors import ConfigError, Illegal
from cardsharp.simulation import Figure, Simulation


@dataclass(frozen=True, slots=True)
class Match:
    """The live round, and those that are over; after the end `live` is as `rules.Applied` says."""

    live: Round
    closed: tuple[Round, ...] = ()


SETUPS = ("2 to 3", "4 to 7", "8 to 18", "19 and more")  # counted apart, by cards in play
_BEGIN = (2, 4, 8, 19)


def dealing(dice: Random) -> Deal:
    """Deals by these dice."""
    return lambda number: tuple(dice.sample(DECK, number))


def dealt_anew(live: Round, seat: int | None, dice: Random) -> Round:
    """The round with other cards in the hands that this seat, or an observer, does not see."""
    own = () if seat is None else live.hands[seat]
    others = iter(dice.sample([card for card in DECK if card not in own], len(DECK) - len(own)))
    hands = tuple(
        hand if at == seat else sort_hand([next(others) for _ in range(number)])
        for at, (hand, number) in enumerate(zip(live.hands, live.n_cards, strict=True))
    )
    return replace(live, hands=hands)


class Blef(Simulation[Match, Position, int]):
    """Everybody against everybody; who is left wins."""

    figures = (Figure("{:.1f} rounds", "rounds"), Figure("{:.1f} moves", "moves"))

    def __init__(self, seats: int | None = None) -> None:
        players = rules.MIN_PLAYERS if seats is None else seats
        if not rules.MIN_PLAYERS <= players <= rules.MAX_PLAYERS:
            raise ConfigError(f"Blef is played by two to eight, not by {players}.")
        self._sides = tuple((seat,) for seat in range(players))

    @property
    def sides(self) -> Sequence[tuple[int, ...]]:
        """Each seat on its own."""
        return self._sides

    def deal(self, dice: Random) -> Match:
        """A new match: one card each."""
        return Match(rules.start(self.seats, dealing(dice)))

    def to_act(self, state: Match) -> int | None:
        """The seat whose turn it is, None when one player is left."""
        return state.live.turn

    def view(self, state: Match, seat: int) -> Position:
        """What a seat sees of the live round at any time."""
        return position_of(state.live, seat, state.closed)

    def actions(self, state: Match) -> Sequence[int]:
        """The ids of the bets that are higher than the last one, and the check."""
        return rules.legal_actions(state.live)

    def act(self, state: Match, action: int, dice: Random) -> Match:
        """The match after the action, the next round dealt; raises `Illegal`."""
        step = rules.apply(state.live, action, dealing(dice))
        closed = () if step.closed is None else (step.closed,)
        return Match(step.live, (*state.closed, *closed))

    def points(self, state: Match) -> tuple[float, ...]:
        """1 for who is left; raises `Illegal` before the end."""
        if state.live.turn is not None:
            raise Illegal("The match has not ended yet.")
        return tuple(float(seat == state.live.winner) for seat in range(self.seats))

    def counts(self, state: Match) -> Mapping[str, tuple[float, ...]]:
        """Rounds and moves, of the whole match, and the rounds that each lost, by cards in play."""
        said = chain.from_iterable(played.history for played in state.closed)
        moves = sum(move.action != LOST for move in said)
        lost = Counter(
            (bisect_right(_BEGIN, sum(played.n_cards)) - 1, played.history[-1].seat)
            for played in state.closed
        )
        by_cards = {
            f"lost with {cards}": tuple(float(lost[at, seat]) for seat in range(self.seats))
            for at, cards in enumerate(SETUPS)
        }
        return {"rounds": (len(state.closed),), "moves": (moves,), **by_cards}

    def strategy(
        self, name: str, dice: Random, _past: Sequence[tuple[int, Match]] = ()
    ) -> Strategy:
        """The strategy of that name; none of Blef's learns."""
        return build(name, dice)

    def disguised(self, state: Match, dice: Random) -> Match:
        """The match with other cards in the other hands."""
        return replace(state, live=dealt_anew(state.live, state.live.turn, dice))
