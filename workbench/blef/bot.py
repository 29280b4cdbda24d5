"""Our bot in a game of Blef, from this machine: the handler of the cloud in a home of its own."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import worker.app
from cardsharp.blef.actions import LOST
from cardsharp.blef.bot import Assembly, assemble
from cardsharp.blef.seat import SeatOrder, order_seat
from cardsharp.cloud.ports import Body, MatchLog
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.telemetry import meter
from workbench.cloud.context import Function, Invocation, LambdaContext
from workbench.cloud.events import Event
from workbench.cloud.home import Home, Plan
from workbench.stage.surroundings import environment

WORKER_TIME = timedelta(days=1)
"""Nothing limits a worker at home, so it stays with its game."""

GLANCE = timedelta(milliseconds=200)
"""How often the match log is looked at."""

REPEAT = timedelta(seconds=30)
"""For how long a warning is not said again."""

_BREATH = timedelta(milliseconds=200)

Say = Callable[[str], None]


class Warnings(logging.Handler):
    """Passes on what the bot warns of, such as a service out of reach; nothing again and again."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.WARNING)
        self._say = say
        self._said: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Say the message."""
        sentence = record.getMessage()
        now = record.created
        if now - self._said.get(sentence, 0) >= REPEAT.total_seconds():
            self._said[sentence] = now
            self._say(sentence)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen as long as the block runs."""
        source = logging.getLogger("cardsharp")
        source.addHandler(self)
        try:
            yield
        finally:
            source.removeHandler(self)


@dataclass(frozen=True, slots=True)
class AtHome:
    """A seat that is being played from here."""

    assembly: Assembly
    match_id: str

    @property
    def is_played(self) -> bool:
        """Whether there is such a seat; not so where the service refused it."""
        record = self.assembly.log.match(self.match_id)
        outcome = None if record is None else record.outcome
        return outcome is None or outcome["result"] != "unknown"


@contextmanager
def attending(order: SeatOrder, store: Path, say: Say) -> Iterator[AtHome]:
    """Have the seat taken and played, as long as the block runs; `say` is told of failures.

    Raises:
        ConfigError: a setting cannot be used.
    """

    def observe(invocation: Invocation) -> None:
        if invocation.error is not None:
            say(f"The {invocation.function} failed and will be tried again: {invocation.error}")

    variables = {"CARDSHARP_STORE": f"sqlite:{store}", "CARDSHARP_QUEUE": f"memory:{uuid4().hex}"}
    with environment(variables), ExitStack() as stack:
        assembly = assemble(Workplace.load(os.environ), meter)
        stack.callback(assemble.cache_clear)
        stack.enter_context(Warnings(say).listening())
        for kept in (assembly.log, assembly.vault):
            stack.callback(getattr(kept, "close", lambda: None))
        match_id = order_seat(order, uuid4(), assembly.vault, assembly.offering)
        home = Home(
            Function("poller", _lookout(assembly), WORKER_TIME),
            Function("worker", worker.app.handler, WORKER_TIME),
            assembly.offering.queue,
            assembly.clock,
            Plan(breath=_BREATH, observe=observe),
        )
        home.__enter__()  # its exit would wait for as long as the service holds the worker
        stack.callback(home.wind_down)
        yield AtHome(assembly, match_id)


def _lookout(assembly: Assembly) -> Callable[[Event, LambdaContext], object]:
    """What the poller does here, where no arena names matches: it watches the match log."""

    def handler(_event: Event, context: LambdaContext) -> object:
        def remaining() -> timedelta:
            return timedelta(milliseconds=context.get_remaining_time_in_millis())

        return {"offered": assembly.offering.watch(assembly.settings.watch, remaining)}

    return handler


@dataclass
class News:
    """Tells what is new of a seat: the moves with our reasons, the hands after each round."""

    log: MatchLog
    match_id: str
    tell: Callable[[Mapping[str, object]], None]
    told: set[int] = field(default_factory=set)

    def glance(self) -> bool:
        """Tell what is new; True when the game has ended."""
        record = self.log.match(self.match_id)
        for move in self.log.moves(self.match_id):
            if move.facts is not None and move.sequence not in self.told:
                self.told.add(move.sequence)
                self.tell({**move.facts, **_because(move.facts, move.intent)})
        if record is None or record.outcome is None:
            return False
        self.tell(record.outcome)
        return True


def _because(facts: Body, intent: Body | None) -> dict[str, object]:
    """The reason of a move of ours; none for one that came differently."""
    if intent is None or intent["actionId"] != facts["actionId"]:
        return {}
    return {"reason": intent["reason"]}


def in_words(news: Mapping[str, object]) -> str:
    """A piece of news as a line."""
    if "result" in news:
        winner = news.get("winnerName")
        known = f"{winner} has won." if winner else f"No seat for us: {news.get('reason')}."
        return "We have won!" if news["result"] == "won" else known
    if news["actionId"] == LOST:
        hands = news.get("hands")
        shown = hands.items() if isinstance(hands, dict) else ()
        told = "; ".join(f"{name} {', '.join(cards)}" for name, cards in shown)
        return f"round {news['round']}: {news['player']} loses. {told}"
    reason = f"   ({news['reason']})" if "reason" in news else ""
    return f"round {news['round']}: {news['player']}: {news['action']}{reason}"
