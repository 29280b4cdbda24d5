"""What `workbench` may find here: compiled twins of strategies, each None where there is none.

`workbench/twins.py` looks for these functions by name; nobody imports this module.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from cardsharp.euchre.cards import Card
from cardsharp.euchre.strategies import Strategy
from cardsharp.euchre.strategies.pimc import Effort
from research.deadmansdraw.engine import twin
from research.deadmansdraw.series import play_compiled
from research.euchre import compiled as euchre
from workbench.lab.extras import PlaySeries

Named = tuple[str, Effort]
"""A player of Euchre by name, and how much it thinks."""

PlayGame = Callable[[int, Iterator[Sequence[Card]]], euchre.PlayedGame]
"""Plays a game from the chair of its first dealer and the decks to come."""


def series(first: str, second: str) -> PlaySeries | None:
    """What plays series of Dead Man's Draw between these two, as the lab does in plain Python."""
    if twin(first) is None or twin(second) is None:
        return None
    return play_compiled


def euchre_game(first: Named, second: Named) -> PlayGame | None:
    """What plays whole games of Euchre between these two, as `coordinator.play_game` does."""
    if not euchre.available() or not {first[0], second[0]} <= set(euchre.PLAYERS):
        return None
    return partial(euchre.play_game, (euchre.Contender(*first), euchre.Contender(*second)))


def euchre_player(effort: Effort) -> Strategy | None:
    """The Euchre engine with that effort, for single decisions."""
    return euchre.Compiled(effort) if euchre.available() else None
