"""Shuffles, deals, enforces the rules, keeps the score (docs/spec/euchre.md section 1).

It knows players only by what they are told and what they answer; whether one is a strategy in
this process or a service behind HTTP makes no difference to it.
"""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Protocol

from cardsharp.euchre.actions import Action
from cardsharp.euchre.cards import Card
from cardsharp.euchre.position import project
from cardsharp.euchre.rules import Result, apply, score, start
from cardsharp.euchre.simulation import CHAIRS, Euchre, Match
from cardsharp.euchre.state import Deal
from cardsharp.euchre.strategies import Strategy
from cardsharp.euchre.table import turn

Players = Sequence["Player"]
"""Four by chair, clockwise; partners sit opposite and may be one and the same object."""


class Player(Protocol):
    """Somebody at the table, or two partners in one."""

    def begin(self, deal: Deal, seats: frozenset[int]) -> None:
        """A new deal starts, in which this player has those seats."""
        ...

    def decide(self, deal: Deal, seat: int) -> Action:
        """The answer of one of this player's seats, whose turn it is.

        The whole deal is passed, for a service is told it too (docs/spec/euchre.md section 9).
        """
        ...

    def end(self, deal: Deal) -> None:
        """The deal is over."""
        ...


class StrategyPlayer:
    """A strategy in this process; it is shown its view and nothing else."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy

    def begin(self, deal: Deal, seats: frozenset[int]) -> None:
        """Remember nothing."""

    def decide(self, deal: Deal, seat: int) -> Action:
        """What the strategy decides."""
        return self.strategy.decide(project(deal, seat)).action

    def end(self, deal: Deal) -> None:
        """Remember nothing."""


def play_deal(cards: tuple[Card, ...], players: Players) -> tuple[Deal, Result]:
    """Play one deal; `players` are by seat here, from the dealer's left to the dealer.

    Raises:
        Illegal: a player answered what the rules forbid.
    """
    deal = start(cards)
    for player, seats in _seats(players):
        player.begin(deal, seats)
    while (now := turn(deal.table)) is not None:
        deal = apply(deal, players[now.seat].decide(deal, now.seat))
    for player, _ in _seats(players):
        player.end(deal)
    return deal, score(deal.table)


def play_game(players: Players, rng: Random) -> Match:
    """Play to ten points; `rng` draws the first dealer and shuffles, and does nothing else."""
    match = Euchre().deal(rng)
    while not match.is_over:
        dealt = match.now
        seated = [players[dealt.chair(seat)] for seat in range(CHAIRS)]
        match = match.after(play_deal(dealt.deal.cards, seated)[0], rng)
    return match


def _seats(players: Players) -> Iterable[tuple[Player, frozenset[int]]]:
    """Each player once, with the seats that it has."""
    seats: dict[int, set[int]] = {}
    for seat, player in enumerate(players):
        seats.setdefault(id(player), set()).add(seat)
    return [(players[min(own)], frozenset(own)) for own in seats.values()]
