"""A state can be waited for: answered on a change, or as it is before the function's time is up."""

from datetime import timedelta

from support.blef import Client, StartedGame
from support.cloud_clock import FakeClock

from cardsharp.blef.store import Games, Saved
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.keep.sqlite import SqliteKeep
from cardsharp.web.request import LONGEST_WAIT


class Busy(Games):
    """A store in which somebody acts while others wait: at a given look at the game."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(SqliteKeep(MEMORY, clock), clock)
        self.looks = 0
        self.events: dict[int, object] = {}

    def read(self, game_uuid: str) -> Saved | None:
        self.looks += 1
        event = self.events.pop(self.looks, None)
        if callable(event):
            event()
        return super().read(game_uuid)


def waiting_table() -> tuple[Busy, FakeClock, StartedGame]:
    clock = FakeClock()
    store = Busy(clock)
    table = Client(store, clock).started()
    return store, clock, table


def test_a_known_version_is_waited_upon_until_it_changes() -> None:
    store, clock, table = waiting_table()
    version = table.client.get(f"/games/{table.game}").headers["Game-Version"]
    mover = table.state()["cp_nickname"]
    store.looks = 0
    store.events = {5: lambda: table.play(3, mover)}
    began = clock.now()
    reply = table.client.get(f"/games/{table.game}", wait="true", since=version)
    assert reply.json["history"] == [{"player": mover, "action_id": 3}]
    assert reply.headers["Game-Version"] == str(int(version) + 1)
    assert timedelta(0) < clock.now() - began < timedelta(seconds=5)


def test_an_unchanged_game_is_answered_as_it_is_in_good_time_and_after_few_looks() -> None:
    store, clock, table = waiting_table()
    store.looks, began = 0, clock.now()
    assert table.state(wait="true")["history"] == []
    assert clock.now() - began == LONGEST_WAIT
    assert store.looks <= 30, "the store is not asked more than about once a second"


def test_a_finished_game_and_a_past_round_are_not_waited_for() -> None:
    _, clock, table = waiting_table()
    assert table.play(87).status == 200
    assert table.play(88).status == 200
    began = clock.now()
    assert table.state(wait="true", round=1)["round_number"] == 1
    table.play_out()
    assert table.state(wait="true")["status"] == "Finished"
    assert clock.now() == began
