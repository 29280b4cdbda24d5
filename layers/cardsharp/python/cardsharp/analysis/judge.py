"""The judge of a game, which values the options of a position for the deciding player."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from cardsharp.analysis.replay import DecisionPoint
from cardsharp.errors import ConfigError
from cardsharp.play.game import Game, ListDecisions, Replay
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import MatchRecord, MoveRecord

TIMED_OUT = "out of time"  # the action of a player who did nothing in time


class Judge(Protocol):
    """Judge of one game: it values the options of a decision. It is deterministic.

    A value belongs to the deciding player. Its `unit` is the chance to win, or another measure of a
    match's result. `value_format` is the format specification that prints it. `value_sum` is the
    total of both sides: 1 for chances, 0 for points that one side loses to the other. `value_range`
    is the distance between the worst and the best result of a match.
    """

    name: str
    unit: str = "chance to win"
    value_format: str = ".1%"
    value_sum: float = 1.0
    value_range: float = 1.0
    luck_includes_deal: bool = False  # `luck` counts the deal before the first decision, too

    def evaluate(self, position: Any, extra_actions: Sequence[Any] = ()) -> Decision[Any] | None:  # noqa: ANN401 - any game's
        """Return the judge's decision, with the value of every option that it considers.

        `extra_actions` are valued in any case. The result is None for a position that the judge
        cannot value.
        """

    def first_side_result(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """Return the result of a match for the first side, None while it is not finished."""

    def timeout_positions(self, _moves: Sequence[MoveRecord]) -> Iterable[DecisionPoint]:
        """Return the positions in which a player ran out of time.

        The action of each is `TIMED_OUT`.
        """
        return ()

    def estimate_first_side_luck(
        self, _record: MatchRecord, _moves: Sequence[MoveRecord]
    ) -> float | None:
        """Return an unbiased estimate of what luck gave to the first side.

        Its mean is 0 even if the judge is bad. None if the game has no such estimate: then every
        change that the judge cannot explain counts as luck.
        """
        return None

    def event_counts_by_side(self, _moves: Sequence[MoveRecord]) -> Mapping[str, tuple[int, int]]:
        """Return further counts of a match by name, such as busts, as one number for each side."""
        return {}

    def bust_risk(self, _position: Any) -> float | None:  # noqa: ANN401 - any game's
        """Return the chance that the next card ends the turn badly; None if none may be drawn."""
        return None


class AnalysisFunctions(NamedTuple):
    """Functions of a game that an analysis needs: its judge, its replay and its decisions."""

    judge: Judge
    replay: Replay
    list_decisions: ListDecisions


def load_analysis_functions(game: Game) -> AnalysisFunctions:
    """Return the functions that analyse a game's matches; raise `ConfigError` if it lacks one."""
    if game.judge is None or game.replay is None or game.list_decisions is None:
        raise ConfigError(f"Matches of {game.title} cannot be analysed: this game has no judge.")
    return AnalysisFunctions(game.judge.load(), game.replay.load(), game.list_decisions.load())
