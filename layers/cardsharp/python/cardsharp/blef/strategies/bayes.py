"""`bayes`: takes bets as evidence of hands, and looks ahead over check or raise.

It draws hands of the others as likely as the cards and their bets make them (`worlds.py`), and
plays every choice out in all of them: what would they say to our bet, and what could we still
answer to that? It only wants not to lose the round. Where the round is solved it plays the
equilibrium instead (`equilibrium.py`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from random import Random

from cardsharp.blef.actions import BETS, CHECK, name_of
from cardsharp.blef.position import Position
from cardsharp.blef.rules import MIN_PLAYERS
from cardsharp.blef.strategies import Decision, Option, choices, strategy
from cardsharp.blef.strategies.equilibrium import Mixture, mixture
from cardsharp.blef.strategies.odds import bits_of, odds
from cardsharp.blef.strategies.reading import Insight
from cardsharp.blef.strategies.worlds import NOBODY, World, worlds_of
from cardsharp.strategy import percent

_SURPRISE = 0.1  # how often others check where none is expected: then the truth counts
_GLANCED = 3  # every third world is enough to see which bets are worth a look
_DEEP = 10  # how many of the best bets are looked into a second time, with our answers to a raise
_ANSWERS = 6  # how many of the likeliest bets we consider as an answer
_BY_CARDS, _BY_CARDS_OF_MANY = 4.0, 30.0
"""How many of the worlds the exact chance by one's own cards counts as much as.

With three players and more the worlds are fewer, and less alike what lies there.
"""

_LEAST = 0.001  # no belief is nearer to 0 or 1: only what one's own cards make certain is a fact
_AS_MOST = "If the others bet by their cards as most do:"
_AS_BEFORE = "If the others go on as in the rounds before:"
"""What is assumed of the others, of whose cards we only guess."""

_ONE_IN_100 = 0.01
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Foresight:
    """The worlds as we imagine them, and how likely each bet is to hold.

    That is 0 or 1 only where the viewer's own cards decide it. `imagined` are the bets that hold in
    one of the worlds at least, as a number with a bit for each.
    """

    worlds: Sequence[World]
    chances: Sequence[float]
    imagined: int
    _answers: dict[int, Sequence[int]] = field(default_factory=dict, init=False)

    def bet(self, bet: int) -> float:
        """The chance not to lose the round with a bet."""
        return self._mixed(bet, self._within(bet, self.worlds, deep=True) / len(self.worlds))

    def glance(self, bet: int) -> float:
        """The same in some of the worlds, without our answers to a raise."""
        some = self.worlds[::_GLANCED]
        return self._mixed(bet, self._within(bet, some, deep=False) / len(some))

    def _mixed(self, bet: int, modelled: float) -> float:
        return _within_bounds((1 - _SURPRISE) * modelled + _SURPRISE * self.chances[bet])

    def _within(self, bet: int, worlds: Iterable[World], *, deep: bool) -> float:
        """In how many of the worlds we do not lose the round."""
        won = 0.0
        raised: defaultdict[int, list[World]] = defaultdict(list)
        for world in worlds:
            last = bet
            for replies in world.replies:
                reply = replies[last]
                if reply == CHECK:
                    # Somebody else's bet was checked, or ours, which wins if it holds.
                    won += last != bet or world.truth >> bet & 1
                    break
                last = reply
            else:
                raised[last].append(world)
        return won + sum(self._answer(last, group, deep=deep) for last, group in raised.items())

    def _answer(self, last: int, worlds: list[World], *, deep: bool) -> float:
        """What our best answer is worth where this bet came back in these worlds."""
        checked = float(sum(not world.truth >> last & 1 for world in worlds))
        if not deep:
            return checked
        raised = (self._within(bet, worlds, deep=False) for bet in self._likeliest(last))
        return max(checked, *raised, 0.0)

    def _likeliest(self, last: int) -> Sequence[int]:
        """The answers to a raise that are worth a look."""
        found = self._answers.get(last)
        if found is None:
            bets = [bet for bet in range(last + 1, len(BETS)) if self.imagined >> bet & 1]
            bets.sort(key=self.chances.__getitem__, reverse=True)
            found = self._answers[last] = bets[:_ANSWERS]
        return found


def foresee(position: Position, known: Mapping[int, Insight] = NOBODY) -> Foresight:
    """What may be, by dice that the position decides; `known` says how those read decide."""
    worlds = worlds_of(position, Random(repr(position)), known)
    by_cards = odds(bits_of(position.hand), position.hidden)
    weight = _BY_CARDS_OF_MANY if len(position.round().active) > MIN_PLAYERS else _BY_CARDS
    chances = [
        own
        if own in {0.0, 1.0}
        else _within_bounds(
            (sum(world.truth >> bet & 1 for world in worlds) + weight * own)
            / (len(worlds) + weight)
        )
        for bet, own in enumerate(by_cards)
    ]
    return Foresight(worlds, chances, reduce(or_, (world.truth for world in worlds)))


def _within_bounds(chance: float) -> float:
    return min(1 - _LEAST, max(_LEAST, chance))


def holds(chance: float) -> str:
    """How likely a bet is to hold, in words: a fact where it is one, else about how much."""
    if chance in {0.0, 1.0}:
        return "holds for certain" if chance else "cannot hold"
    return f"holds with {about(chance)}"


def about(chance: float) -> str:
    """A belief in words, such as "about 63 %"."""
    if _ONE_IN_100 <= chance <= 1 - _ONE_IN_100:
        return f"about {100 * chance:.0f} %"
    return "less than 1 %" if chance < _ONE_IN_100 else "more than 99 %"


@strategy("bayes")
class Bayes:
    """Weighs the others' hands by how well they explain the bets, and looks ahead.

    Only in a solved round is there chance in what it does, as there has to be.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def decide(self, position: Position, known: Mapping[int, Insight] = NOBODY) -> Decision:
        """The check or the bet with the best chance not to lose the round."""
        choices(position)
        solved = mixture(position)
        if solved is not None:
            said = "This round is solved; here its equilibrium"
            return mixing(solved, self._rng, said, "equilibrium")
        decision = weighed(position, foresee(position, known))
        assumed = _AS_BEFORE if known and position.earlier else _AS_MOST
        return replace(decision, reason=f"{assumed} {decision.reason}")


