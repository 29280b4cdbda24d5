"""A whole turn of an arena's own player, from its first look to its end."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from support.arena_server import ALICE
from support.arena_views import DRAWN, ENDED, Plays, draw, view_of
from support.recorded_arena_responses import MATCH

from cardsharp.errors import (
    MatchOver,
    NotYourTurn,
    RequestRejected,
    StrategyError,
    Unreachable,
)
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action
from cardsharp.games.deadmansdraw.arena_bot import turn_runner
from cardsharp.games.deadmansdraw.arena_bot.turn_runner import play_turn
from cardsharp.games.deadmansdraw.arena_bot.wire import parse_events
from cardsharp.games.deadmansdraw.arena_bot.wire_views import EventView, MatchView
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision

INSTANT = timedelta(microseconds=1)


class Table:
    """A client of a player whose match is told view by view, and its answers."""

    def __init__(self, *views: MatchView, answers: Iterable[Any]) -> None:
        self.views, self.answers = list(views), list(answers)
        self.acted: list[Action] = []

    def get_match(self, match_id: str) -> MatchView:
        assert match_id == MATCH
        return self.views.pop(0)

    def act(self, match_id: str, action: Action) -> list[EventView]:
        assert match_id == MATCH
        self.acted.append(action)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Scripted:
    """A strategy that draws until the play area has three cards; it keeps what it saw."""

    def __init__(self) -> None:
        self.areas: list[list[str]] = []

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        self.areas.append([str(card) for card in position.play_area])
        return DeadMansDrawDecision(END_TURN if len(position.play_area) > 2 else DRAW, "")


OURS, THEIRS, OVER = view_of(), view_of(activePlayerIndex=1), view_of(activePlayerIndex=None)


def run_turn(table: Table, strategy: Any) -> None:  # noqa: ANN401
    play_turn(table, ALICE, MATCH, lambda _: strategy, None)


def test_a_turn_is_played_to_its_end_from_one_look() -> None:
    table = Table(OURS, answers=[DRAWN, parse_events(draw("Anchor", 4)), ENDED])
    strategy = Scripted()
    run_turn(table, strategy)
    assert table.acted == [DRAW, DRAW, END_TURN]
    assert strategy.areas == [["Hook5"], ["Hook5", "Key7"], ["Hook5", "Key7", "Anchor4"]]


@pytest.mark.parametrize("view", [THEIRS, OVER])
def test_only_our_own_turn_is_played(view: MatchView) -> None:
    table = Table(view, answers=[])
    run_turn(table, Scripted())
    assert table.acted == []


@pytest.mark.parametrize(("later", "actions"), [(OURS, 2), (THEIRS, 1), (OVER, 1)])
def test_an_answer_that_cannot_be_followed_leads_to_another_look(
    later: MatchView, actions: int
) -> None:
    table = Table(OURS, later, answers=[parse_events(draw("Hook", 5)), ENDED])
    run_turn(table, Scripted())
    assert (table.views, len(table.acted)) == ([], actions)


@pytest.mark.parametrize("error", [MatchOver(), NotYourTurn(409, "not yours")])
def test_a_turn_that_is_over_ends_quietly(error: RequestRejected) -> None:
    table = Table(OURS, answers=[error])
    run_turn(table, Scripted())
    assert table.acted == [DRAW]


def test_a_failure_is_the_callers() -> None:
    table = Table(OURS, answers=[Unreachable("gone")])
    with pytest.raises(Unreachable):
        run_turn(table, Scripted())

    class Fails:
        def decide(self, _position: DeadMansDrawPosition) -> DeadMansDrawDecision:
            raise ValueError("no idea")

    table = Table(OURS, answers=[])
    with pytest.raises(StrategyError, match="no idea"):
        run_turn(table, Fails())
    assert table.acted == []


def test_a_decision_has_a_limit_and_the_strategy_of_its_match(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits, asked = list[timedelta | None](), list[MatchView]()
    call_guarded = turn_runner.call_guarded

    def note(call: Any, strategy: Any, limit: timedelta | None) -> Any:  # noqa: ANN401
        limits.append(limit)
        return call_guarded(call, strategy, None)

    monkeypatch.setattr(turn_runner, "call_guarded", note)

    def strategy_for(view: MatchView) -> Any:  # noqa: ANN401
        asked.append(view)
        return Plays(END_TURN)

    play_turn(Table(OURS, answers=[ENDED]), ALICE, MATCH, strategy_for)
    play_turn(Table(OURS, answers=[ENDED]), ALICE, MATCH, strategy_for, INSTANT)
    assert (limits, asked) == ([timedelta(seconds=10), INSTANT], [OURS, OURS])
