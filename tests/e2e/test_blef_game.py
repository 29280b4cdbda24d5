"""Whole games over HTTP, through the local front."""

import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import requests
from support.blef import blef_front

from cardsharp.blef.actions import CHECK
from cardsharp.blef.position import Position
from cardsharp.blef.wire import parse_state, position_in


class Api:
    """The API as a program of today uses it: uuids in bodies, one connection."""

    def __init__(self, url: str) -> None:
        self.url = url if url.endswith("/v2") else f"{url}/v2"
        self.session = requests.Session()

    def post(self, path: str, **body: object) -> Any:  # noqa: ANN401 - whatever JSON came
        answer = self.session.post(f"{self.url}{path}", json=body, timeout=10)
        answer.raise_for_status()
        return answer.json()

    def state(self, game: str, nickname: str, uuid: str) -> Position:
        answer = self.session.get(f"{self.url}/games/{game}", params={"player_uuid": uuid})
        answer.raise_for_status()
        position = position_in(parse_state(answer.text), nickname)
        assert position is not None
        return position


def test_a_random_game_is_played_to_its_end() -> None:
    players, random = 4, Random(4)
    with blef_front() as front, (api := Api(front.url)).session:
        game = api.post("/games/create")["game_uuid"]
        uuids = {
            f"p{seat}": api.post(f"/games/{game}/join", nickname=f"p{seat}")["player_uuid"]
            for seat in range(players)
        }
        api.post(f"/games/{game}/start", admin_uuid=uuids["p0"])
        names = [
            p["nickname"] for p in api.session.get(f"{api.url}/games/{game}").json()["players"]
        ]
        position = api.state(game, names[0], uuids[names[0]])
        while position.turn is not None:
            name = names[position.turn]
            own = api.state(game, name, uuids[name])
            assert len(own.hand) == own.n_cards[position.turn]
            # Checks at once, so that the game is short.
            legal = own.legal_actions()
            action = CHECK if CHECK in legal else random.choice(legal[40:])
            assert api.post(f"/games/{game}/play", player_uuid=uuids[name], action_id=action) == {}
            position = api.state(game, names[0], uuids[names[0]])
        assert sum(n > 0 for n in position.n_cards) == 1
        seen = api.session.get(f"{api.url}/games/{game}", params={"round": position.number}).json()
        assert seen["history"][-1]["action_id"] == 89
        assert api.session.get(f"{api.url}/games/active").json() == {"active_games": 1}


@pytest.mark.slow
def test_a_served_file_keeps_its_games_when_the_server_is_stopped(tmp_path: Path) -> None:
    """Twice the same command: Ctrl-C ends it in peace, and the game goes on afterwards."""
    store = f"sqlite:{tmp_path / 'games.db'}"
    program = (
        "from cardsharp.games import game; from workbench.stage.serving import serve; "
        f"serve(game('blef'), lambda url: print(url, flush=True), {store!r})"
    )
    seen: list[str] = []
    for _ in range(2):
        with subprocess.Popen(  # noqa: S603 - our own interpreter and text
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            api = Api(server.stdout.readline().strip())
            with api.session:
                game = seen[0] if seen else api.post("/games/create")["game_uuid"]
                seen.append(game)
                assert api.session.get(f"{api.url}/games/{game}").json()["round_number"] == 0
            server.send_signal(signal.SIGINT)
            assert server.wait(timeout=20) == 0
