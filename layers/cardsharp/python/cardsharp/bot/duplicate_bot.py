"""Detection of another bot or person who plays as our user in a match.

Two bots of one user with separate match logs do not see each other's leases, so both act in
every turn and spoil it. The arena's history shows moves of our seat that no worker here
intended. The bot whose move came first continues, and the other leaves the match to it; both
can tell from the history alone which of them that is.
"""

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from cardsharp.bot.bot_match import Observation
from cardsharp.bot.lease_keeper import LeaseKeeper
from cardsharp.core.metrics import MetricName
from cardsharp.errors import CardsharpError
from cardsharp.store.match_log import MoveRecord

_log = logging.getLogger("cardsharp.bot")

NOTE_KIND = "namesake"  # kind of the notes that tell a later worker of the other player
_DUPLICATE_WARNING = (
    "another bot or a person plays as this user in the match; stop one of the two: %s"
)
_CONTINUE_REACTION = "this bot moved first and continues"
_LEAVE_REACTION = "the other moved first, so this bot leaves the match to it"


class DuplicateBotError(CardsharpError):
    """Another bot or person plays our seat, so the match is left to them."""


@dataclass(slots=True)
class DuplicateBotDetector:
    """Detector of another bot or person who plays our seat, for one session.

    `intended_moves` are the moves that our workers decided. If the other player has been silent
    for a long time, the match is continued: see `_check_first_observation`.
    """

    lease_keeper: LeaseKeeper
    intended_moves: set[int] = field(default_factory=set)
    _foreign_moves: frozenset[int] | None = None
    _must_recheck: bool = False
    _is_reported: bool = False
    _is_disabled: bool = False

    def load_logged_intents(self, moves: list[MoveRecord]) -> None:
        """Read the intents that earlier workers logged in this match."""
        self.intended_moves = {move.sequence for move in moves if move.intent is not None}

    def disable(self) -> None:
        """Stop the detection for this session, because the arena has taken moves back.

        It may restore them later. The log then has such a move only as a note, so that it would
        look as if somebody else had made it.
        """
        self._is_disabled = True

    def may_act_or_pause(self, observation: Observation[Any], backoff: timedelta) -> bool:
        """Return True if this observation may be acted on, False to observe again.

        Before it returns False it pauses for `backoff`. Raises `DuplicateBotError` if the other
        player moved first and is still playing, and `StoreError` if the log could not be read.
        """
        foreign_moves = observation.foreign_moves | (observation.our_moves - self.intended_moves)
        if self._is_disabled:
            return True
        if self._foreign_moves is None:
            self._check_first_observation(observation, foreign_moves)
        elif foreign_moves - self._foreign_moves:
            self._foreign_moves |= foreign_moves
            self._report_duplicate(observation)
        if not (self._must_recheck and observation.turn is not None):
            return True
        self._must_recheck = False
        self.lease_keeper.sleep_before_handover(backoff)
        return False

    def _check_first_observation(
        self, observation: Observation[Any], foreign_moves: frozenset[int]
    ) -> None:
        """Look for foreign moves in the first observation.

        Moves without an intent here may come from a lost log, or from another player.
        """
        self._foreign_moves = foreign_moves
        if not foreign_moves:
            return
        notes = [
            n
            for n in self.lease_keeper.match_log.notes(self.lease_keeper.match_id)
            if n.kind == NOTE_KIND
        ]
        if not notes:
            self._must_recheck = True
            return
        self._is_reported, last_note = True, notes[-1]
        # True if the other player has let a turn of ours pass since we left the match.
        has_missed_turn = (
            observation.turn is not None
            and observation.next_sequence == last_note.body.get("sequence")
        )
        if last_note.body.get("left") and not (has_missed_turn or observation.timeout_count):
            self._leave_match(observation)

    def _report_duplicate(self, observation: Observation[Any]) -> None:
        """Report once that another player acts on our seat; leave the match if it moved first."""
        foreign_moves = self._foreign_moves or frozenset()
        our_moves = observation.our_moves - foreign_moves
        is_younger = not our_moves or min(foreign_moves) < min(our_moves)
        if not self._is_reported:
            self._is_reported = True
            self.lease_keeper.metrics.count(MetricName.DUPLICATE_BOTS)
            reaction = _LEAVE_REACTION if is_younger else _CONTINUE_REACTION
            _log.warning(
                _DUPLICATE_WARNING, reaction, extra={"match_id": self.lease_keeper.match_id}
            )
        if is_younger:
            self._leave_match(observation)
        self.lease_keeper.add_debug_note(
            NOTE_KIND, {"left": False, "sequence": observation.next_sequence}
        )

    def _leave_match(self, observation: Observation[Any]) -> None:
        sequence = observation.next_sequence if observation.turn is not None else None
        self.lease_keeper.add_debug_note(
            NOTE_KIND, {"left": True, "sequence": sequence}
        )  # so that no later worker reports it again
        raise DuplicateBotError
