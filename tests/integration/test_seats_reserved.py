"""A seat is made ours and then played, whatever comes in between, and never by halves."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from support.blef import Client
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


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    clock = FakeClock()
    log, vault = SqliteLog(tmp_path / "log.db", clock), sqlite_vault(tmp_path / "log.db", clock)
    queue = MemoryQueue(clock)
    yield Bench(Offering(log, queue, clock), vault, clock, queue)
    log.close()
    vault.close()


def test_a_seat_is_offered_once_it_is_ours(bench: Bench) -> None:
    with reserved("blef", SEAT, bench.vault, bench.offering):
        record = bench.offering.log.match(SEAT.own_id)
        assert record is not None
        assert record.lease is not None, "the bot keeps away meanwhile"
        assert bench.offering.offer() == len(bench.queue) == 0
    assert len(bench.queue) == 1
    assert bench.vault.find(SEAT.own_id) == SEAT.body


def test_what_came_to_nothing_is_closed_and_can_be_tried_again(bench: Bench) -> None:
    with pytest.raises(Conflict), reserved("blef", SEAT, bench.vault, bench.offering):
        raise Conflict("somebody else was first")
    record = bench.offering.log.match(SEAT.own_id)
    assert record is not None
    assert record.status is Status.FINISHED
    assert len(bench.queue) == 0
    with reserved("blef", SEAT, bench.vault, bench.offering):
        pass
    assert len(bench.queue) == 1


def test_who_comes_too_late_for_a_nickname_takes_nothing_from_who_has_it(bench: Bench) -> None:
    late = SEAT.known_as("two")
    with reserved("blef", SEAT, bench.vault, bench.offering):
        pass
    with pytest.raises(Conflict), reserved("blef", late, bench.vault, bench.offering):
        raise Conflict("the nickname was taken meanwhile")
    assert bench.vault.find(SEAT.own_id) == SEAT.body
    assert [one.match_id for one in bench.offering.log.running()] == [SEAT.own_id]


def test_a_seat_whose_maker_died_is_offered_when_its_lease_is_over(bench: Bench) -> None:
    """The bot then sees at its first look whether the seat is ours."""
    dying = reserved("blef", SEAT, bench.vault, bench.offering)
    dying.__enter__()
    assert bench.offering.offer() == 0
    bench.clock.advance(timedelta(seconds=11))
    assert bench.offering.offer() == 1


def test_a_queue_that_fails_leaves_the_seat_to_the_poller(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_body: str) -> None:
        raise StoreError("no queue")

    monkeypatch.setattr(bench.queue, "send", fail)
    with reserved("blef", SEAT, bench.vault, bench.offering):
        pass
    monkeypatch.undo()
    bench.clock.advance(timedelta(seconds=4))
    assert bench.offering.offer() == 0, "a first look"
    bench.clock.advance(timedelta(seconds=4))
    assert bench.offering.offer() == 1


def served(tmp_path: Path, **settings: str) -> Client:
    """A client of a service with bots, for whom nobody plays."""
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
    ann = client.join(game, "ann")
    asked = {"admin_uuid": ann, "agent_name": "Dazhbog"}
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


def test_nobody_is_invited_while_new_matches_are_paused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Switchboard, "read", lambda _: Switches(paused=True))
    client = served(tmp_path)
    game = client.create()
    ann = client.join(game, "ann")
    asked = {"admin_uuid": ann, "agent_name": "Dazhbog"}
    reply = client.get(f"/games/{game}/invite-aiagent", **asked)
    assert (reply.status, reply.json["error"][:23]) == (503, "No agent can join now -")
    assert len(client.get(f"/games/{game}").json["players"]) == 1


def test_a_setting_names_the_bots(tmp_path: Path) -> None:
    client = served(tmp_path, BLEF_AGENTS="Perun=threshold(0.2,0.5); Zorya = greedy")
    game = client.create()
    ann = client.join(game, "ann")
    for name in ("Perun", "Zorya"):
        client.get(f"/games/{game}/invite-aiagent", admin_uuid=ann, agent_name=name)
    kinds = [one.get("ai_agent") for one in client.get(f"/games/{game}").json["players"]]
    assert kinds == [None, "threshold(0.2,0.5)", "greedy"]
