"""A seat is made ours and then played, whatever comes in between, and never by halves."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from pydantic import SecretStr
from support.blef import Client
from support.cloud_benches import known
from support.cloud_clock import FakeClock
from support.cloud_threads import at_once

from cardsharp.blef.invited import build_agents
from cardsharp.blef.store import sqlite_games
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Status
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.switches import Switchboard, Switches
from cardsharp.cloud.vault import Vault, sqlite_vault
from cardsharp.errors import Conflict, StoreError
from cardsharp.seats import Seat, reserved
from cardsharp.web.service import BOT_QUEUE, BOT_STORE, BOT_URL

SEAT = Seat(
    "http://there", "01c0905c-1c0b-49b6-97c4-e7cb01262e89", "ann", "bayes", SecretStr("one")
)


@dataclass
class Bench:
    """A log, a vault and a queue under a clock that stands still."""

    offering: Offering
    vault: Vault
    clock: FakeClock
    queue: MemoryQueue

    def reserved(self, seat: Seat = SEAT) -> AbstractContextManager[None]:
        return reserved("blef", seat, self.vault, self.offering)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    clock, path = FakeClock(), tmp_path / "log.db"
    queue = MemoryQueue(clock)
    with closing(SqliteLog(path, clock)) as log, closing(sqlite_vault(path, clock)) as vault:
        yield Bench(Offering(log, queue, clock), vault, clock, queue)


def test_a_seat_is_offered_once_it_is_ours_and_what_came_to_nothing_is_closed(bench: Bench) -> None:
    """And can be tried again; who comes too late takes nothing from who has it."""
    with pytest.raises(Conflict), bench.reserved():
        raise Conflict("somebody else was first")
    assert known(bench.offering.log, SEAT.own_id).status is Status.FINISHED
    assert len(bench.queue) == 0
    with bench.reserved():
        assert known(bench.offering.log, SEAT.own_id).lease, "the bot keeps away meanwhile"
        assert bench.offering.offer() == len(bench.queue) == 0
    assert len(bench.queue) == 1
    with pytest.raises(Conflict), bench.reserved(SEAT.known_as("two")):
        raise Conflict("the nickname was taken meanwhile")
    assert bench.vault.find(SEAT.own_id) == SEAT.body
    assert [one.match_id for one in bench.offering.log.running()] == [SEAT.own_id]


def test_a_seat_whose_maker_died_is_offered_when_its_lease_is_over(bench: Bench) -> None:
    """The bot then sees at its first look whether the seat is ours."""
    dying = bench.reserved()
    dying.__enter__()
    assert bench.offering.offer() == 0
    bench.clock.advance(timedelta(seconds=11))
    assert bench.offering.offer() == 1


def test_the_poller_sees_to_seats_not_queued(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, bench.reserved():
        patch.setattr(bench.queue, "send", Mock(side_effect=StoreError("no queue")))
    bench.clock.advance(timedelta(seconds=4))
    assert bench.offering.offer() == 0, "a first look"
    bench.clock.advance(timedelta(seconds=4))
    assert bench.offering.offer() == 1


def served(tmp_path: Path, **settings: str) -> Client:
    clock = SystemClock()
    told = {
        BOT_STORE: f"sqlite:{tmp_path / 'log.db'}",
        BOT_QUEUE: f"memory:{tmp_path}",
        BOT_URL: "http://there",
    }
    store = sqlite_games(tmp_path / "games.db", clock)
    return Client(store, clock, base="", agents=build_agents({**told, **settings}))


def test_of_many_invitations_each_that_is_acknowledged_is_in_the_game(tmp_path: Path) -> None:
    client = served(tmp_path)
    game = client.create()
    asked = {"admin_uuid": client.join(game, "ann"), "agent_name": "Dazhbog"}
    replies = at_once(12, lambda _: client.get(f"/games/{game}/invite-aiagent", **asked))
    assert {reply.status for reply in replies} <= {200, 403, 503}
    told = {reply.json["message"] for reply in replies if reply.status == 200}
    players = client.get(f"/games/{game}").json["players"]
    joined = {f"{one['nickname']} joined the game" for one in players if "ai_agent" in one}
    assert told == joined
    assert len(players) == len({one["nickname"] for one in players}) <= 8
    log = SqliteLog(tmp_path / "log.db", SystemClock())
    names = [str(record.header["names"][0]) for record in log.running()]  # type: ignore[index]
    log.close()
    assert sorted(names) == sorted(one["nickname"] for one in players if "ai_agent" in one)


def test_a_setting_names_the_bots_and_a_pause_keeps_them_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = served(tmp_path, BLEF_AGENTS="Perun=threshold(0.2,0.5); Zorya = greedy")
    game = client.create()
    invite, ann = f"/games/{game}/invite-aiagent", client.join(game, "ann")
    for name in ("Perun", "Zorya"):
        client.get(invite, admin_uuid=ann, agent_name=name)
    monkeypatch.setattr(Switchboard, "read", lambda _: Switches(paused=True))
    reply = client.get(invite, admin_uuid=ann, agent_name="Perun")
    assert (reply.status, reply.json["error"][:23]) == (503, "No agent can join now -")
    kinds = [one.get("ai_agent") for one in client.get(f"/games/{game}").json["players"]]
    assert kinds == [None, "threshold(0.2,0.5)", "greedy"]
