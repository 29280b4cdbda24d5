"""A match of any game as long as one worker holds it: look, wait, decide, act, copy the facts.

What a look shows is a `Sight`; where we are to act, the sight brings a `Turn`. A match is played
from what is seen and from the match log, so any worker can take it up at any moment. What keeps
every action one that was decided on the state it met is in `hold`.
"""

import logging
from datetime import timedelta
from typing import Generic, TypeVar

from cardsharp.cloud.attended import After, Attended, AttendedMatch, Sight, Turn
from cardsharp.cloud.hold import Hold
from cardsharp.cloud.line import Line
from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.namesake import Namesake
from cardsharp.cloud.ports import Body
from cardsharp.cloud.trouble import Denied, is_final, is_refusal
from cardsharp.errors import ArenaError, MatchOver, Rejected, Unauthorized

_log = logging.getLogger("cardsharp.bot")

_RESULTS = {
    "won": Metric.MATCHES_WON,
    "lost": Metric.MATCHES_LOST,
    "tied": Metric.MATCHES_TIED,
}

A = TypeVar("A")  # an action
OBEDIENCE = timedelta(seconds=3)  # so long at most an arena has us wait; less with short turns


def versioned(header: Body, version: str | None) -> Body:
    """A match's header with the state of what plays of us, where that is known."""
    return {**header, "version": version} if version else header


