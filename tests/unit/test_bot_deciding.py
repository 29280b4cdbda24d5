"""A decision in its time, or a safe one that says why (R06, R07); and which seats are ours."""

import json
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from fault_simulation.virtual_clock import VirtualClock
from support.arena_server import ALICE, BOB, DUMMY
from support.positions import card, cards, effect, position
from support.recorded_arena_responses import FINISHED, RUNNING
from support.recordings import SAMPLE

from cardsharp.bot.bot_match import Observation
from cardsharp.bot.queueing.messages import parse_match_message
from cardsharp.client.remote_clock import NEVER_BOUNDS, TimeBounds
from cardsharp.client.session_state import ClientSessionState
from cardsharp.errors import CardsharpError, InvalidInput, NotYourTurn, RequestRejected
from cardsharp.games.deadmansdraw.actions import (
    DRAW,
    END_TURN,
    Action,
    ActionType,
    EffectType,
    respond,
)
from cardsharp.games.deadmansdraw.arena_bot.arena_match import ArenaBotMatch
from cardsharp.games.deadmansdraw.arena_bot.opponent_history import ArenaBotPlayer, BotAndDummySeats
from cardsharp.games.deadmansdraw.arena_bot.wire import parse_view
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView
from cardsharp.games.deadmansdraw.cards import Card, Suit
from cardsharp.games.deadmansdraw.fallback import (
    decide_in_time,
    fallback_action,
    fallback_for_unreadable_match,
)
from cardsharp.games.deadmansdraw.history.log_records import outcome_body
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision
from cardsharp.play.decision_runner import DecisionResult

Work = Callable[[DeadMansDrawPosition], Action]
LIMIT = timedelta(seconds=5)
HOOKED = position(bank="Key5", area="Hook6", pending=effect(EffectType.HOOK))
SHOT = position(other="Key7", area="Cannon6", pending=effect(EffectType.CANNON))


class Plays:
    def __init__(self, work: Work) -> None:
        self._work = work

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        return DeadMansDrawDecision(self._work(position), "as the test says")


def decided(
    does: Work,
    position: DeadMansDrawPosition,
    limit: timedelta = LIMIT,
    refused: Sequence[Action] = (),
) -> DecisionResult[DeadMansDrawDecision]:
    ticks = iter([1.0, 1.25])
    return decide_in_time(Plays(does), position, limit, lambda: next(ticks), frozenset(refused))


def test_r06_a_strategy_that_is_late_is_overtaken_by_the_safe_action() -> None:
    over = threading.Event()

    def thinks(_position: DeadMansDrawPosition) -> Action:
        over.wait()
        return DRAW

    for seconds in (0.02, 2, 60):
        result = decided(thinks, position(), timedelta(seconds=seconds))
        if "line" in str(result.error):  # a busy machine may not have come so far at first
            break
    late = [thread for thread in threading.enumerate() if thread.name == "decision"]
    over.set()
    for thread in late:
        thread.join()
    assert {thread.daemon for thread in late} == {True}, "no process may have to wait for it"
    assert result.decision.action == DRAW
    place = f"no decision within {seconds:g} s (test_bot_deciding.py, line "
    assert str(result.error).startswith(place)
    assert f"no decision within {seconds:g} s" in result.decision.reason


def fails(_position: DeadMansDrawPosition) -> Action:
    raise CardsharpError("no idea")


RULES, SERVER = "the rules refuse '", "the server refused 'EndTurn' (test_bot_deciding.py, line "
FAILED = "the strategy failed: CardsharpError: no idea (test_bot_deciding.py"
FIVE, SEVEN = Card(Suit.KEY, 5), Card(Suit.KEY, 7)


@pytest.mark.parametrize(
    ("does", "position", "error_prefix", "instead"),
    [
        (fails, position(area="Key3"), FAILED, END_TURN),
        (END_TURN, position(area="Key3"), SERVER, DRAW),
        (END_TURN, position(), RULES, DRAW),
        (DRAW, HOOKED, RULES, respond(EffectType.HOOK, FIVE)),
        (respond(EffectType.HOOK, SEVEN), HOOKED, RULES, respond(EffectType.HOOK, FIVE)),
        (respond(EffectType.CANNON), SHOT, RULES, respond(EffectType.CANNON, SEVEN)),
        (respond(EffectType.MAP, FIVE), position(), RULES, DRAW),
    ],
)
def test_r07_a_failed_or_refused_decision_is_replaced_and_reported(
    does: Work | Action, position: DeadMansDrawPosition, error_prefix: str, instead: Action
) -> None:
    work = does if callable(does) else lambda _: does
    result = decided(work, position, refused=[END_TURN] if error_prefix == SERVER else ())
    assert str(result.error).startswith(error_prefix)
    assert result.decision.action == instead


