"""A turn at an arena, to the second: what is sent until when, and what follows from the answer."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from fault_simulation.virtual_clock import START, VirtualClock
from support.arena_server import ALICE, BOB
from support.arena_views import DRAWN, ENDED, LIMIT, TIMED_OUT, Plays, draw, view_of
from support.recorded_arena_responses import CLOSING, FINISHED, MATCH, running_view

from cardsharp.bot.bot_match import IN_FLIGHT_SECONDS, NextRead
from cardsharp.client.remote_clock import NEVER_BOUNDS, TimeBounds
from cardsharp.client.request_budget import RateLimitStatus
from cardsharp.client.session_state import ClientSessionState
from cardsharp.errors import (
    NotFound,
    NotYourTurn,
    RequestRejected,
)
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action
from cardsharp.games.deadmansdraw.arena_bot import arena_match
from cardsharp.games.deadmansdraw.arena_bot.arena_match import (
    MAX_BUDGET_WAIT,
    NO_SUCH_MATCH,
    REREAD_DELAY,
    ArenaBotMatch,
    ArenaTurn,
    FallbackTurn,
)
from cardsharp.games.deadmansdraw.arena_bot.decision_time import cpu_seconds_for_decision
from cardsharp.games.deadmansdraw.arena_bot.opponent_history import ArenaBotPlayer, BotAndDummySeats
from cardsharp.games.deadmansdraw.arena_bot.wire import parse_ending, parse_events, parse_view
from cardsharp.games.deadmansdraw.arena_bot.wire_views import EventView, MatchView
from cardsharp.games.deadmansdraw.history.log_records import missing_match_outcome_body
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision
from cardsharp.play.decision_runner import DecisionResult

ACTION_TIMEOUT = timedelta(seconds=4)
INSTANT = timedelta(microseconds=1)
FIRST_SECOND = 1000.0  # of our clock, when the arena's shows `START`


class PlayerClient:
    """A client whose arena answers as told; it keeps what was asked."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock, self.session_state = clock, ClientSessionState(clock)
        self.match_view = view_of()
        self.answers: list[Iterable[EventView] | Exception] = []
        self.takes = timedelta(0)
        self.sent: list[tuple[Action, timedelta]] = []
        self.budget_waits: list[timedelta] = []
        self.turn_limits: list[timedelta | None] = []

    def get_match(self, match_id: str) -> MatchView:
        assert match_id == MATCH
        return self.match_view

    def wait_for_turn(self, match_id: str, max_budget_wait: timedelta) -> MatchView | None:
        assert match_id == MATCH
        self.budget_waits.append(max_budget_wait)
        return self.match_view if len(self.budget_waits) % 2 else None

    def max_action_flight_time(self, turn_timeout: timedelta | None) -> timedelta:
        self.turn_limits.append(turn_timeout)
        return ACTION_TIMEOUT

    def act(self, match_id: str, action: Action, timeout: timedelta) -> Iterable[EventView]:
        assert match_id == MATCH
        self.sent.append((action, timeout))
        self.clock.advance(self.takes)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def spend_budget(self) -> None:
        """Have the arena say that nothing is left of our requests for an hour."""
        number = self.session_state.request_budget.record_sent(self.clock.monotonic())
        window_ends_at = self.clock.monotonic() + 800
        status = RateLimitStatus(100, 0, 1, window_ends_at, number)
        self.session_state.request_budget.update_and_detect_exhaustion(
            status, self.clock.monotonic()
        )

    def answer_late(self, delay: float) -> None:
        """Have the arena answer by so much later than usual."""
        for seconds in (1, 1 + delay):
            self.session_state.request_budget.record_latency(seconds, self.clock.monotonic())


@pytest.fixture
def clock() -> VirtualClock:
    clock = VirtualClock()
    clock.advance(timedelta(seconds=FIRST_SECOND))
    return clock


@pytest.fixture
def client(clock: VirtualClock) -> PlayerClient:
    """A client that knows the arena's clock: it shows `START` at our second 1000."""
    client = PlayerClient(clock)
    client.session_state.remote_clock.update_from_write(START, FIRST_SECOND, FIRST_SECOND)
    return client


def match_of(client: PlayerClient) -> ArenaBotMatch:
    seat = ArenaBotPlayer(ALICE, client, Plays(), "drawer")
    match = ArenaBotMatch(MATCH, BotAndDummySeats(seat), client.clock)
    match.action_timeout = ACTION_TIMEOUT
    return match


