"""The whole cloud on this machine: `python -m cardsharp_tools.operations.emulated_stack`.

Builds the artifacts for this machine, looks at the account, creates the stack of the unmodified
template in the emulator and sets the secrets, in the order of docs/first-deployment.md. Then
everything keeps running for other commands; tests/e2e/test_aws_cloud.py has matches played there.
"""

import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from signal import SIGHUP, SIGTERM

from cardsharp.core.clock import SystemClock
from cardsharp.core.credentials import Credentials
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp_tools.build.emulator_deploy import STACK_SERVICES, deploy, deployment_environment
from cardsharp_tools.build.sam_build import Build, sam_build
from cardsharp_tools.build.target import native_architecture, native_target, print_flushed
from cardsharp_tools.cli.exit_codes import install_stop_signal_handlers
from cardsharp_tools.cli.health_checks import CheckStatus
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.metric_samples import read_emf_samples
from cardsharp_tools.local_cloud.template_files import GAME_TEMPLATE, PAGES_TEMPLATE
from cardsharp_tools.local_play.opponent import (
    BOT_CREDENTIALS,
    OpponentProcess,
    start_steady_opponent,
)
from cardsharp_tools.local_server.arena_server import ArenaServer
from cardsharp_tools.operations.preflight import default_demand, run_preflight_checks
from cardsharp_tools.operations.stack import DEFAULT_NAME, Client, Clients, Stack, find_stack
from cardsharp_tools.operations.stack_control import (
    VIEWER_SERVICE,
    replace_arena_credentials,
    store_service_password,
)

VIEWER_PASSWORD = "a password for the pages of the trial"  # noqa: S105 - a variable or parameter name, no secret

_MAX_METRICS_PER_REQUEST = 500
_PUBLISH_INTERVAL = timedelta(seconds=10)

_LOG_SETTLE_TIME = timedelta(seconds=1)  # so old a moment is when no more lines come that bear it


@dataclass(frozen=True, slots=True)
class EmulatedDeployment:
    """Stack deployed in the emulator, with an arena and an opponent to play."""

    stack: Stack
    services: Mapping[str, Stack]
    arena: ArenaServer
    opponent: OpponentProcess
    emulator: Emulator
    built: Build


@contextmanager
def emulated_deployment(built: Build | None = None) -> Iterator[EmulatedDeployment]:
    """Yield a complete deployment, built if necessary, and remove it at the end."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-cloud-")))
        if built is None:
            print_flushed("building functions and layers for this machine ...")
            built = sam_build(folder, native_target())
        arena = stack.enter_context(ArenaServer(ArenaConfig()))
        emulator = stack.enter_context(Emulator(STACK_SERVICES))
        opponent = stack.enter_context(start_steady_opponent(arena.url, folder))
        for look in run_preflight_checks(
            emulator.client, default_demand()
        ):  # with a new account's limits
            print_flushed(f"  {look.name}: {look.status}, {look.message}")
            if look.status is CheckStatus.FAILED:
                raise ConfigError(look.message)
        print_flushed("deploying the bot, Blef, Euchre and the pages into the emulator ...")
        deploy(emulator, built, DEFAULT_NAME, deployment_parameters(arena.url))
        deployed_stack = find_stack(DEFAULT_NAME, emulator.client)
        print_flushed("setting the passwords ...")

        def check(user: str, password: str) -> None:
            with ArenaClient(arena.url, Credentials(user, password)) as client:
                client.whoami()

        replace_arena_credentials(deployed_stack, *BOT_CREDENTIALS, check)
        services = _deploy_services(emulator, built)
        store_service_password(services[VIEWER_SERVICE], VIEWER_SERVICE, VIEWER_PASSWORD)
        yield EmulatedDeployment(deployed_stack, services, arena, opponent, emulator, built)


def deployment_parameters(arena: str) -> dict[str, str]:
    """Return the parameters of the emulated bot; all others keep the template's defaults."""
    # The emulator knows no combined alarms and no saved queries.
    return {"ArenaUrl": arena, "Architecture": native_architecture(), "Watch": "alarms"}


_SERVICE_STACKS = (
    ("blef", GAME_TEMPLATE, {"Game": "blef", "Feed": "yes"}),
    ("euchre", GAME_TEMPLATE, {"Game": "euchre"}),
    (VIEWER_SERVICE, PAGES_TEMPLATE, {"BotStack": DEFAULT_NAME}),
)


def _deploy_services(emulator: Emulator, built: Build) -> dict[str, Stack]:
    """Deploy the stacks of the games and of the pages, all at the same time."""

    def deploy_service(service: tuple[str, Path, dict[str, str]]) -> tuple[str, Stack]:
        name, template, parameters = service
        stack_name = f"cardsharp-{name}"
        arguments = {"Architecture": native_architecture(), **parameters}
        deploy(emulator, built, stack_name, arguments, template)
        return name, find_stack(stack_name, emulator.client)

    with ThreadPoolExecutor(len(_SERVICE_STACKS)) as pool:
        return dict(pool.map(deploy_service, _SERVICE_STACKS))


def publish_metrics(client: Clients, begin: int = 0, end: int | None = None) -> int:
    """Put the metrics logged from `begin` to before `end`, in ms, into the emulator's CloudWatch.

    It does not look into logs itself, as CloudWatch does; so alarms and `status` would see none of
    our metrics. All logs are read: stacks come and go meanwhile. Returns how many values it put.
    """
    samples = list(read_emf_samples(_read_log_lines(client("logs"), begin, end)))
    cloudwatch = client("cloudwatch")
    for namespace in sorted({sample.metric.namespace for sample in samples}):
        data = [
            {
                "MetricName": sample.metric.name,
                "Dimensions": [
                    {"Name": n, "Value": v} for n, v in sorted(sample.metric.dimensions)
                ],
                "Timestamp": sample.timestamp,
                "Value": sample.value,
            }
            for sample in samples
            if sample.metric.namespace == namespace
        ]
        for start in range(0, len(data), _MAX_METRICS_PER_REQUEST):
            cloudwatch.put_metric_data(
                Namespace=namespace, MetricData=data[start : start + _MAX_METRICS_PER_REQUEST]
            )
    return len(samples)


def _read_log_lines(logs: Client, begin: int, end: int | None) -> Iterator[str]:
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
    """Run an emulated deployment until Ctrl-C; exit with 1 and a message on failure."""
    try:
        install_stop_signal_handlers((SIGTERM, SIGHUP))
        with emulated_deployment() as prepared:
            _publish_until_interrupted(prepared)
            print_flushed("stopping, and removing what the emulator wrote ...")
    except CardsharpError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print_flushed("stopped")


def _publish_until_interrupted(deployment: EmulatedDeployment) -> None:
    """Print how other commands reach this cloud, then publish logged metrics until Ctrl-C."""
    native = native_target().environment()
    building = {name: native[name] for name in ("LAMBDA_PYTHON", "LAMBDA_PLATFORM")}
    with deployment_environment(deployment.emulator) as environment:
        print_flushed("\nIn another terminal:\n")
        for name, value in {**environment, **building}.items():
            print_flushed(f"export {name}={shlex.quote(value)}")
        print_flushed(
            f"\nThe arena is {deployment.arena.url}. Press Ctrl-C here to stop everything."
        )
        clock, begin = SystemClock(), 0
        while True:
            clock.sleep(_PUBLISH_INTERVAL)
            end = round((clock.now() - _LOG_SETTLE_TIME).timestamp() * 1000)
            publish_metrics(deployment.stack.client, begin, end)  # each line once
            begin = end


if __name__ == "__main__":
    main()
