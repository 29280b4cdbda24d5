"""Whatever is asked of a mounted service: never a failure, nor an answer outside its document."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from support.games import GAMES
from support.size import ALL, cases

from cardsharp.game import Game
from cardsharp.web.service import Service
from workbench.euchre.probe import KINDS, met
from workbench.euchre.remote import RemotePlayer
from workbench.stage.serving import made

CASES = cases(8, every=500)
"""For each operation; 500 of all take 10 minutes."""

KNOWN = 0.7
"""How often what is made up gives way to what exists."""

CHECKS = [
    getattr(schemathesis.checks, name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    )
]

SERVED = [
    game
    for game in GAMES
    if game.service is not None
    and isinstance(game.service.load(), Service)
    and (ALL or game.name != "nim")  # one service serves it and Kuhn poker
]


def operations(game: Game) -> Iterator[Any]:
    """Every operation of every document of a game."""
    for name, document in game.service.load().documents().items():
        schema: Any = schemathesis.openapi.from_dict({**document})
        for found in schema.get_all_operations():
            operation = found.ok()
            yield pytest.param(game, operation, id=f"{game.name}{name}-{operation.label}")


Things = dict[str, list[object]]


def of_blef(url: str) -> Things:
    """A game that has not begun, one that runs and one that is over."""
    things: Things = {"game_uuid": [], "player_uuid": []}

    def get(path: str, **query: str | int) -> Any:  # noqa: ANN401 - JSON
        return requests.get(f"{url}/v2/games{path}", params=query, timeout=10).json()

    for begun in (0, 1, 2):
        game = get("/create")["game_uuid"]
        players = [get(f"/{game}/join", nickname=name)["player_uuid"] for name in ("a", "b")]
        things["game_uuid"].append(game)
        things["player_uuid"] += players
        if begun:
            get(f"/{game}/start", admin_uuid=players[0])
        while begun == 2 and get(f"/{game}")["status"] == "Running":
            for action in (87, 88):  # a bet that hardly ever holds, and its check
                for player in players:
                    get(f"/{game}/play", player_uuid=player, action_id=action)
    return {**things, "admin_uuid": things["player_uuid"]}


def of_euchre(url: str) -> Things:
    """Deals that were told up to every kind of decision."""
    tokens: list[object] = []
    for kind in KINDS:
        tokens.append(kind)
        with RemotePlayer(url, kind) as player:
            deal = met(kind, Random(len(tokens)))
            player.begin(deal, frozenset())
            player.end(deal)
    return {"token": tokens, "gameNum": [0], "dealNum": [0]}


def of_any(url: str) -> Things:
    """A game with one player."""
    game = requests.post(f"{url}/create", json={}, timeout=10).json()["game"]
    joined = {"game": game, "name": "ann", "secret": "00000000-0000-4000-8000-00000000cafe"}
    assert requests.post(f"{url}/join", json=joined, timeout=10).status_code == 200
    return {name: [joined[name]] for name in ("game", "secret")}


THERE: dict[str, Callable[[str], Things]] = {"blef": of_blef, "euchre": of_euchre}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Game], tuple[Path, Things]]:
    """What makes, once a game, the file of a service where something is there, and says what."""

    @cache
    def made_once(name: str) -> tuple[Path, Things]:
        file = tmp_path_factory.mktemp(name) / "games.db"
        game = next(one for one in SERVED if one.name == name)
        with made(game, f"sqlite:{file}") as front, front:
            return file, THERE.get(name, of_any)(front.url)

    return lambda game: made_once(game.name)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("game", "operation"), [one for game in SERVED for one in operations(game)]
)
def test_every_answer_is_in_the_document(
    game: Game,
    operation: Any,  # noqa: ANN401 - schemathesis says no more
    begun: Callable[[Game], tuple[Path, Things]],
    tmp_path: Path,
) -> None:
    modes = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)
    file, there = begun(game)
    copytree(file.parent, tmp_path, dirs_exist_ok=True)
    with made(game, f"sqlite:{tmp_path / file.name}") as front, front:

        @settings(
            max_examples=CASES,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=st.one_of(*modes))
        def ask(case: Any) -> None:  # noqa: ANN401 - the same
            chance = Random(repr((case.path_parameters, case.query, case.body)))
            given = (case.path_parameters, case.query, case.body)
            for one in (one for one in given if isinstance(one, dict)):
                one.pop("wait", None)  # long polls by the real clock
                for name in one.keys() & there.keys():
                    if chance.random() < KNOWN:
                        one[name] = chance.choice(there[name])
            case.call_and_validate(base_url=front.url, checks=CHECKS)

        ask()
