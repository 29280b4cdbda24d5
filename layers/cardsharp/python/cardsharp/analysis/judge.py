"""The judge of a game, which values the options of a position for the deciding player."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from cardsharp.analysis.replay import DecisionPoint
from cardsharp.errors import ConfigError
from cardsharp.play.game import Game, ListDecisions, Replay
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import MatchRecord, MoveRecord

TIMED_OUT = "out of time"  # where nothing was done in time; what that changed is its cost


class Judge(Protocol):
    """Judge of one game, which values the options of a decision; deterministic.

    A value belongs to the deciding player. Its `unit` is the chance to win, or another measure
    of a match's result. `value_format` is the format specification that prints it. `value_sum`
    is the total of both sides: 1 for chances, 0 for points that one side loses to the other.
    `value_range` is the distance between the worst and the best result of a match.
    """

    name: str
    unit: str = "chance to win"
    value_format: str = ".1%"
    value_sum: float = 1.0
    value_range: float = 1.0
    luck_includes_deal: bool = False  # whether `chance` has the deal before the first decision

    def evaluate(self, position: Any, extra_actions: Sequence[Any] = ()) -> Decision[Any] | None:  # noqa: ANN401 - any game's
        """Return the judge's decision with the value of every option it considers.

        `extra_actions` are valued in any case. None for a position that it cannot value.
        """

    def result(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """Return the result of a match for the first side, None while it is not finished."""

    def timeouts(self, _moves: Sequence[MoveRecord]) -> Iterable[DecisionPoint]:
        """Return the positions in which a player ran out of time.

        The action of each is `TIMED_OUT`.
        """
        return ()

    def luck(self, _record: MatchRecord, _moves: Sequence[MoveRecord]) -> float | None:
        """Return an unbiased estimate of what luck gave to the first side.

        Its mean is 0 however good the judge is. None if the game has no such estimate: then
        luck is whatever the judge cannot explain.
        """
        return None

    def match_counts(self, _moves: Sequence[MoveRecord]) -> Mapping[str, tuple[int, int]]:
        """Return further counts of a match for each side by their name, such as busts."""
        return {}

    def bust_risk(self, _position: Any) -> float | None:  # noqa: ANN401 - any game's
        """The chance that the next card ends the turn badly, None where no card may be drawn."""
        return None


class AnalysisSources(NamedTuple):
    """Judge, replay and decisions of a game: the functions that an analysis needs."""

    judge: Judge
    replay: Replay
    list_decisions: ListDecisions


def analysis_sources(game: Game) -> AnalysisSources:
    """Return the functions that analyse a game's matches; raise `ConfigError` if it lacks one."""
    if game.judge is None or game.replay is None or game.list_decisions is None:
        raise ConfigError(f"Matches of {game.title} cannot be analysed: nobody judges it.")
    return AnalysisSources(game.judge.load(), game.replay.load(), game.list_decisions.load())
