"""Opponents of whose minds no player of ours has a list, to see that the default beats anybody.

They look at their own cards and at the last bet. Compiled games have the same:
research/blef/native/strangers.c.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp
from random import Random

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import COLOURS, VALUES
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import Decision, strategy
from cardsharp.blef.strategies.greedy import own_odds
from cardsharp.blef.strategies.odds import bits_of, odds

_TOP = len(BETS) - 1
_OPENING = -1
_MIDDLE = 9
"""Cards in play at which who changes in the middle of a game changes."""


@dataclass(frozen=True, slots=True)
class _Seen:
    position: Position
    chances: Sequence[float]
    last: int
    rng: Random

    @property
    def held(self) -> list[int]:
        """How many cards of each value are in hand."""
        values = [card.value for card in self.position.hand]
        return [values.count(value) for value in range(len(VALUES))]

    def doubts(self, check: float) -> bool:
        """Whether the last bet is less likely than that."""
        return self.last != _OPENING and self.chances[self.last] < check

    def likely(self, bet: float) -> list[int]:
        """The higher bets that are so likely."""
        return [b for b in range(self.last + 1, len(BETS)) if self.chances[b] >= bet]


def _likeliest(seen: _Seen) -> int:
    best = max(range(seen.last + 1, len(BETS)), key=lambda bet: (seen.chances[bet], bet))
    checks = seen.last != _OPENING and 1 - seen.chances[seen.last] >= seen.chances[best]
    return CHECK if checks else best


def _lowest(seen: _Seen, check: float, bet: float) -> int:
    """The lowest bet that is likely enough, else the likeliest."""
    if seen.doubts(check):
        return CHECK
    return (seen.likely(bet) or [_likeliest(seen)])[0]


def _highest(seen: _Seen, check: float, bet: float) -> int:
    if seen.doubts(check):
        return CHECK
    return (seen.likely(bet) or [_likeliest(seen)])[-1]


def _minimal(seen: _Seen) -> int:
    return CHECK if seen.doubts(0.25) else seen.last + 1


def _believer(seen: _Seen) -> int:
    """Takes the last bet for true: the others hold what of it is not in its own hand."""
    if seen.last == _OPENING:
        return _lowest(seen, 0, 0.5)
    own = pool = bits_of(seen.position.hand)
    said = BETS[seen.last]
    for value, needed in said.values:
        for colour in range(len(COLOURS)):
            of_value = sum(1 << len(VALUES) * one + value for one in range(len(COLOURS)))
            if (pool & of_value).bit_count() < needed:
                pool |= 1 << len(VALUES) * colour + value
    pool |= bits_of(said.cards)
    left = seen.position.hidden - (pool & ~own).bit_count()
    if left < 0:
        return CHECK
    return _lowest(_Seen(seen.position, odds(pool, left), seen.last, seen.rng), 0, 0.5)


def _liar(seen: _Seen) -> int:
    """Bets on values that it does not hold."""
    if seen.doubts(0.3):
        return CHECK
    lies = [
        bet
        for bet in range(seen.last + 1, len(BETS))
        if BETS[bet].values and not any(seen.held[value] for value, _ in BETS[bet].values)
    ]
    return max(lies, key=lambda bet: (seen.chances[bet], -bet)) if lies else _lowest(seen, 0, 0.5)


def _bluffer(seen: _Seen) -> int:
    """Its first bet of a round is a bluff."""
    if len(seen.position.history) >= sum(map(bool, seen.position.n_cards)):
        return _lowest(seen, 0.25, 0.5)
    least = _lowest(seen, 0.1, 0.5)
    return CHECK if least == CHECK else seen.rng.choice(range(least, min(least + 6, len(BETS))))


def _mixer(seen: _Seen) -> int:
    actions = list(range(seen.last + 1, len(BETS)))
    if seen.last != _OPENING:
        actions.append(CHECK)
    wins = (seen.chances[a] if a != CHECK else 1 - seen.chances[seen.last] for a in actions)
    (action,) = seen.rng.choices(actions, [exp((chance - 1) / 0.15) for chance in wins])
    return action


def _coin(seen: _Seen) -> int:
    if seen.doubts(0.2):
        return CHECK
    if seen.rng.randrange(2):
        return _highest(seen, 0.2, 0.4)
    return seen.rng.choice(range(seen.last + 1, min(seen.last + 9, len(BETS))))


def _stubborn(seen: _Seen) -> int:
    """Raises on the value of which it holds most."""
    own = max(range(len(VALUES)), key=lambda value: (seen.held[value], value))
    bets = (bet for bet in seen.likely(0.3) if any(value == own for value, _ in BETS[bet].values))
    return next(iter([*bets, _likeliest(seen)]))


def _in_play(seen: _Seen) -> int:
    return sum(seen.position.n_cards)


STRANGERS: dict[str, Callable[[_Seen], int]] = {
    "honest": lambda seen: _lowest(seen, 0.2, 0.6),
    "bold": lambda seen: _lowest(seen, 0.2, 0.4),
    "safe": lambda seen: _lowest(seen, 0.5, 1),
    "doubter": lambda seen: _lowest(seen, 0.55, 0.5),
    "minimal": _minimal,
    "believer": _believer,
    "liar": _liar,
    "bluffer": _bluffer,
    "mixer": _mixer,
    "coin": _coin,
    "changer": lambda seen: _lowest(seen, 0.2, 0.6) if _in_play(seen) < _MIDDLE else _liar(seen),
    "turncoat": lambda seen: _liar(seen) if _in_play(seen) < _MIDDLE else _lowest(seen, 0.3, 0.5),
    "restless": lambda seen: (
        _minimal(seen) if _in_play(seen) // 3 % 2 else _highest(seen, 0.2, 0.4)
    ),
    "stubborn": _stubborn,
}
"""By name, in the order of the compiled ones."""


@strategy("stranger")
class Stranger:
    """One of `STRANGERS`, by its place among them."""

    def __init__(self, rng: Random, number: float = 0) -> None:
        self._rng, self.number = rng, int(number)
        self._acts = list(STRANGERS.values())[self.number]

    def decide(self, position: Position) -> Decision:
        """What it does, without a reason."""
        last = _OPENING if position.last_bet is None else position.last_bet
        if last == _TOP:
            return Decision(CHECK, "No bet is higher.")
        seen = _Seen(position, own_odds(position), last, self._rng)
        return Decision(self._acts(seen), "A stranger's way.")
