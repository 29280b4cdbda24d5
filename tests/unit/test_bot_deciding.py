"""Decisions in time or replaced by a safe action (R06, R07), and the seats of the bot."""

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

ActionChooser = Callable[[DeadMansDrawPosition], Action]
DECISION_TIMEOUT = timedelta(seconds=5)
HOOK_POSITION = position(bank="Key5", area="Hook6", pending=effect(EffectType.HOOK))
CANNON_POSITION = position(other="Key7", area="Cannon6", pending=effect(EffectType.CANNON))


class FunctionStrategy:
    def __init__(self, choose_action: ActionChooser) -> None:
        self._choose_action = choose_action

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        return DeadMansDrawDecision(self._choose_action(position), "as the test says")


def decide_with(
    choose_action: ActionChooser,
    position: DeadMansDrawPosition,
    timeout: timedelta = DECISION_TIMEOUT,
    rejected_actions: Sequence[Action] = (),
) -> DecisionResult[DeadMansDrawDecision]:
    ticks = iter([1.0, 1.25])
    return decide_in_time(
        FunctionStrategy(choose_action),
        position,
        timeout,
        lambda: next(ticks),
        frozenset(rejected_actions),
    )


def test_r06_a_strategy_that_is_late_is_overtaken_by_the_safe_action() -> None:
    release = threading.Event()

    def block_and_draw(_position: DeadMansDrawPosition) -> Action:
        release.wait()
        return DRAW

    for seconds in (0.02, 2, 60):
        result = decide_with(block_and_draw, position(), timedelta(seconds=seconds))
        if "line" in str(result.error):  # a busy machine may not have come so far at first
            break
    decision_threads = [thread for thread in threading.enumerate() if thread.name == "decision"]
    release.set()
    for thread in decision_threads:
        thread.join()
    assert {thread.daemon for thread in decision_threads} == {True}, (
        "no process may have to wait for it"
    )
    assert result.decision.action == DRAW
    error_prefix = f"no decision within {seconds:g} s (test_bot_deciding.py, line "
    assert str(result.error).startswith(error_prefix)
    assert f"no decision within {seconds:g} s" in result.decision.reason


def raise_error(_position: DeadMansDrawPosition) -> Action:
    raise CardsharpError("no idea")


RULES_ERROR, SERVER_ERROR = (
    "the rules refuse '",
    "the server refused 'EndTurn' (test_bot_deciding.py, line ",
)
STRATEGY_ERROR = "the strategy failed: CardsharpError: no idea (test_bot_deciding.py"
FIVE, SEVEN = Card(Suit.KEY, 5), Card(Suit.KEY, 7)


@pytest.mark.parametrize(
    ("chosen_action", "position", "error_prefix", "expected_action"),
    [
        (raise_error, position(area="Key3"), STRATEGY_ERROR, END_TURN),
        (END_TURN, position(area="Key3"), SERVER_ERROR, DRAW),
        (END_TURN, position(), RULES_ERROR, DRAW),
        (DRAW, HOOK_POSITION, RULES_ERROR, respond(EffectType.HOOK, FIVE)),
        (
            respond(EffectType.HOOK, SEVEN),
            HOOK_POSITION,
            RULES_ERROR,
            respond(EffectType.HOOK, FIVE),
        ),
        (
            respond(EffectType.CANNON),
            CANNON_POSITION,
            RULES_ERROR,
            respond(EffectType.CANNON, SEVEN),
        ),
        (respond(EffectType.MAP, FIVE), position(), RULES_ERROR, DRAW),
    ],
)
def test_r07_a_failed_or_refused_decision_is_replaced_and_reported(
    chosen_action: ActionChooser | Action,
    position: DeadMansDrawPosition,
    error_prefix: str,
    expected_action: Action,
) -> None:
    choose_action = chosen_action if callable(chosen_action) else lambda _: chosen_action
    result = decide_with(
        choose_action, position, rejected_actions=[END_TURN] if error_prefix == SERVER_ERROR else ()
    )
    assert str(result.error).startswith(error_prefix)
    assert result.decision.action == expected_action


