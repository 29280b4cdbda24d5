"""Tests of races between sixteen clients, on the emulated DynamoDB and on SQLite.

The original service with two processes lost 36 of 179 acknowledged players and accepted a
nickname twice in 15 of 30 games. Writes of several documents are tested in
test_document_store_contract.py, and the end of a round in test_blef_faults.py. The last
tests reserve a seat for the bot, which happens completely or not at all.
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
from support.blef_service import BlefHandlerClient, BlefResponse, StartedBlefGame
from support.case_counts import case_count
from support.store_fixtures import FakeClock, require_match, run_concurrently, set_environment

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
    """Return clients of two store instances, as two processes have them."""
    clock = SystemClock()
    if request.param == "sqlite":
        files = [GAME_STORE_FACTORY.open_file(str(tmp_path / "games.db"), clock) for _ in range(2)]
        yield [BlefHandlerClient(store, clock) for store in files]
        for file in files:
            file.close()
        return
    emulator: Emulator = request.getfixturevalue("emulator")
    name = create_table(emulator.client("dynamodb"), "BlefTable")
    with set_environment(emulator.environment):
        yield [
            BlefHandlerClient(GAME_STORE_FACTORY.open_dynamodb_store(name, clock), clock)
            for _ in range(2)
        ]


def count_statuses(replies: list[BlefResponse]) -> Counter[int]:
    """Count the responses by status, and fail on a server error."""
    counts = Counter(reply.status for reply in replies)
    assert max(counts) < 500, [reply.text for reply in replies if reply.status >= 500]
    return counts


def test_every_accepted_player_is_in_the_game_with_a_unique_nickname(
    clients: list[BlefHandlerClient],
) -> None:
    """Two clients request each of eight nicknames."""
    for _ in range(GAMES):
        path = f"/games/{clients[0].create()}"
        replies = run_concurrently(
            CLIENTS,
            lambda client_number, path=path: clients[client_number % 2].get(
                f"{path}/join", nickname=f"p{client_number // 2}"
            ),  # type: ignore[misc]
        )
        counts = count_statuses(replies)
        assert (counts[200], counts[403] + counts[409]) == (8, 8)
        accepted_nicknames = [
            f"p{client_number // 2}"
            for client_number, reply in enumerate(replies)
            if reply.status == 200
        ]
        state = clients[1].get(path).json
        joined_nicknames = [player["nickname"] for player in state["players"]]
        assert state["admin_nickname"] == joined_nicknames[0]
        assert sorted(joined_nicknames) == sorted({*accepted_nicknames})
        for uuid in (reply.json["player_uuid"] for reply in replies if reply.status == 200):
            assert clients[0].get(path, player_uuid=uuid).status == 200


def test_a_started_game_can_be_neither_joined_nor_published(
    clients: list[BlefHandlerClient],
) -> None:
    """In any order of requests, every accepted request has its effect."""
    for _ in range(GAMES):
        game = clients[0].create_with_players()

        def send_request(
            client_number: int, started_game: StartedBlefGame = game
        ) -> tuple[str, BlefResponse]:
            admin = {"admin_uuid": started_game.uuids["p0"]}
            requests = [
                ("join", {"nickname": f"late{client_number}"}),
                ("start", admin),
                ("make-public", admin),
            ]
            request_name, query = requests[client_number % 3]
            return request_name, clients[client_number % 2].get(
                f"/games/{started_game.game_id}/{request_name}", **query
            )

        named_replies = run_concurrently(9, send_request)
        count_statuses([reply for _, reply in named_replies])
        state = game.state()
        accepted = Counter(
            request_name for request_name, reply in named_replies if reply.status in {200, 202}
        )
        assert accepted["start"] == 1
        assert {
            reply.status for request_name, reply in named_replies if request_name == "start"
        } == {202, 403}
        assert len(state["players"]) == 2 + accepted["join"]
        assert sum(player["n_cards"] for player in state["players"]) == len(state["players"])
        assert state["public"] is (accepted["make-public"] > 0)


# --- a seat is made ours and then played, and never by halves -----------------------------------


SEAT = ServiceSeat(
    "http://there", "01c0905c-1c0b-49b6-97c4-e7cb01262e89", "ann", "bayes", SecretStr("one")
)


@pytest.fixture
def seat_dependencies(tmp_path: Path) -> Iterator[SeatDependencies]:
    """A match log, a vault and a queue with a fake clock."""
    clock, store = FakeClock(), f"sqlite:{tmp_path / 'log.db'}"
    dispatcher = MatchDispatcher(
        SqliteMatchLog(tmp_path / "log.db", clock), MemoryQueue(clock), clock
    )
    with closing(dispatcher.match_log), closing(build_vault(store, clock)) as vault:
        yield SeatDependencies(WorkerSettings.load({"CARDSHARP_STORE": store}), dispatcher, vault)


def reserve(
    dependencies: SeatDependencies, seat: ServiceSeat = SEAT
) -> AbstractContextManager[None]:
    return reserve_seat("blef", seat, dependencies.vault, dependencies.dispatcher)


def test_a_reserved_seat_is_dispatched_once_and_a_failed_reservation_is_closed(
    seat_dependencies: SeatDependencies,
) -> None:
    """A failed reservation can be repeated, and a late one does not replace an earlier one."""
    dispatcher = seat_dependencies.dispatcher
    with pytest.raises(WriteConflict), reserve(seat_dependencies):
        raise WriteConflict("somebody else was first")
    assert require_match(dispatcher.match_log, SEAT.unique_match_id).status is MatchStatus.FINISHED
    assert len(dispatcher.queue) == 0
    with reserve(seat_dependencies):
        assert require_match(dispatcher.match_log, SEAT.unique_match_id).lease, (
            "the bot keeps away meanwhile"
        )
        assert dispatcher.dispatch_unattended() == len(dispatcher.queue) == 0
    assert len(dispatcher.queue) == 1
    with pytest.raises(WriteConflict), reserve(seat_dependencies, SEAT.with_secret("two")):
        raise WriteConflict("the nickname was taken meanwhile")
    assert seat_dependencies.vault.find(SEAT.unique_match_id) == SEAT.vault_record
    assert [running_match.match_id for running_match in dispatcher.match_log.running_matches()] == [
        SEAT.unique_match_id
    ]


def test_an_abandoned_reservation_is_dispatched_when_its_lease_expires(
    seat_dependencies: SeatDependencies,
) -> None:
    """The bot's first request then reports whether it has the seat."""
    reservation, dispatcher = reserve(seat_dependencies), seat_dependencies.dispatcher
    reservation.__enter__()
    assert dispatcher.dispatch_unattended() == 0
    dispatcher.clock.advance(timedelta(seconds=11))
    assert dispatcher.dispatch_unattended() == 1


