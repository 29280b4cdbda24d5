"""The whole cloud on this machine: `python -m workbench.operate.trial`.

Builds the artifacts for this machine, looks at the account, creates the stack of the unmodified
template in the emulator and sets the secrets, in the order of docs/first-deployment.md. Then
everything keeps running for other commands; tests/e2e/test_aws_cloud.py has matches played there.
"""

import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from signal import SIGHUP, SIGTERM

from cardsharp.access import Credentials
from cardsharp.cloud.clock import SystemClock
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.errors import CardsharpError, ConfigError
from workbench.arena.server import ArenaServer
from workbench.build.deploy import STACK_SERVICES, deploy, deployment
from workbench.build.sam import Build, sam_build
from workbench.build.target import native_architecture, say, this_machine
from workbench.cloud.emulator import Emulator
from workbench.cloud.samples import read_emf
from workbench.operate.orders import VIEWER, rotate_secret, rotate_service_secret
from workbench.operate.preflight import default_demand, preflight
from workbench.operate.stack import DEFAULT_NAME, Client, Clients, Stack, find_stack
from workbench.show.checks import Finding
from workbench.show.exits import stop_by
from workbench.stage.opponent import US, steady_at

WORD = "a password for the pages of the trial"

_BATCH = 500
_PAUSE = timedelta(seconds=10)

_SETTLED = timedelta(seconds=1)  # so old a moment is when no more lines come that bear it


@dataclass(frozen=True, slots=True)
class CloudTrial:
    """A stack in the emulator, and an arena with an opponent that it can play."""

    stack: Stack
    arena: ArenaServer
    emulator: Emulator
    built: Build


@contextmanager
def trial(built: Build | None = None) -> Iterator[CloudTrial]:
    """Everything up, the secret set; nothing is left behind. Without a build one is made."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-cloud-")))
        if built is None:
            say("building functions and layers for this machine ...")
            built = sam_build(folder, this_machine())
        arena = stack.enter_context(ArenaServer(ArenaConfig()))
        emulator = stack.enter_context(Emulator(STACK_SERVICES))
        stack.enter_context(steady_at(arena.url, folder))
        for look in preflight(emulator.client, default_demand()):  # with a new account's limits
            say(f"  {look.name}: {look.finding}, {look.text}")
            if look.finding is Finding.FAILED:
                raise ConfigError(look.text)
        say("deploying template.yaml into the emulator ...")
        deploy(emulator, built, DEFAULT_NAME, parameters(arena.url))
        found = find_stack(DEFAULT_NAME, emulator.client)
        say("setting the passwords ...")

        def check(user: str, password: str) -> None:
            with ArenaClient(arena.url, Credentials(user, password)) as client:
                client.whoami()

        rotate_secret(found, *US, check)
        rotate_service_secret(found, VIEWER, WORD)
        yield CloudTrial(found, arena, emulator, built)


def parameters(arena: str) -> dict[str, str]:
    """What the template is deployed with; the rest are its own defaults."""
    return {
        "ArenaUrl": arena,
        "Architecture": native_architecture(),
        # The emulator knows no combined alarms and no saved queries.
        "Watch": "alarms",
        **dict.fromkeys(("Blef", "Euchre", "Feed", "DeployWeb"), "yes"),
    }


def publish(client: Clients, begin: int = 0, end: int | None = None) -> int:
    """Put the metrics logged from `begin` to before `end`, in ms, into the emulator's CloudWatch.

    It does not look into logs itself, as CloudWatch does; so alarms and `status` would see none of
    our metrics. All logs are read: stacks come and go meanwhile. Returns how many values it put.
    """
    samples = list(read_emf(_lines(client("logs"), begin, end)))
    cloudwatch = client("cloudwatch")
    for namespace in sorted({one.metric.namespace for one in samples}):
        data = [
            {
                "MetricName": one.metric.name,
                "Dimensions": [{"Name": n, "Value": v} for n, v in sorted(one.metric.dimensions)],
                "Timestamp": one.at,
                "Value": one.value,
            }
            for one in samples
            if one.metric.namespace == namespace
        ]
        for start in range(0, len(data), _BATCH):
            cloudwatch.put_metric_data(Namespace=namespace, MetricData=data[start : start + _BATCH])
    return len(samples)


def _lines(logs: Client, begin: int, end: int | None) -> Iterator[str]:
    groups = [
        group["logGroupName"]
        for page in logs.get_paginator("describe_log_groups").paginate()
        for group in page["logGroups"]
    ]
    window = {"startTime": begin, **({} if end is None else {"endTime": end - 1})}
    pages = logs.get_paginator("filter_log_events").paginate
    for group in groups:
        # Its stack may have been deleted since it was listed.
        with suppress(logs.exceptions.ResourceNotFoundException):
            for page in pages(logGroupName=group, **window):
                yield from (event["message"] for event in page["events"])


def main() -> None:
    """Keep everything running until Ctrl-C; exits with 1 and a sentence where that is not to be."""
    try:
        stop_by((SIGTERM, SIGHUP))
        with trial() as prepared:
            _stay(prepared)
            say("stopping, and removing what the emulator wrote ...")
    except CardsharpError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        say("stopped")


def _stay(trial: CloudTrial) -> None:
    """Publish what is logged until Ctrl-C, and say how other commands reach this cloud."""
    native = this_machine().environment()
    building = {name: native[name] for name in ("LAMBDA_PYTHON", "LAMBDA_PLATFORM")}
    with deployment(trial.emulator) as environment:
        say("\nIn another terminal:\n")
        for name, value in {**environment, **building}.items():
            say(f"export {name}={shlex.quote(value)}")
        say(f"\nThe arena is {trial.arena.url}; Ctrl-C here stops everything.")
        clock, begin = SystemClock(), 0
        while True:
            clock.sleep(_PAUSE)
            end = round((clock.now() - _SETTLED).timestamp() * 1000)
            publish(trial.stack.client, begin, end)  # each line once
            begin = end


if __name__ == "__main__":
    main()
