"""Today's generation of Blef's API beside version 2.3: the same games in other words."""

from typing import Any

import pytest
from support.blef import Client
from support.blef_next import next_client
from support.bot_events import context

from cardsharp.blef.assembly import NEXT, SERVICE
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import ConfigError, Conflict
from workbench.cloud.http_events import WireRequest, http_event, read_answer


@pytest.fixture
def client() -> Client:
    return next_client()


def test_a_start_hides_a_game_here_and_does_not_in_version_2_3(client: Client) -> None:
    for prefix, left in (("", "false"), ("/v2", "true")):
        game = client.create()
        ann, _ = client.join(game, "ann"), client.join(game, "bob")
        client.get(f"/games/{game}/make-public", admin_uuid=ann)
        assert [one["game_uuid"] for one in client.get("/games").json] == [game]
        client.get(f"{prefix}/games/{game}/start", admin_uuid=ann)
        assert client.get(f"/games/{game}").json["public"] == left
        assert client.get("/games").json == [], "a started game cannot be joined"


def test_every_state_is_newer_than_the_one_before_however_fast_they_come(
    client: Client,
) -> None:
    """The clock stands still: iOS leaves out what is not newer than what it shows."""
    table = client.started()
    moments = [table.state()["last_modified"]]
    for action in (3, 88, 4):
        moments.append(table.play(action).json["last_modified"])
        moments.append(table.state()["last_modified"])
    bet, live, check, next_round, *rest = moments[1:]
    assert bet == live, "the answer to a bet is the state that follows"
    assert moments[0] < bet < check < next_round < rest[0] == rest[1]


def test_one_caller_invites_only_so_many_bots(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each counts once, however often others come in between; a refused one not at all."""
    monkeypatch.setattr("cardsharp.blef.service.MAX_INVITED", 2)
    game = client.create()
    ann = client.join(game, "ann")
    interrupted, write = [True, True, False, False], client.store.write

    def contended(*args: Any) -> Any:  # noqa: ANN401 - as the store's own
        if interrupted and interrupted.pop(0):
            raise Conflict("somebody joined")
        return write(*args)

    monkeypatch.setattr(client.store, "write", contended)

    def invite(source: str, agent: str = "Dazhbog") -> int:
        target = f"/games/{game}/invite-aiagent?admin_uuid={ann}&agent_name={agent}"
        return client.send(WireRequest("GET", target, source=source)).status

    assert invite("192.0.2.1", "nobody") == 400
    assert [invite("192.0.2.1") for _ in range(3)] == [200, 200, 429]
    assert [invite(other) for other in ("192.0.2.2", "127.0.0.1")] == [200, 200]


def served(**settings: str) -> Any:  # noqa: ANN401 - by path, the status
    """What a deployed service with these settings answers to a GET."""
    handler = SERVICE.build({SERVICE.store: f"sqlite:{MEMORY}", **settings})

    def status(path: str) -> int:
        event = http_event(WireRequest("GET", path), next_client().clock.now())
        return read_answer(handler(event, context())).status

    return status


def test_a_setting_names_the_prefix_under_which_it_is_served() -> None:
    bare = served()
    assert [bare(path) for path in ("/games", "/docs", "/v2/games", "/v2/docs")] == [200] * 4
    assert (bare("/nothing"), bare("/v2/nothing"), bare("/v22/games")) == (404, 404, 404)
    under = served(**{NEXT: "/next/"})
    assert [under(path) for path in ("/next/games", "/v2/games", "/games")] == [200, 200, 404]
    off = served(**{NEXT: "off"})
    assert [off(path) for path in ("/v2/games", "/games", "/docs")] == [200, 404, 404]
    for wrong in ("next", "/v2", "/a b"):
        with pytest.raises(ConfigError, match="BLEF_NEXT must be off or a prefix"):
            served(**{NEXT: wrong})
