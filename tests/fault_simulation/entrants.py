"""Entrants of a simulated contest: teams that the director plays, and good and bad programs."""

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, cycle, islice
from pathlib import Path
from random import Random
from types import SimpleNamespace

import requests
from support import third_party_clients
from urllib3.util import Timeout

from cardsharp.core.credentials import Credentials
from cardsharp.errors import ConfigError
from cardsharp_tools.executors.sandbox import check_sandbox
from cardsharp_tools.executors.strategy_reference import SANDBOXED
from fault_simulation.arena_network import ArenaNetwork, RandomFaultPlan
from fault_simulation.scheduler import Process
from fault_simulation.simulated_arena import URL
from fault_simulation.simulation import FaultSimulation

STARTER = Path(__file__).parents[2] / "starters/arena/python/bot.py"
RESPONSE_TIMEOUT_SECONDS = 60  # seconds that a stranger waits for an answer
SLOW_FACTOR, SLOW_SHARE = 1.3, 0.1  # so many limits a slow team thinks now and then, and how often


@dataclass(frozen=True, slots=True)
class EntrantKind:
    """Kind of entrant: a `strategy` that the director plays, our own `bot`, or a program.

    `expected_lateness` is the reason why its turns may be ended by force. A freezing entrant
    plays at first and then stands still.
    """

    name: str
    strategy: str | None = None
    bot: str | None = None
    run: "Callable[[SimulatedTeam], None] | None" = None
    expected_lateness: str | None = None
    is_freezing: bool = False


@dataclass(eq=False)
class SimulatedTeam:
    """Team of the contest, and the simulation in which it plays."""

    id: str
    name: str
    kind: EntrantKind
    password: str
    simulation: FaultSimulation
    network: ArenaNetwork
    tags: str
    process: Process

    @property
    def credentials(self) -> Credentials:
        return Credentials(self.id, self.password)


def has_sandbox() -> bool:
    try:
        check_sandbox()
    except ConfigError:
        return False
    return True


def _play_slowly(team: SimulatedTeam) -> None:
    """Play as the starter does, but think for a while, and sometimes for too long."""
    limit, random_share = team.simulation.config.turn_seconds, Random(team.name).random
    _play_starter(
        team, lambda: limit * (SLOW_FACTOR if random_share() < SLOW_SHARE else 0.1 * random_share())
    )


def _play_starter(team: SimulatedTeam, thinking_seconds: Callable[[], float] = lambda: 0.0) -> None:
    bot = runpy.run_path(str(STARTER))
    decide, session = bot["decide"], requests.Session()
    session.trust_env = False
    session.auth = (team.id, team.password)
    session.mount("http://", team.network.plain_transport(team.process))

    def decide_slowly(match: object) -> object:
        team.simulation.sleep(thinking_seconds())
        return decide(match)

    # What it prints of its matches takes requests of its own, which a plain client does not send.
    overrides = {"decide": decide_slowly, "report": lambda *_, **__: False}
    overrides["print"] = lambda *_: None
    bot["play"].__globals__.update(overrides, time=SimpleNamespace(sleep=team.simulation.sleep))
    bot["play"](session, f"{URL}/api/matches", team.tags)


def _third_party_kind(behaviour_name: str, expected_lateness: str | None = None) -> EntrantKind:
    """Return the kind of a third-party client with a habit that a team's program may have."""

    def play(team: SimulatedTeam) -> None:
        plan = RandomFaultPlan(team.simulation, team.process, rate=0)

        def send(
            method: str, path: str, body: bytes | None, headers: dict[str, str]
        ) -> third_party_clients.RawResponse:
            unsigned_request = requests.Request(
                method, URL, headers, data=body, auth=lambda request: request
            )
            prepared_request = unsigned_request.prepare()  # signed in by nobody
            prepared_request.url = URL + path  # as it was written
            plan.next_fault(team.network.server.request_kind(prepared_request))
            sent_at = team.simulation.scheduler.monotonic()
            try:
                response = team.network.forward(
                    prepared_request, None, Timeout(total=RESPONSE_TIMEOUT_SECONDS), sent_at
                )
            except requests.RequestException as error:
                raise OSError(str(error)) from error
            return response.status, response.data, response.headers.getlist("WWW-Authenticate")

        behaviour = third_party_clients.CLIENT_BEHAVIOURS[behaviour_name]
        third_party_clients.ThirdPartyClient(
            URL, team.id, team.password, behaviour, send
        ).play_all_matches(team.tags)

    return EntrantKind(f"Stranger {behaviour_name}", run=play, expected_lateness=expected_lateness)


ATTACKER = EntrantKind("Attacker", SANDBOXED, expected_lateness="attacks from its sandbox")
"""Submits `malicious_bot.py`; where no sandbox can be started it is left out."""

ENTRANT_KINDS = (
    EntrantKind("Python", run=_play_starter),
    EntrantKind("House champion", "champion"),
    EntrantKind("Never comes", expected_lateness="never came"),
    EntrantKind("Bot steady", bot="steady"),
    EntrantKind("Slow", run=_play_slowly, expected_lateness="slow"),
    EntrantKind("House third", "third"),
    EntrantKind("Frozen", run=_play_starter, expected_lateness="frozen for good", is_freezing=True),
    _third_party_kind("digest"),
    _third_party_kind("hurry", expected_lateness="asks without a pause, and is slowed"),
    EntrantKind("House captain", "captain"),
    EntrantKind("Bot champion", bot="champion"),
    _third_party_kind("basic-asked"),
    _third_party_kind("wrong", expected_lateness="has a wrong password"),
    _third_party_kind("capitals"),
    EntrantKind("House draw-3", "draw-3"),
    EntrantKind("House steady", "steady"),
    EntrantKind("House random", "random"),
    ATTACKER,
)  # in the order in which they enter, so that a small rehearsal has some of all
REPEATED_KINDS = ENTRANT_KINDS[0], ENTRANT_KINDS[3], ENTRANT_KINDS[1], ENTRANT_KINDS[5]
"""Who enters again where there are more teams than kinds."""


def choose_entrants(teams: int) -> list[tuple[str, EntrantKind]]:
    kinds = [kind for kind in ENTRANT_KINDS if kind is not ATTACKER or has_sandbox()]
    entrants = list(islice(chain(kinds, cycle(REPEATED_KINDS)), teams))
    return [
        (kind.name if kind not in entrants[:index] else f"{kind.name} {index}", kind)
        for index, kind in enumerate(entrants)
    ]
