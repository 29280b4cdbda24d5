"""`pimc`: weighs every choice over many worlds, each played out perfectly with open cards.

Perfect information Monte Carlo: worlds are drawn from what the seat knows, each is solved
exactly for each choice, and the choice with the highest mean of points is taken.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import Card, Suit
from cardsharp.euchre.strategies.base import Decision, Option, Stopwatch, standing
from cardsharp.euchre.strategies.bidding import appraise
from cardsharp.euchre.strategies.contracts import MADE, Ledger, points
from cardsharp.euchre.strategies.registry import strategy
from cardsharp.euchre.strategies.solver import Search, layout
from cardsharp.euchre.strategies.sound import Rules
from cardsharp.euchre.strategies.worlds import World, sample
from cardsharp.euchre.table import TRICKS, Call
from cardsharp.euchre.view import View

Weigh = Callable[[World], tuple[dict[Action, int], int]]
"""The points of each choice in a world, for the own side less the other's, and the nodes used."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How many worlds a decision looks at, and its limits.

    `nodes` positions are the limit of work, the same on any machine. `seconds` of the stopwatch
    are the last resort, for a machine that is far too slow; an answer that it cut short says so.
    """

    bid: int = 80
    discard: int = 60
    play: tuple[int, ...] = (120, 200, 200, 200, 200)
    nodes: int = 400_000
    seconds: float = 1.0

    def worlds(self, view: View) -> int:
        """Worlds for the question."""
        match view.question:
            case Question.BID | Question.DEFEND:
                return self.bid
            case Question.DISCARD:
                return self.discard
            case Question.PLAY:
                return self.play[len(view.table.complete_tricks)]


@dataclass(frozen=True, slots=True)
class Bias:
    """Points that are taken from a choice's mean, because open cards flatter it."""

    call: float = 0.0
    alone: float = 0.0

    def of(self, action: Action) -> float:
        """For a choice."""
        if not isinstance(action, Bid) or action == PASS:
            return 0.0
        return self.call + (self.alone if action.alone else 0.0)


class Pimc:
    """The engine; the same view always gets the same answer, unless the stopwatch cuts it short."""

    def __init__(
        self,
        stopwatch: Stopwatch = standing,
        effort: Effort | None = None,
        bias: Bias | None = None,
    ) -> None:
        self._stopwatch = stopwatch
        self._effort, self._bias = effort or Effort(), bias or Bias()

    def decide(self, view: View) -> Decision:
        """The choice with the most expected points."""
        if len(view.choices) == 1:
            return Decision(view.choices[0], "The only choice.")
        weighed = self._weighed(view)
        if not weighed.worlds:
            fallback = Rules().decide(view)
            return Decision(fallback.action, f"No world fits the view. {fallback.reason}")
        options = tuple(
            Option(action, total / weighed.worlds - self._bias.of(action))
            for action, total in weighed.totals.items()
        )
        reason = f"Most points over {weighed.worlds} worlds."
        return Decision(_best(view, options), reason, options, weighed.worlds, weighed.cut)

    def _weighed(self, view: View) -> "_Weighed":
        """The worlds one after the other, until there are enough or a limit is reached."""
        began, weighed = self._stopwatch(), _Weighed()
        weigh = _weigher(view)
        for world, times in sample(view, self._effort.worlds(view), Random(view.seed)):
            weighed.add(times, *weigh(world))
            if weighed.nodes >= self._effort.nodes:
                break
            if self._stopwatch() - began > self._effort.seconds:
                weighed.cut = True
                break
        return weighed


class _Weighed:
    """The summed points of each choice, and over how many worlds."""

    def __init__(self) -> None:
        self.totals: dict[Action, int] = {}
        self.worlds = self.nodes = 0
        self.cut = False

    def add(self, times: int, worth: dict[Action, int], nodes: int) -> None:
        """Count a world that was drawn so many times."""
        for action, gain in worth.items():
            self.totals[action] = self.totals.get(action, 0) + times * gain
        self.worlds += times
        self.nodes += nodes


@strategy("pimc")
def pimc(stopwatch: Stopwatch) -> Pimc:
    """The engine as it is meant to play."""
    return Pimc(stopwatch)


def _best(view: View, options: Sequence[Option]) -> Action:
    """The option with the most points; of several, the one that the rules take, or the lowest."""
    most = max(option.points or 0.0 for option in options)
    best = [option.action for option in options if (option.points or 0.0) > most - 1e-9]
    if len(best) == 1:
        return best[0]
    ruled = Rules().decide(view).action
    return ruled if ruled in best else best[-1]


