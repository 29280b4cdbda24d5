"""Bracket of the contest on 3 February 2023: 20 teams, 39 games, 11 rounds.

The sources of each game's teams and the rounds are taken from a drawing by hand.
"""

from collections.abc import Iterable

import networkx as nx
from networkx.algorithms import isomorphism

from cardsharp.contest.formats.bracket import (
    BracketGame,
    SeedSlot,
    WinnerOf,
    original_order,
    swapped_halves,
)
from cardsharp.contest.formats.double_elimination import DoubleElimination

ROUNDS = [
    range(1, 5), range(5, 13), [*range(13, 17), *range(21, 25)], [*range(17, 21), 29, 30],
    [*range(25, 29), 35], [31, 32], [33, 34], [36], [37], [38], [39],
]  # fmt: skip
"""The games of each round, by their numbers in the drawing."""

SOURCES_BY_GAME = {
    9: "+ W1", 10: "+ W2", 11: "+ W3", 12: "+ W4",
    13: "L1 L11", 14: "L2 L12", 15: "L3 L9", 16: "L4 L10",
    17: "W13 L7", 18: "W14 L8", 19: "W15 L5", 20: "W16 L6",
    21: "W9 W5", 22: "W10 W6", 23: "W11 W7", 24: "W12 W8",
    25: "W17 L21", 26: "W18 L22", 27: "W19 L23", 28: "W20 L24",
    29: "W21 W22", 30: "W23 W24", 31: "W25 W26", 32: "W27 W28",
    33: "L30 W31", 34: "L29 W32", 35: "W29 W30", 36: "W33 W34", 37: "L35 W36",
    38: "W35 W37", 39: "W38 L38",
} | dict.fromkeys(range(1, 9), "+ +")  # fmt: skip
"""Where the teams of each game came from: `+` is a team that had not played yet."""

BYE = None
SEED_SLOTS = tuple(
    seed
    for first in range(0, 20, 5)
    # A game of two teams, whose winner meets one with a bye; then a game of two with byes.
    for seed in (first, BYE, first + 1, first + 2, first + 3, BYE, first + 4, BYE)
)
CUP = DoubleElimination(SEED_SLOTS, loser_orders=(swapped_halves, original_order, swapped_halves))


def bracket_graph(games: Iterable[tuple[int, int, str]]) -> "nx.MultiDiGraph[int]":
    """Return a graph of the games, each with its round, and of the teams' paths between them."""
    graph = nx.MultiDiGraph()
    for game, round_number, sources in games:
        graph.add_node(game, round=round_number)
        for source in sources.replace("+", "").split():
            graph.add_edge(int(source[1:]), game, way=source[0])
    return graph


def source_notation(game: BracketGame) -> str:
    """Return the sources of a game's teams in the notation of `SOURCES_BY_GAME`."""
    return " ".join(
        f"{'W' if isinstance(source, WinnerOf) else 'L'}{source.game}"
        for source in game.sources
        if not isinstance(source, SeedSlot)
    )


def test_the_bracket_equals_that_of_the_2023_contest() -> None:
    """Every game has the same sources, and is in the same round."""
    actual = bracket_graph(
        (game.number, game.round, source_notation(game)) for game in CUP.bracket_games(20)
    )
    expected = bracket_graph(
        (game, number, SOURCES_BY_GAME[game])
        for number, games in enumerate(ROUNDS, 1)
        for game in games
    )
    node_match = isomorphism.categorical_node_match("round", None)
    edge_match = isomorphism.categorical_multiedge_match("way", None)
    assert nx.is_isomorphic(actual, expected, node_match, edge_match)
