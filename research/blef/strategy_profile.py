"""How a strategy plays a small round, asked wherever it can come to."""

from collections.abc import Callable
from random import Random

from cardsharp.blef.actions import CHECK
from cardsharp.blef.cards import Card
from cardsharp.blef.position import Position
from cardsharp.blef.rules import Move, max_cards
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.bayes import Bayes
from cardsharp.blef.strategies.equilibrium import Mixture, mixture
from research.blef.solve import OTHER, STARTER, Plan, Profile, SmallRound, Values, mover

Plays = Callable[[Position], Mixture]
"""What is played in a position, and how often each action."""


def plays(name: str) -> Plays:
    """What the strategy of that name plays; the one that mixes says how.

    Raises:
        ConfigError: there is no such strategy.
    """
    player = build(name, Random(1))

    def play(position: Position) -> Mixture:
        mixed = mixture(position) if isinstance(player, Bayes) else None
        return mixed or ((player.decide(position).action, 1.0),)

    return play


def profile_of(small: SmallRound, play: Plays) -> Profile:
    """A strategy as a profile.

    A bet that cannot hold counts as the highest that can, which wins no less.
    """
    return _plan_of(small, play, STARTER), _plan_of(small, play, OTHER)


def _plan_of(small: SmallRound, play: Plays, seat: int) -> Plan:
    plan: Plan = {}
    waiting = [(0, tuple(range(len(small.hands[seat]))))]
    while waiting:
        said, hands = waiting.pop()
        if mover(said) != seat:
            waiting += [(said | 1 << bet, hands) for bet in small.raises(said)]
            continue
        here = plan.setdefault(said, {})
        for hand in hands:
            for action, chance in play(position_in(small, said, small.hands[seat][hand])):
                row = here.setdefault(_meant(small, said, action), [0.0] * len(small.hands[seat]))
                row[hand] += chance
        for action, row in here.items():
            if action != CHECK:
                waiting.append((said | 1 << action, tuple(h for h in hands if row[h])))
    return plan


def position_in(small: SmallRound, said: int, hand: Values) -> Position:
    """What the player to move sees, holding these values."""
    me = mover(said)
    cards = tuple(
        Card(value, hand[:place].count(value)) for place, value in reversed([*enumerate(hand)])
    )
    hands = (cards, ()) if me == STARTER else ((), cards)
    bets = [bet for bet in small.bets if said >> bet & 1]
    history = tuple(Move(number % 2, bet) for number, bet in enumerate(bets))
    return Position(me, 1, max_cards(2), small.cards, hands, me, history)


def _meant(small: SmallRound, said: int, action: int) -> int:
    if action in small.bets or action == CHECK:
        return action
    higher = small.raises(said)
    return higher[-1] if higher else CHECK
