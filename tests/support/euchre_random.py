"""Random deals, each played some way by random legal actions, and what is seen of them."""

from collections.abc import Iterator, Sequence
from random import Random

from cardsharp.euchre.actions import PASS, Question
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.rules import apply, legal_actions, start
from cardsharp.euchre.simulation import Dealt, Euchre, Match, shuffled
from cardsharp.euchre.state import Deal
from cardsharp.euchre.strategies import build
from cardsharp.euchre.table import turn
from workbench.lab.extras import LabPlayer
from workbench.lab.matches import Thinking


def stations(seed: int | str, *, passing: float = 0.6) -> Iterator[Deal]:
    """Each state of a random deal, from before the first bid until it is over.

    `passing` is how often a bidder passes rather than choose at random.
    """
    rng = Random(seed)
    deal = start(shuffled(rng))
    yield deal
    while turn(deal.table) is not None:
        actions = legal_actions(deal)
        may_pass = PASS in actions and rng.random() < passing
        deal = apply(deal, PASS if may_pass else rng.choice(actions))
        yield deal


def decisions(seed: int | str) -> Iterator[Deal]:
    """The states in which somebody has to decide."""
    return (deal for deal in stations(seed) if turn(deal.table) is not None)


def view(deal: Deal) -> Position:
    """What the seat sees that has to decide."""
    now = turn(deal.table)
    assert now is not None
    return project(deal, now.seat)


def views(count: int, *questions: Question) -> list[Position]:
    """What is asked in that many deals; of some questions only, or of all."""
    found = (view(deal) for seed in range(count) for deal in decisions(seed))
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
