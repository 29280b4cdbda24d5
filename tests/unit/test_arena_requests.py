"""Every request of a player to an arena: its limits, its priority, and how its answer is read."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fault_simulation.virtual_clock import VirtualClock
from support.recorded_arena_responses import (
    CLOSING,
    CREATED,
    DRAW_RESPONSE,
    FINISHED,
    MATCH,
    RUNNING,
    WHOAMI_RESPONSE,
)

from cardsharp.client.config import RequestLimits
from cardsharp.client.request_budget import RateLimitStatus, RequestPriority
from cardsharp.client.session_state import ClientSessionState
from cardsharp.client.transport import ArenaRequest, ArenaResponse
from cardsharp.core.credentials import Credentials
from cardsharp.errors import (
    MalformedResponse,
    MatchOver,
    NotFound,
    NotYourTurn,
    ResponseTooLarge,
    Unreachable,
)
from cardsharp.games.deadmansdraw.actions import DRAW
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams

LIMITS = RequestLimits()
INSTANT = timedelta(microseconds=1)
PATH = f"/api/matches/{MATCH}"


class Wire:
    """A transport that sends nothing: its answers are told, and it keeps what was asked."""

    def __init__(self) -> None:
        self.session_state = ClientSessionState(VirtualClock())
        self.requests: list[ArenaRequest] = []
        self.answers: list[ArenaResponse | Exception] = []

    def send(self, request: ArenaRequest) -> ArenaResponse:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.requests.clear()


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def client(wire: Wire) -> ArenaClient:
    client = ArenaClient("https://arena.example", Credentials("ann", "secret"), LIMITS)
    client._transport = wire
    return client


def spend_budget(wire: Wire) -> None:
    budget = wire.session_state.request_budget
    budget.update_and_detect_exhaustion(RateLimitStatus(100, 0, 1, 60, budget.record_sent(0)), 0)


def answer_late(wire: Wire, delay: float) -> None:
    for seconds in (1, 1 + delay):
        wire.session_state.request_budget.record_latency(seconds, 0)


READ, LONG = LIMITS.read_timeout, LIMITS.long_poll_timeout
LIST_WAIT = timedelta(seconds=1.5)  # with which a list waits for the budget at an arena in time


def listed(name: str, *, wait: bool, **params: str) -> ArenaRequest:
    return ArenaRequest(
        metric_name=name,
        path="/api/matches",
        params=params,
        timeout=LONG if wait else READ,
        is_long_poll=wait,
        priority=RequestPriority.LIST,
        max_budget_wait=LIST_WAIT,
    )


def viewed(**params: str) -> ArenaRequest:
    return ArenaRequest(metric_name="view", path=PATH, params=params, timeout=READ)


def written(name: str, method: str, path: str, body: dict[str, object]) -> ArenaRequest:
    return ArenaRequest(metric_name=name, method=method, path=path, body=body, timeout=READ)


REQUESTS: list[tuple[Callable[[ArenaClient], object], bytes, ArenaRequest]] = [
    (
        lambda client: client.hello(),
        b'{"message":"Ahoy"}',
        ArenaRequest(metric_name="hello", path="/api/hello", timeout=READ),
    ),
    (
        lambda client: client.whoami(),
        WHOAMI_RESPONSE,
        ArenaRequest(metric_name="whoami", path="/api/sessioninfo", timeout=READ),
    ),
    (
        lambda client: client.players_with_idle_times(),
        b"[]",
        ArenaRequest(
            metric_name="players", path="/api/players", params={"idle": "true"}, timeout=READ
        ),
    ),
    (lambda client: client.matches(), b"[]", listed("list", wait=False)),
    (
        lambda client: client.matches(["a", "b"], ["1", "2"], active=True),
        b"[]",
        listed("list", wait=False, active="true", tags="a,b", id="1,2"),
    ),
    (
        lambda client: client.matches(wait=True),
        b"[]",
        listed("list_wait", wait=True, wait_="true"),
    ),
    (lambda client: client.get_match(MATCH), RUNNING, viewed(showevents="true")),
    (lambda client: client.get_match(MATCH, events=False), RUNNING, viewed()),
    (
        lambda client: client.get_match(MATCH, debug=True),
        RUNNING,
        viewed(showevents="true", showdebug="true"),
    ),
    (
        lambda client: client.create_match(MatchParams(tags=("t",))),
        CREATED,
        written("create", "POST", "/api/matches", {"tags": ["t"]}),
    ),
    (
        lambda client: client.terminate(MATCH),
        FINISHED,
        written("terminate", "DELETE", f"{PATH}/terminate", {}),
    ),
    (
        lambda client: client.terminate(MATCH, "bob", "late"),
        FINISHED,
        written("terminate", "DELETE", f"{PATH}/terminate", {"winnerId": "bob", "comment": "late"}),
    ),
]


@pytest.mark.parametrize(("ask", "body", "request_"), REQUESTS)
def test_every_request_has_its_own_limit_and_priority(
    client: ArenaClient,
    wire: Wire,
    ask: Callable[[ArenaClient], object],
    body: bytes,
    request_: ArenaRequest,
) -> None:
    wire.answers = [ArenaResponse(200, body)]
    ask(client)
    params = {name.rstrip("_"): value for name, value in request_.params.items()}
    assert wire.requests == [ArenaRequest(**{**fields_of(request_), "params": params})]


def fields_of(request: ArenaRequest) -> dict[str, Any]:
    return {name: getattr(request, name) for name in ArenaRequest.__dataclass_fields__}


# --- the list ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delay", "max_budget_wait", "seconds"),
    [(0, None, 1.5), (0.5, None, 3.5), (0.5, 2, 2), (0.5, 9, 3.5), (0, 0, 0)],
)
def test_a_list_waits_for_the_budget_by_the_arenas_delay_and_as_it_is_told(
    client: ArenaClient, wire: Wire, delay: float, max_budget_wait: float | None, seconds: float
) -> None:
    if delay:
        answer_late(wire, delay)
    wire.answers = [ArenaResponse(200, b"[]")]
    limit = None if max_budget_wait is None else timedelta(seconds=max_budget_wait)
    assert client.matches(max_budget_wait=limit) == []
    assert wire.requests[0].max_budget_wait == timedelta(seconds=seconds)


def test_a_list_that_is_too_long_is_asked_for_the_newest_from_then_on(
    client: ArenaClient, wire: Wire
) -> None:
    wire.answers = [ResponseTooLarge("too long"), *[ArenaResponse(200, b"[]")] * 2]
    for _ in range(2):
        assert client.matches(active=True) == []
    assert [request.params for request in wire.requests] == [
        {"active": "true"},
        {"active": "true", "limit": "20"},
        {"active": "true", "limit": "20"},
    ]
    assert {request.max_budget_wait for request in wire.requests} == {LIST_WAIT}


# --- waiting for a turn --------------------------------------------------------------------------


def test_a_wait_for_a_turn_is_a_long_poll_after_all_actions(
    client: ArenaClient, wire: Wire
) -> None:
    wire.answers = [ArenaResponse(200, RUNNING), ArenaResponse(200, RUNNING)]
    view = client.wait_for_turn(MATCH)
    assert view is not None
    assert len(view.moves) == 2
    client.wait_for_turn(MATCH, timedelta(seconds=5))
    expected = ArenaRequest(
        metric_name="view_wait",
        path=PATH,
        params={"waitactive": "true", "showevents": "true"},
        timeout=LONG,
        is_long_poll=True,
        priority=RequestPriority.WAIT,
        max_budget_wait=timedelta(seconds=2),
        accepted_statuses=frozenset({200, 410}),
    )
    first, second = wire.requests
    assert first == expected
    assert second.max_budget_wait == timedelta(seconds=5)


def test_a_wait_ends_with_the_match_and_not_with_anothers_turn(
    client: ArenaClient, wire: Wire
) -> None:
    wire.answers = [NotYourTurn(409, "not yours"), ArenaResponse(410, FINISHED), NotFound(404, "x")]
    assert client.wait_for_turn(MATCH) is None
    view = client.wait_for_turn(MATCH)
    assert view is not None
    assert view.finished
    with pytest.raises(NotFound):
        client.wait_for_turn(MATCH)


# --- acting --------------------------------------------------------------------------------------


def test_an_action_does_not_wait_and_arrives_within_its_limit_or_not_at_all(
    client: ArenaClient, wire: Wire
) -> None:
    """Without a limit of its own it may take as long as a slow arena holds it."""
    wire.answers = [ArenaResponse(200, DRAW_RESPONSE)] * 2
    assert len(client.act(MATCH, DRAW)) == len(client.act(MATCH, DRAW, INSTANT)) == 2
    expected = ArenaRequest(
        metric_name="act",
        method="POST",
        path=PATH,
        body={"etype": "Draw"},
        timeout=LIMITS.action_timeout,
        priority=RequestPriority.ACT,
        max_timeout=timedelta.max,
        accepted_statuses=frozenset({200, 410}),
    )
    first, second = wire.requests
    assert first == expected
    assert (second.timeout, second.max_timeout) == (INSTANT, INSTANT)


def test_an_action_without_time_to_arrive_is_not_sent(client: ArenaClient, wire: Wire) -> None:
    for limit in (timedelta(0), -INSTANT):
        with pytest.raises(Unreachable, match=f"POST {PATH}: not sent") as caught:
            client.act(MATCH, DRAW, limit)
        assert not caught.value.outcome_unknown
    assert wire.requests == []


def test_an_answer_that_cannot_be_read_leaves_only_a_write_unclear(
    client: ArenaClient, wire: Wire
) -> None:
    for ask, is_unclear in (
        (lambda: client.act(MATCH, DRAW), True),
        (lambda: client.create_match(MatchParams()), True),
        (lambda: client.get_match(MATCH), False),
    ):
        wire.answers = [ArenaResponse(200, b"<html>")]
        with pytest.raises(MalformedResponse) as caught:
            ask()
        assert caught.value.outcome_unknown is is_unclear


def test_an_action_in_a_match_that_has_ended_was_not_carried_out(
    client: ArenaClient, wire: Wire
) -> None:
    """Unless what says so is no answer of the arena."""
    wire.answers = [ArenaResponse(410, CLOSING), ArenaResponse(410, b"gone")]
    with pytest.raises(MatchOver) as over:
        client.act(MATCH, DRAW)
    assert not over.value.outcome_unknown
    with pytest.raises(MalformedResponse) as unclear:
        client.act(MATCH, DRAW)
    assert unclear.value.outcome_unknown


@pytest.mark.parametrize(
    ("turn", "seconds"), [(None, 3), (6, 3), (9, 3), (15, 5), (39, 13), (60, 13)]
)
def test_an_action_may_take_a_third_of_its_turn_within_limits(
    client: ArenaClient, turn: float | None, seconds: float
) -> None:
    limit = None if turn is None else timedelta(seconds=turn)
    assert client.max_action_flight_time(limit) == timedelta(seconds=seconds)


@pytest.mark.parametrize("slow_down", [spend_budget, lambda wire: answer_late(wire, 0.5)])
def test_at_a_slow_arena_an_action_may_take_as_long_as_it_is_held(
    client: ArenaClient, wire: Wire, slow_down: Callable[[Wire], None]
) -> None:
    slow_down(wire)
    assert client.max_action_flight_time(timedelta(seconds=6)) == timedelta(seconds=13)


# --- everything else -----------------------------------------------------------------------------


@pytest.mark.parametrize("match_id", ["", "../whoami", "a b", "ä1", "a?x=1"])
def test_an_id_that_could_lead_elsewhere_is_not_asked_for(
    client: ArenaClient, wire: Wire, match_id: str
) -> None:
    for ask in (client.get_match, client.wait_for_turn, client.terminate):
        with pytest.raises(NotFound, match="letters and digits only"):
            ask(match_id)
    assert wire.requests == []


def test_something_that_knows_no_session_is_no_arena(client: ArenaClient, wire: Wire) -> None:
    wire.answers = [NotFound(404, "no such page")]
    with pytest.raises(MalformedResponse, match="it is no arena; check the address"):
        client.whoami()


def test_a_client_is_closed_with_its_block(client: ArenaClient, wire: Wire) -> None:
    wire.answers = [ArenaResponse(200, b'{"message":"Ahoy"}')]
    with client as same:
        assert same is client
        assert client.hello() == "Ahoy"
        assert client.session_state is wire.session_state
    assert wire.requests == [], "it was closed"