def test_the_poller_dispatches_seats_that_were_not_queued(
    seat_dependencies: SeatDependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatcher = seat_dependencies.dispatcher
    with monkeypatch.context() as patch, reserve(seat_dependencies):
        patch.setattr(dispatcher.queue, "send", Mock(side_effect=StoreError("no queue")))
    for expected_count in (0, 1):
        dispatcher.clock.advance(timedelta(seconds=4))
        assert dispatcher.dispatch_unattended() == expected_count


def test_every_acknowledged_invitation_seats_its_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bots of a setting join at concurrent invitations, and none while paused."""
    settings = {
        BOT_STORE_SETTING: f"sqlite:{tmp_path / 'log.db'}",
        BOT_QUEUE_SETTING: f"memory:{tmp_path}",
        BOT_URL_SETTING: "http://there",
        "BLEF_AGENTS": "Perun=threshold(0.2,0.5); Zorya = greedy",
    }
    invited_bots, clock = build_invited_bots(settings), SystemClock()
    client = BlefHandlerClient(
        GAME_STORE_FACTORY.open_file(tmp_path / "games.db", clock),
        clock,
        base="",
        agents=invited_bots,
    )
    game, dependencies = client.create(), invited_bots.dependencies
    ann_uuid = client.join(game, "ann")

    def invite(client_number: int) -> BlefResponse:
        agent = ("Perun", "Zorya")[client_number % 2]
        return client.get(f"/games/{game}/invite-aiagent", admin_uuid=ann_uuid, agent_name=agent)

    replies = run_concurrently(12, invite)
    assert {reply.status for reply in replies} <= {200, 403, 503}
    messages = {reply.json["message"] for reply in replies if reply.status == 200}
    players = client.get(f"/games/{game}").json["players"]
    strategies_by_name = {
        player["nickname"]: player["ai_agent"] for player in players if "ai_agent" in player
    }
    assert messages == {f"{name} joined the game" for name in strategies_by_name}
    assert len(players) == 1 + len(strategies_by_name) <= 8
    configured_bots = {("Perun", "threshold(0.2,0.5)"), ("Zorya", "greedy")}
    assert strategies_by_name
    assert {
        (name[:5], strategy) for name, strategy in strategies_by_name.items()
    } <= configured_bots
    seats: list[Any] = [
        record.header for record in dependencies.dispatcher.match_log.running_matches()
    ]
    assert {seat["names"][0]: seat["strategy"] for seat in seats} == strategies_by_name

    monkeypatch.setattr(RuntimeSettingsStore, "read", lambda _: RuntimeSettings(paused=True))
    game = client.create()
    ann_uuid = client.join(game, "ann")
    reply = invite(0)
    assert (reply.status, reply.json["error"][:23]) == (503, "No agent can join now -")
    assert len(client.get(f"/games/{game}").json["players"]) == 1
    order = BlefJoinGameOrder.parse(
        {"url": "https://there.example", "game": game, "nickname": "ours"}
    )
    with pytest.raises(ConfigError, match="paused"):
        join_and_dispatch("blef", order, ann_uuid, dependencies.vault, dependencies.dispatcher)
    assert dependencies.vault.find(order.match_id) is None
