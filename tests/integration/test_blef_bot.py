"""Tests of the Blef bot with its real HTTP, queue and handlers.

The bot takes seats in public games as they appear. A client of the current API version
invites it to a game, as its app does.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from support.api_gateway import function_server
from support.blef_service import capture_log
from support.blef_v2_api import BlefV2Client, receive_body
from support.cli import Cli, isolate_environment, start_program, wait_for_line
from support.lambda_events import invocation_context, match_event
from support.simulated_blef_server import SimulatedBlefServer
from support.store_fixtures import receive_message, require_match
from support.waiting import wait_until

import practice.app
import worker.app
from cardsharp.bot.queueing.memory_queue import get_queue
from cardsharp.bot.queueing.messages import MatchMessage, parse_match_message
from cardsharp.bot.service_seats import join_and_dispatch
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError, InvalidInput, NotFound, Unreachable
from cardsharp.games.blef.actions import LOST_MARKER
from cardsharp.games.blef.bot.seat_match import BlefJoinGameOrder
from cardsharp.games.blef.game import GAME
from cardsharp.games.blef.history.replay import replay
from cardsharp.games.blef.service.records import room_number
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.cli.commands.game_bot import JoinGameOptions, bot
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.cli.game_bot_runner import poll_and_join_public_games
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.games.blef.service_client import joinable_public_games
from cardsharp_tools.lab.backtest import BacktestPlayer
from cardsharp_tools.local_cloud.lambda_events import (
    API_REQUEST_TIMEOUT,
    Event,
    LambdaFunction,
    LocalLambdaContext,
)
from cardsharp_tools.local_play.game_service import unstarted_game_service
from cardsharp_tools.local_play.seat_orders import place_join_game_order, run_workers

OUR_GAME = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[SimulatedBlefServer]:
    """A service behind HTTP with one short game, and a rival that starts and plays it."""
    with closing(SimulatedBlefServer(tmp_path, SystemClock())) as server:
        yield server


@pytest.fixture
def url(service: SimulatedBlefServer) -> Iterator[str]:
    with function_server(LambdaFunction("blef", service.client.api, API_REQUEST_TIMEOUT)) as front:
        yield front.url


SEAT = {"url": "https://blef.example/v2/", "game": OUR_GAME, "nickname": "ours"}


def test_a_game_is_played_and_explained_while_another_never_starts(
    service: SimulatedBlefServer, url: str, tmp_path: Path
) -> None:
    """A single worker has two seats; the first one's game never gets a second player."""
    notices: list[str] = []
    seats = {**SEAT, "url": url, "strategy": "greedy"}
    idle_seat, active_seat = (
        {**seats, "game": game_id} for game_id in (service.client.create(), service.game_id)
    )
    secret, store = str(uuid4()), tmp_path / "log.db"
    with capture_log() as log, run_workers(store, notices.append, 1) as seat_dependencies:
        idle_match_id, dispatcher = (
            place_join_game_order(GAME, idle_seat),
            seat_dependencies.dispatcher,
        )
        wait_until(lambda: (match := dispatcher.match_log.match(idle_match_id)) and match.is_parked)
        order = BlefJoinGameOrder.parse(active_seat)
        match_id = join_and_dispatch("blef", order, secret, seat_dependencies.vault, dispatcher)
        wait_until(lambda: service.play_rival() == "Finished")
        wait_until(lambda: (match := dispatcher.match_log.match(match_id)) and match.outcome)
        idle_record, record = (
            require_match(dispatcher.match_log, idle_match_id),
            require_match(dispatcher.match_log, match_id),
        )
        moves = dispatcher.match_log.moves(match_id)
        assert notices == []
    assert idle_record.outcome is None, "it goes on to wait"
    steps, move_facts = list(replay(record, moves)), [move.facts or {} for move in moves]
    reasons = [step.decision.reason for step in steps if step.decision is not None]
    assert all(reasons)
    bot_moves = [
        move
        for move in move_facts
        if move.get("player") == "ours" and move["actionId"] != LOST_MARKER
    ]
    assert len(reasons) == len(bot_moves)
    backtest_player = BacktestPlayer(GAME, BuiltIn("greedy"))
    differences = [
        decision.is_different
        for decision in backtest_player.decide_again(backtest_player.decision_points(record, moves))
    ]
    assert differences == [False] * len(bot_moves)
    assert secret not in log.getvalue() + store.read_bytes().decode("latin-1")