def weighed(position: Position, seen: Foresight) -> Decision:
    """What does best in these worlds, as if the round were not solved; raises `Illegal`."""
    options = _bets(seen, [bet for bet in choices(position) if bet != CHECK])
    last = position.last_bet
    if last is not None:
        options.append(Option(CHECK, 1 - seen.chances[last], "chance that the bet fails"))
    options.sort(key=lambda option: -option.value)
    best = options[0]
    return Decision(best.action, _reason(best, seen, last), tuple(options[: _SHOWN + 1]))


def _bets(seen: Foresight, bets: list[int]) -> list[Option]:
    """The bets worth a look, the best of them looked into deeper."""
    likely = [bet for bet in bets if seen.imagined >> bet & 1] or bets[:1]
    likely.sort(key=lambda bet: -seen.glance(bet))
    return [Option(bet, seen.bet(bet), holds(seen.chances[bet])) for bet in likely[:_DEEP]]


def mixing(mixed: Mixture, rng: Random, said: str, whose: str, least: float = 0.0) -> Decision:
    """One of the actions, each as often as it is taken by what is said to know the round."""
    actions, chances = zip(*mixed, strict=True)
    (action,) = rng.choices(actions, chances)
    options = tuple(
        Option(one, often, f"how often the {whose} has it")
        for one, often in mixed
        if often >= least or one == action
    )
    taken = f"{name_of(action)} with {percent(dict(mixed)[action])}"
    return Decision(action, f"{said} has {taken}.", options)


def _reason(best: Option, seen: Foresight, last: int | None) -> str:
    held = "" if last is None else f"{name_of(last)} {holds(seen.chances[last])}"
    if best.action == CHECK:
        return f"{held}; no bet does better than the check."
    while_held = f", while {held}" if held else ""
    return (
        f"{name_of(best.action)} {holds(seen.chances[best.action])}, and with it we do not lose "
        f"the round with {about(best.value)}{while_held}."
    )
