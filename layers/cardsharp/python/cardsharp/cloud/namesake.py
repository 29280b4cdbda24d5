"""Somebody else who plays as us in a match: another bot of this user, or a person.

Two bots of one user whose match logs are not the same do not see each other's leases, so both act
in every turn and spoil it. Seen is only what the arena's history has of our seat and nobody here
meant. Of two, the one whose move came first goes on and the other leaves the match to it; both can
tell from the history alone which of them that is.
"""

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from cardsharp.cloud.attended import Sight
from cardsharp.cloud.hold import Hold
from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.ports import MoveRecord
from cardsharp.errors import CardsharpError

_log = logging.getLogger("cardsharp.bot")

NOTE = "namesake"  # the kind of the notes by which a later worker knows of another that plays as us
_FOUND = "somebody else plays as this user in the match, a bot or a person; stop one of the two: %s"
_GOES_ON = "this bot made the first move and goes on"
_STEPS_BACK = "the other made the first move, so this bot leaves the match to it"


class SteppedBack(CardsharpError):
    """The match is left to whoever else plays as us."""


@dataclass(slots=True)
class Namesake:
    """What one attendance knows of another player of our seat; `meant` are the moves intended here.

    After a long silence of the other the match is played on: see `_begin`.
    """

    hold: Hold
    meant: set[int] = field(default_factory=set)
    _others: frozenset[int] | None = None
    _is_wary: bool = False
    _is_told: bool = False
    _is_blind: bool = False

    def remember(self, moves: list[MoveRecord]) -> None:
        """Take what the log has of this match: all intents of the workers before."""
        self.meant = {move.sequence for move in moves if move.intent is not None}

    def forget(self) -> None:
        """Believe nothing more of this history, for the arena takes moves back and may bring them.

        What comes again then was meant, and the log knows it only as a note.
        """
        self._is_blind = True

    def may_act(self, sight: Sight[Any], patience: timedelta) -> bool:
        """Whether this sight may be acted on; False to look again, after a pause for `patience`.

        Raises `SteppedBack` if the other was first, and plays, and `StoreError` if the log failed,
        where it had to be asked.
        """
        others = sight.strange | (sight.ours - self.meant)
        if self._is_blind:
            return True
        if self._others is None:
            self._begin(sight, others)
        elif others - self._others:
            self._others |= others
            self._notice(sight)
        if not (self._is_wary and sight.turn is not None):
            return True
        self._is_wary = False
        self.hold.pause(patience)
        return False

    def _begin(self, sight: Sight[Any], others: frozenset[int]) -> None:
        """The first sight: moves that nobody here meant may be an old log's, or somebody's."""
        self._others = others
        if not others:
            return
        notes = [n for n in self.hold.log.notes(self.hold.match_id) if n.kind == NOTE]
        if not notes:
            self._is_wary = True
            return
        self._is_told, last = True, notes[-1]
        # Whether the other has let a turn of ours pass since we left the match, a while ago.
        stands = sight.turn is not None and sight.sequence == last.body.get("sequence")
        if last.body.get("left") and not (stands or sight.timeouts):
            self._step_back(sight)

    def _notice(self, sight: Sight[Any]) -> None:
        """Somebody else has just acted on our seat: say so once, and leave the match if younger."""
        others = self._others or frozenset()
        ours = sight.ours - others
        is_younger = not ours or min(others) < min(ours)
        if not self._is_told:
            self._is_told = True
            self.hold.meter.count(Metric.NAMESAKES)
            what = _STEPS_BACK if is_younger else _GOES_ON
            _log.warning(_FOUND, what, extra={"match_id": self.hold.match_id})
        if is_younger:
            self._step_back(sight)
        self.hold.note(NOTE, {"left": False, "sequence": sight.sequence})

    def _step_back(self, sight: Sight[Any]) -> None:
        sequence = sight.sequence if sight.turn is not None else None
        self.hold.note(NOTE, {"left": True, "sequence": sequence})  # else it is said again
        raise SteppedBack
