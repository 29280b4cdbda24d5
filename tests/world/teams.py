"""Who enters a rehearsed contest: teams that the director plays, and good and bad ones beside."""

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, cycle, islice
from pathlib import Path
from random import Random
from types import SimpleNamespace

import requests
from support import strangers
from urllib3.util import Timeout

from cardsharp.access import Credentials
from cardsharp.errors import ConfigError
from workbench.sandbox import check_sandbox
from workbench.submission import SANDBOXED
from world.arena import URL
from world.road import Chances, Road
from world.schedule import Process
from world.world import World

STARTER = Path(__file__).parents[2] / "starters/arena/python/bot.py"
PATIENCE = 60  # seconds that a stranger waits for an answer
TOO_LONG, SELDOM = 1.3, 0.1  # so many limits a slow team thinks now and then, and how often


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entrant: whose `strategy` the director plays, who is our own `bot`, or a program.

    `late` says why its turns may be ended by force, where that is how it is; who `freezes` is there
    at first and then stands still.
    """

    name: str
    strategy: str | None = None
    bot: str | None = None
    plays: "Callable[[Team], None] | None" = None
    late: str | None = None
    freezes: bool = False


@dataclass(eq=False)
class Team:
    """A team that was entered, and where it plays."""

    id: str
    name: str
    kind: Kind
    password: str
    world: World
    road: Road
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


def _slow(team: Team) -> None:
    """As the starter, but thinks of an action for a while, now and then for too long."""
    limit, dice = team.world.wish.turn, Random(team.name).random
    _starter(team, lambda: limit * (TOO_LONG if dice() < SELDOM else 0.1 * dice()))


def _starter(team: Team, thinking: Callable[[], float] = lambda: 0.0) -> None:
    bot = runpy.run_path(str(STARTER))
    decide, session = bot["decide"], requests.Session()
    session.trust_env = False
    session.auth = (team.id, team.password)
    session.mount("http://", team.road.wire(team.process))

    def slowly(match: object) -> object:
        team.world.sleep(thinking())
        return decide(match)

    there = {"decide": slowly, "print": lambda *_: None}
    bot["play"].__globals__.update(there, time=SimpleNamespace(sleep=team.world.sleep))
    bot["play"](session, f"{URL}/api/matches", team.tags)


def _stranger(habit: str, late: str | None = None) -> Kind:
    """A client unlike ours, with one habit that a team's own program may have."""

    def play(team: Team) -> None:
        plan = Chances(team.world, team.process, rate=0)

        def send(
            method: str, path: str, body: bytes | None, headers: dict[str, str]
        ) -> strangers.Answer:
            alone = requests.Request(method, URL, headers, data=body, auth=lambda one: one)
            asked = alone.prepare()  # signed in by nobody
            asked.url = URL + path  # as it was written
            plan.next(team.road.place.step_of(asked))
            began = team.world.time.monotonic()
            try:
                answer = team.road.carry(asked, None, Timeout(total=PATIENCE), began)
            except requests.RequestException as error:
                raise OSError(str(error)) from error
            return answer.status, answer.data, answer.headers.getlist("WWW-Authenticate")

        signed = strangers.HABITS[habit]
        strangers.Stranger(URL, team.id, team.password, signed, send).play_on(team.tags)

    return Kind(f"Stranger {habit}", plays=play, late=late)


ATTACKER = Kind("Attacker", SANDBOXED, late="attacks from its sandbox")
"""Submits `attacker.py`; where no sandbox can be started it is left out."""

KINDS = (
    Kind("Python", plays=_starter),
    Kind("House champion", "champion"),
    Kind("Never comes", late="never came"),
    Kind("Bot steady", bot="steady"),
    Kind("Slow", plays=_slow, late="slow"),
    Kind("House third", "third"),
    Kind("Frozen", plays=_starter, late="frozen for good", freezes=True),
    _stranger("digest"),
    _stranger("hurry", late="asks without a pause, and is slowed"),
    Kind("House captain", "captain"),
    Kind("Bot champion", bot="champion"),
    _stranger("basic-asked"),
    _stranger("wrong", late="has a wrong password"),
    _stranger("capitals"),
    Kind("House draw-3", "draw-3"),
    Kind("House steady", "steady"),
    Kind("House random", "random"),
    ATTACKER,
)  # in the order in which they enter, so that a small rehearsal has some of all
AGAIN = KINDS[0], KINDS[3], KINDS[1], KINDS[5]
"""Who enters again where there are more teams than kinds."""


def entering(teams: int) -> list[tuple[str, Kind]]:
    kinds = [kind for kind in KINDS if kind is not ATTACKER or has_sandbox()]
    found = list(islice(chain(kinds, cycle(AGAIN)), teams))
    return [
        (kind.name if kind not in found[:place] else f"{kind.name} {place}", kind)
        for place, kind in enumerate(found)
    ]
