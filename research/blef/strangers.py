# ruff: noqa: PLR2004 - a rule is its numbers
"""Players that the default does not know, against which it is measured: each is one rule in words.

None is a habit of `minds.py`, none is asked by our players, and all but the last know the rules and
the chances of their own cards alone. The last reads ours: it knows the shipped tables, and looks
one or two steps ahead. What it wins of whole games says how hard ours is to read. With fewer than
eight cards in play, and with more than the tables are for, it plays as `solved` does, which nothing
of it depends on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import exp
from random import Random

from cardsharp.blef.actions import BETS, CHECK, LOST
from cardsharp.blef.cards import DECK
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import STRATEGIES, Decision, choices, large
from cardsharp.blef.strategies.equilibrium import Mixture, cards_of
from cardsharp.blef.strategies.odds import Odds, bits_of, claimed, odds, truths
from cardsharp.blef.strategies.sight import OPENING
from cardsharp.blef.strategies.solved import Solved

_TOP = len(BETS) - 1


@dataclass(frozen=True)
class Table:
    """What somebody who is to act sees, with dice."""

    position: Position
    dice: Random

    @cached_property
    def last(self) -> int:
        """The bet to beat, -1 where there is none."""
        found = self.position.last_bet
        return -1 if found is None else found

    @cached_property
    def chances(self) -> Odds:
        """How likely each bet is by one's own cards."""
        return odds(bits_of(self.position.hand), self.position.hidden)

    @cached_property
    def higher(self) -> Sequence[int]:
        """The bets that may be made, ascending; none after the highest."""
        return range(self.last + 1, len(BETS))

    @cached_property
    def believed(self) -> float:
        """How likely the bet to beat is by one's own cards, 1 where there is none."""
        return self.chances[self.last] if self.last >= 0 else 1.0

    def likeliest(self) -> int:
        """The likeliest of the higher bets; of equals the lowest."""
        return max(self.higher, key=lambda bet: self.chances[bet], default=CHECK)


Rule = Callable[[Table], int]
"""What somebody does; the check where nothing is to be checked stands for the likeliest bet."""


def honest(table: Table, doubt: float, least: float) -> int:
    """Checks what is less likely than `doubt`; bets the lowest that is as likely as `least`."""
    if table.believed < doubt:
        return CHECK
    safe = (bet for bet in table.higher if table.chances[bet] >= least)
    return next(safe, CHECK if table.believed < least else table.likeliest())


def crawler(table: Table) -> int:
    """Bets one more than the last one for as long as that may well be."""
    return next((bet for bet in table.higher[:1] if table.chances[bet] >= 0.1), CHECK)


def believer(table: Table) -> int:
    """Takes the last bet for true, and bets the likeliest with the cards that it claims."""
    if table.last < 0:
        return table.likeliest()
    seen = bits_of(table.position.hand)
    missing = claimed(table.last, seen)
    hidden = table.position.hidden - missing.bit_count()
    if hidden < 0:
        return CHECK
    chances = odds(seen | missing, hidden)
    best = max(table.higher, key=lambda bet: (chances[bet], -bet), default=CHECK)
    return best if best != CHECK and chances[best] >= 0.5 else CHECK


def liar(table: Table) -> int:
    """Of the next six bets always makes the least likely; checks what is less likely than .3."""
    if table.believed < 0.3:
        return CHECK
    return min(table.higher[:6], key=lambda bet: table.chances[bet], default=CHECK)


def bluffer(table: Table) -> int:
    """Begins each round with a lie, as high as is likely at all, and is honest after that."""
    said = any(move.seat == table.position.me for move in table.position.history)
    lies = [bet for bet in table.higher if 0.1 <= table.chances[bet] <= 0.35]
    return honest(table, 0.15, 0.5) if said or not lies else table.dice.choice(lies)


def unbending(table: Table) -> int:
    """Never checks what can hold; bets the likeliest."""
    return table.likeliest() if table.believed > 0 else CHECK


def mixer(table: Table) -> int:
    """Checks or bets one of the next ten, by a coin."""
    bets = table.higher[:10]
    return CHECK if table.dice.random() < 0.5 or not bets else table.dice.choice(bets)


def careless(table: Table) -> int:
    """Any legal action."""
    return table.dice.choice(choices(table.position))


def tempted(table: Table) -> int:
    """Does anything, the likelier it is to be right, the more often."""
    worth = {bet: table.chances[bet] for bet in table.higher}
    worth[CHECK] = 1 - table.believed
    (action,) = table.dice.choices([*worth], [exp(value / 0.08) for value in worth.values()])
    return action


def mimic(table: Table) -> int:
    """Goes on with what the other claims: the next bet that has all of the last one's values."""
    if table.believed < 0.15:
        return CHECK
    values = {value for value, _ in BETS[table.last].values} if table.last >= 0 else set()
    alike = (bet for bet in table.higher if values <= {value for value, _ in BETS[bet].values})
    return next(alike, CHECK) if values else table.likeliest()


def turncoat(table: Table) -> int:
    """Honest for eight rounds, then one who bluffs in each."""
    return honest(table, 0.2, 0.6) if table.position.number <= 8 else bluffer(table)


def moody(table: Table) -> int:
    """Honest and doubtful after a round that it won, wild after one that it lost."""
    earlier = table.position.earlier
    if not earlier or earlier[-1].history[-1] != (table.position.me, LOST):
        return honest(table, 0.35, 0.7)
    wild = [bet for bet in table.higher if table.chances[bet] >= 0.2]
    return CHECK if table.believed < 0.1 or not wild else table.dice.choice(wild)


def leaper(table: Table) -> int:
    """Goes at once as high as it may with .3; checks what is less likely than that."""
    bets = [bet for bet in table.higher if table.chances[bet] >= 0.3]
    return bets[-1] if bets and table.believed >= 0.3 else CHECK


RULES: Mapping[str, Rule] = {
    "honest-6": partial(honest, doubt=0.2, least=0.6),
    "honest-4": partial(honest, doubt=0.2, least=0.4),
    "crawler": crawler,
    "believer": believer,
    "liar": liar,
    "bluffer": bluffer,
    "unbending": unbending,
    "mixer": mixer,
    "careless": careless,
    "tempted": tempted,
    "mimic": mimic,
    "turncoat": turncoat,
    "moody": moody,
    "leaper": leaper,
}


class Stranger:
    """Somebody who plays by one rule."""

    def __init__(self, rule: Rule, dice: Random) -> None:
        self._rule, self._dice = rule, dice

    def decide(self, position: Position) -> Decision:
        """What the rule says; the likeliest bet where that cannot be."""
        table, legal = Table(position, self._dice), choices(position)
        action = self._rule(table)
        return Decision(action if action in legal else table.likeliest(), "By its rule.")


for _name, _rule in RULES.items():
    STRATEGIES.admit(_name, partial(Stranger, _rule))


_WORLDS, _BETS = 40, 6
_TREMBLE = 0.001  # how likely anything is that the table never does
_RARE = 0.02  # worlds, and raises, of less than this part of all are not looked into


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
        return Decision(seen.best(self._steps), "By what the table says.")

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

    def best(self, steps: int) -> int:
        """The action that wins most of the worlds."""
        last, weights = self._said[-1], self.weights
        check = 0.0 if last == OPENING else self._held(last, weights, held=False)
        chances = {bet: self._held(bet, weights) for bet in range(last + 1, len(BETS))}
        likeliest = sorted(chances, key=lambda bet: -chances[bet])[:_BETS]
        bets = [(self._bet(last, bet, weights, steps), bet) for bet in likeliest]
        return max([(check, CHECK), *bets])[1]

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
