"""Tests that faults at the Blef service's storage calls neither lose nor double operations."""

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
    BlefResponse,
    RecordedRandomness,
    StartedBlefGame,
)
from support.case_counts import case_count
from support.store_fixtures import FakeClock

from cardsharp.games.blef.cards import DECK
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.template_files import create_table

CALLS_BY_OPERATION = {
    "bet": ["get_item", "update_item"],
    "check": ["get_item", "transact_write_items"],
    "last check": ["get_item", "transact_write_items"],
    "join": ["get_item", "update_item"],
    "start": ["get_item", "transact_write_items"],
    "create": ["query", "transact_write_items"],
}
"""The storage calls of each deed, within a minute of the change before."""

INVISIBLE_FAULTS = {
    FaultKind.REQUEST_LOST,
    FaultKind.RESPONSE_LOST,
    FaultKind.THROTTLED,
    FaultKind.CONFLICT,
}
"""Faults that no client is to notice."""

FAULT_POINTS = [
    (operation, call_index)
    for operation, calls in CALLS_BY_OPERATION.items()
    for call_index in range(len(calls))
]
SAMPLED = [
    (*operation_and_call, fault)
    for point_index, operation_and_call in enumerate(FAULT_POINTS)
    for fault in sorted({*CRASHES, *INVISIBLE_FAULTS})[
        point_index % case_count(3, full=1) :: case_count(3, full=1)
    ]
]
"""In the sample each point suffers a third of the faults; its neighbours have the others."""


def fixed_randomness() -> RecordedRandomness:
    """Return randomness with the same uuids, seats and hands each time."""
    randomness = RecordedRandomness(lambda index: DECK[:index])
    randomness.uuids = [str(UUID(int=(4 << 76 | 8 << 60) + index)) for index in range(20)]
    randomness.orders = {2: (0, 1)}
    return randomness


@pytest.fixture(autouse=True)
def _without_waiting() -> Iterator[None]:
    """Retry without pauses, as often as in production."""
    with stamina.set_testing(testing=True, attempts=5):
        yield


@dataclass(frozen=True)
class OperationSetup:
    """Game in which an operation comes next, and clients with and without a fault."""

    game: StartedBlefGame
    dynamodb: Any
    table_name: str

    def client_with_fault(
        self, fault: FaultKind | None = None, call_index: int = 0
    ) -> tuple[BlefHandlerClient, FaultPlan]:
        """Return the client of a fresh process, with the fault at its storage call `at`."""
        plan = FaultPlan(VirtualClock(), {} if fault is None else {call_index: fault})
        client, faulty = (
            self.game.client,
            FaultInjector(self.dynamodb, plan, AWS_REQUESTS, AWS_ERRORS),
        )
        store = GAME_STORE_FACTORY.open_dynamodb_store(self.table_name, client.clock, faulty)  # type: ignore[arg-type]
        return BlefHandlerClient(store, client.clock, client.chance), plan

    def run_operation(self, client: BlefHandlerClient, operation: str) -> BlefResponse:
        """Run the operation as its player would, given the current state."""
        path, uuids = f"/games/{self.game.game_id}", self.game.uuids
        if operation == "create":
            return client.get("/games/create")
        if operation == "join":
            return client.get(f"{path}/join", nickname="carol")
        if operation == "start":
            return client.get(f"{path}/start", admin_uuid=uuids["p0"])
        player_uuid = uuids[self.game.state()["cp_nickname"]]
        action = 5 if operation == "bet" else 88
        return client.get(f"{path}/play", player_uuid=player_uuid, action_id=action)

    def visible_state(self) -> list[object]:
        """Return the game, its version, its rounds with all hands, and the other games."""
        client, path = self.game.client, f"/games/{self.game.game_id}"
        response = client.get(path)
        rounds = [client.get(path, round=number).text for number in range(1, 4)]
        return [
            response.text,
            response.headers["Game-Version"],
            *rounds,
            client.get("/games/active").text,
        ]


@pytest.fixture(scope="module")
def dynamodb(emulator: Emulator) -> Any:  # noqa: ANN401 - boto3
    return emulator.client("dynamodb")


def prepare_operation(dynamodb: Any, operation: str) -> OperationSetup:  # noqa: ANN401 - boto3
    """Create a game in a new table, and play it until the operation comes next."""
    name, clock = create_table(dynamodb, "BlefTable"), FakeClock()
    # The clock stands still, so that no deed falls into another minute than the one before.
    client = BlefHandlerClient(
        GAME_STORE_FACTORY.open_dynamodb_store(name, clock, dynamodb), clock, fixed_randomness()
    )
    table = (
        client.create_with_players()
        if operation in {"join", "start"}
        else client.create_and_start()
    )
    if operation == "last check":
        saved = client.store.read(table.game_id)
        hands = (DECK[:11], DECK[12:13])  # one more is too many
        current_round = replace(saved.game.round, n_cards=(11, 1), hands=hands, turn=0)
        client.store.write(saved, replace(saved.game, round=current_round))
    if "check" in operation:
        assert table.play(87).status == 200
    return OperationSetup(table, dynamodb, name)


@pytest.fixture(scope="module")
def states_by_operation(dynamodb: Any) -> dict[str, list[object]]:  # noqa: ANN401 - boto3
    """Return the state that each operation without a fault leads to; check its storage calls."""
    states = {}
    for operation, calls in CALLS_BY_OPERATION.items():
        setup = prepare_operation(dynamodb, operation)
        initial_state = setup.visible_state()
        client, plan = setup.client_with_fault()
        assert setup.run_operation(client, operation).status in {200, 202}
        assert plan.steps == calls
        states[operation] = setup.visible_state()
        assert states[operation] != initial_state
    return states


@pytest.mark.parametrize(("operation", "call_index", "fault"), SAMPLED)
def test_an_operation_under_a_fault_is_done_exactly_once(
    dynamodb: object,
    states_by_operation: dict[str, list[object]],
    operation: str,
    call_index: int,
    fault: FaultKind,
) -> None:
    """A client without a response reads the game, and repeats the operation if needed."""
    setup = prepare_operation(dynamodb, operation)
    initial_state = setup.visible_state()
    client, _ = setup.client_with_fault(fault, call_index)
    if fault in CRASHES:
        with pytest.raises(Crash):
            setup.run_operation(client, operation)
        is_executed = (call_index, fault) == (1, FaultKind.CRASH_AFTER)
        assert setup.visible_state() == (
            states_by_operation[operation] if is_executed else initial_state
        )
        client, _ = setup.client_with_fault()
        if is_executed:
            return
    reply = setup.run_operation(client, operation)
    assert reply.status in {200, 202}, reply.text
    assert setup.visible_state() == states_by_operation[operation]
    if operation == "join":
        response = client.get(f"/games/{setup.game.game_id}", **reply.json)
        assert response.status == 200, "the uuid that was given is a player's"


def test_a_missing_store_is_a_503_and_changes_nothing(dynamodb: Any) -> None:  # noqa: ANN401
    setup = prepare_operation(dynamodb, "bet")
    initial_state, clock = setup.visible_state(), setup.game.client.clock
    client = BlefHandlerClient(
        GAME_STORE_FACTORY.open_dynamodb_store("no-such-table", clock, dynamodb), clock
    )
    assert setup.run_operation(client, "bet").status == 503
    assert client.get("/games").status == 503
    assert setup.visible_state() == initial_state
