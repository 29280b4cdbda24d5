"""`cardsharp cloud`: a deployed stack, seen and steered from this machine."""

import getpass
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.analysis.match_listing import iter_matches
from cardsharp.client.config import ServiceAddress
from cardsharp.core.clock import SystemClock
from cardsharp.core.credentials import Credentials
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp_tools.cli.app import find_command
from cardsharp_tools.cli.commands.cloud.stack_options import (
    DEFAULT_STACK_OPTIONS,
    NO_CHANGES,
    SettingChanges,
    StackOptions,
    dead_letter_app,
    deploy,
)
from cardsharp_tools.cli.commands.matches import print_matches
from cardsharp_tools.cli.console import print_error, print_notice
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.cli.health_checks import print_checks
from cardsharp_tools.cli.options import parse_duration
from cardsharp_tools.games.deadmansdraw.deployment_check import run_deployment_checks
from cardsharp_tools.match_sources.match_logs import resolve_match_id
from cardsharp_tools.operations import function_logs, stack_control
from cardsharp_tools.operations.export import export_missing_matches, rewrite_legacy_matches
from cardsharp_tools.operations.function_logs import log_lines
from cardsharp_tools.operations.preflight import (
    check_update_keeps_services,
    planned_demand,
    run_preflight_checks,
)
from cardsharp_tools.operations.rollback import roll_back, undo_rollback
from cardsharp_tools.operations.stack import account_clients
from cardsharp_tools.operations.status import project_cost_this_month_text, read_status
from cardsharp_tools.proxy_option import resolve_proxy

cloud = cyclopts.App(name="cloud", help_epilogue=find_command("cloud").epilogue)
cloud.command(dead_letter_app)
cloud.command(deploy)


@cloud.command(name="preflight")
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


@cloud.command
def doctor(*, options: StackOptions = DEFAULT_STACK_OPTIONS) -> int:
    """Check settings, strategy and password from inside the deployed functions.

    Run it after a deployment, or when the bot does not play.

    Example: cardsharp cloud doctor --stack cardsharp-prod
    """
    return print_checks(
        stack_control.run_checks_in_deployed_functions(options.find_stack()),
        as_json=options.as_json,
    )


@cloud.command
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
    """Prove that a deployment works: it plays a practice match. The exit code is 1 if not.

    It runs the checks of `doctor`, plays a practice match to its end, compares the
    match's log with the arena's history, and checks that no alarm is on.

    Example: cardsharp cloud verify --stack cardsharp-prod
    """
    checks = run_deployment_checks(options.find_stack(), timedelta(minutes=minutes), SystemClock())
    return print_checks(checks, as_json=options.as_json)


