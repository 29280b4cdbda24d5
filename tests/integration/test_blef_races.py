"""Sixteen real clients at once through the handler, on the emulated DynamoDB and on SQLite.

The first is a race that the original loses with two processes: 36 of 179 acknowledged players lost,
a nickname accepted twice in 15 of 30 games. Every change goes the same way; that several documents
change together is in test_keep.py, and that a round is closed in one write in test_blef_faults.py.
At last a seat is made ours and then played, whatever comes in between, and never by halves.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pydantic import SecretStr
from support.blef import Client, Reply, StartedGame
from support.cloud_benches import FakeClock, at_once, environment, known
from support.size import cases

from cardsharp.blef.bot import SeatOrder
from cardsharp.blef.invited import build_agents
from cardsharp.blef.store import GAME_STORE
from cardsharp.cloud.adapters import build_vault
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Status
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.switches import Switchboard, Switches
from cardsharp.errors import ConfigError, Conflict, StoreError
from cardsharp.seats import Places, Seat, order_seat, reserved
from cardsharp.web.service import BOT_QUEUE, BOT_STORE, BOT_URL
from workbench.cloud.emulator import Emulator
from workbench.cloud.template import create_table

CLIENTS = 16
GAMES = cases(4, every=30)  # trials of each race; 30 repeats what was measured on the original


@pytest.fixture(params=["ministack", "sqlite"])
def clients(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Client]]:
    """Return clients of two openings of the same store, as two processes have."""
    clock = SystemClock()
    if request.param == "sqlite":
        files = [GAME_STORE.in_file(str(tmp_path / "games.db"), clock) for _ in range(2)]
        yield [Client(store, clock) for store in files]
        for file in files:
            file.close()
        return
    emulator: Emulator = request.getfixturevalue("emulator")
    name = create_table(emulator.client("dynamodb"), "blefTable")
    with environment(emulator.environment):
        yield [Client(GAME_STORE.in_table(name, clock), clock) for _ in range(2)]


def statuses(replies: list[Reply]) -> Counter[int]:
    """How often each status was answered, none of them a failure of ours."""
    counted = Counter(reply.status for reply in replies)
    assert max(counted) < 500, [reply.text for reply in replies if reply.status >= 500]
    return counted


def test_who_was_let_in_is_in_the_game_and_each_nickname_once(clients: list[Client]) -> None:
    """Two ask for each of eight nicknames."""
    for _ in range(GAMES):
        path = f"/games/{clients[0].create()}"
        replies = at_once(
            CLIENTS,
            lambda me, path=path: clients[me % 2].get(f"{path}/join", nickname=f"p{me // 2}"),  # type: ignore[misc]
        )
        counted = statuses(replies)
        assert (counted[200], counted[403] + counted[409]) == (8, 8)
        let_in = [f"p{me // 2}" for me, reply in enumerate(replies) if reply.status == 200]
        state = clients[1].get(path).json
        joined = [player["nickname"] for player in state["players"]]
        assert state["admin_nickname"] == joined[0]
        assert sorted(joined) == sorted({*let_in})
        for uuid in (reply.json["player_uuid"] for reply in replies if reply.status == 200):
            assert clients[0].get(path, player_uuid=uuid).status == 200


def test_nobody_joins_or_shows_a_game_after_its_start(clients: list[Client]) -> None:
    """Whatever the order: who was let in is seated, and the game is as public as was said."""
    for _ in range(GAMES):
        table = clients[0].joined()

        def act(me: int, table: StartedGame = table) -> tuple[str, Reply]:
            admin = {"admin_uuid": table.uuids["p0"]}
            deeds = [("join", {"nickname": f"late{me}"}), ("start", admin), ("make-public", admin)]
            deed, query = deeds[me % 3]
            return deed, clients[me % 2].get(f"/games/{table.game}/{deed}", **query)

        done = at_once(9, act)
        statuses([reply for _, reply in done])
        state = table.state()
        accepted = Counter(deed for deed, reply in done if reply.status in {200, 202})
        assert accepted["start"] == 1
        assert {reply.status for deed, reply in done if deed == "start"} == {202, 403}
        assert len(state["players"]) == 2 + accepted["join"]
        assert sum(player["n_cards"] for player in state["players"]) == len(state["players"])
        assert state["public"] is (accepted["make-public"] > 0)


# --- a seat is made ours and then played, and never by halves -----------------------------------


SEAT = Seat(
    "http://there", "01c0905c-1c0b-49b6-97c4-e7cb01262e89", "ann", "bayes", SecretStr("one")
)


@pytest.fixture
def places(tmp_path: Path) -> Iterator[Places]:
    """A log, a vault and a queue under a clock that stands still."""
    clock, store = FakeClock(), f"sqlite:{tmp_path / 'log.db'}"
    offering = Offering(SqliteLog(tmp_path / "log.db", clock), MemoryQueue(clock), clock)
    with closing(offering.log), closing(build_vault(store, clock)) as vault:
        yield Places(Workplace.load({"CARDSHARP_STORE": store}), offering, vault)


def claimed(places: Places, seat: Seat = SEAT) -> AbstractContextManager[None]:
    return reserved("blef", seat, places.vault, places.offering)


def test_a_seat_is_offered_once_it_is_ours_and_what_came_to_nothing_is_closed(
    places: Places,
) -> None:
    """And can be tried again; who comes too late takes nothing from who has it."""
    offering = places.offering
    with pytest.raises(Conflict), claimed(places):
        raise Conflict("somebody else was first")
    assert known(offering.log, SEAT.own_id).status is Status.FINISHED
    assert len(offering.queue) == 0
    with claimed(places):
        assert known(offering.log, SEAT.own_id).lease, "the bot keeps away meanwhile"
        assert offering.offer() == len(offering.queue) == 0
    assert len(offering.queue) == 1
    with pytest.raises(Conflict), claimed(places, SEAT.known_as("two")):
        raise Conflict("the nickname was taken meanwhile")
    assert places.vault.find(SEAT.own_id) == SEAT.body
    assert [one.match_id for one in offering.log.running()] == [SEAT.own_id]


def test_a_seat_whose_maker_died_is_offered_when_its_lease_is_over(places: Places) -> None:
    """The bot then sees at its first look whether the seat is ours."""
    dying, offering = claimed(places), places.offering
    dying.__enter__()
    assert offering.offer() == 0
    offering.clock.advance(timedelta(seconds=11))
    assert offering.offer() == 1


def test_the_poller_sees_to_seats_not_queued(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    offering = places.offering
    with monkeypatch.context() as patch, claimed(places):
        patch.setattr(offering.queue, "send", Mock(side_effect=StoreError("no queue")))
    for looks in (0, 1):
        offering.clock.advance(timedelta(seconds=4))
        assert offering.offer() == looks


def test_of_many_invitations_each_that_is_acknowledged_is_in_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the bots that a setting names; a pause keeps them from this and any other seat."""
    told = {
        BOT_STORE: f"sqlite:{tmp_path / 'log.db'}",
        BOT_QUEUE: f"memory:{tmp_path}",
        BOT_URL: "http://there",
        "BLEF_AGENTS": "Perun=threshold(0.2,0.5); Zorya = greedy",
    }
    agents, clock = build_agents(told), SystemClock()
    client = Client(GAME_STORE.in_file(tmp_path / "games.db", clock), clock, base="", agents=agents)
    game, places = client.create(), agents.places
    ann = client.join(game, "ann")

    def invite(me: int) -> Reply:
        agent = ("Perun", "Zorya")[me % 2]
        return client.get(f"/games/{game}/invite-aiagent", admin_uuid=ann, agent_name=agent)

    replies = at_once(12, invite)
    assert {reply.status for reply in replies} <= {200, 403, 503}
    acknowledged = {reply.json["message"] for reply in replies if reply.status == 200}
    players = client.get(f"/games/{game}").json["players"]
    kinds = {one["nickname"]: one["ai_agent"] for one in players if "ai_agent" in one}
    assert acknowledged == {f"{name} joined the game" for name in kinds}
    assert len(players) == 1 + len(kinds) <= 8
    named = {("Perun", "threshold(0.2,0.5)"), ("Zorya", "greedy")}
    assert kinds
    assert {(name[:5], kind) for name, kind in kinds.items()} <= named
    seats: list[Any] = [record.header for record in places.offering.log.running()]
    assert {seat["names"][0]: seat["strategy"] for seat in seats} == kinds

    monkeypatch.setattr(Switchboard, "read", lambda _: Switches(paused=True))
    game = client.create()
    ann = client.join(game, "ann")
    reply = invite(0)
    assert (reply.status, reply.json["error"][:23]) == (503, "No agent can join now -")
    assert len(client.get(f"/games/{game}").json["players"]) == 1
    order = SeatOrder.parse({"url": "https://there.example", "game": game, "nickname": "ours"})
    with pytest.raises(ConfigError, match="paused"):
        order_seat("blef", order, ann, places.vault, places.offering)
    assert places.vault.find(order.match_id) is None
