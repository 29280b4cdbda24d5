"""What a match of a contest came to, read from the events that the arena itself writes."""

from datetime import timedelta

import pytest
from support.arena import ALICE, BOB, HandClock

from cardsharp.deadmansdraw.actions import DRAW, END_TURN
from cardsharp.deadmansdraw.arena.creation import parse_wish
from cardsharp.deadmansdraw.arena.match import Origin, Pairing, act, begin, end_turn_by_force
from cardsharp.deadmansdraw.arena.players import ADMIN, Book, User
from cardsharp.deadmansdraw.arena.randomness import Randomness
from cardsharp.deadmansdraw.arena.views import Look, full_view
from cardsharp.deadmansdraw.contest import pairing
from cardsharp.deadmansdraw.contest.facts import facts_of
from cardsharp.deadmansdraw.wire import parse_view


@pytest.mark.parametrize("order", [(ALICE, BOB), (BOB, ALICE)])
def test_busts_and_late_turns_are_counted_for_the_team_that_had_them(
    order: tuple[str, str],
) -> None:
    """In the order of the pairing's teams, whoever sat where."""
    clock = HandClock()
    pile = [["Mermaid", value] for value in range(4, 9)]
    body = {"drawPile": pile, "randomSeed": "norandom", "timeout": 7, "discardPile": []}
    params = parse_wish(body, "1").params
    match, move = begin(
        "0" * 24, Pairing((ALICE, BOB), None), params, Randomness.FAIR, Origin(clock.now)
    )
    moves = [move]
    starts = match.active_player
    for action in (DRAW, DRAW, DRAW, END_TURN, None, None, None):
        clock.turn(timedelta(seconds=9))
        at = Origin(clock.now)
        match, move = end_turn_by_force(match, at) if action is None else act(match, action, at)
        moves.append(move)
    look = Look(User(ADMIN, None, ADMIN), events=True)
    view = parse_view(full_view(match, look, moves, Book({})))
    facts = facts_of(view, pairing.Pairing("1", 1, "winners", order))
    first = order.index(str(starts))
    assert facts.busts[first] == 1
    assert facts.busts[1 - first] == 0
    assert (facts.late[first], facts.late[1 - first]) == (2, 1)
    assert facts.points[1 - first] == 6
    assert facts.seconds == 7 * 9
    assert facts.turns == match.turn
