"""How not to play: the loop that everybody writes first, kept so that the suite finds it out."""

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import TypeVar

from world.arena import BenchArena
from world.bench import Bench
from world.network import Tools

from cardsharp.cloud.ports import Lease
from cardsharp.deadmansdraw.client import ArenaClient, MatchClosed
from cardsharp.deadmansdraw.logbook import facts_beyond, header_body, intent_body, outcome_body
from cardsharp.deadmansdraw.reading import rebuild
from cardsharp.deadmansdraw.strategies import Decision, build
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.deciding import Decided
from cardsharp.errors import ArenaError

T = TypeVar("T")
ATTEMPTS = 3


class NaiveBot:
    """Reads, decides, sends with a blind retry, logs; what is logged so far is in its memory."""

    def __init__(self, bench: Bench, tools: Tools) -> None:
        self._bench = bench
        self._log = tools.log
        self._name = tools.name
        assert isinstance(bench.place, BenchArena)
        self._client = bench.place.client(tools)
        self._strategy = build(bench.place.strategy, Random(1))

    def attend(self, match_id: str, remaining: Callable[[], timedelta]) -> None:
        del remaining
        lease = self._log.take(match_id, self._name, self._bench.timing.lease)
        if lease is None:
            return
        view = again(lambda: self._client.view(match_id))
        record = self._log.match(match_id)
        known = view.move_count if record is not None and record.header else 0
        self._log.describe(lease, header_body(view, {0: "naive"}))
        while not view.finished:
            if view.active_player_index == 0:
                self._act(lease, view)
                view = again(lambda: self._client.view(match_id))
            else:
                view = again(lambda: waited(self._client, match_id)) or view
            facts = facts_beyond(view, {}).items()
            self._log.record(lease, {number: body for number, body in facts if number >= known})
            known = view.move_count
        self._log.finish(lease, outcome_body(view, {0}))

    def _act(self, lease: Lease, view: MatchView) -> None:
        position = rebuild(view, 0)
        decision: Decision = self._strategy.decide(position)
        decided = Decided(decision, timedelta(0))
        at = self._bench.clock.now()
        intent = intent_body(position, decided, at, self._name, "naive")
        self._log.intend(lease, view.move_count, intent)
        again(lambda: self._client.act(lease.match_id, decision.action))


def waited(client: ArenaClient, match_id: str) -> MatchView | None:
    try:
        return client.wait_for_turn(match_id)
    except MatchClosed as closed:
        return closed.closing.view


def again(work: Callable[[], T]) -> T:
    for _ in range(ATTEMPTS - 1):
        try:
            return work()
        except ArenaError:
            continue
    return work()
