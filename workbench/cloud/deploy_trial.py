"""The whole cloud on this machine: `python -m workbench.cloud.deploy_trial [--stay]`.

Builds the artifacts for this machine, creates the stack of the unmodified template in the
emulator, sets the secret and has matches played as an operator would: one that the practice
function creates, one that an opponent creates and the scheduled poller finds, and one during
which the stack is deployed again. With `--stay` everything keeps running for other commands.
"""

import argparse
import json
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MatchRecord, Status
from cardsharp.deadmansdraw.arena import ArenaClient, Credentials
from cardsharp.errors import CardsharpError
from workbench.arena.config import ArenaConfig
from workbench.arena.server import ArenaServer
from workbench.build.artifacts import Build
from workbench.build.makefiles import ROOT, build
from workbench.build.say import say
from workbench.build.target import native_architecture, this_machine
from workbench.cloud.deploy import STACK_SERVICES, deploy
from workbench.cloud.emulator import Emulator
from workbench.operate.orders import practise, rotate_secret
from workbench.operate.stack import DEFAULT_NAME, Stack, find_stack
from workbench.operate.status import look_at
from workbench.stage.opponent import Order
from workbench.stage.opponent_process import opponent_at_play
from workbench.watch.publish import publish

US = ("111111111111111111111111", "teamonepass")
OPPONENT = ("222222222222222222222222", "teamtwopass")
"""Two players of the local arena, whose passwords are public."""

PATIENCE = timedelta(minutes=4)
"""How long a match may take; the schedule alone may take more than a minute to fire."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A stack in the emulator, and an arena with an opponent that it can play."""

    stack: Stack
    arena: ArenaServer
    emulator: Emulator
    built: Build

    def deploy_again(self) -> None:
        """Update the stack, as an upgrade does."""
        deploy(self.emulator, self.built, self.stack.name, parameters(self.arena.url, "DEBUG"))

    def await_end(self, match_id: str) -> MatchRecord:
        """The record of a match once it is finished.

        Raises:
            CardsharpError: it was not finished in time; the message ends with the emulator's log.
        """
        clock = SystemClock()
        end = clock.now() + PATIENCE
        while clock.now() < end:
            record = self.stack.log.match(match_id)
            if record is not None and record.status is Status.FINISHED:
                return record
            clock.sleep(timedelta(milliseconds=500))
        tail = self.emulator.log_tail()
        raise CardsharpError(f"The match {match_id} was not finished within {PATIENCE}.\n{tail}")


@contextmanager
def trial(built: Build | None = None) -> Iterator[Trial]:
    """Everything up, the secret set; nothing is left behind. Without a build one is made."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-cloud-")))
        if built is None:
            say("building functions and layers for this machine ...")
            built = build(this_machine(), folder / "build")
        arena = stack.enter_context(ArenaServer(ArenaConfig()))
        emulator = stack.enter_context(Emulator(STACK_SERVICES))
        order = Order(arena.url, *OPPONENT, "steady")
        stack.enter_context(opponent_at_play(order, folder / "opponent.log")).await_ready()
        say("deploying template.yaml into the emulator ...")
        deploy(emulator, built, DEFAULT_NAME, parameters(arena.url))
        found = find_stack(DEFAULT_NAME, emulator.client)
        rotate_secret(found, *US, lambda user, word: _check(arena.url, user, word))
        yield Trial(found, arena, emulator, built)


def parameters(arena: str, log_level: str = "INFO") -> dict[str, str]:
    """What the template is deployed with; the rest are its own defaults."""
    return {
        "ArenaUrl": arena,
        "Architecture": native_architecture(),
        "LogLevel": log_level,
        # The emulator knows no combined alarms and no saved queries.
        "Watch": "alarms",
    }


def _check(url: str, user: str, password: str) -> None:
    with ArenaClient(url, Credentials(user, password)) as client:
        client.whoami()


def show(trial: Trial) -> None:
    """Have three matches played, each on its own way, and tell what the match log says.

    Raises:
        CardsharpError: one of them was not played to its end.
    """
    order = json.loads((ROOT / "events" / "practice_self.json").read_text())
    say("invoking the practice function with events/practice_self.json ...")
    for match_id in practise(trial.stack, order):
        _tell(trial, "practice -> queue -> worker -> table", trial.await_end(match_id))
    say("an opponent creates a match; the schedule fires once a minute ...")
    match_id = trial.arena.create_match([OPPONENT[0], US[0]])
    _tell(trial, "schedule -> poller -> queue -> worker -> table", trial.await_end(match_id))
    say("deploying again while a match is played ...")
    match_id = practise(trial.stack, order)[0]
    began = datetime.now(UTC)
    trial.deploy_again()
    record = trial.await_end(match_id)
    if record.finished is None or record.finished < began:
        raise CardsharpError("The match ended before the upgrade began; try again.")
    _tell(trial, "upgraded during the match", record)


def _tell(trial: Trial, way: str, record: MatchRecord) -> None:
    moves = trial.stack.log.moves(record.match_id)
    ours = sum(move.intent is not None for move in moves)
    result = (record.outcome or {}).get("result")
    say(f"  {way}: match {record.match_id}, {len(moves)} moves, {ours} of ours, {result}")


def main() -> None:
    """Show it; exits with 1 and a sentence if a match was not played."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stay", action="store_true", help="keep everything running")
    given = parser.parse_args()
    try:
        with trial() as prepared:
            if given.stay:
                _stay(prepared)
            else:
                show(prepared)
                _report(prepared)
    except CardsharpError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        say("stopped")


def _report(trial: Trial) -> None:
    publish(trial.stack)
    look = look_at(trial.stack)
    say(f"status: {json.dumps(look.document())}")
    if look.problems:
        sys.exit("\n".join(look.problems))


def _stay(trial: Trial) -> None:
    """Wait for Ctrl-C, and say how other commands reach this cloud."""
    say("\nIn another terminal:\n")
    for name, value in trial.emulator.environment.items():
        say(f"export {name}={shlex.quote(value)}")
    say(f"\nThe arena is {trial.arena.url}; Ctrl-C here stops everything.")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Event().wait()


if __name__ == "__main__":
    main()
