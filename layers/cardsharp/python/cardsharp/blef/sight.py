"""What somebody sees of a game as it is kept, and of a change that was made to it."""

from dataclasses import dataclass
from datetime import datetime

from cardsharp.blef.position import Position, position_of
from cardsharp.blef.records import ClosedRound, GameRecord
from cardsharp.blef.state import Round
from cardsharp.blef.store import Saved, closed_at


@dataclass(frozen=True, slots=True)
class Sight:
    """What one may see of a game; `position` is None before the start.

    `version` is that of the game as it is now, also where a past round was asked for; `changed` is
    when that round was closed, or when the game was changed last.
    """

    game: GameRecord
    position: Position | None
    version: int
    changed: datetime


@dataclass(frozen=True, slots=True)
class Changed:
    """A change that was written: the game before it and now, and the round that it closed."""

    before: GameRecord
    now: Saved
    closed: Round | None = None

    @property
    def mover(self) -> int | None:
        """The seat whose turn it was."""
        return None if self.before.round is None else self.before.round.turn

    def closed_seen_by(self, seat: int | None) -> Sight | None:
        """The round that it closed, as that seat or an observer sees it; None if it closed none."""
        if self.closed is None:
            return None
        return past(self.now, closed_at(self.now.changed, self.closed), seat)


def present(saved: Saved, seat: int | None) -> Sight:
    """A game as that seat, or an observer, sees it now."""
    live = saved.game.round
    position = None if live is None else position_of(live, seat)
    return Sight(saved.game, position, saved.version, saved.changed)


def past(saved: Saved, closed: ClosedRound, seat: int | None) -> Sight:
    """A round of a game that is over."""
    return Sight(saved.game, position_of(closed.round, seat), saved.version, closed.at)
