"""The bot's whole path with nothing replaced: HTTP, queue, the functions' own handlers.

And public games, in which it takes seats as they come.
"""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
import support.arena
from support.blef import logged
from support.blef_bot import BlefPlace
from support.bot_events import context, event_of
from support.cli import Cli, clean, line_with, program

import practice.app
import worker.app
from cardsharp.blef.actions import LOST
from cardsharp.blef.bot import SeatOrder
from cardsharp.blef.game import GAME
from cardsharp.blef.records import room_of
from cardsharp.blef.replay import replay
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.memory import named
from cardsharp.cloud.messages import MatchMessage, parse_message
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.switches import Switches
from cardsharp.cloud.vault import sqlite_vault
from cardsharp.errors import ConfigError, Malformed, NotFound, Unreachable
from cardsharp.seats import order_seat
from workbench.blef.bot import public_games
from workbench.cli.bot import PublicSeats, SeatOptions, bot
from workbench.cloud.context import Function
from workbench.cloud.http_front import HttpFront
from workbench.lab.again import TrialPlayer
from workbench.show.exits import Exit
from workbench.stage.ordered import attending, workers
from workbench.stage.serving import TIMEOUT

OUR_GAME = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
GRACE = 60
"""Seconds until a game that does not go on is given up."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[BlefPlace]:
    """A service behind HTTP with one short game, and a rival that starts it and plays."""
    with closing(BlefPlace(tmp_path, SystemClock())) as made:
        yield made


@pytest.fixture
def url(service: BlefPlace) -> Iterator[str]:
    with HttpFront(Function("blef", service.client.api, TIMEOUT)) as front:
        yield front.url


until = partial(support.arena.until, limit=GRACE)


def order(service: BlefPlace, url: str) -> SeatOrder:
    return SeatOrder.parse(
        {"url": url, "game": service.table, "nickname": "ours", "strategy": "greedy"}
    )


def test_a_game_is_played_and_explained_beside_one_that_never_starts(
    service: BlefPlace, url: str, tmp_path: Path
) -> None:
    """One worker for two seats, of which that of a game without a second player comes first."""
    said: list[str] = []
    idle, secret = {**order(service, url).model_dump(), "game": service.client.create()}, uuid4()
    store = tmp_path / "log.db"
    with logged() as log, attending(GAME, idle, store, said.append, at_once=1) as seat:
        offering = seat.places.offering
        until(lambda: (found := offering.log.match(seat.match_id)) and found.rests)
        match_id = order_seat("blef", order(service, url), str(secret), seat.places.vault, offering)
        until(lambda: service.go_on() == "Finished")
        until(lambda: (found := offering.log.match(match_id)) and found.outcome)
        waits, record = offering.log.match(seat.match_id), offering.log.match(match_id)
        moves = offering.log.moves(match_id)
        assert said == []
    assert waits is not None
    assert waits.outcome is None, "it goes on to wait"
    assert record is not None
    steps, played = list(replay(record, moves)), [move.facts or {} for move in moves]
    reasons = [step.ours.reason for step in steps if step.ours is not None]
    assert all(reasons)
    ours = [one for one in played if one.get("player") == "ours" and one["actionId"] != LOST]
    assert len(reasons) == len(ours)
    trial = TrialPlayer(GAME, "greedy")
    again = [one.differs for one in trial.again(trial.asked(record, moves))]
    assert again == [False] * len(ours)
    assert str(secret) not in log.getvalue() + store.read_bytes().decode("latin-1")


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Settings of a worker to whom no arena was named; its queue's name."""
    name = f"blef-{tmp_path.name}"
    for variable in [v for v in os.environ if v.startswith("CARDSHARP_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("CARDSHARP_STORE", f"sqlite:{tmp_path / 'log.db'}")
    monkeypatch.setenv("CARDSHARP_QUEUE", f"memory:{name}")
    monkeypatch.setenv("CARDSHARP_HANDOVER_SECONDS", "1")
    return name


def test_the_functions_order_offer_and_play_a_seat(
    service: BlefPlace, url: str, workplace: str
) -> None:
    """The practice function's event, the message that it sends, the worker's handler."""
    event: dict[str, Any] = {"game": service.table, "url": url, "nickname": "ours"}
    ids = practice.app.handler({**event, "strategy": "greedy"}, context())
    message = named(workplace, SystemClock()).receive(timedelta(0))
    assert message is not None
    assert parse_message(message.body) == MatchMessage(match_id=ids["match_ids"][0], game=GAME.name)
    playing = threading.Thread(
        target=worker.app.handler, args=(event_of(message.body), context(GRACE))
    )
    playing.start()
    until(lambda: service.go_on() == "Finished")
    playing.join(GRACE)
    place = Path(os.environ["CARDSHARP_STORE"].partition(":")[2])
    with closing(SqliteLog(place, SystemClock())) as log:
        record = log.match(ids["match_ids"][0])
    assert record is not None
    assert record.outcome is not None


def test_a_message_of_a_game_that_nobody_plays_is_a_failure_of_its_own(workplace: str) -> None:
    del workplace
    body = MatchMessage(match_id="abc", game="chess").body
    with logged() as log:
        answer = worker.app.handler(event_of(body), context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    assert "No game is called 'chess' here. There are: deadmansdraw, blef" in log.getvalue()


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"game": "not-a-uuid"}, "game: "),
        ({"nickname": "1st"}, "nickname: "),
        ({"nickname": "a" * 33}, "nickname: "),
        ({"url": "http://example.org"}, "url: "),
        ({"url": "ftp://x"}, "url: "),
        ({"player": "x"}, "player: "),
    ],
)
def test_an_order_that_cannot_be_used_is_refused_in_a_sentence(
    changed: dict[str, str], fault: str
) -> None:
    event = {"url": "https://blef.example/v2", "game": OUR_GAME, "nickname": "ours", **changed}
    with pytest.raises(Malformed, match=f"^The seat cannot be taken. {fault}.*[^.]\\.$"):
        SeatOrder.parse(event)