def test_a_strategy_that_can_be_hurried_is_when_four_fifths_of_its_time_are_over() -> None:
    clock = [0.0]
    late_flags: list[bool] = []

    class Thinks(Plays):
        def with_deadline(self, is_late: Callable[[], bool]) -> "Thinks":
            def work(_position: DeadMansDrawPosition) -> Action:
                for seconds in (0.1, 3.9, 4.1):
                    clock[0] = seconds
                    late_flags.append(is_late())
                return DRAW

            return Thinks(work)

    decide_in_time(Thinks(lambda _: END_TURN), position(), LIMIT, lambda: clock[0])
    assert late_flags == [False, False, True]


MATCH = "6b006509d06c4dfa5a8e02ca"


@pytest.mark.parametrize(
    "body",
    [
        "this is no match message",
        "[]",
        "{}",
        '{"match_id":7}',
        '{"match_id":""}',
        '{"match_id":"../whoami"}',
        f'{{"match_id":"{MATCH}\\n"}}',
        f'{{"match_id":"{"a" * 65}"}}',
        f'{{"match_id":"{MATCH}","turn":3}}',
    ],
)
def test_an_invalid_match_message_is_refused_without_quoting_it(body: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_match_message(body)
    sentence = str(refused.value)
    assert sentence.startswith("Not a match message: ")
    assert "\n" not in sentence
    assert "input_value" not in sentence
    assert "this is no" not in sentence


class RefusingClient:
    """A client to which a match looks always the same, and which refuses every action."""

    def __init__(self, match_view: MatchView, refusal: RequestRejected | None = None) -> None:
        self.match_view, self.refusal = match_view, refusal
        self.session_state = ClientSessionState(VirtualClock())

    def get_match(self, _match_id: str) -> MatchView:
        return self.match_view

    def act(self, *_: object) -> None:
        raise self.refusal


@pytest.mark.parametrize(
    ("refusal", "goes_on"), [(NotYourTurn(409, "x"), False), (RequestRejected(400, "x"), True)]
)
def test_r31_remote_clock_is_discarded_if_a_turn_outlives_its_deadline(
    refusal: RequestRejected, goes_on: bool
) -> None:
    """Not where it is over indeed; else a process without a move of its own knows no end."""
    client, current_time = (
        RefusingClient(parse_view(json.loads(RUNNING)), refusal),
        datetime.now(UTC),
    )
    seat = ArenaBotPlayer(ALICE, client, Plays(lambda _: END_TURN), "any")
    turn = ArenaBotMatch("match", BotAndDummySeats(seat), VirtualClock()).observe({}).turn
    client.session_state.remote_clock.update_from_date_header(current_time, 0, 0)
    with pytest.raises(RequestRejected):
        turn._replace(ends_at=TimeBounds(0, 0)).send(END_TURN)
    assert (
        client.session_state.remote_clock.to_local_bounds(current_time, 0) == NEVER_BOUNDS
    ) is goes_on


AREA = cards("Anchor3")
OFFERED = {EffectType.MAP: "Key4 Hook2", EffectType.ORACLE: "Anchor5"}


def pending(kind: EffectType, area: str = "Anchor3") -> DeadMansDrawPosition:
    waits = effect(kind, OFFERED.get(kind, ""), 2 * (kind is EffectType.KRAKEN))
    return position(bank="Key5 Mermaid8", other="Chest4 Key7", area=area, pending=waits)


@pytest.mark.parametrize(
    ("kind", "area", "action"),
    [
        (EffectType.HOOK, "Key3", respond(EffectType.HOOK, card("Mermaid8"))),
        (EffectType.MAP, "Key6", respond(EffectType.MAP, card("Hook2"))),
        (EffectType.KRAKEN, "Anchor3", DRAW),
        (EffectType.ORACLE, "Anchor3", END_TURN),
        *((kind, "Anchor3", None) for kind in EffectType),
    ],
)
def test_every_effect_has_a_legal_fallback_that_avoids_a_bust(
    kind: EffectType, area: str, action: Action | None
) -> None:
    fallback = fallback_action(pending(kind, area))
    assert fallback in pending(kind, area).legal_actions()
    assert action in {None, fallback}


def test_blind_fallback_draws_first_and_then_avoids_refused_actions() -> None:
    """docs/spec/arena.md section 7: an empty play area cannot be ended."""
    first = fallback_for_unreadable_match(AREA)
    second = fallback_for_unreadable_match(AREA, frozenset({first}))
    for draw in (fallback_for_unreadable_match(()), second):
        assert (draw.type, draw.answers_pending_effects) == (ActionType.DRAW, True)
    assert fallback_for_unreadable_match(AREA, frozenset({first, second})) == first


US, AS_DUMMY = (ArenaBotPlayer(player, None, None, "any") for player in (ALICE, DUMMY))


def view(first: str, second: str, creator: str | None = None) -> MatchView:
    body = json.loads(RUNNING)
    return parse_view({**body, "playerids": [first, second], "createdByPlayerId": creator})


@pytest.mark.parametrize(
    ("players", "creator", "controlled_seats", "seats"),
    [
        ((ALICE, BOB), None, (US, AS_DUMMY), {0: US}),
        ((BOB, ALICE), None, (US,), {1: US}),
        ((ALICE, ALICE), None, (US, AS_DUMMY), {0: US, 1: US}),
        ((DUMMY, ALICE), ALICE, (US, AS_DUMMY), {0: AS_DUMMY, 1: US}),
        ((DUMMY, ALICE), ALICE, (US,), {1: US}),
        ((DUMMY, ALICE), BOB, (US, AS_DUMMY), {1: US}),
        ((DUMMY, ALICE), None, (US, AS_DUMMY), {1: US}),
        ((BOB, DUMMY), BOB, (US, AS_DUMMY), {}),
    ],
)
def test_our_seats_have_our_id_or_are_the_dummys_in_matches_that_we_created(
    players: tuple[str, str],
    creator: str | None,
    controlled_seats: tuple[ArenaBotPlayer, ...],
    seats: dict[int, ArenaBotPlayer],
) -> None:
    """If we are told to play the dummy; that of others is left alone."""
    assert BotAndDummySeats(*controlled_seats).bot_seats_by_index(view(*players, creator)) == seats


def looked_at(match_view: MatchView, player: str, *requested_tags: str) -> Observation[Action]:
    me = ArenaBotPlayer(player, RefusingClient(match_view), None, "any")
    return ArenaBotMatch("match", BotAndDummySeats(me), VirtualClock(), requested_tags).observe({})


@pytest.mark.parametrize(
    ("tags", "requested_tags", "limit", "may_park"),
    [
        ((), (), None, True),
        (("cup",), (), 60, True),
        (("cup", "final"), ("final", "demo"), 60, True),
        (("cup",), ("demo",), None, False),
        ((), ("demo",), None, False),
        ((), (), 59, False),
        ((), (), 0, True),
    ],
)
def test_r38_a_match_is_parked_only_if_the_poller_reports_it_in_time(
    tags: tuple[str, ...], requested_tags: tuple[str, ...], limit: int | None, may_park: bool
) -> None:
    body = json.loads(RUNNING)
    params = {**body["creationParams"], "tags": tags, "timeout": limit}
    match_view = parse_view({**body, "playerids": [ALICE, BOB], "creationParams": params})
    assert looked_at(match_view, ALICE, *requested_tags).may_park is may_park


def test_opponent_timeouts_do_not_count_as_bot_timeouts() -> None:
    """Of the recorded timeouts of a match, which the arena counts in one, each is one player's."""
    total = both = 0
    for match in SAMPLE.started():
        steps = [step for step in match["steps"] if "wait_s" not in step]
        recorded_looks = [*steps, match["final"]["last_look"]]
        *_, seen = (look["view"] for look in recorded_looks if look["view"] != "same")
        match_view = parse_view(
            {**seen, "moves": [move for look in recorded_looks for move in look["new_moves"]]}
        )
        late = [looked_at(match_view, player).timeout_count for player in set(match["players"])]
        assert sum(late) == match_view.state.timeout_count, match["name"]
        total += sum(late)
        both += all(late) and len(late) > 1
    assert total > 10
    assert both > 0


@pytest.mark.parametrize(
    ("winner", "seats", "result"),
    [
        (0, {0}, "won"),
        (0, {1}, "lost"),
        (1, {1}, "won"),
        (None, {0}, "tied"),
        (0, {0, 1}, "both seats"),
    ],
)
def test_outcome_is_relative_to_the_bot_seat(
    winner: int | None, seats: set[int], result: str
) -> None:
    body = json.loads(FINISHED)
    body["state"]["winnerIdx"] = winner
    outcome = outcome_body(parse_view(body), seats)
    assert (outcome["winner"], outcome["result"]) == (winner, result)
