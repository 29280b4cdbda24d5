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
from support.blef_service import BlefHandlerClient, HttpResponse, StartedBlefGame
from support.case_counts import case_count
from support.store_fixtures import FakeClock, environment, require_match, run_concurrently

from cardsharp.bot.bootstrap import build_vault
from cardsharp.bot.control.runtime_settings import RuntimeSettings, RuntimeSettingsStore
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.bot.service_seats import (
    SeatDependencies,
    ServiceSeat,
    join_and_dispatch,
    reserve_seat,
)
from cardsharp.bot.settings import WorkerSettings
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError, StoreError, WriteConflict
from cardsharp.games.blef.bot.seat_match import BlefJoinGameOrder
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp.games.blef.service.invited_bots import build_invited_bots
from cardsharp.server.http_service import BOT_QUEUE_SETTING, BOT_STORE_SETTING, BOT_URL_SETTING
from cardsharp.store.match_log import MatchStatus
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.template_files import create_table

CLIENTS = 16
GAMES = case_count(4, full=30)  # trials of each race; 30 repeats what was measured on the original


@pytest.fixture(params=["ministack", "sqlite"])
def clients(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[BlefHandlerClient]]:
    """Return clients of two openings of the same store, as two processes have."""
    clock = SystemClock()
    if request.param == "sqlite":
        files = [GAME_STORE_FACTORY.open_file(str(tmp_path / "games.db"), clock) for _ in range(2)]
        yield [BlefHandlerClient(store, clock) for store in files]
        for file in files:
            file.close()
        return
    emulator: Emulator = request.getfixturevalue("emulator")
    name = create_table(emulator.client("dynamodb"), "BlefTable")
    with environment(emulator.environment):
        yield [
            BlefHandlerClient(GAME_STORE_FACTORY.open_dynamodb_store(name, clock), clock)
            for _ in range(2)
        ]


def statuses(replies: list[HttpResponse]) -> Counter[int]:
    """Count the responses by status, and fail on a server error."""
    counted = Counter(reply.status for reply in replies)
    assert max(counted) < 500, [reply.text for reply in replies if reply.status >= 500]
    return counted


