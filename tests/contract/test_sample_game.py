"""A whole game in one folder (tests/samples/games/nim), mounted by one line, does what all do.

docs/add-a-game.md walks through the folder.
"""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import cache, reduce
from itertools import product
from operator import xor
from pathlib import Path
from random import Random

import pytest
import requests
from nim.client import NimClient
from nim.position import Position
from nim.rules import State, apply, legal_actions
from nim.strategies import build
from support.cli import Cli, clean
from support.games import NIM

import cardsharp.games
import web.app
from cardsharp.access import Limits
from workbench.cloud.context import Function
from workbench.cloud.http_front import HttpFront

ROOT = Path(__file__).parents[2]
GIT = shutil.which("git") or "git"
SECRET = "00000000-0000-4000-8000-00000000cafe"


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line."""
    monkeypatch.setattr(cardsharp.games, "MOUNTED", (*cardsharp.games.MOUNTED, NIM))


@pytest.fixture
def cli(
    mounted: None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Cli:
    del mounted
    clean(monkeypatch, tmp_path / "data")
    return Cli(capsys)


@pytest.fixture
def url(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """The service of Nim, answered by the function that answers for every game.

    Its handler would read CARDSHARP_GAME at each request, which our bot beside it may not see.
    """
    del cli
    monkeypatch.setenv("NIM_STORE", f"sqlite:{tmp_path / 'nim.db'}")
    handler = web.app.api("nim")
    with HttpFront(Function("web", handler)) as front:
        yield front.url
    web.app.service.cache_clear()
    web.app.api.cache_clear()


def test_no_other_file_knows_the_game() -> None:
    """A fourth game changes one file beside its folder, and in it one line: `MOUNTED`."""
    listed = subprocess.run(  # noqa: S603 - our own files
        [GIT, "ls-files", "layers", "functions", "workbench", "template.yaml", "Makefile"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".yaml", ""} and path.is_file():
            assert not re.search(r"\bnim\b", path.read_text("utf-8").lower()), name


def test_the_page_that_explains_it_shows_what_is_there() -> None:
    """Every piece of code on docs/add-a-game.md stands so in the file that it names."""
    page = (ROOT / "docs" / "add-a-game.md").read_text("utf-8")
    assert page.count("\n## ") == 6
    shown = re.findall(r"```python\n# (nim/\S+)\n(.*?)```", page, re.DOTALL)
    assert len(shown) == page.count("```python") > 3
    for name, code in shown:
        assert code in (ROOT / "tests" / "samples" / "games" / name).read_text("utf-8"), name
    folder = ROOT / "tests" / "samples" / "games" / "nim"
    modules = {path.name for path in folder.glob("*.py")}
    for path in folder.rglob("*.py"):  # what the page's first step renames is all there is
        own = re.sub(r'(from |")nim( |\.)', "", path.read_text("utf-8"))
        assert not re.search(r'^ *(import|from) nim|"nim\.', own, re.MULTILINE), path
    assert all(f"`{name}`" in page for name in modules - {"__init__.py", "assembly.py"})


@cache
def always_wins(heaps: tuple[int, ...]) -> bool:
    """Whether the perfect player, who is to act, wins against every reply."""
    if not any(heaps):
        return False
    state = apply(State(heaps), build("perfect", Random(0)).decide(Position(heaps, 0, 1)).action)
    replies = (apply(state, action).heaps for action in legal_actions(state.heaps))
    return not any(state.heaps) or all(map(always_wins, replies))


def test_the_perfect_player_wins_from_every_position_that_can_be_won() -> None:
    """All of up to three heaps of five: won by whoever acts unless the nim-sum is 0 (Bouton)."""
    for heaps in product(range(6), repeat=3):
        if any(heaps):
            assert always_wins(heaps) is bool(reduce(xor, heaps)), heaps


def test_it_is_in_the_list_of_commands_and_has_those_of_every_game(cli: Cli) -> None:
    assert "Nim, a sample of a whole game." in cli("--help").out
    said = cli("nim", "--help").out
    assert all(
        f" {name} " in said
        for name in ("bot", "duel", "serve", "show", "strategies", "watch", "why")
    )
    assert cli("nim", "strategies", "--json").json() == ["perfect", "random"]


def test_it_is_duelled(cli: Cli) -> None:
    duel = ("perfect", "random", "--pairs", "20", "--workers", "1", "--json")
    for command in (("lab", "duel", *duel, "--game", "nim"), ("nim", "duel", *duel)):
        assert cli(*command).json()["points"] > 80


class Rival(threading.Thread):
    """Somebody else's client, who takes the second seat."""

    def __init__(self, url: str, game: str) -> None:
        super().__init__(daemon=True)
        self._client, self._game = NimClient(url, Limits()), game
        self._pause = threading.Event()

    def run(self) -> None:
        """Play by chance until somebody has won."""
        player = build("random", Random(1))
        with self._client as client:
            while (seen := client.look(self._game)).winner is None:
                if len(seen.names) == 1:
                    client.join(self._game, "bob", SECRET)
                elif seen.turn == 1:
                    position = Position(tuple(seen.heaps), 1, 1)
                    action = player.decide(position).action
                    client.act(self._game, SECRET, len(seen.moves), action)
                self._pause.wait(0.02)


def test_it_is_served_attended_shown_and_explained(cli: Cli, url: str) -> None:
    """Through queue, worker and match log, against somebody else, and won as it must be."""
    heaps = {"heaps": [3, 4, 5]}
    game = requests.post(f"{url}/create", json=heaps, timeout=10).json()["game"]
    rival = Rival(url, game)
    rival.start()
    said = cli("nim", "bot", "--url", url, "--game", game, "--nickname", "ann", "--json")
    assert said.code == 0, said.err
    rival.join(10)
    told = [line for line in said.out.splitlines() if line]
    [match] = cli("matches", "--json").json()
    assert match["header"]["game"] == "nim"
    assert match["outcome"]["result"] == "won"
    shown = cli("show", "last", "--json").json()
    assert len(shown["steps"]) == match["outcome"]["turns"] == len(told)
    assert shown["steps"][0]["decision"]["action"] == "2 from heap 1"
    assert shown["steps"][-1]["state"] == {"heaps": [0, 0, 0]}
    assert "bob takes " in cli("nim", "show").out
    why = cli("why", "last", "1").out
    assert "leaves a nim-sum of 0" in why
    assert "heaps  [3, 4, 5]" in why
    assert cli("why", "last", "2").err.startswith("cardsharp: Turn 2 was not decided by us")


def test_the_service_is_served_from_the_command_line_and_says_what_it_is(url: str) -> None:
    document = requests.get(f"{url}/openapi.json", timeout=10).json()
    assert document["info"]["title"] == "Nim"
    assert {"/create", "/game", "/join", "/act"} <= set(document["paths"])
