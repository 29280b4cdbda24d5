"""Whole games over HTTP, through the local front."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

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
