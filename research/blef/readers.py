"""A player that reads ours: it knows the shipped tables, and looks one or two steps ahead.

What it wins of whole games says how hard ours is to read. With fewer than eight cards in play, and
with more than the tables are for, it plays as `solved` does, which nothing of it depends on.
"""

from collections.abc import Sequence
from functools import partial
from random import Random

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import DECK
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import STRATEGIES, Decision, choices, large
from cardsharp.blef.strategies.equilibrium import Mixture, cards_of
from cardsharp.blef.strategies.odds import bits_of, truths
from cardsharp.blef.strategies.sight import OPENING
from cardsharp.blef.strategies.solved import Solved

_WORLDS, _BETS = 40, 6
_TREMBLE = 0.001
"""How likely anything is that the table never does."""

_RARE = 0.02
"""Worlds, and raises, of less than this part of all are not looked into."""


class StepReader:
    """Draws hands, weighs them by how the table would have bet, and answers what it will say."""

    def __init__(self, dice: Random, steps: int) -> None:
        self._dice, self._steps, self._solved = dice, steps, Solved(dice)
        self._known = large.known()

    def decide(self, position: Position) -> Decision:
        """The check or one of the likeliest bets, whichever wins the round more often."""
        choices(position)
        cards = cards_of(position)
        if cards not in self._known.rounds:
            return self._solved.decide(position)
        seen = _Round(self._known, position, self._worlds(position))
        last = position.last_bet
        best = seen.best(OPENING if last is None else last, seen.weights, self._steps)
        return Decision(best[1], "By what the table says.")

    def _worlds(self, position: Position) -> Sequence[int]:
        """Hands that the other may have, as numbers."""
        rest = [card for card in DECK if card not in position.hand]
        return [bits_of(self._dice.sample(rest, position.hidden)) for _ in range(_WORLDS)]


class _Round:
    """The round as it may lie, and what the table says in each world."""

    def __init__(self, known: large.Large, position: Position, worlds: Sequence[int]) -> None:
        self._known, self._worlds = known, worlds
        self._cards = position.hidden, len(position.hand)
        self._mixed: dict[tuple[int, int, int], Mixture] = {}
        own = bits_of(position.hand)
        self._truths = [truths(own | hand) for hand in worlds]
        self._said = (OPENING, OPENING, *(move.action for move in position.history))
        self.weights = [1.0] * len(worlds)
        for place in range(len(self._said) - 1, 1, -2):
            self.weights = self._seen(self.weights, self._said[place - 2 : place + 1])

    def _seen(self, weights: Sequence[float], said: Sequence[int]) -> list[float]:
        """The weights once the other has answered the first two bets with the third."""
        before, last, bet = said
        often = (dict(self._says(hand, before, last)).get(bet, 0.0) for hand in self._worlds)
        return [old * (one + _TREMBLE) for old, one in zip(weights, often, strict=True)]

    def _says(self, hand: int, before: int, last: int) -> Mixture:
        asked = hand, before, last
        if asked not in self._mixed:
            self._mixed[asked] = large.mixture(self._known, self._cards, hand, (before, last))
        return self._mixed[asked]

    def best(self, last: int, weights: Sequence[float], steps: int) -> tuple[float, int]:
        """The share of these worlds that the best action wins, and the action."""
        whole = sum(weights)
        found = [(0.0, CHECK)]
        if last != OPENING:
            found = [(self._held(last, weights, held=False), CHECK)]
        chances = {bet: self._held(bet, weights) for bet in range(last + 1, len(BETS))}
        for bet in sorted(chances, key=lambda bet: -chances[bet])[:_BETS]:
            found.append((self._bet(last, bet, weights, steps), bet))
        won, action = max(found)
        return (won / whole if whole else 0.0), action

    def _held(self, bet: int, weights: Sequence[float], *, held: bool = True) -> float:
        """The weight of the worlds in which a bet holds, or fails."""
        both = zip(self._truths, weights, strict=True)
        return sum(weight for truth, weight in both if (truth >> bet & 1) == held)

    def _bet(self, last: int, bet: int, weights: Sequence[float], steps: int) -> float:
        """The weight of the worlds that are won with a bet, where we answer a raise as we can."""
        won, raised, rare = 0.0, dict[int, list[float]](), _RARE * max(weights)
        for at, (hand, truth) in enumerate(zip(self._worlds, self._truths, strict=True)):
            for said, often in self._says(hand, last, bet) if weights[at] > rare else ():
                if said == CHECK:
                    won += weights[at] * often * (truth >> bet & 1)
                else:
                    there = raised.setdefault(said, [0.0] * len(weights))
                    there[at] = weights[at] * often
        return won + sum(self._answer(said, there, steps) for said, there in raised.items())

    def _answer(self, said: int, weights: Sequence[float], steps: int) -> float:
        """What a raise of the other's leaves: at the last step it is checked."""
        checked = self._held(said, weights, held=False)
        if steps == 1 or sum(weights) < _RARE * sum(self.weights):
            return checked
        chances = {one: self._held(one, weights) for one in range(said + 1, len(BETS))}
        best = max(chances, key=lambda one: chances[one], default=CHECK)
        return checked if best == CHECK else max(checked, self._bet(said, best, weights, 1))


STEPS = {"one-step": 1, "two-step": 2}

for _name, _steps in STEPS.items():
    STRATEGIES.admit(_name, partial(StepReader, steps=_steps))
