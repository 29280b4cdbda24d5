"""A client of today's generation plays with a bot that it invites, as its app does."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.arena import until
from support.blef_next import Place, heard

from cardsharp.blef.game import GAME
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite import SqliteLog
from workbench.stage.serving import made


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A service as `cardsharp blef serve` has it, with bots to invite, who have left in the end.

    They do when their game is gone.
    """
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    games = tmp_path / "games.db"
    with made(GAME, f"sqlite:{games}") as front, front:
        yield Place(front.url)
        with closing(sqlite3.connect(games)) as file, file:
            file.execute("DELETE FROM documents")
        with closing(SqliteLog(tmp_path / "games.db.bots", SystemClock())) as log:
            until(lambda: not log.running())


def test_an_invited_bot_plays(place: Place) -> None:
    game, (ann,) = place.joined("ann")
    place.get(f"/games/{game}/invite-aiagent", admin_uuid=ann, agent_name="Porevit")
    with place.watch(game_uuid=game) as feed:
        place.get(f"/games/{game}/start", admin_uuid=ann)
        state = heard(feed)
        if state["cp_nickname"] == "ann":
            place.get(f"/games/{game}/play", player_uuid=ann, action_id=0)
            state = heard(feed)
        assert (state["cp_nickname"], state["hands"]) == ("Porevit_(AI)", [])
        assert heard(feed)["history"][-1]["player"] in {"Porevit_(AI)", "ann"}