def test_a_strategy_is_late_once_four_fifths_of_its_time_are_over() -> None:
    clock = [0.0]
    late_flags: list[bool] = []

    class Thinks(FunctionStrategy):
        def with_deadline(self, is_late: Callable[[], bool]) -> "Thinks":
            def poll_deadline(_position: DeadMansDrawPosition) -> Action:
                for seconds in (0.1, 3.9, 4.1):
                    clock[0] = seconds
                    late_flags.append(is_late())
                return DRAW

            return Thinks(poll_deadline)

    decide_in_time(Thinks(lambda _: END_TURN), position(), DECISION_TIMEOUT, lambda: clock[0])
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
    with pytest.raises(InvalidInput) as error_info:
        parse_match_message(body)
    sentence = str(error_info.value)
    assert sentence.startswith("Not a match message: ")
    assert "\n" not in sentence
    assert "input_value" not in sentence
    assert "this is no" not in sentence


class RefusingClient:
    """Client for which a match never changes and which refuses every action."""

    def __init__(self, match_view: MatchView, refusal: RequestRejected | None = None) -> None:
        self.match_view, self.refusal = match_view, refusal
        self.session_state = ClientSessionState(VirtualClock())

    def get_match(self, _match_id: str) -> MatchView:
        return self.match_view

    def act(self, *_: object) -> None:
        raise self.refusal


@pytest.mark.parametrize(
    ("refusal", "discards_clock"),
    [(NotYourTurn(409, "x"), False), (RequestRejected(400, "x"), True)],
)
def test_r31_remote_clock_is_discarded_if_a_turn_outlives_its_deadline(
    refusal: RequestRejected, discards_clock: bool
) -> None:
    """The clock stays if the turn is over; otherwise its bounds for the deadline are dropped."""
    client, current_time = (
        RefusingClient(parse_view(json.loads(RUNNING)), refusal),
        datetime.now(UTC),
    )
    seat = ArenaBotPlayer(ALICE, client, FunctionStrategy(lambda _: END_TURN), "any")
    turn = ArenaBotMatch("match", BotAndDummySeats(seat), VirtualClock()).observe({}).turn
    client.session_state.remote_clock.update_from_date_header(current_time, 0, 0)
    with pytest.raises(RequestRejected):
        turn._replace(ends_at=TimeBounds(0, 0)).send(END_TURN)
    assert (
        client.session_state.remote_clock.to_local_bounds(current_time, 0) == NEVER_BOUNDS
    ) is discards_clock


AREA = cards("Anchor3")
CARDS_BY_EFFECT = {EffectType.MAP: "Key4 Hook2", EffectType.ORACLE: "Anchor5"}


def position_with_effect(effect_type: EffectType, area: str = "Anchor3") -> DeadMansDrawPosition:
    pending_effect = effect(
        effect_type, CARDS_BY_EFFECT.get(effect_type, ""), 2 * (effect_type is EffectType.KRAKEN)
    )
    return position(bank="Key5 Mermaid8", other="Chest4 Key7", area=area, pending=pending_effect)


@pytest.mark.parametrize(
    ("effect_type", "area", "action"),
    [
        (EffectType.HOOK, "Key3", respond(EffectType.HOOK, card("Mermaid8"))),
        (EffectType.MAP, "Key6", respond(EffectType.MAP, card("Hook2"))),
        (EffectType.KRAKEN, "Anchor3", DRAW),
        (EffectType.ORACLE, "Anchor3", END_TURN),
        *((kind, "Anchor3", None) for kind in EffectType),
    ],
)
def test_every_effect_has_a_legal_fallback_that_avoids_a_bust(
    effect_type: EffectType, area: str, action: Action | None
) -> None:
    fallback = fallback_action(position_with_effect(effect_type, area))
    assert fallback in position_with_effect(effect_type, area).legal_actions()
    assert action in {None, fallback}