def turn_of(match: ArenaBotMatch) -> ArenaTurn:
    turn = match.observe({}).turn
    assert isinstance(turn, ArenaTurn)
    return turn


def ends_in(turn: ArenaTurn, earliest: float, latest: float) -> ArenaTurn:
    """Return the turn with an end between so many seconds from now."""
    now = turn.match.clock.monotonic()
    return turn._replace(ends_at=TimeBounds(now + earliest, now + latest))


# --- the end of a turn ---------------------------------------------------------------------------


def test_a_turn_ends_with_its_limit_after_the_last_move_by_the_arenas_clock(
    client: PlayerClient, clock: VirtualClock
) -> None:
    assert turn_of(match_of(client)).ends_at == pytest.approx((1020, 1020), abs=1e-3)
    clock.advance(timedelta(seconds=5))
    assert turn_of(match_of(client)).ends_at == pytest.approx((1020, 1020), abs=0.01)
    for fields in ({"limit": None}, {"lastMoveAt": "yesterday"}):
        client.match_view = view_of(**fields)
        assert turn_of(match_of(client)).ends_at == NEVER_BOUNDS


def test_a_turn_that_the_arena_went_on_with_has_its_time_again(
    client: PlayerClient, clock: VirtualClock
) -> None:
    """It was down: its restart was shortly before our request, which it refused."""
    match = match_of(client)
    clock.advance(timedelta(seconds=30))
    client.answers = [RequestRejected(400, "not that")]
    with pytest.raises(RequestRejected):
        turn_of(match).send(END_TURN)
    client.session_state.remote_clock.update_from_write(START, FIRST_SECOND, FIRST_SECOND)
    clock.advance(timedelta(seconds=1))
    assert turn_of(match).ends_at == (1030 + 10, 1030 + 20)
    client.match_view = view_of(moveCount=3)
    assert turn_of(match).ends_at.latest < 1031, "another move is another time"


def test_a_time_that_is_not_over_is_not_begun_again(client: PlayerClient) -> None:
    match = match_of(client)
    match.goes_on = (2, FIRST_SECOND - 1)
    assert turn_of(match).ends_at == pytest.approx((1020, 1020), abs=1e-3)


# --- sending -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "earliest", "limit"),
    [
        (DRAW, 10, ACTION_TIMEOUT),
        (DRAW, 3, timedelta(seconds=3)),
        (END_TURN, 3, ACTION_TIMEOUT),
        (DRAW, -1, timedelta(seconds=-1)),
        (END_TURN, -1, ACTION_TIMEOUT),
    ],
)
def test_r31_only_the_end_of_a_turn_may_arrive_after_its_time(
    client: PlayerClient, action: Action, earliest: float, limit: timedelta
) -> None:
    """The earliest end counts; an action may be under way as long as its intent says."""
    client.answers = [ENDED]
    ends_in(turn_of(match_of(client)), earliest, 30).send(action)
    assert client.sent == [(action, limit)]


def test_after_an_action_the_turns_time_begins_anew(client: PlayerClient) -> None:
    """When it was written: between its request and its answer."""
    client.answers, client.takes = [DRAWN, DRAWN], timedelta(seconds=2)
    turn = turn_of(match_of(client))
    later = turn.send(DRAW)
    assert isinstance(later, ArenaTurn)
    assert later.ends_at == (1020, 1022)
    assert [str(card) for card in later.position.play_area] == ["Hook5", "Key7"]
    assert (later.turn_timeout, later.is_only_our_seat) == (LIMIT, True)
    unlimited = turn._replace(turn_timeout=None).send(DRAW)
    assert isinstance(unlimited, ArenaTurn)
    assert unlimited.ends_at == NEVER_BOUNDS


@pytest.mark.parametrize(
    ("events", "is_only_our_seat", "next_read"),
    [
        (ENDED, True, NextRead.WAIT_FOR_CHANGE),
        (ENDED, False, NextRead.READ_IMMEDIATELY),
        (parse_ending(CLOSING).events, True, NextRead.READ_IMMEDIATELY),
        (parse_events(draw("Hook", 5)), True, NextRead.READ_IMMEDIATELY),
        (parse_events([{"eventType": "Draw"}]), True, NextRead.READ_IMMEDIATELY),
    ],
    ids=["ours", "both seats", "the end", "not by the rules", "unreadable"],
)
def test_what_is_read_after_an_action_follows_from_its_answer(
    client: PlayerClient,
    events: Iterable[EventView],
    next_read: NextRead,
    *,
    is_only_our_seat: bool,
) -> None:
    client.answers = [events]
    turn = turn_of(match_of(client))._replace(is_only_our_seat=is_only_our_seat)
    assert turn.send(DRAW) is next_read