def test_an_order_is_for_the_game_that_it_names_or_whose_keys_it_has() -> None:
    seat = {"game": OUR_GAME, "url": "https://blef.example", "nickname": "ours"}
    ordering = practice.app.ordering
    assert ordering(seat) is ordering({"play": "blef"}) is GAME.order.load()  # type: ignore[union-attr]
    first = ordering({"play": "deadmansdraw"})
    assert all(ordering(event) is first for event in ({}, {"matches": 1}, [], None, "game"))
    with pytest.raises(Malformed, match="Nothing of Euchre can be ordered"):
        ordering({"play": "euchre"})


def test_the_same_order_names_the_same_seat_and_a_paused_bot_takes_none(tmp_path: Path) -> None:
    event = {"url": "https://blef.example/v2/", "game": OUR_GAME, "nickname": "ours"}
    one, two = (SeatOrder.parse(event), SeatOrder.parse({**event, "game": OUR_GAME.upper()}))
    assert one.match_id == two.match_id
    assert SeatOrder.parse({**event, "nickname": "other"}).match_id != one.match_id
    clock = SystemClock()
    log, vault = SqliteLog(tmp_path / "log", clock), sqlite_vault(tmp_path / "log", clock)

    class Paused:
        def read(self) -> Switches:
            return Switches(paused=True)

    offering = Offering(log, named(tmp_path.name, clock), clock, switchboard=Paused())
    with pytest.raises(ConfigError, match="paused"):
        order_seat("blef", one, OUR_GAME, vault, offering)
    assert vault.find(one.match_id) is None
    log.close()
    vault.close()


def test_a_join_that_is_asked_again_is_one_join(service: BlefPlace) -> None:
    """With a uuid of one's own; under another name, or by somebody else, it is refused."""
    path, mine = f"/games/{service.table}/join", OUR_GAME.upper()
    for _ in range(2):
        reply = service.client.post(path, {"nickname": "ours", "player_uuid": mine})
        assert (reply.status, reply.json) == (200, {"player_uuid": OUR_GAME})
    assert len(service.state()["players"]) == 2
    again = service.client.post(path, {"nickname": "other", "player_uuid": mine})
    assert (again.status, again.json) == (409, {"error": "Player UUID already taken"})
    taken = service.client.post(path, {"nickname": "ours"})
    assert (taken.status, taken.json) == (409, {"error": "Nickname already taken"})
    wrong = service.client.post(path, {"nickname": "ours", "player_uuid": "x"})
    assert (wrong.status, wrong.json) == (400, {"error": "Invalid player UUID"})
    service.go_on()
    late = service.client.post(path, {"nickname": "ours", "player_uuid": mine})
    assert late.status == 200, "also after the start, for the answer may have come late"
    assert cast("str", late.json["player_uuid"]) == OUR_GAME


