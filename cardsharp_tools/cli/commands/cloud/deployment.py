"""`cardsharp cloud preflight`, `status` and other checks of a deployment, and its rollback."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.core.clock import SystemClock
from cardsharp_tools.cli.commands.cloud.stack_options import (
    DEFAULT_STACK_OPTIONS,
    StackOptions,
)
from cardsharp_tools.cli.console import print_error
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.cli.health_checks import print_checks
from cardsharp_tools.games.deadmansdraw.deployment_check import run_deployment_checks
from cardsharp_tools.operations import stack_control
from cardsharp_tools.operations.preflight import (
    check_update_keeps_services,
    planned_demand,
    run_preflight_checks,
)
from cardsharp_tools.operations.rollback import roll_back, undo_rollback
from cardsharp_tools.operations.stack import account_clients
from cardsharp_tools.operations.status import project_cost_this_month_text, read_status


def preflight_(  # noqa: PLR0913 - each is an option of the command
    *,
    match_limit: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=2), help="The value of MatchLimit for the deployment."
        ),
    ] = None,
    reserve: Annotated[bool, Parameter(help="Plan for a deployment with Reserve=yes.")] = False,
    services: Annotated[
        str,
        Parameter(
            help="The games whose services will be deployed, such as blef,euchre,deadmansdraw."
        ),
    ] = "",
    web: Annotated[bool, Parameter(help="Plan for the pages of the match log, too.")] = False,
    teams: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=2),
            help="Plan an arena for this many teams; with --match-limit, also the bot. "
            "Default: 20.",
        ),
    ] = None,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> int:
    """Check before the first deployment whether the account is ready, and what to change."""
    games = tuple(filter(None, services.split(",")))
    plan = planned_demand(games, web=web, matches=match_limit, teams=teams)
    demand = replace(
        plan, reserve_concurrency=reserve or plan.reserve_concurrency, stack=options.stack
    )
    clients = account_clients(options.region)
    checks = chain(
        run_preflight_checks(clients, demand), check_update_keeps_services(clients, demand.stack)
    )
    return print_checks(checks, as_json=options.as_json)


def doctor(*, options: StackOptions = DEFAULT_STACK_OPTIONS) -> int:
    """Check settings, strategy and password from inside the deployed functions."""
    return print_checks(
        stack_control.run_checks_in_deployed_functions(options.find_stack()),
        as_json=options.as_json,
    )


def verify(
    *,
    minutes: Annotated[
        float,
        Parameter(
            validator=validators.Number(gt=0),
            help="How long to wait for the match, and for alarms that are still on.",
        ),
    ] = 10,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> int:
    """Prove that a deployment works: it plays a practice match. The exit code is 1 if not."""
    checks = run_deployment_checks(options.find_stack(), timedelta(minutes=minutes), SystemClock())
    return print_checks(checks, as_json=options.as_json)


def protect(
    *,
    off: Annotated[bool, Parameter(negative=(), help="Remove the protection.")] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Protect the stack and its match log against deletion."""
    stack_control.set_deletion_protection(options.find_stack(), is_on=not off)
    options.print_done_message(
        "The stack and its match log can be deleted now."
        if off
        else "The stack and its match log are protected against deletion."
    )


def status(
    *,
    costs: Annotated[
        bool, Parameter(help="Also show this month's cost. This request costs one cent.")
    ] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> int:
    """Show whether the stack listens, plays and works. The exit code is 1 if not."""
    stack = options.find_stack()
    look = read_status(stack)
    spent = (
        {"spent": project_cost_this_month_text(stack.client, datetime.now(UTC))} if costs else {}
    )
    money = [f"spent     {text}" for text in spent.values()]
    options.print_json_or_lines(look.document() | spent, [*look.lines(), *money])
    if not options.as_json:
        for problem in look.problems:
            print_error(problem)
    return ExitCode.FAILED if look.problems else ExitCode.OK


def rollback(
    *,
    undo: Annotated[
        bool, Parameter(negative=(), help="Use the newest versions again instead.")
    ] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Have the functions use the versions from before the last deployment, within seconds."""
    stack = options.find_stack()
    changes = undo_rollback(stack) if undo else roll_back(stack)
    options.print_json_or_lines([change.document() for change in changes], changes)


def raise_test_alarm(*, options: StackOptions = DEFAULT_STACK_OPTIONS) -> None:
    """Raise an alarm for some minutes, to test whether its mail arrives."""
    name = stack_control.trigger_test_alarm(options.find_stack(), datetime.now(UTC))
    options.print_done_message(
        f"The alarm {name} is on for some minutes. Its mail should arrive now."
    )