def test_a_move_that_we_made_tells_the_arenas_clock(
    client: PlayerClient, clock: VirtualClock
) -> None:
    """Between the sending of its action and the answer; once, and no other's move does."""
    client.session_state.remote_clock.ignore_date_headers()
    client.answers, client.takes = [DRAWN], timedelta(seconds=2)
    match = match_of(client)
    turn_of(match).send(DRAW)
    assert match.acted == {2: (1000, 1002)}
    second = START + timedelta(seconds=501)
    move = {"sequenceId": 2, "sequenceInTurnId": 3, "turnId": 1, "at": second.isoformat()}
    body = running_view()
    moves = [*body["moves"], {**move, "events": [{**e, "playerIndex": 0} for e in draw("Key", 7)]}]
    client.match_view = view_of(moves=moves, moveCount=3, lastMoveAt=second.isoformat())
    clock.advance(timedelta(seconds=3))
    observation = match.observe({})
    # It was set: only our write says so, between the seconds 1000 and 1002.
    bounds = client.session_state.remote_clock.to_local_bounds(second, clock.monotonic())
    assert bounds == pytest.approx((1000, 1002), abs=0.01)
    assert match.acted == {}
    assert observation.our_moves == {1, 2}
    assert observation.foreign_moves == frozenset()


def test_an_answer_that_differs_from_the_history_is_another_bots_move(
    client: PlayerClient,
) -> None:
    client.answers = [DRAWN]
    match = match_of(client)
    turn_of(match).send(DRAW)
    move = {"sequenceId": 2, "sequenceInTurnId": 3, "turnId": 1, "at": START.isoformat()}
    events = [{**event, "playerIndex": 0} for event in draw("Key", 8)]
    client.match_view = view_of(moves=[*running_view()["moves"], {**move, "events": events}])
    assert match.observe({}).foreign_moves == {2}


def dates_count(client: PlayerClient) -> bool:
    """Return True if `Date` headers still tell the arena's clock."""
    return client.session_state.remote_clock._date_offset is not None


@pytest.mark.parametrize(
    ("latest", "answer", "is_kept"),
    [
        (0, ENDED, False),
        (0.1, ENDED, True),
        (0, parse_events(TIMED_OUT), True),
        (0, RequestRejected(400, "not that"), False),
        (0.1, RequestRejected(400, "not that"), True),
        (0, NotYourTurn(409, "not yours"), True),
        (0, RequestRejected(502, "busy"), True),
    ],
)
def test_r31_an_end_of_turn_that_came_in_time_after_all_shows_that_the_clock_is_wrong(
    client: PlayerClient,
    latest: float,
    answer: Any,  # noqa: ANN401
    *,
    is_kept: bool,
) -> None:
    """But not where the arena itself had ended the turn, which its comment says."""
    client.answers = [answer]
    turn = ends_in(turn_of(match_of(client)), -5, latest)
    try:
        turn.send(END_TURN)
    except RequestRejected:
        assert (turn.match.goes_on == (2, FIRST_SECOND)) is not is_kept
    assert dates_count(client) is is_kept


def test_an_intent_says_how_long_its_action_may_be_under_way(client: PlayerClient) -> None:
    match = match_of(client)
    turn = turn_of(match)
    match.action_timeout = timedelta.max
    result = DecisionResult(DeadMansDrawDecision(DRAW, "because"))
    body = turn.intent_body(result, START, "ann")
    assert (body[IN_FLIGHT_SECONDS], body["worker"]) == (4, "ann")
    assert match.action_timeout == ACTION_TIMEOUT
    assert client.turn_limits == [LIMIT]


# --- deciding ------------------------------------------------------------------------------------


@pytest.fixture
def timeouts(monkeypatch: pytest.MonkeyPatch) -> list[timedelta]:
    """The limits of the decisions that strategies were asked for."""
    limits: list[timedelta] = []

    def decide(
        strategy: Plays, position: DeadMansDrawPosition, timeout: timedelta, *rest: object
    ) -> DecisionResult[DeadMansDrawDecision]:
        assert len(rest) == 2
        limits.append(timeout)
        return DecisionResult(strategy.decide(position))

    monkeypatch.setattr(arena_match, "decide_in_time", decide)
    return limits


