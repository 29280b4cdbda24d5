"""Who judges a game: what the options of a position are worth to whoever is to decide."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.errors import ConfigError
from cardsharp.game import Decisions, Game, Replay
from cardsharp.replay import Asked
from cardsharp.strategy import Decision

LAPSE = "out of time"  # where nothing was done in time; what that changed is its cost


class Judge(Protocol):
    """Who says what the options of a decision are worth, in one game; always the same.

    A worth is the decider's: a chance to win, or in another `unit` what a match ends with. It is
    written in the `form`. `total` is what both sides have together: 1 of chances, 0 of points that
    one side loses to the other. `stake` is what lies between the worst end and the best one.
    """

    name: str
    unit: str = "chance to win"
    form: str = ".1%"
    total: float = 1.0
    stake: float = 1.0
    chance_deals: bool = False  # whether `chance` has the deal before the first decision

    def weigh(self, position: Any, also: Sequence[Any] = ()) -> Decision[Any] | None:  # noqa: ANN401 - any game's
        """What the judge decides, with the worth of all that it weighs, and of those actions too.

        None for a position that it cannot value.
        """

    def result(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """What the first side made of a match, None while it is not finished."""

    def lapses(self, _moves: Sequence[MoveRecord]) -> Iterable[Asked]:
        """Where a player did nothing in time: positions, each with `LAPSE` as what was done."""
        return ()

    def chance(self, _record: MatchRecord, _moves: Sequence[MoveRecord]) -> float | None:
        """What chance brought the first side, 0 in the mean whatever the judge thinks.

        None where nobody tells it: then luck is what the judge cannot explain.
        """
        return None

    def counts(self, _moves: Sequence[MoveRecord]) -> Mapping[str, tuple[int, int]]:
        """What else there is to count in a match, such as busts: for either side."""
        return {}

    def risk(self, _position: Any) -> float | None:  # noqa: ANN401 - any game's
        """The chance that the next card ends the turn badly, None where no card may be drawn."""
        return None


class Judging(NamedTuple):
    """What a game has for an analysis."""

    judge: Judge
    replay: Replay
    decisions: Decisions


def judging(game: Game) -> Judging:
    """What it takes to analyse matches of a game; raises `ConfigError` where it lacks some."""
    if game.judge is None or game.replay is None or game.decisions is None:
        raise ConfigError(f"Matches of {game.title} cannot be analysed: nobody judges it.")
    return Judging(game.judge.load(), game.replay.load(), game.decisions.load())
