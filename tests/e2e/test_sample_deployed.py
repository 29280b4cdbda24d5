"""A game from its rules alone is deployed by one parameter, and played over its HTTP API."""

import shutil
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from support.aws_build import native_build

from cardsharp.access import Limits
from cardsharp.host.bot import HostClient
from workbench.build.artifacts import Build
from workbench.build.deploy import STACK_SERVICES, deploy
from workbench.build.target import native_architecture
from workbench.cloud.emulator import Emulator
from workbench.operate.stack import find_stack

KUHN = Path(__file__).parents[1] / "samples" / "games" / "kuhn"
SECRETS = {name: f"00000000-0000-4000-8000-00000000{name}" for name in ("cafe", "beef")}

MINUTE = timedelta(minutes=1)
PATIENT = Limits(read=MINUTE, act=MINUTE, total=2 * MINUTE)
"""A function of the emulator may take long to start."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]


def with_kuhn(built: Build, folder: Path) -> Build:
    """The same build with the folder of Kuhn poker in its library, mounted by one line."""
    shutil.copytree(built.folder, folder)
    for games in folder.rglob("cardsharp/games.py"):
        text = games.read_text("utf-8")
        line = '    "cardsharp.euchre.game:GAME",\n'
        assert line in text
        games.write_text(text.replace(line, f'{line}    "kuhn.game:GAME",\n'), "utf-8")
        for compiled in games.parent.glob("__pycache__/games.*"):
            compiled.unlink()  # it is not held against its source any more
        shutil.copytree(KUHN, games.parents[1] / "kuhn")
    return Build(folder)


def play(url: str, game: str, name: str, seen: dict[str, Any]) -> None:
    """Join, do the first that one may until the end, and note all that was seen."""
    with HostClient(url, PATIENT) as client:
        client.join(game, f"player-{name}", SECRETS[name])
        seen[name] = [client.look(game, SECRETS[name])]
        while seen[name][-1].gains is None:
            if seen[name][-1].options:
                client.act(game, SECRETS[name], seen[name][-1].count, seen[name][-1].options[0])
            known = seen[name][-1].count
            seen[name].append(client.look(game, SECRETS[name], known, wait=True))


def test_kuhn_poker_is_deployed_by_a_parameter_and_played_by_two_over_http(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    built = with_kuhn(native_build(tmp_path_factory), tmp_path / "built")
    with Emulator(STACK_SERVICES) as emulator:
        given = {"ArenaUrl": "https://arena.example", "Architecture": native_architecture()}
        deploy(emulator, built, "cardsharp-kuhn", {**given, "Watch": "alarms", "Game": "kuhn"})
        place = find_stack("cardsharp-kuhn", emulator.client).output("gameUrl")
        name = urlsplit(place).netloc.partition(".")[0]
        url = f"{emulator.endpoint}/_aws/execute-api/{name}/$default"
        game = requests.post(f"{url}/create", json={}, timeout=30).json()["game"]
        seen: dict[str, Any] = {}
        players = [Thread(target=play, args=(url, game, one, seen)) for one in SECRETS]
        for player in players:
            player.start()
        for player in players:
            player.join(300)
    ends = [views[-1] for views in seen.values()]
    assert len(ends) == 2
    assert ends[0].gains == ends[1].gains in ([1, -1], [-1, 1])
    for views in seen.values():
        cards = {view.position["card"] for view in views if view.gains is None}
        assert len(cards) == 1, "each saw its own card, and no other before the end"