# --- public games ------------------------------------------------------------------------------


@pytest.fixture
def shown(service: BlefPlace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> BlefPlace:
    """The service, where the rival's game is public."""
    clean(monkeypatch, tmp_path)
    publish(service, service.table, service.rival)
    return service


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


def publish(service: BlefPlace, game: str, admin: str) -> None:
    told = service.client.post(f"/games/{game}/make-public", {"admin_uuid": admin})
    assert told.status == 200


def another(service: BlefPlace, *names: str) -> str:
    """One more public game, with these players."""
    game = service.client.create()
    admin, *_ = [service.client.join(game, name) for name in names]
    publish(service, game, admin)
    return game


def test_games_that_can_be_joined_are_listed(shown: BlefPlace, url: str, cli: Cli) -> None:
    full = another(shown, *(f"p{number}" for number in range(8)))
    listed = cli("blef", "versus", "--url", url)
    assert (listed.code, full in listed.out) == (0, False)
    assert f"{shown.table}  room {room_of(shown.table)}  1 of 8: rival" in listed.out
    [found] = cli("blef", "versus", "--url", url, "--json").json()
    assert (found["game"], found["players"]) == (shown.table, ["rival"])
    shown.client.post(f"/games/{shown.table}/make-private", {"admin_uuid": shown.rival})
    assert "No public game" in cli("blef", "versus", "--url", url).out


def test_a_list_that_is_none_and_a_service_that_is_none_are_told(
    shown: BlefPlace, url: str, cli: Cli
) -> None:
    with pytest.raises(NotFound):
        public_games(f"{url}/nothing")
    with pytest.raises(Unreachable):
        public_games("http://127.0.0.1:9")
    assert cli("blef", "bot", "--url", "http://127.0.0.1:9").code == Exit.UNREACHABLE
    with pytest.raises(ConfigError, match="give one by --game"):
        bot(options=SeatOptions(url=url), game=GAME._replace(lobby=None))
    assert shown.state()["players"] == [{"nickname": "rival", "n_cards": 0}]


def test_seats_are_taken_one_after_the_other_in_the_wanted_rooms(
    shown: BlefPlace, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    options = SeatOptions(
        url=url, nickname="ours", strategy="greedy", at_once=1, rooms=(room_of(shown.table),)
    )
    with workers(tmp_path / "log.db", said.append, 4) as places:
        public = PublicSeats(GAME, options, places, public_games, said.append)
        elsewhere = another(shown, "ann")
        public.look()
        public.look()
        assert [line.split()[1].rstrip(",") for line in said] == [shown.table]
        until(lambda: shown.go_on() == "Finished")
        until(lambda: public.look() or "We have" in capsys.readouterr().out)
        wanted = PublicSeats(
            GAME,
            SeatOptions(url=url, nickname="ours", strategy="greedy", at_once=1),
            places,
            public_games,
            said.append,
        )
        wanted.look()
        until(lambda: len(shown.client.get(f"/games/{elsewhere}").json["players"]) == 2)
        third = another(shown, "bob")
        wanted.look()
    assert [third in line for line in said] == [False, False]


def test_the_command_joins_what_comes_and_tells_how_it_ended(shown: BlefPlace, url: str) -> None:
    arguments = ("blef", "bot", "--url", url, "--nickname", "ours", "--strategy", "greedy")
    with program(*arguments, "--json") as process:
        until(lambda: shown.go_on() == "Finished")
        told = json.loads(line_with(process.stdout, shown.table))
    assert told["game"] == shown.table
    assert told["result"] in {"won", "lost"}


@pytest.mark.usefixtures("shown")
def test_a_strategy_that_there_is_not_is_told_before_anybody_waits(url: str, cli: Cli) -> None:
    told = cli("blef", "bot", "--url", url, "--strategy", "nobody")
    assert told.code == Exit.USAGE
    assert "nobody" in told.err


@pytest.mark.usefixtures("shown")
def test_a_bot_goes_on_when_the_list_cannot_be_had_for_a_moment(url: str, tmp_path: Path) -> None:
    said: list[str] = []

    def gone(url: str) -> list[object]:
        raise Unreachable(f"GET {url}: refused.")

    options = SeatOptions(url=url, strategy="greedy")
    with workers(tmp_path / "log.db", said.append, 1) as places:
        PublicSeats(GAME, options, places, gone, said.append).look()  # type: ignore[arg-type]
    assert said == [f"GET {url}: refused. It is asked again."]
