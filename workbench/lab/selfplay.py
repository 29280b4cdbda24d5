"""Matches between two strategies in this process, by the real rules and at full speed.

A strategy sees what it would see at a real table: a `Position` that an `Observer` rebuilt from
the public events, never the `State`. From a shell:

    python -m workbench.lab.selfplay steady champion --pairs 1000 --workers 2
"""

import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from random import Random
from statistics import fmean, stdev

import cyclopts

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card, lowest_of_each_suit, without
from cardsharp.deadmansdraw.events import Event, MatchEnded, TurnEnded, TurnStarted
from cardsharp.deadmansdraw.position import Observer, Played, Position
from cardsharp.deadmansdraw.rules import Chance, State, apply, start
from cardsharp.deadmansdraw.strategies import Strategy, build

Maker = Callable[[Random], Strategy]
"""Makes a strategy from the randomness that it may use."""

NORMAL_95 = 1.96
"""Standard errors to each side of a mean that hold 95 % of a normal distribution."""


class Match:
    """A running match, and what both players have seen of it."""

    def __init__(self, opening: State, chance: Chance) -> None:
        self.state = opening
        self.turn = 1
        self._chance = chance
        self._observer = Observer(opening.draw_pile, opening.discard_pile, opening.play_area)
        self._history: tuple[Played, ...] = (Played(1, None, (TurnStarted(None),)),)

    def position(self) -> Position:
        """What the player to act may know.

        Raises:
            ValueError: the match has ended.
        """
        state, seen = self.state, self._observer
        if state.active is None:
            raise ValueError("Nobody is to act: the match has ended.")
        return Position(
            me=state.active,
            banks=state.banks,
            play_area=state.play_area,
            pending=state.pending,
            discard_pile=tuple(seen.discard_pile),
            unseen=tuple(seen.unseen),
            known_top=seen.known_top,
            refused=seen.refused,
            turn=self.turn + state.between_turns,
            history=self._history,
        )

    def play(self, action: Action) -> tuple[Event, ...]:
        """Let the player to act do `action`; what happened.

        Raises:
            RulesError: the action is refused; nothing has changed.
        """
        player, opens_turn = self.state.active, self.state.between_turns
        self.state, events = apply(self.state, action, self._chance)
        self._observer.see_all(events)
        self.turn += opens_turn
        self._history = (*self._history, Played(self.turn, player, events))
        return events


def deal(rng: Random, deck: tuple[Card, ...] = SERVER_DECK) -> State:
    """A shuffled match with a random starting player; the lowest of each suit are discarded."""
    discard_pile = lowest_of_each_suit(deck)
    draw_pile = list(without(deck, discard_pile))
    rng.shuffle(draw_pile)
    return start(tuple(draw_pile), discard_pile, rng.randrange(2))


