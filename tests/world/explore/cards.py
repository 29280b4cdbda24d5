"""The smallest match in which an action that comes again, or late, does harm; and our bot's part.

A turn is one card drawn, and the end of the turn; whoever draws the last card ends the match. A
player may draw as often as he likes, and may end his turn at any time: the arena takes every
action of whoever is to act, and none says for which move it was meant. Moves are letters, D and E
for ours, d and e for the rival's.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cardsharp.cloud.attend import Bot
from cardsharp.cloud.attended import After, Facts, Sight
from cardsharp.cloud.offering import MISSING, Offering
from cardsharp.cloud.ports import Body
from cardsharp.deadmansdraw.scout import Scout, ScoutTiming
from cardsharp.deadmansdraw.wire_views import CreationView
from cardsharp.deciding import Decided
from cardsharp.errors import NotFound, Rejected
from cardsharp.strategy import Decision
from world.explore.process import Ports, Program
from world.explore.values import TIGHT

MATCH = "match"
ME = "me"  # by what name a worker knows itself; no two workers are the same
NO_SUCH_MATCH = "Match does not exist."
EVERY = timedelta(seconds=1)  # between two looks of an onlooker


@dataclass(frozen=True)
class Rules:
    """How many cards there are."""

    cards: int

    def over(self, moves: str) -> bool:
        return moves.upper().count("D") >= self.cards

    def ours(self, moves: str) -> bool:
        return not self.over(moves) and (not moves or moves[-1] in "De")

    def rivals(self, moves: str) -> bool:
        return not self.over(moves) and not self.ours(moves)

    def rival_plays(self, moves: str) -> str:
        """The moves after the rival's whole turn."""
        drawn = moves + "d"
        return drawn if self.over(drawn) else drawn + "e"


def choice(moves: str) -> str:
    return "E" if moves.endswith("D") else "D"


def facts(moves: str) -> dict[int, Body]:
    """The history of a match as the log is to have it."""
    return {number: {"move": move} for number, move in enumerate(moves)}


@dataclass(frozen=True)
class CardTurn:
    """Our turn, up to its next action."""

    rules: Rules
    arena: Any
    moves: str

    def decide(
        self, limit: timedelta, monotonic: Callable[[], float], refused: frozenset[str]
    ) -> Decided[Decision[str]]:
        del limit, monotonic
        wanted = choice(self.moves)
        if wanted in refused:
            wanted = "DE"[wanted == "D"]
        return Decided(Decision(wanted, ""))

    def intent(self, decided: Decided[Decision[str]], at: datetime, worker: str) -> Body:
        del at, worker
        return {"action": decided.decision.action, "position": self.moves}

    def act(self, action: str) -> "CardTurn | After":
        """The position goes along for the judge; the arena does not look at it."""
        self.arena.act(action, self.moves)
        moves = self.moves + action
        if self.rules.over(moves):
            return After.LOOK
        return After.WAIT if action == "E" else CardTurn(self.rules, self.arena, moves)


@dataclass(frozen=True)
class CardMatch:
    """The match as the bot attends it."""

    rules: Rules
    arena: Any
    header = None

    def look(self, known: Facts) -> Sight[str]:
        return self._sight(self.arena.look(), known)

    def wait(self, known: Facts) -> Sight[str] | None:
        moves = self.arena.wait()
        return None if moves is None else self._sight(moves, known)

    def gone(self, denied: Rejected) -> Body | None:
        missing = isinstance(denied, NotFound) and denied.message == NO_SUCH_MATCH
        return {"result": MISSING} if missing else None

    def _sight(self, moves: str, known: Facts) -> Sight[str]:
        return Sight(
            sequence=len(moves),
            facts={n: fact for n, fact in facts(moves).items() if known.get(n) != fact},
            outcome={"result": "won"} if self.rules.over(moves) else None,
            turn=CardTurn(self.rules, self.arena, moves) if self.rules.ours(moves) else None,
            header={"game": "cards"},
        )


def worker(rules: Rules, skew: timedelta) -> Program:
    def attend(ports: Ports) -> object:
        @contextmanager
        def meet(_match_id: str) -> Iterator[CardMatch]:
            yield CardMatch(rules, ports.arena)

        offering = Offering(ports.log, ports.queue, ports.clock.skewed(skew))
        return Bot("cards", meet, offering, ME, TIGHT).attend(MATCH, lambda: timedelta(hours=1))

    return attend


def onlooker(ports: Ports) -> object:
    """The real offering of what nobody attends, as each poller has it in its loop."""
    offering = Offering(ports.log, ports.queue, ports.clock)
    return offering.watch(EVERY, lambda: timedelta(hours=1))


@dataclass(frozen=True)
class Named:
    """A match in the arena's list of those that wait for us, without a limit of its turns."""

    id: str
    finished = False
    creation_params = CreationView()


def scout(ports: Ports) -> object:
    timing = ScoutTiming(pace=EVERY, watch=EVERY, tick=timedelta(0))
    offering = Offering(ports.log, ports.queue, ports.clock)
    return Scout(ports.arena, offering, timing=timing).listen(lambda: timedelta(hours=1))


def mistakes(moves: str, action: str, meant: str, intents: Mapping[int, Any]) -> str | None:
    """Why an action that was accepted after these moves should not have been, None if it should."""
    if meant != moves:
        return f"{action} was decided on '{meant}' and met '{moves}'"
    stored = intents.get(len(moves))
    if stored is None:
        return f"{action} was played at {len(moves)} and the log has no intent"
    if (stored["action"], stored["position"]) != (action, moves):
        return f"{action} was played after '{moves}', and the log has {stored}"
    if choice(moves) != action:
        return f"{action} was played after '{moves}' in place of {choice(moves)}"
    return None