def decide(turn: ArenaTurn, timeout: float = 2) -> DecisionResult[Any] | None:
    seconds = timedelta(seconds=timeout)
    return turn.decide(seconds, turn.match.clock.monotonic, frozenset())


@pytest.mark.parametrize(
    ("limit", "remaining", "delay", "timeout"),
    [
        *((2, 20, 0, 2), (2, 1.5, 0, 1.5), (2, 3, 1.5, 1.5), (2, 3, 2.9, 0.75), (2, 3, 9, 0.75)),
        *((60, 20, 0, 16), (60, 2, 0, 2), (60, 90, 0, 60)),
    ],
)
def test_a_decision_leaves_time_for_an_action_at_a_slow_arena(  # noqa: PLR0913, PLR0917 - a table
    client: PlayerClient,
    timeouts: list[timedelta],
    limit: float,
    remaining: float,
    delay: float,
    timeout: float,
) -> None:
    """Though a quarter of the turn at least is for deciding.

    A longer limit, as for a user's strategy on a busy machine, leaves a fifth of the time.
    """
    if delay:
        client.answer_late(delay)
    turn = turn_of(match_of(client))
    result = decide(ends_in(turn, remaining, 100), limit)
    assert timeouts == [timedelta(seconds=timeout)]
    assert result is not None
    assert (result.decision.action, result.error) == (DRAW, None)


def test_a_strategy_that_searches_by_its_time_gets_that_of_the_turn(client: PlayerClient) -> None:
    times: list[float | None] = []

    class Searches(Plays):
        def with_cpu_seconds(self, cpu_seconds: float | None) -> Plays:
            times.append(cpu_seconds)
            return Plays(DRAW)

    turn = turn_of(match_of(client))
    seat = turn.seat._replace(strategy=Searches(END_TURN))
    for turn_timeout in (LIMIT, None):
        result = decide(ends_in(turn._replace(seat=seat, turn_timeout=turn_timeout), 20, 30))
        assert result is not None
        assert result.decision.action == DRAW
    assert times == [cpu_seconds_for_decision(LIMIT), None]


def test_r31_after_its_time_a_turn_is_only_ended(
    client: PlayerClient, timeouts: list[timedelta]
) -> None:
    for latest in (0, -3):
        result = decide(ends_in(turn_of(match_of(client)), -5, latest))
        assert result is not None
        assert (result.decision.action, result.error) == (END_TURN, "the time of this turn is over")
    assert timeouts == []


@pytest.mark.parametrize(
    ("earliest", "latest", "pause"),
    [(0, 1, 1), (-1, 1, 1), (-1, 9, REREAD_DELAY.total_seconds()), (0.001, 1, 0)],
)
def test_r31_a_turn_that_may_be_over_is_looked_at_again(
    client: PlayerClient, timeouts: list[timedelta], earliest: float, latest: float, pause: float
) -> None:
    result = decide(ends_in(turn_of(match_of(client)), earliest, latest))
    assert (result is None) is bool(pause)
    assert client.clock.monotonic() - FIRST_SECOND == pytest.approx(pause)
    assert len(timeouts) == (not pause)


@pytest.mark.usefixtures("timeouts")
@pytest.mark.parametrize(
    ("limit", "remaining", "delay", "wait"),
    [
        (None, 1e9, 0, MAX_BUDGET_WAIT.total_seconds()),
        (20, 20, 0, 5),
        (20, 11, 0, 4),  # 35 % of the turn are left for deciding and sending
        (20, 11, 2, 1),  # and for half as much again as the arena's delay
        (20, 5, 0, 0),
    ],
)
def test_a_decision_waits_for_the_budget_while_the_turn_has_time(
    client: PlayerClient,
    limit: float | None,
    remaining: float,
    delay: float,
    wait: float,
) -> None:
    client.spend_budget()
    if delay:
        client.answer_late(delay)
    turn = turn_of(match_of(client))
    turn = turn._replace(turn_timeout=None if limit is None else timedelta(seconds=limit))
    assert decide(ends_in(turn, remaining, remaining)) is not None
    assert client.clock.monotonic() - FIRST_SECOND == pytest.approx(wait, abs=0.002)