def test_the_practice_and_worker_functions_play_a_seat(
    service: SimulatedBlefServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The practice function sends a message, and the worker plays the seat.

    The rival acts before each response is sent, so the worker never waits for the game to
    start. A message of an unknown game is reported as a failure.
    """
    queue, store = f"blef-{tmp_path.name}", tmp_path / "log.db"
    isolate_environment(monkeypatch, tmp_path / "data")
    monkeypatch.setenv("CARDSHARP_STORE", f"sqlite:{store}")
    monkeypatch.setenv("CARDSHARP_QUEUE", f"memory:{queue}")
    monkeypatch.setenv("CARDSHARP_HANDOVER_SECONDS", "1")

    def respond_and_play_rival(event: Event, context: LocalLambdaContext) -> object:
        response = service.client.api(event, context)
        service.play_rival()
        return response

    with function_server(
        LambdaFunction("blef", respond_and_play_rival, API_REQUEST_TIMEOUT)
    ) as front:
        event = {**SEAT, "game": service.game_id, "url": front.url, "strategy": "greedy"}
        (match_id,) = practice.app.handler(event, invocation_context())["match_ids"]
        message = receive_message(get_queue(queue, SystemClock()))
        assert parse_match_message(message.body) == MatchMessage(match_id=match_id, game=GAME.name)
        worker.app.handler(match_event(message.body), invocation_context(60))
    with closing(SqliteMatchLog(store, SystemClock())) as log:
        assert require_match(log, match_id).outcome is not None
    with capture_log() as log:
        response = worker.app.handler(
            match_event(MatchMessage(match_id="abc", game="chess").to_json), invocation_context()
        )
    assert response == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    assert "No game is called 'chess' here. There are: deadmansdraw, blef" in log.getvalue()


def test_an_order_that_cannot_be_used_is_refused_in_a_sentence() -> None:
    for field, value in (
        ("game", "not-a-uuid"),
        ("nickname", "1st"),
        ("nickname", "a" * 33),
        ("url", "http://example.org"),
        ("url", "ftp://x"),
        ("player", "x"),
    ):
        with pytest.raises(InvalidInput, match=f"^The seat cannot be taken. {field}: .*[^.]\\.$"):
            BlefJoinGameOrder.parse({**SEAT, field: value})
    match_ids = [
        BlefJoinGameOrder.parse({**SEAT, **changed_fields}).match_id
        for changed_fields in ({}, {"game": OUR_GAME.upper()}, {"nickname": "other"})
    ]
    assert match_ids[0] == match_ids[1] != match_ids[2], "the same order names the same seat"


def test_an_order_is_routed_by_its_game_name_or_its_keys() -> None:
    load_handler = practice.app.load_order_handler
    assert load_handler(SEAT) is load_handler({"play": "blef"}) is GAME.place_order.load()  # type: ignore[union-attr]
    default_handler = load_handler({"play": "deadmansdraw"})
    assert all(
        load_handler(event) is default_handler for event in ({}, {"matches": 1}, [], None, "game")
    )
    with pytest.raises(InvalidInput, match="Matches of Euchre cannot be ordered"):
        load_handler({"play": "euchre"})


def test_a_repeated_join_is_one_join(service: SimulatedBlefServer) -> None:
    """A repeated join with the same player UUID succeeds; other combinations are rejected."""
    path, player_uuid = f"/games/{service.game_id}/join", OUR_GAME.upper()
    for _ in range(2):
        reply = service.client.post(path, {"nickname": "ours", "player_uuid": player_uuid})
        assert (reply.status, reply.json) == (200, {"player_uuid": OUR_GAME})
    assert len(service.state()["players"]) == 2
    for body, status, message in (
        ({"nickname": "other", "player_uuid": player_uuid}, 409, "Player UUID already taken"),
        ({"nickname": "ours"}, 409, "Nickname already taken"),
        ({"nickname": "ours", "player_uuid": "x"}, 400, "Invalid player UUID"),
    ):
        error_response = service.client.post(path, body)
        assert (error_response.status, error_response.json) == (status, {"error": message})
    service.play_rival()
    late_response = service.client.post(path, {"nickname": "ours", "player_uuid": player_uuid})
    assert late_response.status == 200, "also after the start, for the answer may have come late"
    assert late_response.json["player_uuid"] == OUR_GAME


# --- public games ------------------------------------------------------------------------------


@pytest.fixture
def public_service(
    service: SimulatedBlefServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> SimulatedBlefServer:
    """The service; the rival's game is public."""
    isolate_environment(monkeypatch, tmp_path / "data")
    service.client.post(
        f"/games/{service.game_id}/make-public", {"admin_uuid": service.rival_secret}
    )
    return service


def create_public_game(service: SimulatedBlefServer, *names: str) -> str:
    """Create another public game with these players, in a room other than the first game's."""
    while room_number(game := service.client.create()) == room_number(service.game_id):
        pass  # one game in ninety: its room is drawn
    admin, *_ = [service.client.join(game, name) for name in names]
    service.client.post(f"/games/{game}/make-public", {"admin_uuid": admin})
    return game


def test_games_that_can_be_joined_are_listed(
    public_service: SimulatedBlefServer, url: str, cli: Cli
) -> None:
    full_game = create_public_game(public_service, *(f"p{number}" for number in range(8)))
    list_result = cli("blef", "versus", "--url", url)
    assert (list_result.code, full_game in list_result.out) == (0, False)
    assert (
        f"{public_service.game_id}  room {room_number(public_service.game_id)}  1 of 8: rival"
        in list_result.out
    )
    [open_game] = cli("blef", "versus", "--url", url, "--json").json()
    assert (open_game["game"], open_game["players"]) == (public_service.game_id, ["rival"])
    public_service.client.post(
        f"/games/{public_service.game_id}/make-private", {"admin_uuid": public_service.rival_secret}
    )
    assert "No public game" in cli("blef", "versus", "--url", url).out


def test_a_missing_list_service_or_strategy_is_reported(
    public_service: SimulatedBlefServer, url: str, cli: Cli
) -> None:
    with pytest.raises(NotFound):
        joinable_public_games(f"{url}/nothing")
    with pytest.raises(Unreachable):
        joinable_public_games("http://127.0.0.1:9")
    assert cli("blef", "bot", "--url", "http://127.0.0.1:9").code == ExitCode.UNREACHABLE
    with pytest.raises(ConfigError, match="Name the game with --game"):
        bot(options=JoinGameOptions(url=url), game=GAME._replace(list_open_games=None))
    result = cli("blef", "bot", "--url", url, "--strategy", "nobody")
    assert (result.code, "nobody" in result.err) == (ExitCode.USAGE, True)
    assert public_service.state()["players"] == [{"nickname": "rival", "n_cards": 0}]


def test_seats_are_taken_one_at_a_time_in_the_chosen_rooms(
    public_service: SimulatedBlefServer,
    url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notices: list[str] = []
    monkeypatch.setattr("cardsharp_tools.cli.game_bot_runner.print_notice", notices.append)
    unrestricted_options = JoinGameOptions(
        url=url, nickname="ours", strategy=BuiltIn("greedy"), concurrency=1
    )

    def raise_unreachable(url: str) -> list[Any]:
        raise Unreachable(f"GET {url}: refused.")

    with run_workers(tmp_path / "log.db", notices.append, 4) as seat_dependencies:
        room_options = replace(unrestricted_options, rooms=(room_number(public_service.game_id),))
        polls = poll_and_join_public_games(
            GAME, room_options, seat_dependencies, joinable_public_games
        )
        other_room_game = create_public_game(public_service, "ann")
        next(polls)
        next(polls)
        assert [line.split()[1].rstrip(",.") for line in notices] == [public_service.game_id]
        wait_until(lambda: public_service.play_rival() == "Finished")
        wait_until(lambda: next(polls) or "We have" in capsys.readouterr().out)
        unrestricted_polls = poll_and_join_public_games(
            GAME, unrestricted_options, seat_dependencies, joinable_public_games
        )
        next(unrestricted_polls)
        wait_until(
            lambda: len(public_service.client.get(f"/games/{other_room_game}").json["players"]) == 2
        )
        third_game = create_public_game(public_service, "bob")
        next(unrestricted_polls)
        assert [third_game in line for line in notices] == [False, False]
        next(
            poll_and_join_public_games(
                GAME, unrestricted_options, seat_dependencies, raise_unreachable
            )
        )
    assert notices[2:] == [f"GET {url}: refused. Trying again."]


def test_the_command_joins_open_games_and_reports_their_results(
    public_service: SimulatedBlefServer, url: str
) -> None:
    arguments = ("blef", "bot", "--url", url, "--nickname", "ours", "--strategy", "greedy")
    with start_program(*arguments, "--json") as process:
        wait_until(lambda: public_service.play_rival() == "Finished")
        outcome = json.loads(wait_for_line(process.stdout, public_service.game_id))
    assert outcome["game"] == public_service.game_id
    assert outcome["result"] in {"won", "lost"}


# --- invited -----------------------------------------------------------------------------------


def test_an_invited_bot_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An invited bot plays at a service of `cardsharp blef serve`, and leaves a deleted game."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    games = tmp_path / "games.db"
    with unstarted_game_service(GAME, f"sqlite:{games}") as front, front:
        blef_client = BlefV2Client(front.url)
        game, (ann_uuid,) = blef_client.create_with_players("ann")
        blef_client.get(f"/games/{game}/invite-aiagent", admin_uuid=ann_uuid, agent_name="Porevit")
        with blef_client.watch(game_uuid=game) as feed:
            blef_client.get(f"/games/{game}/start", admin_uuid=ann_uuid)
            state = receive_body(feed)
            # The bot may have moved before the feed sends the first state.
            while not (players := {move["player"] for move in state["history"]}):
                if state["cp_nickname"] == "ann":
                    blef_client.get(f"/games/{game}/play", player_uuid=ann_uuid, action_id=0)
                state = receive_body(feed)
            assert state["hands"] == []
            while "Porevit_(AI)" not in players:
                players = {move["player"] for move in receive_body(feed)["history"]}
        with closing(sqlite3.connect(games)) as file, file:
            file.execute("DELETE FROM documents")
        with closing(SqliteMatchLog(tmp_path / "games.db.bots", SystemClock())) as log:
            wait_until(lambda: not log.running_matches())
