"""R06, R07: a decision in its time, or a safe one that says why; and what a message may name."""

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from support.arena import ALICE
from support.arena_bodies import RUNNING
from support.positions import effect, position
from world.clock import StillClock

from cardsharp.cloud.messages import parse_message
from cardsharp.contact import Contact
from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.deadmansdraw.bot import ArenaMatch, ReadTurn
from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.fallback import decide
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.seats import Players, Seat
from cardsharp.deadmansdraw.strategies import Decision
from cardsharp.deadmansdraw.wire import parse_view
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.deciding import Decided
from cardsharp.errors import CardsharpError, Malformed, NotYourTurn, Rejected
from cardsharp.far_clock import NEVER, When

LIMIT = timedelta(seconds=5)
HOOKED = position(own="Key5", area="Hook6", pending=effect(EffectType.HOOK))
SHOT = position(other="Key7", area="Cannon6", pending=effect(EffectType.CANNON))


class Plays:
    """A strategy that does what a test says."""

    def __init__(self, work: Callable[[Position], Action]) -> None:
        self._work = work

    def decide(self, position: Position) -> Decision:
        return Decision(self._work(position), "as the test says")


def decided(
    work: Callable[[Position], Action],
    position: Position,
    limit: timedelta = LIMIT,
    refused: frozenset[Action] = frozenset(),
) -> Decided[Decision]:
    ticks = iter([1.0, 1.25])
    return decide(Plays(work), position, limit, lambda: next(ticks), refused)


def test_r06_a_strategy_that_is_late_is_overtaken_by_the_safe_action() -> None:
    over = threading.Event()

    def thinks(_position: Position) -> Action:
        over.wait()
        return DRAW

    found = decided(thinks, position(), timedelta(seconds=0.02))
    late = [thread for thread in threading.enumerate() if thread.name == "decision"]
    over.set()
    for thread in late:
        thread.join()
    assert [thread.daemon for thread in late] == [True], "no process may have to wait for it"
    assert found.decision.action == DRAW
    assert found.fault is not None
    assert found.fault.startswith("no decision within 0.02 s (test_bot_deciding.py, line ")
    assert "no decision within 0.02 s" in found.decision.reason


def test_a_strategy_that_fails_is_replaced_and_the_reason_says_so() -> None:
    def fails(_position: Position) -> Action:
        raise CardsharpError("no idea")

    found = decided(fails, position(area="Key3"))
    assert found.decision.action == END_TURN
    assert found.fault is not None
    assert found.fault.startswith(
        "the strategy failed: CardsharpError: no idea (test_bot_deciding.py"
    )


@pytest.mark.parametrize(
    ("position", "action"),
    [
        (position(), END_TURN),
        (HOOKED, DRAW),
        (HOOKED, respond(EffectType.HOOK, Card(Suit.ANCHOR, 7))),
        (SHOT, respond(EffectType.CANNON)),
        (position(), respond(EffectType.MAP, Card(Suit.KEY, 2))),
    ],
)
def test_r07_what_the_rules_refuse_is_not_sent(position: Position, action: Action) -> None:
    found = decided(lambda _: action, position)
    assert found.fault is not None
    assert found.fault.startswith(f"the rules refuse '{action}'")
    assert found.decision.action in position.legal_actions()


def test_what_the_arena_has_refused_here_is_not_sent_again() -> None:
    found = decided(lambda _: END_TURN, position(area="Key3"), refused=frozenset({END_TURN}))
    assert found.fault is not None
    assert found.fault.startswith("the server refused 'EndTurn' (test_bot_deciding.py, line ")
    assert found.decision.action == DRAW


def test_a_strategy_that_can_be_hurried_is_when_four_fifths_of_its_time_are_over() -> None:
    clock = [0.0]
    asked: list[bool] = []

    class Thinks(Plays):
        def hurried(self, late: Callable[[], bool]) -> "Thinks":
            def work(_position: Position) -> Action:
                for now in (0.1, 3.9, 4.1):
                    clock[0] = now
                    asked.append(late())
                return DRAW

            return Thinks(work)

    decide(Thinks(lambda _: END_TURN), position(), LIMIT, lambda: clock[0])
    assert asked == [False, False, True]


MATCH = "6b006509d06c4dfa5a8e02ca"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "this is no match message",
        "[]",
        "{}",
        "null",
        '{"match_id":null}',
        '{"match_id":7}',
        '{"match_id":""}',
        '{"match_id":"../whoami"}',
        f'{{"match_id":"{MATCH}\\n"}}',
        f'{{"match_id":"{"a" * 65}"}}',
        f'{{"match_id":"{MATCH}","turn":3}}',
    ],
)
def test_anything_else_is_refused_in_one_sentence_that_does_not_repeat_it(body: str) -> None:
    with pytest.raises(Malformed) as refused:
        parse_message(body)
    sentence = str(refused.value)
    assert sentence.startswith("Not a match message: ")
    assert "\n" not in sentence
    assert "input_value" not in sentence
    assert "this is no" not in sentence


class Refusing:
    """A client at an arena that shows a match of ours and refuses every action."""

    def __init__(self, refusal: Rejected) -> None:
        self.refusal, self.contact = refusal, Contact(StillClock())

    def view(self, _match_id: str) -> MatchView:
        return parse_view(json.loads(RUNNING))

    def act(self, *_: object) -> None:
        raise self.refusal


@pytest.mark.parametrize(
    ("refusal", "goes_on"), [(NotYourTurn(409, "x"), False), (Rejected(400, "x"), True)]
)
def test_r31_the_arenas_dates_are_given_up_where_a_turn_goes_on_that_they_say_is_over(
    refusal: Rejected, goes_on: bool
) -> None:
    """Not where it is over indeed; else a process without a move of its own knows no end."""
    client, now = Refusing(refusal), datetime.now(UTC)
    seat = Seat(ALICE, cast("ArenaClient", client), Plays(lambda _: END_TURN), "any")
    turn = ArenaMatch("match", Players(seat), StillClock()).look({}).turn
    assert isinstance(turn, ReadTurn)
    client.contact.far.dated(now, 0, 0)
    with pytest.raises(Rejected):
        turn._replace(ends=When(0, 0)).act(END_TURN)
    assert (client.contact.far.when(now, 0) == NEVER) is goes_on
