"""The bot's whole path with nothing replaced: HTTP, queue, the functions' own handlers."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
from support.blef import Client, logged
from support.blef_bot import SeededChance
from support.bot_events import context, event_of

import practice.app
import worker.app
from cardsharp.blef.actions import CHECK
from cardsharp.blef.cards import DECK, sort_hand
from cardsharp.blef.seat import GAME, SeatOrder, order_seat, parse_order
from cardsharp.blef.sqlite import SqliteGames
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.memory import named
from cardsharp.cloud.messages import MatchMessage, parse_message
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.cloud.sqlite_vault import SqliteVault
from cardsharp.deadmansdraw.arena import ArenaClient
from cardsharp.deadmansdraw.scout import Scout
from cardsharp.errors import ConfigError, Malformed
from workbench.blef.bot import News, attending, in_words
from workbench.blef.home import blef_function
from workbench.cli.blef import show
from workbench.cloud.http_front import HttpFront

OUR_GAME = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
GRACE = 60
"""Seconds until a game that does not go on is given up."""


class Service:
    """A service behind HTTP with one short game, and a rival that starts it and plays."""

    def __init__(self) -> None:
        self.games = SqliteGames(MEMORY, SystemClock())
        self.client = Client(self.games, SystemClock(), SeededChance(4))
        self.game = self.client.create()
        self.rival = self.client.join(self.game, "rival")
        self.moved = threading.Event()

    def state(self) -> Any:  # noqa: ANN401 - JSON
        return self.client.get(f"/games/{self.game}").json

    def go_on(self) -> str:
        """What the rival does next; the game's status."""
        state = self.state()
        if state["status"] == "Not started" and len(state["players"]) > 1:
            self.client.post(f"/games/{self.game}/start", {"admin_uuid": self.rival})
            self._shorten()
        elif state["cp_nickname"] == "rival":
            body = {"player_uuid": self.rival, "action_id": CHECK if state["history"] else 40}
            self.client.post(f"/games/{self.game}/play", body)
        return str(state["status"])

    def _shorten(self) -> None:
        saved = self.games.read(self.game)
        assert saved is not None
        assert saved.game.round is not None
        hands = (sort_hand(DECK[:10]), sort_hand(DECK[10:20]))
        live = replace(saved.game.round, n_cards=(10, 10), hands=hands)
        self.games.write(saved, replace(saved.game, round=live), None)


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.games.close()


@pytest.fixture
def url(service: Service) -> Iterator[str]:
    with HttpFront(blef_function(service.client.api)) as front:
        yield front.url


def until(done: Callable[[], bool]) -> None:
    """Wait for something that other threads or processes bring about."""
    pause, clock = threading.Event(), SystemClock()
    end = clock.monotonic() + GRACE
    while not done():
        assert clock.monotonic() < end, "it took too long"
        pause.wait(0.02)


def order(service: Service, url: str) -> SeatOrder:
    return parse_order({"url": url, "game": service.game, "nickname": "ours", "strategy": "greedy"})


def test_a_game_is_joined_played_and_explained_from_order_to_end(
    service: Service, url: str, tmp_path: Path
) -> None:
    said: list[str] = []
    told: list[Mapping[str, object]] = []
    with logged() as log, attending(order(service, url), tmp_path / "log.db", said.append) as seat:
        news = News(seat.assembly.log, seat.match_id, told.append)
        until(lambda: service.go_on() == "Finished")
        until(news.glance)
        assert seat.is_played
        kept = seat.assembly.vault.find(seat.match_id)
    assert said == []
    winner = next(p["nickname"] for p in service.state()["players"] if p["n_cards"])
    assert told[-1]["result"] == ("won" if winner == "ours" else "lost")
    ours = [one for one in told if one.get("player") == "ours" and one["actionId"] != 89]
    assert ours
    assert all("reason" in one for one in ours)
    assert all(in_words(one) for one in told)
    assert kept is not None
    secret = str(kept["player"])
    assert secret not in log.getvalue() + (tmp_path / "log.db").read_bytes().decode("latin-1")


