"""Matches between two strategies in this process, by the real rules and at full speed.

A strategy sees what it would see at a real table: a `Position` that an `Observer` rebuilt from
the public events, never the `State`.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from random import Random
from statistics import fmean, stdev

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card, lowest_of_each_suit, without
from cardsharp.deadmansdraw.events import Event, MatchEnded, TurnEnded, TurnStarted
from cardsharp.deadmansdraw.position import Observer, Played, Position
from cardsharp.deadmansdraw.rules import Chance, State, apply, start
from cardsharp.deadmansdraw.strategies import Strategy, build
from cardsharp.deadmansdraw.strategies.dossier import PastMatch, briefed
from workbench.lab.dice import Purpose, dice

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
        self.history: tuple[Played, ...] = (Played(1, None, (TurnStarted(None),)),)

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
            history=self.history,
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
        self.history = (*self.history, Played(self.turn, player, events))
        return events


def deal(rng: Random, deck: tuple[Card, ...] = SERVER_DECK) -> State:
    """A shuffled match with a random starting player; the lowest of each suit are discarded."""
    discard_pile = lowest_of_each_suit(deck)
    draw_pile = _taken(rng, without(deck, discard_pile))
    return start(draw_pile, discard_pile, rng.randrange(2))


def fair_chance(rng: Random) -> Chance:
    """Picks from the discard pile at random, whatever order the cards lie in."""
    return lambda pile, number: _taken(rng, sorted(pile, key=_deck_order), number)


def _taken(rng: Random, cards: Iterable[Card], number: int | None = None) -> tuple[Card, ...]:
    """So many of `cards`, or all of them, one after the other by chance."""
    rest = list(cards)
    times = len(rest) if number is None else number
    return tuple(rest.pop(rng.randrange(len(rest))) for _ in range(times))


_ORDER = {card: index for index, card in enumerate(SERVER_DECK)}


def _deck_order(card: Card) -> tuple[int, str, int]:
    return _ORDER.get(card, len(_ORDER)), card.suit, card.value


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
    return finish(Match(opening or deal(rng), fair_chance(rng)), (first, second))


def finish(match: Match, players: tuple[Strategy, Strategy]) -> MatchResult:
    """How `match` ends when these two play it to its end."""
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


Pair = tuple[MatchResult, MatchResult]
"""One deck played twice with the seats swapped; player 0 of both is the first strategy."""


def points_of(pair: Pair) -> float:
    """The points of the first strategy in both matches of a pair, in per cent."""
    return 100 * fmean(match.points(0) for match in pair)


@dataclass(frozen=True, slots=True)
class Duel:
    """Paired matches of two strategies; player 0 of every result is the first strategy."""

    pairs: tuple[Pair, ...]

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
        averages = [points_of(pair) for pair in self.pairs]
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
    play = partial(_lone_pair, first, second, seed)
    if workers == 1:
        return Duel(tuple(map(play, range(pairs))))
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return Duel(tuple(pool.map(play, range(pairs), chunksize=8)))


def _lone_pair(first: Maker, second: Maker, seed: int, number: int) -> Pair:
    return play_series((first, second), seed, [number])[0]


def play_series(makers: tuple[Maker, Maker], seed: int, numbers: Sequence[int]) -> list[Pair]:
    """The pairs of those numbers, in which each player may learn from the matches before.

    Only a strategy that asks for the past gets it (`dossier.py`); to any other the pairs are
    what they would be alone.
    """
    past = _Past()
    return [_play_pair(makers, seed, number, past) for number in numbers]


@dataclass
class _Past:
    """The matches of a series so far, as each of the two players may know them."""

    known: tuple[list[PastMatch], list[PastMatch]] = field(default_factory=lambda: ([], []))

    def brief(self, players: tuple[Strategy, Strategy]) -> tuple[Strategy, Strategy]:
        return briefed(players[0], self.known[0]), briefed(players[1], self.known[1])

    def remember(self, match: Match, seat_of_first: int) -> None:
        self.known[0].append(PastMatch(1 - seat_of_first, match.history))
        self.known[1].append(PastMatch(seat_of_first, match.history))


def _play_pair(makers: tuple[Maker, Maker], seed: int, number: int, past: _Past) -> Pair:
    """The players are made anew for each match, with the same dice."""
    opening = deal(dice(seed, number, Purpose.DECK))
    results = []
    for seat in (0, 1):
        first = makers[0](dice(seed, number, Purpose.FIRST))
        second = makers[1](dice(seed, number, Purpose.SECOND))
        players = past.brief((first, second))
        match = Match(opening, fair_chance(dice(seed, number, Purpose.CHANCE)))
        results.append(finish(match, players if seat == 0 else players[::-1]))
        past.remember(match, seat)
    return results[0], results[1].swapped()


def named(name: str) -> Maker:
    """The maker of the registered strategy `name`."""
    return partial(build, name)
