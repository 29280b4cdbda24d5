"""The bracket of double elimination, laid out in advance for any number of teams.

It consists of a winners' bracket, a losers' bracket and a final. If the loser of the final has
lost for the first time, there is a second final.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from cardsharp.contest.formats.pairing import SeededTeams, TeamId


class BracketSection(StrEnum):
    """Part of the bracket to which a game belongs."""

    WINNERS = "winners"
    LOSERS = "losers"
    FINAL = "final"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class SeedSlot:
    """A team that starts in this game; index 0 is the best seed."""

    seed_index: int


@dataclass(frozen=True, slots=True)
class WinnerOf:
    """The team that has won a game."""

    game: int


@dataclass(frozen=True, slots=True)
class LoserOf:
    """The team that has lost a game."""

    game: int


SlotSource = SeedSlot | WinnerOf | LoserOf


@dataclass(frozen=True, slots=True)
class BracketGame:
    """A game of the bracket with the sources of its two teams."""

    number: int
    section: BracketSection
    round: int
    sources: tuple[SlotSource, ...]


LoserSlots = list[SlotSource | None]  # losers of a winners' round; None is an empty slot
LoserOrder = Callable[[LoserSlots], LoserSlots]  # puts them in order for the losers' bracket


def original_order(losers: LoserSlots) -> LoserSlots:
    """Return the losers in the order of the winners' bracket."""
    return losers


def reversed_order(losers: LoserSlots) -> LoserSlots:
    """Return the losers in reversed order."""
    return losers[::-1]


def swapped_halves(losers: LoserSlots) -> LoserSlots:
    """Return the second half of the losers before the first half."""
    half = len(losers) // 2
    return losers[half:] + losers[:half]


def reversed_halves(losers: LoserSlots) -> LoserSlots:
    """Return the losers with each half reversed in its place."""
    half = len(losers) // 2
    return losers[:half][::-1] + losers[half:][::-1]


LOSER_ORDERS: tuple[LoserOrder, ...] = (reversed_order, swapped_halves, reversed_halves)
"""Orders in which the losers of the winners' rounds 2, 3 and 4 enter the losers' bracket.

Losers of later rounds enter `original_order`. The orders make rematches as late as possible. An
exhaustive search has shown this: for up to 16 teams no other order is better, and for up to 64
teams no other combination of the four functions above is better.
"""


_SlotPair = tuple[SlotSource | None, SlotSource | None]  # sources of a game's two teams


def _add_game(
    games: list[BracketGame], section: BracketSection, pair: _SlotPair, min_round: int = 1
) -> _SlotPair:
    """Add a game of the pair in round `min_round` or later; add none if a side is empty.

    Returns the slots of its winner and its loser.
    """
    first_source, second_source = pair
    if first_source is None or second_source is None:
        return first_source or second_source, None
    earliest_rounds = [
        games[source.game].round + 1
        for source in (first_source, second_source)
        if not isinstance(source, SeedSlot)
    ]
    game_number = len(games)
    games.append(
        BracketGame(
            game_number, section, max(min_round, *earliest_rounds, 1), (first_source, second_source)
        )
    )
    return WinnerOf(game_number), LoserOf(game_number)


@lru_cache(maxsize=128)
def build_bracket(
    seeds: tuple[int | None, ...], loser_orders: tuple[LoserOrder, ...] = LOSER_ORDERS
) -> tuple[BracketGame, ...]:
    """Return the games in an order in which they can be played, numbered from 1.

    `seeds` lists the first round from top to bottom, None for an empty slot. Its length is a
    power of two.
    """
    # `upper` and `lower` hold the slots that are still in the winners' and in the losers' bracket.
    # Each winners' round halves `upper`. `lower` needs two rounds for it: one in which its teams
    # meet the losers that have just come down, and one in which they meet each other.
    games: list[BracketGame] = []
    upper: list[SlotSource | None] = [None if seed is None else SeedSlot(seed) for seed in seeds]
    lower: LoserSlots = []
    round_number = 0
    while len(upper) > 1:
        round_number += 1
        pairs = zip(upper[::2], upper[1::2], strict=True)
        outcomes = [_add_game(games, BracketSection.WINNERS, pair, round_number) for pair in pairs]
        upper = [winner for winner, _ in outcomes]
        fallen = [loser for _, loser in outcomes]
        if round_number > 1:
            loser_order = (
                loser_orders[round_number - 2]
                if round_number - 2 < len(loser_orders)
                else original_order
            )
            fallen = loser_order(fallen)
            pairs = zip(lower, fallen, strict=True)
            lower = [_add_game(games, BracketSection.LOSERS, pair)[0] for pair in pairs]
        else:
            lower = fallen
        if len(lower) > 1:
            pairs = zip(lower[::2], lower[1::2], strict=True)
            lower = [_add_game(games, BracketSection.LOSERS, pair)[0] for pair in pairs]
    final = _add_game(games, BracketSection.FINAL, (upper[0], lower[0]))
    _add_game(games, BracketSection.RESET, final)
    return _renumber_games(games)


def _renumber_games(games: list[BracketGame]) -> tuple[BracketGame, ...]:
    """Renumber the games by round, then by section, then from top to bottom."""
    section_order = list(BracketSection)
    games = sorted(
        games, key=lambda game: (game.round, section_order.index(game.section), game.number)
    )
    new_numbers = {game.number: number for number, game in enumerate(games, 1)}

    def renamed(source: SlotSource) -> SlotSource:
        return (
            source
            if isinstance(source, SeedSlot)
            else replace(source, game=new_numbers[source.game])
        )

    return tuple(
        replace(game, number=new_numbers[game.number], sources=tuple(map(renamed, game.sources)))
        for game in games
    )


def seed_slots(team_count: int) -> tuple[int | None, ...]:
    """Return the seeds of the first-round slots, from 0, and None for a bye.

    The best seeds get the byes and meet as late as possible.
    """
    # Each step doubles the field: opposite every seed stands the one that makes the two places add
    # up to the same sum. So seed 1 meets the last seed, and 1 and 2 can meet only in the final.
    seeds = [0]
    while len(seeds) < team_count:
        last_seed = 2 * len(seeds) - 1
        seeds = [seed for best in seeds for seed in (best, last_seed - best)]
    return tuple(seed if seed < team_count else None for seed in seeds)


GameResults = Mapping[int, tuple[TeamId, TeamId]]  # winner and loser of each decided game


def resolve_slot(source: SlotSource, teams: SeededTeams, ends: GameResults) -> TeamId | None:
    """Return the team that comes from a source; None while it is undecided."""
    match source:
        case SeedSlot(seed_index):
            return teams[seed_index]
        case WinnerOf(game):
            return ends[game][0] if game in ends else None
        case LoserOf(game):
            return ends[game][1] if game in ends else None


def winner_and_loser(teams: Sequence[TeamId], winner: TeamId) -> tuple[TeamId, TeamId]:
    """Return the winner and the loser of a pairing."""
    first, second = teams
    return (first, second) if winner == first else (second, first)
