"""What a position tells of the rounds before: what all have seen, whoever makes the position."""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from pydantic import SecretStr
from support.blef_bot import NAME, SECRET, SERVICE, BlefPlace
from support.cloud_clock import FakeClock
from support.games import GAMES, simulated
from support.played import Decides, begun, kept, taken

from cardsharp.blef.bot import SeatMatch, SeatTurn
from cardsharp.blef.client import Sighting
from cardsharp.blef.logbook import SPAN
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.replay import decisions
from cardsharp.blef.simulation import Match
from cardsharp.blef.strategies import build
from cardsharp.blef.wire import StateBody, position_in
from cardsharp.cloud.ports import Body
from cardsharp.seats import Seat

BLEF = next(game for game in GAMES if game.name == "blef")


@pytest.mark.parametrize("seats", [2, 3])
def test_it_is_what_an_observer_saw_of_them_and_no_hidden_card_changes_it(seats: int) -> None:
    player = Decides(BLEF, "greedy", seats=seats)
    notes = taken(player.simulation.deal(Random(1)), (player,), Random(1))
    assert len(notes[-1].state.closed) > 10
    for note in notes[:-1]:
        state: Match = note.state
        seen = player.simulation.position(state)
        shown = tuple(position_of(one, None).round() for one in state.closed)
        assert seen.earlier == shown
        assert len(seen.earlier) == seen.number - 1
        assert player.simulation.position(player.simulation.disguised(state, Random(2))) == seen


def test_it_is_in_no_text_and_bayes_decides_as_without() -> None:
    """The dice of `bayes` are seeded by that text."""
    player = Decides(BLEF, "greedy")
    notes = taken(begun(BLEF, 3), (player,), Random(3))
    seen: Position = player.simulation.position(notes[20].state)
    without = replace(seen, earlier=())
    assert seen.earlier
    assert repr(seen) == repr(without)
    assert build("bayes", Random(1)).decide(seen) == build("bayes", Random(1)).decide(without)


@pytest.mark.parametrize("intents", [True, False])
def test_a_stored_decision_has_the_rounds_that_were_over_then(intents: bool) -> None:
    notes = taken(begun(BLEF, 1), (Decides(BLEF, "random", 1), Decides(BLEF, "greedy")), Random(1))
    [(record, moves)] = kept(BLEF, notes)
    told = [move if intents else replace(move, intent=None) for move in moves]
    found = [asked.position for asked in decisions(record, told)]
    assert found == [simulated(BLEF).position(note.state) for note in notes[:-1]]


@dataclass
class Asking:
    """The bot's client at a service in this process, which counts what it asks for."""

    place: BlefPlace
    asked: Counter[int | None] = field(default_factory=Counter)

    def look(self, game: str, player: str) -> Sighting:
        self.asked[None] += 1
        return Sighting(self._state(game, player_uuid=player), 1)

    def past(self, game: str, number: int) -> StateBody:
        self.asked[number] += 1
        return self._state(game, round=number)

    def _state(self, game: str, **query: object) -> StateBody:
        return StateBody.model_validate(self.place.client.get(f"/games/{game}", **query).json)


def attended(place: BlefPlace, client: Asking) -> SeatMatch:
    strategy = build("greedy", Random(0))
    seat = Seat(SERVICE, place.table, NAME, "greedy", SecretStr(str(SECRET)))
    return SeatMatch("m", seat, strategy, cast("Any", client), cast("Any", None), FakeClock())


def test_the_bot_knows_the_rounds_before_without_a_request_more(tmp_path: Path) -> None:
    """Each is asked for once, for the log, also by two workers one after the other."""
    known: dict[int, Body] = {}
    decided = 0
    with closing(BlefPlace(tmp_path, FakeClock())) as place:
        client = Asking(place)
        path = f"/games/{place.table}"
        place.client.post(f"{path}/join", {"nickname": NAME, "player_uuid": str(SECRET)})
        while place.go_on() != "Finished":
            sight = attended(place, client).look(known)
            known |= sight.facts
            turn = cast("SeatTurn | None", sight.turn)
            if turn is None:
                continue
            over = range(1, turn.position.number)
            rounds = [position_in(client._state(place.table, round=n), None) for n in over]
            assert turn.position.earlier == tuple(one.round() for one in rounds if one)
            action = turn.match.strategy.decide(turn.position).action
            place.client.post(f"{path}/play", {"player_uuid": str(SECRET), "action_id": action})
            decided += bool(rounds)
        del client.asked[None]
        assert {*client.asked.values()} == {1}
        assert decided


SPOILT: dict[str, Body] = {
    "no player": {"player": None},
    "no such card": {"hands": {"A": ["7 of clubs"]}},
}


def spoilt(end: Body) -> dict[int, Body]:
    """The log of a first round with this about its end, which somebody checked and lost."""
    actions = (3, 88, 89)
    facts = {SPAN + n: {"player": "A", "actionId": one} for n, one in enumerate(actions)}
    return {**facts, SPAN + 2: {**facts[SPAN + 2], "hands": {}, **end}}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_log_that_cannot_be_read_costs_no_move(tmp_path: Path, fault: str) -> None:
    """It plays on as if nothing had been seen."""
    with closing(BlefPlace(tmp_path, FakeClock())) as place:
        path = f"/games/{place.table}"
        place.client.post(f"{path}/join", {"nickname": NAME, "player_uuid": str(SECRET)})
        while True:
            place.go_on()
            sight = attended(place, Asking(place)).look(spoilt(SPOILT[fault]))
            if sight.turn is not None:
                assert cast("SeatTurn", sight.turn).position.earlier == ()
                return