# --- looking -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "delay", "wait"),
    [(None, 0, 5), (60, 0, 5), (16, 0, 4), (16, 1, 3), (16, 9, 0), (60, 9, 5), (60, 12, 3)],
)
def test_a_long_poll_lies_at_the_arena_before_the_opponents_turn_can_end(
    client: PlayerClient, limit: float | None, delay: float, wait: float
) -> None:
    match = match_of(client)
    client.match_view = view_of(None if limit is None else timedelta(seconds=limit))
    match.observe({})
    if delay:
        client.answer_late(delay)
    assert match.wait_for_change({}) is not None
    assert match.wait_for_change({}) is None
    assert client.budget_waits == [timedelta(seconds=wait)] * 2


def test_only_the_arenas_own_words_deny_a_match(client: PlayerClient) -> None:
    match = match_of(client)
    assert match.header is None
    outcome = missing_match_outcome_body()
    for error, expected in (
        (NotFound(404, NO_SUCH_MATCH), outcome),
        (NotFound(404, "No such page."), None),
        (RequestRejected(400, NO_SUCH_MATCH), None),
    ):
        assert match.outcome_if_missing(error) == expected


def test_a_match_without_a_seat_of_ours_is_not_ours(client: PlayerClient) -> None:
    client.match_view = view_of(playerids=[BOB, BOB])
    with pytest.raises(NotFound, match="no seat of ours") as caught:
        match_of(client).observe({})
    assert caught.value.status == 404


def test_an_observation_tells_what_the_log_lacks(client: PlayerClient) -> None:
    observation = match_of(client).observe({})
    assert (observation.next_sequence, set(observation.facts)) == (2, {0, 1})
    assert set(observation.summaries) == {0, 1}
    assert (observation.turn_began_at, observation.turn_timeout) == (START, LIMIT)
    assert observation.our_moves == {1}, "what opens a match nobody has done"
    assert observation.outcome is None
    assert observation.header is not None
    assert observation.header["seats"] == {"0": "drawer"}
    recorded = dict(observation.facts)
    later = match_of(client).observe(recorded)
    assert (later.facts, later.summaries) == ({}, {})


def test_a_turn_that_the_arena_ended_is_counted_until_the_log_has_it(client: PlayerClient) -> None:
    """And it is no move of ours."""
    move = {"sequenceId": 2, "sequenceInTurnId": 3, "turnId": 1, "at": START.isoformat()}
    events = [{**event, "playerIndex": 0} for event in TIMED_OUT]
    client.match_view = view_of(moves=[*running_view()["moves"], {**move, "events": events}])
    match = match_of(client)
    observation = match.observe({})
    assert observation.timeout_count == 1
    assert observation.our_moves == {1}
    assert match.observe(dict(observation.facts)).timeout_count == 0


def test_only_a_used_up_limit_says_that_earlier_requests_have_arrived(client: PlayerClient) -> None:
    match = match_of(client)
    client.answer_late(5)
    assert not match.observe({}).was_throttled
    client.spend_budget()
    assert match.observe({}).was_throttled


def test_the_opponents_turn_and_the_end_are_no_turn_of_ours(client: PlayerClient) -> None:
    match = match_of(client)
    client.match_view = view_of(activePlayerIndex=1)
    observation = match.observe({})
    assert (observation.turn, observation.outcome) == (None, None)
    client.match_view = view_of(activePlayerIndex=None)
    observation = match.observe({})
    assert observation.turn is None
    assert observation.outcome is not None
    assert parse_view(FINISHED).finished


def test_a_match_that_cannot_be_read_is_played_by_the_arena(
    client: PlayerClient, caplog: pytest.LogCaptureFixture
) -> None:
    """It chooses what answers an effect that we do not know."""
    state = running_view()["state"]
    pending = {"effectType": "Whirlpool", "cards": []}
    client.match_view = view_of(state={**state, "pendingEffect": pending})
    match = match_of(client)
    turn = match.observe({}).turn
    assert isinstance(turn, FallbackTurn)
    assert "cannot read the match" in caplog.text
    result = turn.decide(LIMIT, client.clock.monotonic, frozenset())
    action = result.decision.action
    assert (action.type, action.answers_pending_effects) == (END_TURN.type, True)
    assert "Whirlpool" in str(result.error)
    assert turn.intent_body(result, START, "ann")[IN_FLIGHT_SECONDS] == 4
    client.answers = [ENDED]
    assert turn.send(action) is NextRead.READ_IMMEDIATELY
    assert client.sent == [(action, ACTION_TIMEOUT)]