def test_fallback_for_an_unreadable_match_draws_first_and_then_avoids_refused_actions() -> None:
    """An empty play area cannot be ended (docs/spec/arena.md section 7)."""
    first_fallback = fallback_for_unreadable_match(AREA)
    second_fallback = fallback_for_unreadable_match(AREA, frozenset({first_fallback}))
    for draw in (fallback_for_unreadable_match(()), second_fallback):
        assert (draw.type, draw.answers_pending_effects) == (ActionType.DRAW, True)
    assert (
        fallback_for_unreadable_match(AREA, frozenset({first_fallback, second_fallback}))
        == first_fallback
    )


BOT_PLAYER, DUMMY_PLAYER = (ArenaBotPlayer(player, None, None, "any") for player in (ALICE, DUMMY))


def running_match_view(
    first_player: str, second_player: str, creator: str | None = None
) -> MatchView:
    body = json.loads(RUNNING)
    return parse_view(
        {**body, "playerids": [first_player, second_player], "createdByPlayerId": creator}
    )


@pytest.mark.parametrize(
    ("players", "creator", "controlled_seats", "seats"),
    [
        ((ALICE, BOB), None, (BOT_PLAYER, DUMMY_PLAYER), {0: BOT_PLAYER}),
        ((BOB, ALICE), None, (BOT_PLAYER,), {1: BOT_PLAYER}),
        ((ALICE, ALICE), None, (BOT_PLAYER, DUMMY_PLAYER), {0: BOT_PLAYER, 1: BOT_PLAYER}),
        ((DUMMY, ALICE), ALICE, (BOT_PLAYER, DUMMY_PLAYER), {0: DUMMY_PLAYER, 1: BOT_PLAYER}),
        ((DUMMY, ALICE), ALICE, (BOT_PLAYER,), {1: BOT_PLAYER}),
        ((DUMMY, ALICE), BOB, (BOT_PLAYER, DUMMY_PLAYER), {1: BOT_PLAYER}),
        ((DUMMY, ALICE), None, (BOT_PLAYER, DUMMY_PLAYER), {1: BOT_PLAYER}),
        ((BOB, DUMMY), BOB, (BOT_PLAYER, DUMMY_PLAYER), {}),
    ],
)
def test_our_seats_have_our_id_or_are_the_dummys_in_matches_that_we_created(
    players: tuple[str, str],
    creator: str | None,
    controlled_seats: tuple[ArenaBotPlayer, ...],
    seats: dict[int, ArenaBotPlayer],
) -> None:
    """The bot plays the dummy only if it is configured to, and only in its matches."""
    assert (
        BotAndDummySeats(*controlled_seats).bot_seats_by_index(
            running_match_view(*players, creator)
        )
        == seats
    )


def observe_match(match_view: MatchView, player: str, *requested_tags: str) -> Observation[Action]:
    player_under_test = ArenaBotPlayer(player, RefusingClient(match_view), None, "any")
    return ArenaBotMatch(
        "match", BotAndDummySeats(player_under_test), VirtualClock(), requested_tags
    ).observe({})


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
    assert observe_match(match_view, ALICE, *requested_tags).may_park is may_park


def test_opponent_timeouts_do_not_count_as_bot_timeouts() -> None:
    """Each recorded timeout is that of a single player, although the arena counts them together."""
    total = both_late_count = 0
    for match in SAMPLE.created_matches():
        steps = [step for step in match["steps"] if "wait_s" not in step]
        recorded_polls = [*steps, match["final"]["last_look"]]
        *_, last_view = (poll["view"] for poll in recorded_polls if poll["view"] != "same")
        match_view = parse_view(
            {**last_view, "moves": [move for poll in recorded_polls for move in poll["new_moves"]]}
        )
        timeout_counts = [
            observe_match(match_view, player).timeout_count for player in set(match["players"])
        ]
        assert sum(timeout_counts) == match_view.state.timeout_count, match["name"]
        total += sum(timeout_counts)
        both_late_count += all(timeout_counts) and len(timeout_counts) > 1
    assert total > 10
    assert both_late_count > 0


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
