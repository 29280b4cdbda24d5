"""A fault before or after any storage call of a turn loses nothing and doubles nothing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import stamina
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError
from support.blef import Client, Reply, StartedGame
from support.cloud_clock import FakeClock

from cardsharp.blef import dynamodb
from cardsharp.blef.cards import DECK
from cardsharp.blef.dynamodb import DynamoGames
from workbench.cloud.emulator import Emulator
from workbench.cloud.tables import create_table

CALLS = {
    "bet": ["get_item", "update_item"],
    "check": ["get_item", "transact_write_items"],
    "last check": ["get_item", "transact_write_items"],
    "join": ["get_item", "update_item"],
    "start": ["get_item", "transact_write_items"],
    "create": ["query", "transact_write_items"],
}
"""The storage calls of each deed, within a minute of the change before."""

POINTS = [(deed, at + 1) for deed, calls in CALLS.items() for at in range(len(calls))]


class Killed(BaseException):
    """The process ends here: no handler of errors sees it, as none sees a kill."""


def refused(code: str, *reasons: str) -> ClientError:
    error = ClientError({"Error": {"Code": code, "Message": code}}, "Operation")
    if reasons:
        error.response["CancellationReasons"] = [{"Code": reason} for reason in reasons]
    return error


DEATHS = {"killed before": Killed(), "killed after": Killed()}
"""Faults that nobody answers."""

TROUBLES = {
    "request lost": ConnectionClosedError(endpoint_url="http://nowhere"),
    "answer lost": ReadTimeoutError(endpoint_url="http://nowhere"),
    "throttled": refused("ProvisionedThroughputExceededException"),
    "in conflict": refused("TransactionCanceledException", "TransactionConflict", "None"),
}
"""Faults that pass, and that no client is to notice."""

AFTERWARDS = {"killed after", "answer lost"}
"""Faults before which the request is carried out."""


class FaultyClient:
    """A DynamoDB client that does as it is asked, but for one call of the given number."""

    def __init__(self, client: Any, fault: str = "", at: int = 0) -> None:  # noqa: ANN401 - boto3
        self._client = client
        self._fault = fault
        self._at = at
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        request = getattr(self._client, name)

        def call(**asked: Any) -> object:  # noqa: ANN401 - any request
            self.calls.append(name)
            fault = self._fault if len(self.calls) == self._at else ""
            answer = request(**asked) if not fault or fault in AFTERWARDS else None
            if fault:
                raise {**DEATHS, **TROUBLES}[fault]
            return answer

        return call


@pytest.fixture(autouse=True)
def _without_waiting() -> Iterator[None]:
    """Try again at once, and as often as in earnest."""
    with stamina.set_testing(testing=True, attempts=5):
        yield


@dataclass(frozen=True)
class Scene:
    """A game in which a deed is about to be done, and clients with and without a fault."""

    table: StartedGame
    raw: Any
    name: str
    clock: FakeClock

    def service(self, fault: str = "", at: int = 0) -> tuple[Client, FaultyClient]:
        """Return the client of a fresh process, the fault at its storage call `at`."""
        faulty = FaultyClient(self.raw, fault, at)
        store = DynamoGames(self.name, self.clock, faulty)  # type: ignore[arg-type]
        return Client(store, self.clock), faulty

    def items(self) -> list[dict[str, Any]]:
        """Return everything in the table."""
        found: list[dict[str, Any]] = self.raw.scan(TableName=self.name)["Items"]
        return found


@pytest.fixture
def scene(emulator: Emulator) -> Scene:
    raw = emulator.client("dynamodb")
    name = create_table(raw, "blefTable")
    # It stands still, so that no deed falls into another minute than the one before.
    clock = FakeClock()
    return Scene(Client(DynamoGames(name, clock, raw), clock).started(), raw, name, clock)


def nearly_finish(scene: Scene) -> None:
    """Give the player to move so many cards that one more is too many."""
    store = scene.table.client.store
    saved = store.read(scene.table.game)
    assert saved is not None
    assert saved.game.round is not None
    hands = (DECK[:11], DECK[12:13])
    live = replace(saved.game.round, n_cards=(11, 1), hands=hands, turn=0)
    store.write(saved, replace(saved.game, round=live))


def set_up(scene: Scene, deed: str) -> Scene:
    """Bring the game to where the deed is next."""
    if deed == "check":
        assert scene.table.play(87).status == 200
    elif deed == "last check":
        nearly_finish(scene)
        assert scene.table.play(87).status == 200
    elif deed in {"join", "start"}:
        client = scene.table.client
        game = client.create()
        uuids = {name: client.join(game, name) for name in ("ann", "bob")}
        return replace(scene, table=StartedGame(client, game, uuids))
    return scene


def do(scene: Scene, client: Client, deed: str) -> Reply:
    """Do the deed as its player would, by what is seen now."""
    game, uuids = scene.table.game, scene.table.uuids
    if deed == "create":
        return client.get("/games/create")
    if deed == "join":
        return client.get(f"/games/{game}/join", nickname="carol")
    if deed == "start":
        return client.get(f"/games/{game}/start", admin_uuid=uuids["ann"])
    action = {"bet": 5}.get(deed, 88)
    mover = uuids[scene.table.state()["cp_nickname"]]
    return client.get(f"/games/{game}/play", player_uuid=mover, action_id=action)


def is_done(scene: Scene, deed: str, before: dict[str, Any]) -> bool:
    """Whether the deed shows, and that it shows once and as a whole."""
    state = scene.table.state()
    if state == before:
        return False
    if deed == "join":
        assert [one["nickname"] for one in state["players"]] == ["ann", "bob", "carol"]
    elif deed == "start":
        assert (state["status"], state["round_number"]) == ("Running", 1)
    elif deed == "bet":
        assert [move["action_id"] for move in state["history"]] == [5]
    else:
        check_closed(scene, deed, before, state)
    return True


def check_closed(scene: Scene, deed: str, before: dict[str, Any], state: dict[str, Any]) -> None:
    """One round was closed, and only one."""
    finished = deed == "last check"
    assert state["status"] == ("Finished" if finished else "Running")
    assert state["round_number"] == before["round_number"] + (not finished)
    closed = scene.table.state(round=before["round_number"])
    assert [move["action_id"] for move in closed["history"]] == [87, 88, 89]
    rounds = [item for item in scene.items() if item["sk"]["S"].startswith("round#")]
    assert len(rounds) == before["round_number"]


def version(scene: Scene) -> int:
    reply = scene.table.client.get(f"/games/{scene.table.game}")
    return int(reply.headers["Game-Version"])


@pytest.mark.parametrize("deed", list(CALLS))
def test_the_storage_calls_of_a_deed_are_those_that_are_tried(scene: Scene, deed: str) -> None:
    scene = set_up(scene, deed)
    client, counted = scene.service()
    assert do(scene, client, deed).status in {200, 202}
    assert counted.calls == CALLS[deed]


@pytest.mark.parametrize("fault", list(TROUBLES))
@pytest.mark.parametrize(("deed", "at"), POINTS)
def test_a_trouble_that_passes_is_not_noticed(scene: Scene, deed: str, at: int, fault: str) -> None:
    scene = set_up(scene, deed)
    before, earlier = scene.table.state(), version(scene)
    client, _ = scene.service(fault, at)
    reply = do(scene, client, deed)
    assert reply.status in {200, 202}, reply.text
    if deed == "create":
        assert client.get(f"/games/{reply.json['game_uuid']}").status == 200
        assert scene.table.client.get("/games/active").json == {"active_games": 2}
        return
    assert is_done(scene, deed, before)
    assert version(scene) == earlier + 1
    if deed == "join":
        seen = client.get(f"/games/{scene.table.game}", **reply.json)
        assert seen.status == 200, "the uuid that was given is a player's"


@pytest.mark.parametrize("fault", list(DEATHS))
@pytest.mark.parametrize(("deed", "at"), [point for point in POINTS if point[0] != "create"])
def test_a_deed_that_is_cut_off_is_done_as_a_whole_or_not_at_all(
    scene: Scene, deed: str, at: int, fault: str
) -> None:
    """Whoever got no answer looks, and does it again if it is not done: then it is done once."""
    scene = set_up(scene, deed)
    before, earlier = scene.table.state(), version(scene)
    client, _ = scene.service(fault, at)
    with pytest.raises(Killed):
        do(scene, client, deed)
    done = is_done(scene, deed, before)
    assert done is ((at, fault) == (2, "killed after"))
    if not done:
        assert do(scene, scene.service()[0], deed).status in {200, 202}
    assert is_done(scene, deed, before)
    assert version(scene) == earlier + 1


def test_a_store_that_stays_away_is_a_503_and_changes_nothing(scene: Scene) -> None:
    before = scene.table.state()
    client = Client(DynamoGames("no-such-table", scene.clock, scene.raw), scene.clock)
    assert do(scene, client, "bet").status == 503
    assert client.get("/games").status == 503
    assert scene.table.state() == before


def test_without_receipts_a_lost_answer_would_lock_a_player_out(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guard of this file: the faults do find a store that does not know its own writes."""
    monkeypatch.setattr(dynamodb, "_receipts", lambda _item: ())
    scene = set_up(scene, "join")
    client, _ = scene.service("answer lost", 2)
    assert do(scene, client, "join").status == 409
