"""What is seen of random deals (`workbench.euchre.probe`), and deals that are played."""

from collections.abc import Iterator, Sequence
from random import Random

from cardsharp.euchre.actions import Question
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.rules import Deal, start
from cardsharp.euchre.simulation import Dealt, Euchre, Match
from cardsharp.euchre.strategies import build
from cardsharp.euchre.table import turn
from workbench.euchre.probe import stations
from workbench.lab.extras import LabPlayer
from workbench.lab.matches import Thinking


def decisions(seed: int | str) -> Iterator[Deal]:
    """The states in which somebody has to decide."""
    return (deal for deal in stations(Random(seed)) if turn(deal.table) is not None)


def views(count: int, *questions: Question) -> list[Position]:
    """What is asked in that many deals; of some questions only, or of all."""
    found = (project(deal) for seed in range(count) for deal in decisions(seed))
    return [one for one in found if not questions or one.question in questions]


def thinking(strategy: str) -> LabPlayer:
    """The strategy as a player in this process."""
    return Thinking(Euchre(), build(strategy))


def play_deal(cards: tuple[int, ...], players: Sequence[LabPlayer]) -> Deal:
    """A deal by itself, when it is over; `players` are by seat, from the dealer's left."""
    euchre, match = Euchre(), Match(Dealt(start(cards), 0))
    while not match.past:
        seat = euchre.to_act(match)
        assert seat is not None
        match = euchre.act(match, players[seat].decide(match), Random(0))
    for player in {id(one): one for one in players}.values():
        player.ended(match)
    return match.past[0].deal
