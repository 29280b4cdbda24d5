"""Tests of the opponent in a local match: it goes on playing after an outage."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, cast

import pytest
from support.arena_server import ALICE
from support.arena_views import DRAWN, ENDED, view_of
from support.store_fixtures import FakeClock

from cardsharp.client.session_state import ClientSessionState
from cardsharp.errors import ArenaError, RequestRejected, Unauthorized, Unreachable
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.wire_views import EventView, MatchView
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.local_play.opponent import (
    MAX_OUTAGE,
    RETRY_PAUSE,
    OpponentClient,
    OpponentConfig,
)

LOST_ANSWER = Unreachable("POST: no answer within 3 s.", outcome_unknown=True)
NO_ANSWER = Unreachable("GET: no connection")
END_OF_TEST = Unauthorized(401, "the end of the test")
FLIGHT_TIME = timedelta(seconds=3)


class ScriptedClient:
    """Client whose lists and actions have these results, each an answer or an error."""

    def __init__(self, lists: Iterable[Any], actions: Iterable[Any] = ()) -> None:
        self.lists, self.actions = list(lists), list(actions)
        self.clock = FakeClock()
        self.session_state = ClientSessionState(self.clock)

    def matches(self, *, active: bool, wait: bool) -> list[MatchView]:
        """Return the next list."""
        assert active
        assert wait
        return cast("list[MatchView]", _result(self.lists.pop(0)))

    def get_match(self, _match_id: str) -> MatchView:
        """Return a match in which it is our turn."""
        return view_of()

    def act(self, _match_id: str, _action: Action) -> list[EventView]:
        """Return the next answer to an action."""
        return cast("list[EventView]", _result(self.actions.pop(0)))

    def max_action_flight_time(self) -> timedelta:
        """Return how long an action may be in flight."""
        return FLIGHT_TIME


def _result(result: Any) -> Any:  # noqa: ANN401 - an answer or an error
    if isinstance(result, Exception):
        raise result
    return result


def play(client: ScriptedClient) -> ArenaError:
    """Let the opponent play with a client, and return the error that ended it."""
    config = OpponentConfig("http://127.0.0.1", ALICE, "word", BuiltIn("draw-3"))
    opponent = OpponentClient(cast("ArenaClient", client), config)
    with pytest.raises(ArenaError) as raised:
        opponent.play_through_outages()
    return raised.value


def test_an_opponent_goes_on_after_an_action_whose_answer_was_lost() -> None:
    """The turn is read again once the lost action can no longer arrive."""
    client = ScriptedClient([[view_of()], [view_of()], END_OF_TEST], [LOST_ANSWER, DRAWN, ENDED])
    assert play(client) is END_OF_TEST
    assert client.actions == []
    assert client.clock.elapsed >= FLIGHT_TIME


def test_an_opponent_goes_on_after_an_outage_of_the_arena() -> None:
    client = ScriptedClient([NO_ANSWER, RequestRejected(502, "restarting"), [], END_OF_TEST])
    assert play(client) is END_OF_TEST


def test_an_opponent_ends_if_the_arena_stays_away() -> None:
    attempts = round(MAX_OUTAGE / RETRY_PAUSE) + 2
    assert play(ScriptedClient([NO_ANSWER] * attempts)) is NO_ANSWER
