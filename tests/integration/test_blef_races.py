"""Sixteen real clients at once through the handler, on the emulated DynamoDB and on SQLite.

The first two are the races that the original loses with two processes: 36 of 179 acknowledged
players lost, a nickname accepted twice in 15 of 30 games, two bets for one turn in 26 of 30.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.blef import Client, Reply, StartedGame
from support.cloud_benches import environment
from support.cloud_threads import at_once
from support.size import cases

from cardsharp.blef.store import dynamo_games, sqlite_games
from cardsharp.cloud.clock import SystemClock
from workbench.cloud.emulator import Emulator
from workbench.cloud.tables import create_table

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


def test_every_player_who_was_let_in_is_in_the_game_and_each_nickname_once(
    clients: list[Client],
) -> None:
    """Two ask for each of eight nicknames."""
    lost = acknowledged = 0
    for _ in range(GAMES):
        game = clients[0].create()
        path = f"/games/{game}/join"
        replies = at_once(
            CLIENTS,
            lambda me, path=path: clients[me % 2].get(path, nickname=f"p{me // 2}"),  # type: ignore[misc]
        )
        counted = statuses(replies)
        assert (counted[200], counted[403] + counted[409]) == (8, 8)
        let_in = [f"p{me // 2}" for me, reply in enumerate(replies) if reply.status == 200]
        uuids = [reply.json["player_uuid"] for reply in replies if reply.status == 200]
        state = clients[1].get(f"/games/{game}").json
        joined = [player["nickname"] for player in state["players"]]
        assert state["admin_nickname"] == joined[0]
        assert len(joined) == len(set(joined)) == 8
        lost += len(set(let_in) - set(joined))
        known = [clients[0].get(f"/games/{game}", player_uuid=uuid).status for uuid in uuids]
        assert known == [200] * 8
        acknowledged += len(let_in)
    assert (acknowledged, lost) == (8 * GAMES, 0)


def test_of_bets_for_one_turn_one_is_accepted(clients: list[Client]) -> None:
    twice = 0
    for _ in range(GAMES):
        table = clients[0].started(3)
        mover = table.state()["cp_nickname"]
        tables = [StartedGame(client, table.game, table.uuids) for client in clients]
        replies = at_once(
            CLIENTS,
            lambda me, tables=tables, mover=mover: tables[me % 2].play(me + 1, mover),  # type: ignore[misc]
        )
        counted = statuses(replies)
        assert counted.keys() <= {200, 400}
        twice += counted[200] != 1
        late = {reply.json["error"] for reply in replies if reply.status == 400}
        assert late == {"The submitted UUID does not match the UUID of the current player"}
        bet = next(me + 1 for me, reply in enumerate(replies) if reply.status == 200)
        assert table.state()["history"] == [{"player": mover, "action_id": bet}]
    assert twice == 0


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


def test_no_reader_sees_a_round_without_the_one_before(clients: list[Client]) -> None:
    """One plays to the end while others read: every new round has its closed predecessor."""
    table = clients[0].started(2)

    def act(me: int) -> int:
        if me == 0:
            table.play_out()
            return 1
        client, looks, status = clients[me % 2], 0, ""
        while status != "Finished":
            state = client.get(f"/games/{table.game}").json
            status = state["status"]
            before = state["round_number"] - 1
            if before:
                past = client.get(f"/games/{table.game}", round=before)
                assert past.status == 200
                assert past.json["history"][-1]["action_id"] == 89
                assert len(past.json["hands"]) == 2
            looks += 1
        return looks

    assert all(at_once(4, act))
