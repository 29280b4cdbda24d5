"""What a match at the cloud's arena uses; a part of `cardsharp cost --measure`.

Two clients that wait in long polls and read once a turn play through the real handler, at the
emulator's table, which reckons units by AWS's rules.
"""

import io
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

from cardsharp.cloud.telemetry import redirect
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.errors import CardsharpError
from workbench.cloud.context import LambdaHandler
from workbench.cost.games import Timed
from workbench.cost.meter import UseMeter
from workbench.cost.usage import ContestUse
from workbench.deadmansdraw.emulated import emulated
from workbench.stage.opponent import OPPONENT, US, OpponentProcess, Order

PATIENCE = 180  # seconds in which a match between two programs must be over


def measure_contest(matches: int = 5) -> ContestUse:
    """The mean of so many matches; raises `CardsharpError` if a match did not end."""
    ended = threading.Event()

    def moved(match: Match) -> None:
        if match.finished:
            ended.set()

    timed: list[Timed] = []

    def counted(handler: LambdaHandler) -> Timed:
        timed.append(Timed(handler))
        return timed[0]

    logged = io.StringIO()
    redirect(logged)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-cost-")))
        uses = stack.enter_context(UseMeter())
        arena = stack.enter_context(emulated(ArenaConfig(), moved=moved, around=counted))
        stack.enter_context(arena)
        for number, team in enumerate((US, OPPONENT)):
            order = Order(arena.url, *team, "draw-3")
            stack.enter_context(OpponentProcess(order, folder / f"{number}.log")).await_ready()
        before = uses.counts
        for number in range(matches):
            ended.clear()
            arena.create_match([US[0], OPPONENT[0]], seed=str(number))
            if not ended.wait(PATIENCE):
                raise CardsharpError(f"Match {number + 1} did not end within {PATIENCE} s.")
        used = uses.since(before)
    (handler,) = timed
    return ContestUse(
        matches=matches,
        requests=round(handler.requests / matches, 1),
        read_units=round(used["read units"] / matches, 1),
        write_units=round(used["write units"] / matches, 1),
        request_seconds=round(handler.seconds / handler.requests, 5),
        request_table_requests=round(used.of("dynamodb") / handler.requests, 2),
        request_log_bytes=round(len(logged.getvalue().encode()) / handler.requests, 1),
    )