@cloud.command
def protect(
    *,
    off: Annotated[bool, Parameter(negative=(), help="Remove the protection.")] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Protect the stack and its match log against deletion.

    Run it when the first deployment has succeeded.

    Example: cardsharp cloud protect --stack cardsharp-prod
    """
    stack_control.set_deletion_protection(options.find_stack(), is_on=not off)
    options.print_done_message(
        "The stack and its match log can be deleted now."
        if off
        else "The stack and its match log are protected against deletion."
    )


@cloud.command
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


@cloud.command
def rollback(
    *,
    undo: Annotated[
        bool, Parameter(negative=(), help="Use the newest versions again instead.")
    ] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Have the functions use the versions from before the last deployment, within seconds.

    Code, layers and settings of the functions go back together. It holds until
    the next deployment that changes them.

    Example: cardsharp cloud rollback --stack cardsharp-dev
    """
    stack = options.find_stack()
    changes = undo_rollback(stack) if undo else roll_back(stack)
    options.print_json_or_lines([change.document() for change in changes], changes)


@cloud.command(name="test-alarm")
def raise_test_alarm(*, options: StackOptions = DEFAULT_STACK_OPTIONS) -> None:
    """Raise an alarm for some minutes, to test whether its mail arrives.

    Example: cardsharp cloud test-alarm
    """
    name = stack_control.trigger_test_alarm(options.find_stack(), datetime.now(UTC))
    options.print_done_message(
        f"The alarm {name} is on for some minutes. Its mail should arrive now."
    )


@cloud.command
def pause(
    *,
    disable_schedule: Annotated[
        bool,
        Parameter(
            help="Also disable the schedule. Then nothing listens, and listening costs nothing."
        ),
    ] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Start no new matches. Running matches are played to their end.

    The command waits until every function has read the new setting, about 13 seconds.
    """
    print_notice("Waiting until every function has read the new setting ...")
    stack_control.pause_new_matches(options.find_stack(), stop_schedule=disable_schedule)
    message = "Paused: no new match starts. Running matches are played to their end."
    if disable_schedule:
        message = "Paused, and nothing listens until `cardsharp cloud resume`."
    options.print_done_message(message)


@cloud.command
def resume(*, options: StackOptions = DEFAULT_STACK_OPTIONS) -> None:
    """Start new matches again after `cloud pause`, and listen."""
    stack_control.resume(options.find_stack())
    options.print_done_message("Resumed: new matches start again.")


@cloud.command
def delete_secrets(
    *,
    include_match_log: Annotated[
        bool, Parameter(help="Also delete the match log for ever.")
    ] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Delete the stack's passwords. Run it before `sam delete`, which leaves them.

    Example: cardsharp cloud delete-secrets --stack cardsharp-dev
    """
    deleted_names = stack_control.delete_passwords_and_log(
        options.find_stack(), include_match_log=include_match_log
    )
    options.print_done_message(
        f"Deleted: {', '.join(deleted_names) or 'nothing, because nothing was left'}."
    )


@cloud.command(name="set")
def set_(
    *, new_values: SettingChanges = NO_CHANGES, options: StackOptions = DEFAULT_STACK_OPTIONS
) -> None:
    """Change strategy, tags or concurrency within seconds, without a deployment.

    Without options it shows the settings. Running matches keep their settings.
    """
    stack, changes = options.find_stack(), new_values.changes()
    if changes:
        stack_control.update_settings(stack, **changes)
    settings = stack_control.read_effective_settings(stack)
    options.print_json_or_lines(settings.document(), [settings])


@cloud.command
def keep_listening(
    *,
    duration: Annotated[
        timedelta,
        Parameter(converter=parse_duration, help="How long to listen, such as 4h or 2d."),
    ],
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Open a listening window by hand, for a stack that listens only in `ListeningWindows`."""
    until = datetime.now(UTC) + duration
    stack_control.update_settings(options.find_stack(), awake_until=until)
    options.print_done_message(f"The stack listens until {until:%Y-%m-%d %H:%M} UTC.")


@cloud.command
def practice(
    *,
    matches: Annotated[
        int,
        Parameter(
            alias="-n", validator=validators.Number(gte=1, lte=100), help="Number of matches."
        ),
    ] = 1,
    opponent: Annotated[str, Parameter(help="The opponent: self or dummy.")] = "self",
    tag: Annotated[tuple[str, ...], Parameter(help="A tag of the matches. Can be repeated.")] = (),
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Create practice matches, which the stack then plays."""
    order: dict[str, object] = {"matches": matches, "opponent": opponent, "tags": list(tag)}
    ids = stack_control.create_practice_matches(options.find_stack(), order)
    options.print_json_or_lines(
        {"match_ids": ids}, (f"created match {match_id}" for match_id in ids)
    )


@cloud.command
def matches(
    *,
    limit: Annotated[
        int,
        Parameter(validator=validators.Number(gte=1), help="Maximum number of matches to list."),
    ] = 20,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """List the stack's matches. The match that was started last comes first.

    Example: cardsharp cloud matches --limit 50
    """
    stack = options.find_stack()
    listed = iter_matches(stack.log, None, None, limit)
    print_matches(listed, stack.name, as_json=options.as_json)


@cloud.command(name="export")
def export_(
    file: Annotated[
        Path, Parameter(help="The match log on this machine. It is created if it does not exist.")
    ],
    *,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Copy the stack's finished matches into a match log on this machine.

    Use it before KeepDays is over. `show`, `why` and `backtest` read the log with
    --store. Items of version 0.3 and earlier are rewritten in the table, so
    that people can read them.
    """
    stack = options.find_stack()
    copied = export_missing_matches(stack.log, file)
    rewritten = rewrite_legacy_matches(stack.match_log_table, stack.log)
    text = f"{copied} matches copied to {file}"
    options.print_done_message(
        f"{text}, and {rewritten} of an earlier version rewritten" if rewritten else text
    )


@cloud.command
def link(
    match: Annotated[str, Parameter(help="The match: its id, a part of the id, or the word last.")],
    /,
    *,
    hours: Annotated[
        float,
        Parameter(validator=validators.Number(gt=0), help="For how many hours the link is valid."),
    ] = 24,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Print a link to the page of a match. --stack names the stack of the pages.

    The page shows what a spectator may know. After the match it shows our reasons,
    too.
    """
    stack, until = options.find_stack(), datetime.now(UTC) + timedelta(hours=hours)
    url = stack_control.match_link(stack, resolve_match_id(stack.log, match), until)
    options.print_json_or_lines({"url": url, "until": until.isoformat()}, [url])


@cloud.command
def logs(
    match: Annotated[str | None, Parameter(help="The id of the match.")] = None,
    /,
    *,
    problems: Annotated[
        bool, Parameter(help="Print warnings, errors and timeouts instead.")
    ] = False,
    hours: Annotated[float, Parameter(help="How many hours to look back.")] = 24,
    follow: Annotated[bool, Parameter(help="Keep printing new lines until Ctrl-C.")] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Print what all functions logged about a match, or their problems, in time order."""
    if (match is None) is not problems:
        raise ConfigError("Give either the id of a match or --problems.")
    stack, since = options.find_stack(), datetime.now(UTC) - timedelta(hours=hours)
    if not follow:
        lines = log_lines(stack, match, since)
        if not lines and match is not None:
            raise ConfigError(
                f"No function logged anything about {match} within {hours:g} hours. "
                "Check the id with "
                "`cardsharp cloud matches`, or look further back with --hours."
            )
        options.print_json_or_lines([line.document() for line in lines], lines)
        return
    for line in function_logs.follow_log_lines(
        partial(log_lines, stack, match), since, SystemClock()
    ):
        options.print_json_or_lines([line.document()], [line])


@cloud.command
def rotate_secret(
    *,
    user: Annotated[
        str | None, Parameter(help="Our user id at the arena, to set the bot's password.")
    ] = None,
    service: Annotated[
        str | None,
        Parameter(
            help="Set the password of a service instead: deadmansdraw for the organiser, "
            "viewer for "
            "the pages."
        ),
    ] = None,
    check: Annotated[
        bool,
        Parameter(
            negative="--no-check", help="First check at the arena that user and password are valid."
        ),
    ] = True,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Set the bot's user and password. The password is asked for, or read from stdin.

    Example: cardsharp cloud rotate-secret --user ID
    """
    if service is not None and user is None:
        stack_control.store_service_password(
            options.find_stack(), service, _read_password(f"the service {service}")
        )
        options.print_done_message("The service uses the new password within five minutes.")
        return
    if user is None or service is not None:
        raise ConfigError(
            "Give either --user ID for the bot's password, or --service NAME for a service."
        )
    stack = options.find_stack()
    password = _read_password(f"{user} at the arena")

    def ask_arena(username: str, password: str) -> None:
        if check:
            url, auth = stack_control.arena_address_and_auth(stack)
            digest = auth == "digest"
            address = ServiceAddress(url, proxy=resolve_proxy())
            with ArenaClient(
                address, Credentials(username, password), use_digest_auth=digest
            ) as client:
                client.whoami()

    stack_control.replace_arena_credentials(stack, user, password, ask_arena)
    options.print_done_message("The functions use the new password within a few minutes.")


def _read_password(account: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(f"New password of {account}: ")
    return sys.stdin.readline().rstrip("\n")
