"""One worker's time with one seat: join, look, decide, act, log, until the game or time ends.

What keeps every action one that was decided on the state it met is in `cloud/hold`.
"""

import logging
from collections.abc import Mapping
from datetime import timedelta
from functools import partial

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
from cardsharp.blef.seat import Seat, find_seat
from cardsharp.blef.strategies import Strategy
from cardsharp.blef.wire import position_in
from cardsharp.cloud.hold import Hold
from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.ports import Body
from cardsharp.cloud.trouble import is_final
from cardsharp.cloud.vault import Vault
from cardsharp.errors import ArenaError, Garbled, Rejected

_log = logging.getLogger("cardsharp.bot")


class Attendance:
    """A seat as long as one worker holds it; all of this can be lost at any moment."""

    def __init__(
        self, hold: Hold, client: BlefClient, strategy: Strategy, vault: Vault, seat: Seat
    ) -> None:
        self.hold = hold
        self.client = client
        self.strategy = strategy
        self.vault = vault
        self.seat = seat
        self.match_id = hold.match_id
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
            if not self.hold.time_to_act():
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
        hold = self.hold
        asked = hold.clock.now()
        seen = hold.patiently(self._seated)
        moves = hold.log.moves(self.match_id)
        self.logged = {m.sequence for m in moves if m.facts is not None}
        self.closed = max((m.sequence // SPAN for m in moves if closes_round(m.facts)), default=0)
        if seen is None or not hold.outwait(moves, sequence_of(seen.state), asked):
            return seen
        return self._look()

    def _seated(self) -> Sighting:
        """The game; joined first, where we are not in it yet."""
        client, seat = self.client, self.seat
        try:
            return client.look(seat.game, seat.secret)
        except Rejected as denied:
            if denied.message != NO_PLAYER:
                raise
        kept = find_seat(self.vault, self.match_id)
        if kept.secret != seat.secret:  # another worker joined after we had read it
            self.seat = kept
            return client.look(kept.game, kept.secret)
        given = client.join(seat.game, seat.nickname, seat.secret)
        if given != seat.secret:  # a service that lets nobody choose
            self.seat = seat.known_as(given)
            self.vault.replace(self.match_id, self.seat.body)
        _log.info("joined", extra={"match_id": self.match_id})
        return client.look(self.seat.game, self.seat.secret)

    def _look(self) -> Sighting | None:
        """The game as it is; None when the time is up before the service answers."""
        return self.hold.patiently(lambda: self.client.look(self.seat.game, self.seat.secret))

    def _wait(self, seen: Sighting) -> Sighting | None:
        """The game when it has changed, or after a while; None when the time is up."""
        if not self.hold.time_to_wait():
            return None
        self.hold.keeper.ensure(timedelta(0))
        game, secret, since = self.seat.game, self.seat.secret, seen.version
        later = self.hold.patiently(lambda: self.client.wait(game, secret, since))
        if since is None:  # a service that does not let us wait
            self.hold.pause(self.hold.timing.breath)
        return later

    # --- playing -----------------------------------------------------------------------------

    def _take_turn(self, seen: Sighting) -> None:
        """Decide, log the intent, and send the action once."""
        hold, sequence = self.hold, sequence_of(seen.state)
        position = _position(seen, self.seat.nickname)
        refused = self.refused.get(sequence, frozenset())
        limit, monotonic = hold.timing.decision, hold.clock.monotonic
        decided = decide(self.strategy, position, limit, monotonic, refused)
        hold.note_decision(decided.took, decided.fault)
        body = intent_body(position, decided, hold.clock.now(), hold.worker, self.seat)
        if hold.intend(sequence, body):
            self._act(sequence, decided.decision.action)

    def _act(self, sequence: int, action: int) -> None:
        hold = self.hold
        sent = hold.clock.now()
        try:
            self.client.act(self.seat.game, self.seat.secret, action)
        except ArenaError as error:
            hold.note_error(error, action)
            if is_final(error):
                self.refused[sequence] = self.refused.get(sequence, frozenset()) | {action}
            hold.let_arrive(error, sent)
        else:
            hold.meter.count(Metric.ACTIONS)

    # --- logging -----------------------------------------------------------------------------

    def _record(self, seen: Sighting) -> bool:
        """Copy what the log has not got yet; False when the time is up before that is done.

        That is: whole rounds that are over, with their hands, and the present one so far.
        """
        over = seen.state.status is Status.FINISHED
        ended = seen.state.round_number if over else seen.state.round_number - 1
        for number in range(self.closed + 1, ended + 1):
            past = self.hold.patiently(partial(self.client.past, self.seat.game, number))
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
            self.hold.log.record(self.hold.lease, new)
            self.logged |= new.keys()

    def _close(self, seen: Sighting) -> None:
        outcome = outcome_body(seen.state, self.seat.nickname)
        self.hold.log.finish(self.hold.lease, outcome)
        won = outcome["result"] == "won"
        self.hold.meter.count(Metric.MATCHES_WON if won else Metric.MATCHES_LOST)


def _position(seen: Sighting, nickname: str) -> Position:
    """What the state shows to us; raises `Garbled` where it contradicts itself."""
    try:
        position = position_in(seen.state, nickname)
    except ValueError:
        position = None
    if position is None or len(position.hand) != position.n_cards[position.me or 0]:
        raise Garbled("The state does not show our own hand.")
    return position
