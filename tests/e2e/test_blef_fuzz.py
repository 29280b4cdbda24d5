"""Whatever is asked, in or out of the document: no failure, and no answer outside the document."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from support.blef import Client, StartedGame
from support.cloud_clock import FakeClock
from support.fuzzing import operations
from support.size import cases

from cardsharp.blef.assembly import SERVICE
from cardsharp.blef.sqlite import SqliteGames
from cardsharp.cloud.sqlite_file import MEMORY
from workbench.cloud.context import Function
from workbench.cloud.http_front import HttpFront
from workbench.stage.serving import TIMEOUT

CASES = cases(8, every=500)
"""For each operation."""

KNOWN = 0.7
"""How often a uuid that somebody made up gives way to one that exists."""


class World:
    """Games of every status behind a front; the clock stands still, so that no poll takes long."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.client = Client(SqliteGames(MEMORY, self.clock), self.clock)
        self.tables: list[StartedGame] = []
        self.renew()

    def renew(self) -> None:
        """Have a game in every status; whatever was made of the old ones stays too."""
        waiting = self.client.create()
        uuids = {name: self.client.join(waiting, name) for name in ("p0", "p1")}
        finished = self.client.started()
        finished.play_out()
        self.tables = [
            StartedGame(self.client, waiting, uuids),
            self.client.started(),
            self.client.started(3),
            finished,
        ]

    def make_real(self, case: Any, chance: random.Random) -> None:  # noqa: ANN401 - schemathesis
        """Put what exists in the place of made-up uuids, often but not always."""
        table = chance.choice(self.tables)
        if "game_uuid" in (case.path_parameters or {}) and chance.random() < KNOWN:
            case.path_parameters["game_uuid"] = table.game
        bodies = [case.query, case.body]
        for given in (one for one in bodies if isinstance(one, dict)):
            for name in ("player_uuid", "admin_uuid"):
                if name in given and chance.random() < KNOWN:
                    given[name] = chance.choice(list(table.uuids.values()))


@pytest.fixture(scope="module")
def world() -> World:
    return World()


@pytest.fixture(scope="module")
def url(world: World) -> Iterator[str]:
    with HttpFront(Function("blef", world.client.api, TIMEOUT), clock=world.clock) as front:
        yield front.url


each_operation, each_of_today = map(operations, SERVICE.documents().values())
CHECKS = [
    getattr(schemathesis.checks, name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    )
]


tried = settings(
    max_examples=CASES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@each_operation
@tried
def test_every_answer_is_in_the_document(case: Any, world: World, url: str) -> None:  # noqa: ANN401 - the same
    hold(case, world, url)


@each_of_today
@tried
def test_every_answer_of_today_is_in_its_document(case: Any, world: World, url: str) -> None:  # noqa: ANN401 - the same
    hold(case, world, url)


def hold(case: Any, world: World, url: str) -> None:  # noqa: ANN401 - the same
    """Ask, with what exists in the place of most that is made up, and look at the answer."""
    chance = random.Random(repr((case.path_parameters, case.query, case.body)))
    world.make_real(case, chance)
    if chance.random() < 0.02:
        world.renew()
    case.call_and_validate(base_url=url, checks=CHECKS)