def test_another_process_takes_a_game_up_where_the_first_was_killed(
    service: Service, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`cardsharp blef bot`, killed without warning once it has joined; the same command again."""
    command = [sys.executable, "-m", "workbench.cli", "blef", "bot", "--url", url, "--game"]
    command += [service.game, "--nickname", "ours", "--data", str(tmp_path / "log.db"), "--json"]
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command, env=environment, stdout=subprocess.PIPE, text=True
        )

    first = start()
    until(lambda: len(service.state()["players"]) == 2)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=GRACE)
    second = start()
    until(lambda: service.go_on() == "Finished")
    out, _ = second.communicate(timeout=GRACE)
    assert second.returncode == 0
    assert len(service.state()["players"]) == 2
    told = [json.loads(line) for line in out.splitlines()]
    assert told[-1]["result"] in {"won", "lost"}
    show("last", store=f"sqlite:{tmp_path / 'log.db'}", as_json=True)
    assert json.loads(capsys.readouterr().out) == told


def test_a_match_of_another_game_is_not_shown_as_blef(tmp_path: Path) -> None:
    with closing(SqliteLog(tmp_path / "log", SystemClock())) as log:
        log.take("m", "ann", timedelta(seconds=1), {"game": "deadmansdraw"})
    with pytest.raises(ConfigError, match="no game of Blef"):
        show(store=f"sqlite:{tmp_path / 'log'}")


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
    service: Service, url: str, workplace: str
) -> None:
    """The practice function's event, the message that it sends, the worker's handler."""
    event: dict[str, Any] = {"game": service.game, "url": url, "nickname": "ours"}
    ids = practice.app.handler({**event, "strategy": "greedy"}, context())
    message = named(workplace, SystemClock()).receive(timedelta(0))
    assert message is not None
    assert parse_message(message.body) == MatchMessage(match_id=ids["match_ids"][0], game=GAME)
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


def test_the_poller_offers_a_seat_whose_worker_died_by_its_game(tmp_path: Path) -> None:
    """The scout of the first game, which looks at every match of the log."""
    clock = SystemClock()
    queue = named(f"scout-{tmp_path.name}", clock)
    with closing(SqliteLog(tmp_path / "log", clock)) as log:
        log.take("abc", "dead", timedelta(microseconds=1), {"game": GAME})
        scout = Scout(cast("ArenaClient", None), log, queue, clock)
        assert scout.offer([]) == 1
    message = queue.receive(timedelta(0))
    assert message is not None
    assert parse_message(message.body) == MatchMessage(match_id="abc", game=GAME)


def test_a_message_of_a_game_that_nobody_plays_is_a_failure_of_its_own(workplace: str) -> None:
    del workplace
    body = MatchMessage(match_id="abc", game="chess").body
    with logged() as log:
        answer = worker.app.handler(event_of(body), context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    assert "No game is called 'chess' here. There are: deadmansdraw, blef." in log.getvalue()


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
    with pytest.raises(Malformed, match=f"^The seat cannot be taken. {fault}"):
        parse_order(event)


def test_only_an_event_with_a_game_orders_a_seat() -> None:
    assert practice.app.orders_seat({"game": OUR_GAME})
    assert not any(map(practice.app.orders_seat, ({}, {"matches": 1}, [], None, "game")))


def test_the_same_order_names_the_same_seat_and_a_paused_bot_takes_none(tmp_path: Path) -> None:
    event = {"url": "https://blef.example/v2/", "game": OUR_GAME, "nickname": "ours"}
    one, two = parse_order(event), parse_order({**event, "game": OUR_GAME.upper()})
    assert one.match_id == two.match_id
    assert parse_order({**event, "nickname": "other"}).match_id != one.match_id
    clock = SystemClock()
    log, vault = SqliteLog(tmp_path / "log", clock), SqliteVault(tmp_path / "log", clock)

    class Paused:
        def is_on(self) -> bool:
            return True

    offering = Offering(log, named(tmp_path.name, clock), clock, pause=Paused())
    with pytest.raises(ConfigError, match="paused"):
        order_seat(one, UUID(OUR_GAME), vault, offering)
    assert vault.find(one.match_id) is None
    log.close()
    vault.close()


def test_a_join_that_is_asked_again_is_one_join(service: Service) -> None:
    """With a uuid of one's own; under another name, or by somebody else, it is refused."""
    path, mine = f"/games/{service.game}/join", OUR_GAME.upper()
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