def _weigher(view: View) -> Weigh:
    match view.question:
        case Question.BID:
            return _bids(view)
        case Question.DISCARD:
            return _discards(view)
        case Question.DEFEND:
            return _defences(view)
        case Question.PLAY:
            return _plays(view)


def _bids(view: View) -> Weigh:
    number, turn_card, side = len(view.table.bids), view.table.turn_card, view.seat % 2
    calls = _calls_worth_a_thought(view)

    def weigh(world: World) -> tuple[dict[Action, int], int]:
        ledger = Ledger(world, turn_card)
        worth: dict[Action, int] = {PASS: ledger.worth_of_pass(number, side)}
        for bid in calls:
            if bid.suit is not None:
                worth[bid] = ledger.worth(Call(number, bid.suit, bid.alone), side)
        return worth, ledger.nodes

    return weigh


def _calls_worth_a_thought(view: View) -> list[Bid]:
    """The calls that are not hopeless: near the best suit, and alone with a strong hand only."""
    seen = appraise(view.hand, len(view.table.bids), view.table.turn_card)
    best = seen.worth[seen.best]
    bids = [bid for bid in view.choices if isinstance(bid, Bid) and bid.suit in seen.worth]
    worth = {bid: seen.worth[bid.suit] for bid in bids if bid.suit is not None}
    return [
        bid
        for bid in bids
        if worth[bid] >= max(HOPELESS, best - 1.0) and (worth[bid] >= BOLD or not bid.alone)
    ]


HOPELESS = 0.9
"""Tricks below which a call is not looked at."""

BOLD = 2.8
"""Tricks from which playing alone is looked at."""


def _discards(view: View) -> Weigh:
    call, turn_card, side = view.table.call, view.table.turn_card, view.seat % 2
    if call is None:
        raise ValueError("Nobody discards before a call.")

    def weigh(world: World) -> tuple[dict[Action, int], int]:
        ledger = Ledger(world, turn_card)
        worth: dict[Action, int] = {
            one: ledger.worth(call, side, laid=one.card)
            for one in view.choices
            if isinstance(one, Discard)
        }
        return worth, ledger.nodes

    return weigh


def _defences(view: View) -> Weigh:
    call, turn_card, side = view.table.call, view.table.turn_card, view.seat % 2
    if call is None:
        raise ValueError("Nobody defends before a call.")

    def weigh(world: World) -> tuple[dict[Action, int], int]:
        ledger = Ledger(world, turn_card)
        worth: dict[Action, int] = {
            Defend(alone=False): ledger.worth(call, side),
            Defend(alone=True): ledger.worth(call, side, lone_defender=view.seat),
        }
        return worth, ledger.nodes

    return weigh


def _plays(view: View) -> Weigh:
    table = view.table
    call, out = table.call, table.sitting_out
    if call is None:
        raise ValueError("Nobody plays before a call.")
    won = table.tricks_won[call.seat % 2]
    lost = len(table.complete_tricks) - won
    sign = 1 if call.seat % 2 == view.seat % 2 else -1
    cards = _different(view, call.suit)

    def weigh(world: World) -> tuple[dict[Action, int], int]:
        search = Search(world.hands, call.suit, call.seat, out)
        worth: dict[Action, int] = {}
        for card in cards:
            after = [*table.trick, (view.seat, card)]
            made = search.makes_after(after, MADE - won)
            all_five = made and not lost and search.makes_after(after, TRICKS - won)
            lone = table.lone_defender is not None
            gain = points(made=made, all_five=all_five, alone=call.alone, lone_defender=lone)
            worth[Play(card)] = sign * gain
        return worth, search.nodes

    return weigh


def _different(view: View, trump: Suit) -> list[Card]:
    """The legal cards, of neighbours in a suit only the lowest: one is as good as the other."""
    cards = layout(trump)
    legal = cards.mask(one.card for one in view.choices if isinstance(one, Play))
    trick = cards.mask(card for _, card in view.table.trick)
    hidden = cards.mask((*view.unseen, view.table.turn_card))
    present = cards.mask(view.hand) | trick | hidden
    # `moves` keeps the highest of neighbours, and so the lowest of the mirrored ones.
    highest = cards.moves(legal, present)
    bounds = [*highest[1:], 0]
    found = []
    for bit, following in zip(highest, bounds, strict=True):
        block = [
            card
            for card in view.hand
            if following < cards.bit[card] <= bit and cards.bit[card] & legal
        ]
        found.append(min(block, key=lambda card: cards.bit[card]))
    return found