def test_every_accepted_player_is_in_the_game_with_a_unique_nickname(
    clients: list[BlefHandlerClient],
) -> None:
    """Two ask for each of eight nicknames."""
    for _ in range(GAMES):
        path = f"/games/{clients[0].create()}"
        replies = run_concurrently(
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


def test_a_started_game_can_be_neither_joined_nor_published(
    clients: list[BlefHandlerClient],
) -> None:
    """In any order of events, accepted players are seated and visibility is as accepted."""
    for _ in range(GAMES):
        table = clients[0].create_with_players()

        def act(me: int, table: StartedBlefGame = table) -> tuple[str, HttpResponse]:
            admin = {"admin_uuid": table.uuids["p0"]}
            deeds = [("join", {"nickname": f"late{me}"}), ("start", admin), ("make-public", admin)]
            deed, query = deeds[me % 3]
            return deed, clients[me % 2].get(f"/games/{table.game}/{deed}", **query)

        done = run_concurrently(9, act)
        statuses([reply for _, reply in done])
        state = table.state()
        accepted = Counter(deed for deed, reply in done if reply.status in {200, 202})
        assert accepted["start"] == 1
        assert {reply.status for deed, reply in done if deed == "start"} == {202, 403}
        assert len(state["players"]) == 2 + accepted["join"]
        assert sum(player["n_cards"] for player in state["players"]) == len(state["players"])
        assert state["public"] is (accepted["make-public"] > 0)


# --- a seat is made ours and then played, and never by halves -----------------------------------


SEAT = ServiceSeat(
    "http://there", "01c0905c-1c0b-49b6-97c4-e7cb01262e89", "ann", "bayes", SecretStr("one")
)


@pytest.fixture
def places(tmp_path: Path) -> Iterator[SeatDependencies]:
    """A log, a vault and a queue under a clock that stands still."""
    clock, store = FakeClock(), f"sqlite:{tmp_path / 'log.db'}"
    offering = MatchDispatcher(
        SqliteMatchLog(tmp_path / "log.db", clock), MemoryQueue(clock), clock
    )
    with closing(offering.match_log), closing(build_vault(store, clock)) as vault:
        yield SeatDependencies(WorkerSettings.load({"CARDSHARP_STORE": store}), offering, vault)


def claimed(places: SeatDependencies, seat: ServiceSeat = SEAT) -> AbstractContextManager[None]:
    return reserve_seat("blef", seat, places.vault, places.dispatcher)


def test_a_claimed_seat_is_offered_once_and_a_failed_claim_is_closed(
    places: SeatDependencies,
) -> None:
    """And can be tried again; who comes too late takes nothing from who has it."""
    offering = places.dispatcher
    with pytest.raises(WriteConflict), claimed(places):
        raise WriteConflict("somebody else was first")
    assert require_match(offering.match_log, SEAT.unique_match_id).status is MatchStatus.FINISHED
    assert len(offering.queue) == 0
    with claimed(places):
        assert require_match(offering.match_log, SEAT.unique_match_id).lease, (
            "the bot keeps away meanwhile"
        )
        assert offering.dispatch_unattended() == len(offering.queue) == 0
    assert len(offering.queue) == 1
    with pytest.raises(WriteConflict), claimed(places, SEAT.with_secret("two")):
        raise WriteConflict("the nickname was taken meanwhile")
    assert places.vault.find(SEAT.unique_match_id) == SEAT.vault_record
    assert [running_match.match_id for running_match in offering.match_log.running_matches()] == [
        SEAT.unique_match_id
    ]


def test_a_seat_of_a_dead_claimant_is_offered_when_its_lease_expires(
    places: SeatDependencies,
) -> None:
    """The bot then sees at its first look whether the seat is ours."""
    dying, offering = claimed(places), places.dispatcher
    dying.__enter__()
    assert offering.dispatch_unattended() == 0
    offering.clock.advance(timedelta(seconds=11))
    assert offering.dispatch_unattended() == 1


def test_the_poller_sees_to_seats_not_queued(
    places: SeatDependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    offering = places.dispatcher
    with monkeypatch.context() as patch, claimed(places):
        patch.setattr(offering.queue, "send", Mock(side_effect=StoreError("no queue")))
    for looks in (0, 1):
        offering.clock.advance(timedelta(seconds=4))
        assert offering.dispatch_unattended() == looks


def test_of_many_invitations_each_that_is_acknowledged_is_in_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the bots that a setting names; a pause keeps them from this and any other seat."""
    settings = {
        BOT_STORE_SETTING: f"sqlite:{tmp_path / 'log.db'}",
        BOT_QUEUE_SETTING: f"memory:{tmp_path}",
        BOT_URL_SETTING: "http://there",
        "BLEF_AGENTS": "Perun=threshold(0.2,0.5); Zorya = greedy",
    }
    agents, clock = build_invited_bots(settings), SystemClock()
    client = BlefHandlerClient(
        GAME_STORE_FACTORY.open_file(tmp_path / "games.db", clock), clock, base="", agents=agents
    )
    game, places = client.create(), agents.dependencies
    ann = client.join(game, "ann")

    def invite(me: int) -> HttpResponse:
        agent = ("Perun", "Zorya")[me % 2]
        return client.get(f"/games/{game}/invite-aiagent", admin_uuid=ann, agent_name=agent)

    replies = run_concurrently(12, invite)
    assert {reply.status for reply in replies} <= {200, 403, 503}
    acknowledged = {reply.json["message"] for reply in replies if reply.status == 200}
    players = client.get(f"/games/{game}").json["players"]
    kinds = {player["nickname"]: player["ai_agent"] for player in players if "ai_agent" in player}
    assert acknowledged == {f"{name} joined the game" for name in kinds}
    assert len(players) == 1 + len(kinds) <= 8
    named = {("Perun", "threshold(0.2,0.5)"), ("Zorya", "greedy")}
    assert kinds
    assert {(name[:5], kind) for name, kind in kinds.items()} <= named
    seats: list[Any] = [record.header for record in places.dispatcher.match_log.running_matches()]
    assert {seat["names"][0]: seat["strategy"] for seat in seats} == kinds

    monkeypatch.setattr(RuntimeSettingsStore, "read", lambda _: RuntimeSettings(paused=True))
    game = client.create()
    ann = client.join(game, "ann")
    reply = invite(0)
    assert (reply.status, reply.json["error"][:23]) == (503, "No agent can join now -")
    assert len(client.get(f"/games/{game}").json["players"]) == 1
    order = BlefJoinGameOrder.parse(
        {"url": "https://there.example", "game": game, "nickname": "ours"}
    )
    with pytest.raises(ConfigError, match="paused"):
        join_and_dispatch("blef", order, ann, places.vault, places.dispatcher)
    assert places.vault.find(order.match_id) is None
