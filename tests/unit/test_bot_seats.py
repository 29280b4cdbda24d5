"""Which seats are ours: worked out from the view alone, and what is ours with them."""

import json
from typing import cast

import pytest
from support.arena import ALICE, BOB, DUMMY
from support.arena_bodies import FINISHED, RUNNING
from support.recorded import SAMPLE
from world.clock import StillClock

from cardsharp.cloud.attended import Sight
from cardsharp.contact import Contact
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.bot import ArenaMatch
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.logbook import outcome_body
from cardsharp.deadmansdraw.seats import Players, Seat
from cardsharp.deadmansdraw.strategies import Strategy
from cardsharp.deadmansdraw.wire import parse_view
from cardsharp.deadmansdraw.wire_views import MatchView

US, AS_DUMMY = (
    Seat(player, cast("ArenaClient", None), cast("Strategy", None), "any")
    for player in (ALICE, DUMMY)
)


def view(first: str, second: str, creator: str | None = None) -> MatchView:
    body = json.loads(RUNNING)
    return parse_view({**body, "playerids": [first, second], "createdByPlayerId": creator})


@pytest.mark.parametrize(
    ("players", "creator", "told", "seats"),
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
    players: tuple[str, str], creator: str | None, told: tuple[Seat, ...], seats: dict[int, Seat]
) -> None:
    """If we are told to play the dummy; that of others is left alone."""
    assert Players(*told).seats(view(*players, creator)) == seats


class Shown:
    """A client to which every match looks the same."""

    def __init__(self, shown: MatchView) -> None:
        self.shown = shown
        self.contact = Contact()

    def view(self, _match_id: str) -> MatchView:
        return self.shown


def looked_at(shown: MatchView, player: str, *asked_for: str) -> Sight[Action]:
    """What a bot finds at its look at a match, as that player."""
    me = Seat(player, cast("ArenaClient", Shown(shown)), cast("Strategy", None), "any")
    return ArenaMatch("match", Players(me), StillClock(), asked_for).look({})


@pytest.mark.parametrize(
    ("tags", "asked_for", "limit", "left"),
    [
        ((), (), None, True),
        (("cup",), (), 10, True),
        (("cup", "final"), ("final", "demo"), 10, True),
        (("cup",), ("demo",), None, False),
        ((), ("demo",), None, False),
        ((), (), 9, False),
        ((), (), 0, True),
    ],
)
def test_r38_only_a_match_that_the_poller_is_told_of_in_time_is_left_to_it(
    tags: tuple[str, ...], asked_for: tuple[str, ...], limit: int | None, left: bool
) -> None:
    body = json.loads(RUNNING)
    params = {**body["creationParams"], "tags": tags, "timeout": limit}
    shown = parse_view({**body, "playerids": [ALICE, BOB], "creationParams": params})
    assert looked_at(shown, ALICE, *asked_for).may_rest is left


def test_the_opponents_timeouts_are_not_counted_as_ours() -> None:
    """Of the recorded timeouts of a match, which the arena counts in one, each is one player's."""
    total = both = 0
    for match in SAMPLE.started():
        steps = [one for one in match["steps"] if "wait_s" not in one]
        told = [*steps, match["final"]["last_look"]]
        *_, seen = (one["view"] for one in told if one["view"] != "same")
        shown = parse_view({**seen, "moves": [move for one in told for move in one["new_moves"]]})
        late = [looked_at(shown, player).timeouts for player in set(match["players"])]
        assert sum(late) == shown.state.timeout_count, match["name"]
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
def test_an_outcome_is_told_from_our_seat(winner: int | None, seats: set[int], result: str) -> None:
    body = json.loads(FINISHED)
    body["state"]["winnerIdx"] = winner
    outcome = outcome_body(parse_view(body), seats)
    assert (outcome["winner"], outcome["result"]) == (winner, result)
