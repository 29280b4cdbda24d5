"""One worker's time with one seat: join, look, decide, act, log, until the game or time ends.

The same three rules as in the first game keep every action one that was decided on the state it
met (docs/reliability.md): the intent is in the match log before the action is sent, an action is
sent once and after any doubtful answer the state is read again, once the action can no longer be
under way, and a successor waits as long for what its predecessor may have sent.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from cardsharp.blef.client import NO_PLAYER, BlefClient, Sighting
from cardsharp.blef.deciding import decide
from cardsharp.blef.game import Status
from cardsharp.blef.logbook import (
    SPAN,
    closes_round,
    facts_of,
    intent_body,
    outcome_body,
    sequence_of,
)
from cardsharp.blef.position import Position
from cardsharp.blef.seat import Seat
from cardsharp.blef.strategies import Strategy
from cardsharp.blef.wire import position_in
from cardsharp.cloud.lease import LeaseKeeper
from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.cloud.ports import Body, Clock, MatchLog, MoveRecord
from cardsharp.cloud.timing import Remaining, Timing
from cardsharp.cloud.trouble import count_error, is_final, pause_after
from cardsharp.cloud.vault import Vault
from cardsharp.errors import ArenaError, Garbled, Rejected

_log = logging.getLogger("cardsharp.bot")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker works with, and the name under which it holds leases."""

    client: BlefClient
    strategy: Strategy
    log: MatchLog
    vault: Vault
    clock: Clock
    name: str
    meter: Meter


