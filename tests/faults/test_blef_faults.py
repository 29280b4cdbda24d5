"""A fault before or after any storage call of a turn loses nothing and doubles nothing."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
import stamina
from fault_simulation.faults import (
    AWS_REQUESTS,
    CRASHES,
    Crash,
    FaultInjector,
    FaultKind,
    FaultPlan,
)
from fault_simulation.stores import AWS_ERRORS
from fault_simulation.virtual_clock import VirtualClock
from support.blef_service import (
    BlefHandlerClient,
    HttpResponse,
    RecordedRandomness,
    StartedBlefGame,
)
from support.case_counts import case_count
from support.store_fixtures import FakeClock

from cardsharp.games.blef.cards import DECK
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.template_files import create_table

CALLS = {
    "bet": ["get_item", "update_item"],
    "check": ["get_item", "transact_write_items"],
    "last check": ["get_item", "transact_write_items"],
    "join": ["get_item", "update_item"],
    "start": ["get_item", "transact_write_items"],
    "create": ["query", "transact_write_items"],
}
"""The storage calls of each deed, within a minute of the change before."""

PASSING = {FaultKind.REQUEST_LOST, FaultKind.RESPONSE_LOST, FaultKind.THROTTLED, FaultKind.CONFLICT}
"""Faults that no client is to notice."""

POINTS = [(deed, at) for deed, calls in CALLS.items() for at in range(len(calls))]
SAMPLED = [
    (*point, fault)
    for place, point in enumerate(POINTS)
    for fault in sorted({*CRASHES, *PASSING})[
        place % case_count(3, full=1) :: case_count(3, full=1)
    ]
]
"""In the sample each point suffers a third of the faults; its neighbours have the others."""


def no_chance() -> RecordedRandomness:
    """The same uuids, seats and hands each time."""
    chance = RecordedRandomness(lambda number: DECK[:number])
    chance.uuids = [str(UUID(int=(4 << 76 | 8 << 60) + number)) for number in range(20)]
    chance.orders = {2: (0, 1)}
    return chance


@pytest.fixture(autouse=True)
def _without_waiting() -> Iterator[None]:
    """Try again at once, and as often as in earnest."""
    with stamina.set_testing(testing=True, attempts=5):
        yield


@dataclass(frozen=True)
class Scene:
    """A game in which a deed is about to be done, and clients with and without a fault."""

    table: StartedBlefGame
    raw: Any
    name: str

    def service(
        self, fault: FaultKind | None = None, at: int = 0
    ) -> tuple[BlefHandlerClient, FaultPlan]:
        """The client of a fresh process, the fault at its storage call `at`."""
        plan = FaultPlan(VirtualClock(), {} if fault is None else {at: fault})
        client, faulty = self.table.client, FaultInjector(self.raw, plan, AWS_REQUESTS, AWS_ERRORS)
        store = GAME_STORE_FACTORY.open_dynamodb_store(self.name, client.clock, faulty)  # type: ignore[arg-type]
        return BlefHandlerClient(store, client.clock, client.chance), plan

    def do(self, client: BlefHandlerClient, deed: str) -> HttpResponse:
        """Do the deed as its player would, by what is seen now."""
        path, uuids = f"/games/{self.table.game}", self.table.uuids
        if deed == "create":
            return client.get("/games/create")
        if deed == "join":
            return client.get(f"{path}/join", nickname="carol")
        if deed == "start":
            return client.get(f"{path}/start", admin_uuid=uuids["p0"])
        mover = uuids[self.table.state()["cp_nickname"]]
        action = 5 if deed == "bet" else 88
        return client.get(f"{path}/play", player_uuid=mover, action_id=action)

    def seen(self) -> list[object]:
        """The game, how often it was changed, its rounds with all hands, and the other games."""
        client, path = self.table.client, f"/games/{self.table.game}"
        response = client.get(path)
        rounds = [client.get(path, round=number).text for number in range(1, 4)]
        return [
            response.text,
            response.headers["Game-Version"],
            *rounds,
            client.get("/games/active").text,
        ]


@pytest.fixture(scope="module")
def raw(emulator: Emulator) -> Any:  # noqa: ANN401 - boto3
    return emulator.client("dynamodb")


def scene_of(raw: Any, deed: str) -> Scene:  # noqa: ANN401 - boto3
    """A game in a new table, brought to where the deed is next."""
    name, clock = create_table(raw, "BlefTable"), FakeClock()
    # The clock stands still, so that no deed falls into another minute than the one before.
    client = BlefHandlerClient(
        GAME_STORE_FACTORY.open_dynamodb_store(name, clock, raw), clock, no_chance()
    )
    table = client.create_with_players() if deed in {"join", "start"} else client.create_and_start()
    if deed == "last check":
        saved = client.store.read(table.game)
        hands = (DECK[:11], DECK[12:13])  # one more is too many
        live = replace(saved.game.round, n_cards=(11, 1), hands=hands, turn=0)
        client.store.write(saved, replace(saved.game, round=live))
    if "check" in deed:
        assert table.play(87).status == 200
    return Scene(table, raw, name)


@pytest.fixture(scope="module")
def done(raw: Any) -> dict[str, list[object]]:  # noqa: ANN401 - boto3
    """Return the state that follows each operation without a fault, and check its storage calls."""
    states = {}
    for deed, calls in CALLS.items():
        scene = scene_of(raw, deed)
        initial_state = scene.seen()
        client, plan = scene.service()
        assert scene.do(client, deed).status in {200, 202}
        assert plan.steps == calls
        states[deed] = scene.seen()
        assert states[deed] != initial_state
    return states


@pytest.mark.parametrize(("deed", "at", "fault"), SAMPLED)
def test_an_operation_under_a_fault_is_done_exactly_once(
    raw: object, done: dict[str, list[object]], deed: str, at: int, fault: FaultKind
) -> None:
    """A client without a response looks at the game, and repeats the operation if need be."""
    scene = scene_of(raw, deed)
    initial_state = scene.seen()
    client, _ = scene.service(fault, at)
    if fault in CRASHES:
        with pytest.raises(Crash):
            scene.do(client, deed)
        carried_out = (at, fault) == (1, FaultKind.CRASH_AFTER)
        assert scene.seen() == (done[deed] if carried_out else initial_state)
        client, _ = scene.service()
        if carried_out:
            return
    reply = scene.do(client, deed)
    assert reply.status in {200, 202}, reply.text
    assert scene.seen() == done[deed]
    if deed == "join":
        seen = client.get(f"/games/{scene.table.game}", **reply.json)
        assert seen.status == 200, "the uuid that was given is a player's"


def test_a_store_that_stays_away_is_a_503_and_changes_nothing(raw: Any) -> None:  # noqa: ANN401
    scene = scene_of(raw, "bet")
    initial_state, clock = scene.seen(), scene.table.client.clock
    client = BlefHandlerClient(
        GAME_STORE_FACTORY.open_dynamodb_store("no-such-table", clock, raw), clock
    )
    assert scene.do(client, "bet").status == 503
    assert client.get("/games").status == 503
    assert scene.seen() == initial_state