class Attendance(Generic[A]):
    """A match as long as one worker holds it; all of this can be lost at any moment.

    `version` is what the match's header is to say of us; None where the log has the header already.
    """

    def __init__(
        self, hold: Hold, match: AttendedMatch[A], line: Line, version: str | None
    ) -> None:
        self.hold = hold
        self.match = match
        self.line = line
        self.version = version
        self.namesake = Namesake(hold)
        self.known: dict[int, Body] = {}
        self.refused: dict[int, frozenset[A]] = {}
        self.denied, self.denied_at = Denied(), -1
        self.went_back: float | None = None
        self.obedience = OBEDIENCE

    def run(self) -> Attended:
        """Play turn by turn, until the match has ended or rests, or the time is up."""
        sight = self._first_look()
        if sight is not None:
            # A new match may have waited for a tick by design: no fault that an alarm is for.
            self._note_pick_up(sight, Metric.PICK_UP if self.known else Metric.FIRST_PICK_UP)
        while sight is not None:
            if not self._goes_on_from_log(sight):
                sight = self._look()
                continue
            self._record(sight)
            if sight.outcome is not None:
                self.hold.log.finish(self.hold.lease, sight.outcome)
                metric = _RESULTS.get(str(sight.outcome["result"]))
                if metric is not None:
                    self.hold.meter.count(metric)
                return Attended.FINISHED
            if not self.hold.time_to_act():
                break
            if not self.namesake.may_act(sight, self.obedience):
                sight = self._look()
                continue
            then = After.WAIT if sight.turn is None else self._play(sight.turn, sight.sequence)
            self.hold.meter.flush()
            sight = self._wait(sight) if then is After.WAIT else self._look()
        return Attended.HANDED_ON if self.hold.rest is None else Attended.LEFT

    # --- looking -----------------------------------------------------------------------------

    def _look(self) -> Sight[A] | None:
        """The match as it is; None when the time is up before the arena answers."""
        return self.hold.patiently(self._see, self.obedience)

    def _see(self) -> Sight[A]:
        with self.line.place():
            sight = self.match.look(self.known)
        if sight.limit is not None:
            self.obedience = min(OBEDIENCE, sight.limit / 4)
        return sight

    def _first_look(self) -> Sight[A] | None:
        """The match, once no action of a predecessor can be under way any more."""
        hold = self.hold
        # Now that the lease is ours; before it was, somebody may still have written.
        moves = hold.log.moves(hold.match_id)
        self.namesake.remember(moves)
        self.known = {move.sequence: move.facts for move in moves if move.facts is not None}
        asked = hold.clock.monotonic()
        sight = self._look()
        if sight is None:
            return None
        if sight.header is not None and self.version is not None:
            hold.log.describe(hold.lease, versioned(sight.header, self.version))
        return self._look() if hold.outwait(moves, sight, asked) else sight

    def _wait(self, last: Sight[A]) -> Sight[A] | None:
        """The match when there is something new; None when the time is up, or it is to rest."""
        hold = self.hold
        hold.rest = last.rest
        while hold.rest is None and hold.time_to_wait():
            hold.ensure(timedelta(0))
            sight = hold.patiently(lambda: self.match.wait(self.known), self.obedience)
            if sight is None and last.may_rest:
                sight = self._look()
                if sight is None:
                    return None
                acts = sight.turn is not None or sight.outcome is not None
                if sight.sequence == last.sequence and not acts:  # nothing has happened since
                    hold.rest = hold.timing.rest
                    return None
            if sight is not None:
                self._note_pick_up(sight)
                return sight
        return None

    def _note_pick_up(self, sight: Sight[A], metric: Metric = Metric.PICK_UP) -> None:
        if sight.turn is not None and sight.acted_at is not None:
            late = max(self.hold.clock.now() - sight.acted_at, timedelta(0))
            self.hold.meter.time(metric, late)

    def _goes_on_from_log(self, sight: Sight[A]) -> bool:
        """Whether the arena has all moves of the log; where it has lost some, so has the log then.

        An arena that goes back is believed like one that denies: when it says so for some seconds.
        """
        # The arena has no such move any more, or another one in its place.
        lost = [
            n
            for n, body in self.known.items()
            if n >= sight.sequence or sight.facts.get(n, body) != body
        ]
        if not lost:
            self.went_back = None
            return True
        hold, now = self.hold, self.hold.clock.monotonic()
        self.went_back = now if self.went_back is None else self.went_back
        if timedelta(seconds=now - self.went_back) < hold.timing.denial:
            hold.pause(hold.timing.breath)
            hold.ensure(timedelta(0))
            return False
        first = min(lost)
        hold.log.withdraw(hold.lease, first)
        text = "the server went back to before move %d"
        _log.warning(text, first, extra={"match_id": hold.match_id})
        self.known = {n: body for n, body in self.known.items() if n < first}
        self.refused, self.went_back = {}, None
        self.namesake.forget()
        return True

    # --- playing -----------------------------------------------------------------------------

    def _play(self, turn: Turn[A], sequence: int) -> After:
        """Play a turn action by action, as long as there is time; what to do then."""
        while self.hold.time_to_decide():
            then = self._act(turn, sequence)
            if isinstance(then, After):
                return then
            turn, sequence = then, sequence + 1
        return After.LOOK

    def _act(self, turn: Turn[A], sequence: int) -> Turn[A] | After:
        """Decide, log the intent, send the action once; after any doubt, look what is so."""
        hold, refused = self.hold, self.refused.get(sequence, frozenset())
        try:
            with self.line.place():
                decided = turn.decide(hold.timing.decision, hold.clock.monotonic, refused)
                if decided is None:
                    return After.LOOK
                hold.note_decision(decided.took, decided.fault)
                action = decided.decision.action
                intent = turn.intent(decided, hold.clock.now(), hold.worker)
                if decided.fault is not None:
                    hold.note("decision", {**intent, "sequence": sequence})
                if not hold.intend(sequence, intent):
                    return After.LOOK
                self.namesake.meant.add(sequence)
                sent = hold.clock.monotonic()
                then = turn.act(action)
        except MatchOver:
            return After.LOOK
        except ArenaError as error:
            hold.note_error(error, action)
            if is_final(error):
                self.namesake.meant.discard(sequence)
            self._raise_if_denied(error, sequence)
            if is_refusal(error) and not self._is_gone(error):
                self.refused[sequence] = refused | {action}
                hold.note("refused", {**intent, "answer": str(error)})
            hold.let_arrive(error, sent, self.obedience)
            return After.LOOK
        hold.meter.count(Metric.ACTIONS)
        self.denied = Denied()
        return then

    def _is_gone(self, error: ArenaError) -> bool:
        """Whether the error denies us the match, which the next look must confirm."""
        return isinstance(error, Rejected) and self.match.gone(error) is not None

    def _raise_if_denied(self, error: ArenaError, sequence: int) -> None:
        """Raise what denies us all actions, though a look may be granted, once it has lasted.

        That is our credentials, of which the other seat of a practice match has its own; or at one
        move the match itself, which counts for longer, as the looks between say that it goes on.
        """
        if self.denied_at != sequence and not isinstance(error, Unauthorized):
            self.denied, self.denied_at = Denied(), sequence
        lasts = self.denied.lasts(error, self.hold.clock.monotonic())
        timing = self.hold.timing
        if isinstance(error, Unauthorized):
            believed = lasts >= timing.denial
        else:
            believed = self._is_gone(error) and lasts >= timing.contradiction
        if believed:
            raise error

    # --- logging -----------------------------------------------------------------------------

    def _record(self, sight: Sight[A]) -> None:
        """Copy the moves that the log has not got yet from the arena's history."""
        new = {number: body for number, body in sight.facts.items() if number not in self.known}
        if new:
            self.hold.log.record(self.hold.lease, new)
            self.hold.meter.count(Metric.TIMEOUTS, sight.timeouts)  # 0, too: an alarm listens
            if sight.timeouts:
                about = {"match_id": self.hold.match_id, "turns": sight.timeouts}
                _log.warning("the arena ended a turn of ours by force", extra=about)
            self.known |= new
