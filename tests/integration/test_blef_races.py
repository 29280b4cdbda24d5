"""Sixteen real clients at once through the handler, on the emulated DynamoDB and on SQLite.

The first is a race that the original loses with two processes: 36 of 179 acknowledged players lost,
a nickname accepted twice in 15 of 30 games. Every change goes the same way; that several documents
change together is in test_keep.py, and that a round is closed in one write in test_blef_faults.py.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.blef import Client, Reply
from support.cloud_benches import environment
from support.cloud_threads import at_once
from support.size import cases

from cardsharp.blef.store import dynamo_games, sqlite_games
from cardsharp.cloud.clock import SystemClock
from workbench.cloud.emulator import Emulator
from workbench.cloud.template import create_table

CLIENTS = 16
GAMES = cases(6, every=30)
"""Trials of each race; 30 repeats what was measured on the original."""


@pytest.fixture(params=["ministack", "sqlite"])
def clients(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Client]]:
    """Return clients of two openings of the same store, as two processes have."""
    clock = SystemClock()
    if request.param == "sqlite":
        files = [sqlite_games(str(tmp_path / "games.db"), clock) for _ in range(2)]
        yield [Client(store, clock) for store in files]
        for file in files:
            file.close()
        return
    emulator: Emulator = request.getfixturevalue("emulator")
    name = create_table(emulator.client("dynamodb"), "blefTable")
    with environment(emulator.environment):
        yield [Client(dynamo_games(name, clock), clock) for _ in range(2)]


def statuses(replies: list[Reply]) -> Counter[int]:
    """How often each status was answered, none of them a failure of ours."""
    counted = Counter(reply.status for reply in replies)
    assert max(counted) < 500, [reply.text for reply in replies if reply.status >= 500]
    return counted


def test_who_was_let_in_is_in_the_game_and_each_nickname_once(clients: list[Client]) -> None:
    """Two ask for each of eight nicknames."""
    for _ in range(GAMES):
        path = f"/games/{clients[0].create()}"
        replies = at_once(
            CLIENTS,
            lambda me, path=path: clients[me % 2].get(f"{path}/join", nickname=f"p{me // 2}"),  # type: ignore[misc]
        )
        counted = statuses(replies)
        assert (counted[200], counted[403] + counted[409]) == (8, 8)
        let_in = [f"p{me // 2}" for me, reply in enumerate(replies) if reply.status == 200]
        state = clients[1].get(path).json
        joined = [player["nickname"] for player in state["players"]]
        assert state["admin_nickname"] == joined[0]
        assert sorted(joined) == sorted({*let_in})
        for uuid in (reply.json["player_uuid"] for reply in replies if reply.status == 200):
            assert clients[0].get(path, player_uuid=uuid).status == 200


def test_nobody_joins_or_shows_a_game_after_its_start(clients: list[Client]) -> None:
    """Whatever the order: who was let in is seated, and the game is as public as was said."""
    for _ in range(GAMES):
        client = clients[0]
        game = client.create()
        admin = client.join(game, "p0")
        client.join(game, "p1")

        def act(me: int, game: str = game, admin: str = admin) -> tuple[str, Reply]:
            deed, query = [
                ("join", {"nickname": f"late{me}"}),
                ("start", {"admin_uuid": admin}),
                ("make-public", {"admin_uuid": admin}),
            ][me % 3]
            return deed, clients[me % 2].get(f"/games/{game}/{deed}", **query)

        done = at_once(9, act)
        statuses([reply for _, reply in done])
        state = client.get(f"/games/{game}").json
        accepted = Counter(deed for deed, reply in done if reply.status in {200, 202})
        assert accepted["start"] == 1
        assert {reply.status for deed, reply in done if deed == "start"} == {202, 403}
        assert len(state["players"]) == 2 + accepted["join"]
        assert sum(player["n_cards"] for player in state["players"]) == len(state["players"])
        assert state["public"] is (accepted["make-public"] > 0)