def fair_chance(rng: Random) -> Chance:
    """Picks from the discard pile at random."""
    return lambda pile, number: tuple(rng.sample(pile, number))


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a match ended; pairs hold player 0's figure and player 1's."""

    scores: tuple[int, int]
    winner: int | None
    turns: tuple[int, int]
    actions: tuple[int, int]
    busts: tuple[int, int]

    def points(self, player: int) -> float:
        """1 for a win of `player`, a half for a tie, 0 for a loss."""
        return 0.5 if self.winner is None else float(self.winner == player)

    def swapped(self) -> "MatchResult":
        """The same match as seen from the other side of the table."""
        return MatchResult(
            scores=self.scores[::-1],
            winner=None if self.winner is None else 1 - self.winner,
            turns=self.turns[::-1],
            actions=self.actions[::-1],
            busts=self.busts[::-1],
        )


def play_match(
    first: Strategy, second: Strategy, rng: Random, opening: State | None = None
) -> MatchResult:
    """A whole match from `opening`, or from a new deal; `rng` is all its randomness."""
    match = Match(opening or deal(rng), fair_chance(rng))
    players = first, second
    turns, actions, busts = [0, 0], [0, 0], [0, 0]
    while (active := match.state.active) is not None:
        events = match.play(players[active].decide(match.position()).action)
        actions[active] += 1
        for event in events:
            if isinstance(event, TurnEnded):
                turns[active] += 1
                busts[active] += not event.successful
    ended = match.state.outcome or MatchEnded((0, 0), None)
    return MatchResult(ended.scores, ended.winner, _pair(turns), _pair(actions), _pair(busts))


def _pair(figures: list[int]) -> tuple[int, int]:
    return figures[0], figures[1]


@dataclass(frozen=True, slots=True)
class Duel:
    """Paired matches of two strategies; player 0 of every result is the first strategy."""

    pairs: tuple[tuple[MatchResult, MatchResult], ...]

    @property
    def matches(self) -> tuple[MatchResult, ...]:
        """All matches, those of a pair one after the other."""
        return tuple(match for pair in self.pairs for match in pair)

    @property
    def points(self) -> float:
        """Wins of the first strategy plus half its ties, in per cent."""
        return 100 * fmean(match.points(0) for match in self.matches)

    @property
    def margin(self) -> float:
        """Half the 95 % interval of `points`, from the spread of the pairs' averages."""
        if len(self.pairs) == 1:
            return math.inf
        averages = [100 * fmean(match.points(0) for match in pair) for pair in self.pairs]
        return NORMAL_95 * stdev(averages) / math.sqrt(len(averages))

    def mean(self, figure: Callable[[MatchResult], float]) -> float:
        """The average of `figure` over all matches."""
        return fmean(map(figure, self.matches))

    def bust_share(self, player: int) -> float:
        """How many of a player's turns ended in a bust, in per cent."""
        return 100 * self.mean(lambda m: m.busts[player]) / self.mean(lambda m: m.turns[player])

    def __str__(self) -> str:
        won = f"{self.points:.1f} ± {self.margin:.1f} % of {len(self.matches)} matches"
        return "\n".join((won, self._side(0), self._side(1)))

    def _side(self, player: int) -> str:
        return (
            f"  {self.mean(lambda m: m.scores[player]):.1f} points in "
            f"{self.mean(lambda m: m.turns[player]):.1f} turns and "
            f"{self.mean(lambda m: m.actions[player]):.1f} actions, "
            f"{self.bust_share(player):.1f} % of turns bust"
        )


def duel(first: Maker, second: Maker, pairs: int, seed: int, workers: int = 1) -> Duel:
    """`pairs` decks, each played twice with the seats swapped.

    A pair depends on `seed` and its number alone, so the result is the same for any number of
    worker processes; with more than one, the makers must be picklable.
    """
    play = partial(_play_pair, first, second, seed)
    if workers == 1:
        return Duel(tuple(map(play, range(pairs))))
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return Duel(tuple(pool.map(play, range(pairs), chunksize=8)))


def _play_pair(
    first: Maker, second: Maker, seed: int, number: int
) -> tuple[MatchResult, MatchResult]:
    def source(purpose: str) -> Random:
        return Random(f"{seed}/{number}/{purpose}")

    opening = deal(source("deck"))
    ours, theirs = first(source("first")), second(source("second"))
    there = play_match(ours, theirs, source("chance"), opening)
    back = play_match(theirs, ours, source("chance"), opening)
    return there, back.swapped()


def named(name: str) -> Maker:
    """The maker of the registered strategy `name`."""
    return partial(build, name)


def main(first: str, second: str, *, pairs: int = 500, seed: int = 1, workers: int = 1) -> None:
    """Play `pairs` decks twice each and print what came of it for the first strategy."""
    print(f"{first} v {second}: {duel(named(first), named(second), pairs, seed, workers)}")  # noqa: T201 (a command)


if __name__ == "__main__":
    cyclopts.run(main)
