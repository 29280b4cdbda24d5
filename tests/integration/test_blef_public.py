"""Public games at a real service: they are listed, and the bot takes seats in them as they come."""

import json
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
import support.arena
from support.blef_bot import BlefPlace
from support.cli import Cli, clean, line_with, program

from cardsharp.blef.game import GAME
from cardsharp.cloud.clock import SystemClock
from cardsharp.errors import ConfigError, NotFound, Unreachable
from workbench.blef.bot import public_games
from workbench.cli.bot import PublicSeats, SeatOptions, bot
from workbench.cloud.context import Function
from workbench.cloud.http_front import HttpFront
from workbench.show.exits import Exit
from workbench.stage.ordered import workers
from workbench.stage.serving import TIMEOUT

until = partial(support.arena.until, limit=60)


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BlefPlace]:
    """A service of both generations; the rival's game is public."""
    clean(monkeypatch, tmp_path)
    with closing(BlefPlace(tmp_path, SystemClock())) as made:
        publish(made, made.table, made.rival)
        yield made


@pytest.fixture
def url(service: BlefPlace) -> Iterator[str]:
    with HttpFront(Function("blef", service.client.api, TIMEOUT)) as front:
        yield front.url


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


def room_of(service: BlefPlace) -> int:
    return service.truth().room


def test_games_that_can_be_joined_are_listed(service: BlefPlace, url: str, cli: Cli) -> None:
    full = another(service, *(f"p{number}" for number in range(8)))
    listed = cli("blef", "versus", "--url", url)
    assert (listed.code, full in listed.out) == (0, False)
    assert f"{service.table}  room {room_of(service)}  1 of 8: rival" in listed.out
    [found] = cli("blef", "versus", "--url", url, "--json").json()
    assert (found["game"], found["players"]) == (service.table, ["rival"])
    service.client.post(f"/games/{service.table}/make-private", {"admin_uuid": service.rival})
    assert "No public game" in cli("blef", "versus", "--url", url).out


def test_a_list_that_is_none_and_a_service_that_is_none_are_told(
    service: BlefPlace, url: str, cli: Cli
) -> None:
    with pytest.raises(NotFound):
        public_games(f"{url}/nothing")
    with pytest.raises(Unreachable):
        public_games("http://127.0.0.1:9")
    assert cli("blef", "bot", "--url", "http://127.0.0.1:9").code == Exit.UNREACHABLE
    with pytest.raises(ConfigError, match="give one by --game"):
        bot(options=SeatOptions(url=url), game=GAME._replace(lobby=None))
    assert service.state()["players"] == [{"nickname": "rival", "n_cards": 0}]


def test_seats_are_taken_one_after_the_other_in_the_wanted_rooms(
    service: BlefPlace, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    options = SeatOptions(
        url=url, nickname="ours", strategy="greedy", at_once=1, rooms=(room_of(service),)
    )
    with workers(tmp_path / "log.db", said.append, 4) as places:
        public = PublicSeats(GAME, options, places, public_games, said.append)
        elsewhere = another(service, "ann")
        public.look()
        public.look()
        assert [line.split()[1].rstrip(",") for line in said] == [service.table]
        until(lambda: service.go_on() == "Finished")
        until(lambda: public.look() or "We have" in capsys.readouterr().out)
        wanted = PublicSeats(
            GAME,
            SeatOptions(url=url, nickname="ours", strategy="greedy", at_once=1),
            places,
            public_games,
            said.append,
        )
        wanted.look()
        until(lambda: len(service.client.get(f"/games/{elsewhere}").json["players"]) == 2)
        third = another(service, "bob")
        wanted.look()
    assert [third in line for line in said] == [False, False]


def test_the_command_joins_what_comes_and_tells_how_it_ended(service: BlefPlace, url: str) -> None:
    arguments = ("blef", "bot", "--url", url, "--nickname", "ours", "--strategy", "greedy")
    with program(*arguments, "--json") as process:
        until(lambda: service.go_on() == "Finished")
        told = json.loads(line_with(process.stdout, service.table))
    assert told["game"] == service.table
    assert told["result"] in {"won", "lost"}


def test_a_strategy_that_there_is_not_is_told_before_anybody_waits(url: str, cli: Cli) -> None:
    told = cli("blef", "bot", "--url", url, "--strategy", "nobody")
    assert told.code == Exit.USAGE
    assert "nobody" in told.err


def test_a_bot_goes_on_when_the_list_cannot_be_had_for_a_moment(url: str, tmp_path: Path) -> None:
    said: list[str] = []

    def gone(url: str) -> list[object]:
        raise Unreachable(f"GET {url}: refused.")

    options = SeatOptions(url=url, strategy="greedy")
    with workers(tmp_path / "log.db", said.append, 1) as places:
        PublicSeats(GAME, options, places, gone, said.append).look()  # type: ignore[arg-type]
    assert said == [f"GET {url}: refused. It is asked again."]