class Attendance:
    """A seat as long as one worker holds its lease; all of it can be lost at any moment."""

    def __init__(
        self,
        worker: Worker,
        timing: Timing,
        keeper: LeaseKeeper,
        seat: Seat,
        remaining: Remaining,
    ) -> None:
        self.worker = worker
        self.timing = timing
        self.keeper = keeper
        self.seat = seat
        self.remaining = remaining
        self.match_id = keeper.lease.match_id
        self.closed = 0
        self.logged: set[int] = set()
        self.refused: dict[int, frozenset[int]] = {}

    def run(self) -> bool:
        """Play turn by turn; True when the game has ended, False when the time is up."""
        seen = self._first_look()
        while seen is not None:
            if not self._record(seen):
                return False
            if seen.state.status is Status.FINISHED:
                self._close(seen)
                return True
            if self.remaining() < self.timing.handover or not self._time_for_action():
                return False
            if seen.state.cp_nickname == self.seat.nickname:
                self._take_turn(seen)
                seen = self._look()
            else:
                seen = self._wait(seen)
        return False

    # --- looking -----------------------------------------------------------------------------

    def _first_look(self) -> Sighting | None:
        """The game with us in it, once no action of a predecessor can be under way any more."""
        asked = self.worker.clock.now()
        seen = self._patiently(self._seated)
        moves = self.worker.log.moves(self.match_id)
        self.logged = {m.sequence for m in moves if m.facts is not None}
        self.closed = max((m.sequence // SPAN for m in moves if closes_round(m.facts)), default=0)
        arrives = None if seen is None else _latest_arrival(moves, sequence_of(seen.state))
        if arrives is None or arrives <= asked:
            return seen
        self.worker.clock.sleep(arrives - self.worker.clock.now())
        return self._look()

    def _seated(self) -> Sighting:
        """The game; joined first, where we are not in it yet."""
        client, seat = self.worker.client, self.seat
        try:
            return client.look(seat.game, seat.secret)
        except Rejected as denied:
            if denied.message != NO_PLAYER:
                raise
        given = client.join(seat.game, seat.nickname, seat.secret)
        if given != seat.secret:  # a service that lets nobody choose
            self.seat = seat.known_as(given)
            self.worker.vault.replace(self.match_id, self.seat.body)
        _log.info("joined", extra={"match_id": self.match_id})
        return client.look(self.seat.game, self.seat.secret)

    def _look(self) -> Sighting | None:
        """The game as it is; None when the time is up before the service answers."""
        return self._patiently(lambda: self.worker.client.look(self.seat.game, self.seat.secret))

    def _wait(self, seen: Sighting) -> Sighting | None:
        """The game when it has changed, or after a while; None when the time is up."""
        if self.remaining() <= self.timing.long_poll + self.timing.handover:
            return None
        self.keeper.ensure(timedelta(0))
        game, secret, since = self.seat.game, self.seat.secret, seen.version
        later = self._patiently(lambda: self.worker.client.wait(game, secret, since))
        if since is None:  # a service that does not let us wait
            self._pause(self.timing.breath)
        return later

    def _patiently(self, look: Callable[[], T]) -> T | None:
        """What `look` returns, asked again while the service fails and time is left."""
        while True:
            try:
                return look()
            except ArenaError as error:
                if is_final(error):
                    raise
                self._note_error(error)
                if self.remaining() < self.timing.handover:
                    return None
                self._pause(pause_after(error, self.timing.breath))
                self.keeper.ensure(timedelta(0))

    def _note_error(self, error: ArenaError) -> None:
        count_error(self.worker.meter, error)
        _log.warning("%s", error, extra={"match_id": self.match_id})

    def _pause(self, wanted: timedelta) -> None:
        """Sleep as long as is wanted, but wake in time to hand the game on."""
        left = self.remaining() - self.timing.handover / 2
        self.worker.clock.sleep(max(timedelta(0), min(wanted, left)))

    def _time_for_action(self) -> bool:
        return self.remaining() > self.timing.decision + 2 * self.timing.act

    # --- playing -----------------------------------------------------------------------------

    def _take_turn(self, seen: Sighting) -> None:
        """Decide, log the intent, and send the action once."""
        worker, sequence = self.worker, sequence_of(seen.state)
        position = _position(seen, self.seat.nickname)
        refused = self.refused.get(sequence, frozenset())
        limit, monotonic = self.timing.decision, worker.clock.monotonic
        decided = decide(worker.strategy, position, limit, monotonic, refused)
        worker.meter.time(Metric.DECISION, decided.took)
        if decided.fault is not None:
            worker.meter.count(Metric.SAFE_ACTIONS)
            _log.warning("%s", decided.fault, extra={"match_id": self.match_id})
        body = intent_body(position, decided, worker.clock.now(), worker.name, self.seat)
        if self._intend(sequence, body):
            self._act(sequence, decided.decision.action)

    def _act(self, sequence: int, action: int) -> None:
        sent = self.worker.clock.now()
        try:
            self.worker.client.act(self.seat.game, self.seat.secret, action)
        except ArenaError as error:
            self._note_error(error)
            if is_final(error):
                self.refused[sequence] = self.refused.get(sequence, frozenset()) | {action}
            arrival = sent + self.timing.act - self.worker.clock.now()
            least = max(arrival, timedelta(0)) if error.doubtful else self.timing.breath
            self._pause(pause_after(error, least))
        else:
            self.worker.meter.count(Metric.ACTIONS)

    def _intend(self, sequence: int, intent: dict[str, object]) -> bool:
        """Log an intent; False where that took so long that another may hold the seat by now.

        The lease is ours for another `renew`, and in that time the action is sent, or not at all.
        """
        timing, clock = self.timing, self.worker.clock
        lease = self.keeper.ensure(timing.renew)
        last_moment = clock.now() + timing.renew
        arrives = last_moment + timing.act
        body = {**intent, "arrivesBefore": arrives.isoformat()}
        self.worker.log.intend(lease, sequence, body)
        return clock.now() <= last_moment

    # --- logging -----------------------------------------------------------------------------

    def _record(self, seen: Sighting) -> bool:
        """Copy what the log has not got yet; False when the time is up before that is done.

        That is: whole rounds that are over, with their hands, and the present one so far.
        """
        over = seen.state.status is Status.FINISHED
        ended = seen.state.round_number if over else seen.state.round_number - 1
        for number in range(self.closed + 1, ended + 1):
            past = self._patiently(partial(self.worker.client.past, self.seat.game, number))
            if past is None:
                return False
            self._keep(facts_of(past))
            self.closed = number
        if not over:
            self._keep(facts_of(seen.state))
        return True

    def _keep(self, facts: Mapping[int, Body]) -> None:
        """Record the facts that the log has not got yet."""
        new = {sequence: body for sequence, body in facts.items() if sequence not in self.logged}
        if new:
            self.worker.log.record(self.keeper.lease, new)
            self.logged |= new.keys()

    def _close(self, seen: Sighting) -> None:
        outcome = outcome_body(seen.state, self.seat.nickname)
        self.worker.log.finish(self.keeper.lease, outcome)
        won = outcome["result"] == "won"
        self.worker.meter.count(Metric.MATCHES_WON if won else Metric.MATCHES_LOST)


def _position(seen: Sighting, nickname: str) -> Position:
    """What the state shows to us; raises `Garbled` where it contradicts itself."""
    try:
        position = position_in(seen.state, nickname)
    except ValueError:
        position = None
    if position is None or len(position.hand) != position.n_cards[position.me or 0]:
        raise Garbled("The state does not show our own hand.")
    return position


def _latest_arrival(moves: list[MoveRecord], sequence: int) -> datetime | None:
    """Until when the action that was meant to be move `sequence` can arrive; None for none."""
    intent = next((m.intent for m in moves if m.sequence == sequence), None)
    return None if intent is None else datetime.fromisoformat(str(intent["arrivesBefore"]))
