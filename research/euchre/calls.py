"""How much better calls could win: how far the engine's margins lie from the true ones.

A call's margin is what the engine holds its choice to be worth more than its next best. Where that
is little both are tried, in deals of which the bidder knows no better: its own cards and the turn
card as they are, the others' dealt anew until they bid as they did. All then play on in earnest.
What comes of it is the true margin and luck. Luck is a new one in each trial, so the mean product
of the errors of two trials is the square of the engine's own error alone. Errors of that size
give away so many points a deal, and no more than that can be won by better calls while partner
and opponents play on as they do (but for what several better calls win together).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from random import Random
from statistics import NormalDist, fmean
from typing import Annotated

from cyclopts import Parameter, validators
from rich.console import Console
from rich.table import Table

from cardsharp.euchre.actions import Action, Discard, Question
from cardsharp.euchre.cards import DECK
from cardsharp.euchre.position import project
from cardsharp.euchre.rules import apply, score, start, turn
from cardsharp.euchre.simulation import shuffled
from cardsharp.euchre.state import HAND, TURN, Deal
from cardsharp.euchre.strategies import Decision, Strategy, build
from cardsharp.euchre.strategies.pimc import Effort, Pimc
from cardsharp.euchre.table import DEALER, SEATS
from cardsharp.ratings import NORMAL_95
from research.euchre.compiled import Compiled, available
from workbench.euchre.lab import ENGINE
from workbench.show.progress import Bar

CLOSE = 0.6
"""Points: no wider margin is looked at, for the engine errs by some 0.3."""

KINDS = ("round 1", "round 2", "discard", "defence")
"""What is asked: bids of either round, and so on."""

_TRIES = 400
"""Deals in which others may not call as they did before, until a call is left out."""

_PARTS = 20
"""Parts of the deals, each left out once: from what that changes come the intervals."""

console = Console(highlight=False)


@dataclass(frozen=True, slots=True)
class Close:
    """A close call: its kind, and what choice and next best were held to be worth and came to.

    `thought` are points of the own side less the other's, `came` the same in each trial.
    """

    kind: str
    thought: tuple[float, float]
    came: tuple[tuple[int, int], ...]

    @property
    def margin(self) -> float:
        """How much more the choice was held to be worth."""
        return self.thought[0] - self.thought[1]

    def better(self, which: int) -> float:
        """How much better the choice (0) or the next best (1) came than thought, on average."""
        return fmean(came[which] for came in self.came) - self.thought[which]

    @property
    def square(self) -> float:
        """The square of the margin's own error, without luck: it may come out negative."""
        errors = [best - other - self.margin for best, other in self.came]
        pairs = len(errors) * (len(errors) - 1)
        return (fsum(errors) ** 2 - fsum(one * one for one in errors)) / pairs


@dataclass(frozen=True, slots=True)
class Seats:
    """Who calls and who plays the cards, by seat."""

    callers: tuple[Strategy, ...]
    players: tuple[Strategy, ...]

    def decided(self, deal: Deal) -> Decision:
        """What is decided by whoever's turn it is.

        Raises:
            ValueError: the deal is over.
        """
        now = turn(deal.table)
        if now is None:
            raise ValueError("The deal is over.")
        who = self.players if now.question is Question.PLAY else self.callers
        return who[now.seat].decide(project(deal, now.seat))

    def worth(self, deal: Deal, side: int) -> int:
        """The deal played to its end: the points of that side, less the other's."""
        while turn(deal.table) is not None:
            deal = apply(deal, self.decided(deal).action)
        points = score(deal.table).points
        return points[side] - points[1 - side]


@dataclass(frozen=True, slots=True)
class Asked:
    """A seat that is asked to call, and what was done before."""

    deal: Deal
    seat: int
    past: tuple[Action, ...]

    @property
    def kind(self) -> str:
        """What it is asked, one of `KINDS`."""
        if self.deal.table.call is None:
            return KINDS[len(self.past) // len(SEATS)]
        return KINDS[2] if self.seat == DEALER and not self.deal.table.swapped else KINDS[3]


def asked_in(seats: Seats, deal: Deal) -> Iterator[Asked]:
    """Each call that is asked for in a deal."""
    past: tuple[Action, ...] = ()
    while (now := turn(deal.table)) is not None and now.question is not Question.PLAY:
        yield Asked(deal, now.seat, past)
        past = (*past, seats.decided(deal).action)
        deal = apply(deal, past[-1])


def tried(seats: Seats, asked: Asked, trials: int, dice: Random) -> Close | None:
    """A call tried so many times; None if it is not close, or the others' calls are too rare."""
    ranked = sorted(seats.decided(asked.deal).options, key=lambda one: -(one.value or 0.0))[:2]
    worths = [one.value or 0.0 for one in ranked]
    if not worths[1:] or worths[0] - worths[1] >= CLOSE:
        return None
    came: list[tuple[int, int]] = []
    for _ in range(trials):
        other = alike(seats, asked, dice)
        if other is None:
            return None
        best, second = (seats.worth(apply(other, one.action), asked.seat % 2) for one in ranked)
        came.append((best, second))
    return Close(asked.kind, (worths[0], worths[1]), tuple(came))


def alike(seats: Seats, asked: Asked, dice: Random) -> Deal | None:
    """A deal that looks the same to the seat, in which the others call as they did; None if rare.

    What another dealer lays aside nobody sees, so that may differ.
    """
    own = asked.deal.cards[HAND * asked.seat : HAND * (asked.seat + 1)]
    turn_card = asked.deal.cards[TURN]
    hidden = [card for card in DECK if card not in {*own, turn_card}]
    for _ in range(_TRIES):
        cards = dice.sample(hidden, len(hidden))
        cards[HAND * asked.seat : HAND * asked.seat] = own
        cards.insert(TURN, turn_card)
        other = _repeated(seats, asked, start(tuple(cards)))
        if other is not None:
            return other
    return None


def _repeated(seats: Seats, asked: Asked, deal: Deal) -> Deal | None:
    """A deal after the same calls, None where the other seats would not make them."""
    for action in asked.past:
        now = turn(deal.table)
        own = now is not None and now.seat == asked.seat
        done = action if own else seats.decided(deal).action
        if done != action and not isinstance(action, Discard):
            return None
        deal = apply(deal, done)
    return deal


@dataclass(frozen=True, slots=True)
class Found:
    """Close calls a deal of one side, how far they came from what was thought, what that loses.

    `choice` and `other` are how much better the choices and the next best came than thought,
    `square` is the mean square of the margins' errors.
    """

    often: float
    choice: float
    other: float
    square: float
    lost: float


def found(close: Sequence[Close], deals: int) -> Found:
    """What those close calls of so many deals were like; what is lost is added up by kinds."""
    if not close:
        return Found(0.0, 0.0, 0.0, 0.0, 0.0)
    kinds = [[one for one in close if one.kind == kind] for kind in KINDS]
    lost = fsum(_lost(kind) for kind in kinds if kind)
    choice, other = (fmean(one.better(which) for one in close) for which in (0, 1))
    square = fmean(one.square for one in close)
    return Found(len(close) / deals, choice, other, square, lost / deals)


def _lost(close: Sequence[Close]) -> float:
    """The points that calls of one kind give away, if their errors are spread normally."""
    error = fmean(one.better(0) - one.better(1) for one in close)
    spread = sqrt(max(0.0, fmean(one.square for one in close) - error * error))
    return fsum(given_away(one.margin + error, spread) for one in close)


def given_away(margin: float, spread: float) -> float:
    """What is lost on average by a choice with that margin, where its error has that spread."""
    if not spread:
        return max(0.0, -margin)
    normal, ratio = NormalDist(), margin / spread
    return spread * normal.pdf(ratio) - margin * normal.cdf(-ratio)


def calls(
    *,
    opponent: Annotated[
        str, Parameter(help="Who calls and plays at the other two seats.")
    ] = ENGINE,
    deals: Annotated[int, Parameter(alias="-n", validator=validators.Number(gte=1))] = 2500,
    trials: Annotated[
        int, Parameter(validator=validators.Number(gte=2), help="Of each close call.")
    ] = 8,
    worlds: Annotated[int, Parameter(help="Of the engine's cards; it calls with all.")] = 64,
    seed: int = 1,
) -> None:
    """Say what better calls could win at most: what an oracle of them would win a deal."""
    engine, cards = _engine(Effort()), _engine(Effort(worlds=worlds, batch=min(64, worlds)))
    others = (engine, cards) if opponent == ENGINE else (build(opponent), build(opponent))
    tries: list[list[Close]] = []
    with Bar(deals, "deals") as bar:
        for number in range(deals):
            dice, side = Random(f"{seed} {number}"), number % 2
            chosen = [(engine, cards) if seat % 2 == side else others for seat in SEATS]
            seats = Seats(tuple(one for one, _ in chosen), tuple(one for _, one in chosen))
            ours = [one for one in asked_in(seats, start(shuffled(dice))) if one.seat % 2 == side]
            all_tried = [tried(seats, one, trials, dice) for one in ours]
            tries.append([one for one in all_tried if one is not None])
            bar.advance()
    table = Table("call", "close", "choice", "next best", "error²", "lost a deal")
    for kind in KINDS:
        table.add_row(kind, *_line([[one for one in deal if one.kind == kind] for deal in tries]))
    table.add_row("all", *_line(tries))
    console.print(table)


def _engine(effort: Effort) -> Strategy:
    return Compiled(effort) if available() else Pimc(effort=effort)


def _line(tries: Sequence[Sequence[Close]]) -> list[str]:
    """A line of the table: close calls a deal and what they were like, with intervals."""
    whole = _found(tries)
    parts = [
        _found([deal for number, deal in enumerate(tries) if number % _PARTS != part])
        for part in range(_PARTS)
    ]

    def told(figure: float, without: Sequence[float], style: str = "+.2f") -> str:
        mean = fmean(without)
        squares = fsum((one - mean) ** 2 for one in without)
        margin = NORMAL_95 * sqrt(squares * (_PARTS - 1) / _PARTS)
        return f"{figure:{style}} ± {margin:{style.lstrip('+')}}"

    return [
        f"{whole.often:.2f}",
        told(whole.choice, [one.choice for one in parts]),
        told(whole.other, [one.other for one in parts]),
        told(whole.square, [one.square for one in parts]),
        told(whole.lost, [one.lost for one in parts], style=".3f"),
    ]


def _found(tries: Sequence[Sequence[Close]]) -> Found:
    return found([one for deal in tries for one in deal], max(1, len(tries)))
