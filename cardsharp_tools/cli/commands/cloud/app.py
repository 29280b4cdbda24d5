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

from cardsharp.client.config import ServiceAddress
from cardsharp.core.clock import SystemClock
from cardsharp.core.credentials import Credentials
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp_tools.cli.app import command
from cardsharp_tools.cli.commands.cloud.stack_options import (
    DEFAULT_STACK_OPTIONS,
    NO_CHANGES,
    SettingChanges,
    StackOptions,
    dead_letter_app,
    deploy,
)
from cardsharp_tools.cli.commands.matches import print_matches
from cardsharp_tools.cli.console import print_error
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.cli.health_checks import print_checks, run_check
from cardsharp_tools.cli.options import parse_duration
from cardsharp_tools.http_session import proxy_of
from cardsharp_tools.match_sources.match_logs import find_match
from cardsharp_tools.operations import function_logs, stack_control
from cardsharp_tools.operations.export import export_matches
from cardsharp_tools.operations.function_logs import log_lines
from cardsharp_tools.operations.preflight import check_release, planned_demand, preflight
from cardsharp_tools.operations.stack import account_clients
from cardsharp_tools.operations.status import month_to_date_cost, read_status

cloud = cyclopts.App(name="cloud", help_epilogue=command("cloud").epilogue)
cloud.command(dead_letter_app)
cloud.command(deploy)


@cloud.command(name="preflight")
def preflight_(  # noqa: PLR0913 - each is an option of the command
    *,
    match_limit: Annotated[
        int | None, Parameter(validator=validators.Number(gte=2), help="MatchLimit to deploy with.")
    ] = None,
    reserve: Annotated[bool, Parameter(help="With Reserve=yes.")] = False,
    services: Annotated[
        str, Parameter(help="The games whose services are deployed: blef, euchre, deadmansdraw.")
    ] = "",
    web: Annotated[bool, Parameter(help="With DeployWeb=yes.")] = False,
    teams: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=2),
            help="An arena for so many teams; with --match-limit beside the bot. Else 20.",
        ),
    ] = None,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> int:
    """Check before the first deployment that the account allows it, and what to change."""
    games = tuple(filter(None, services.split(",")))
    plan = planned_demand(games, web=web, matches=match_limit, teams=teams)
    demand = replace(
        plan, reserve_concurrency=reserve or plan.reserve_concurrency, stack=options.stack
    )
    clients = account_clients(options.region)
    checks = chain(preflight(clients, demand), check_release(clients, demand.stack))
    return print_checks(checks, as_json=options.as_json)


@cloud.command
def doctor(*, options: StackOptions = DEFAULT_STACK_OPTIONS) -> int:
    """Test settings, strategy and password from within the deployed functions."""
    stack = options.find()

    def ask() -> str:
        stack_control.create_practice_matches(stack, {"matches": 0})
        return "settings, strategy and password can be used"

    def ask_arena() -> str:
        stack_control.check_arena_challenge(stack)
        return "it answers, and has its organiser's password"

    checks = [run_check("functions", ask)] if stack.has_bot else []
    checks += [run_check("arena", ask_arena)] if stack.has_director else []
    return print_checks(checks, as_json=options.as_json)


@cloud.command
def status(
    *,
    costs: Annotated[
        bool, Parameter(help="Also what was spent this month; AWS takes a cent.")
    ] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> int:
    """Show whether the stack listens, plays and works; exits with 1 if not."""
    stack = options.find()
    look = read_status(stack)
    spent = {"spent": month_to_date_cost(stack.client, datetime.now(UTC))} if costs else {}
    money = [f"spent     {text}" for text in spent.values()]
    options.print_result(look.document() | spent, [*look.lines(), *money])
    if not options.as_json:
        for problem in look.problems:
            print_error(problem)
    return ExitCode.FAILED if look.problems else ExitCode.OK


@cloud.command(name="test-alarm")
def alarm(*, options: StackOptions = DEFAULT_STACK_OPTIONS) -> None:
    """Raise an alarm for some minutes, to test that its mail arrives."""
    name = stack_control.trigger_alarm(options.find(), datetime.now(UTC))
    options.print_done(f"the alarm {name} is on for some minutes; its mail should arrive now")


@cloud.command
def pause(
    *,
    disable_schedule: Annotated[
        bool,
        Parameter(name="--stop-schedule", help="Stop listening altogether, which costs nothing."),
    ] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Start no new matches; running ones finish."""
    stack_control.pause(options.find(), stop_schedule=disable_schedule)
    message = "paused: no new matches are taken up, running ones are played on"
    if disable_schedule:
        message = "paused, and nobody listens any more until `cardsharp cloud resume`"
    options.print_done(message)


@cloud.command
def resume(*, options: StackOptions = DEFAULT_STACK_OPTIONS) -> None:
    """Start new matches again."""
    stack_control.resume(options.find())
    options.print_done("resumed: new matches are taken up")


@cloud.command(name="forget")
def delete_secrets(
    *,
    include_match_log: Annotated[
        bool, Parameter(name="--matches", help="Also the match log, which cannot be had again.")
    ] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Delete the stack's passwords before `sam delete`, which would leave them."""
    deleted_names = stack_control.delete_secrets(
        options.find(), include_match_log=include_match_log
    )
    options.print_done(f"Deleted: {', '.join(deleted_names) or 'nothing, for nothing was there'}.")


@cloud.command(name="set")
def set_(
    *, new_values: SettingChanges = NO_CHANGES, options: StackOptions = DEFAULT_STACK_OPTIONS
) -> None:
    """Set who plays, which matches and how many, within seconds and without a deployment.

    Without options, show the settings. Running matches keep theirs.
    """
    stack, changes = options.find(), new_values.changes()
    if changes:
        stack_control.update_settings(stack, **changes)
    settings = stack_control.read_settings(stack)
    options.print_result(settings.document(), [settings])


@cloud.command
def listen(
    *,
    duration: Annotated[
        timedelta,
        Parameter(name="--for", converter=parse_duration, help="How long, e.g. 4h or 2d."),
    ],
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Have a stack listen without a break for a while."""
    until = datetime.now(UTC) + duration
    stack_control.update_settings(options.find(), awake_until=until)
    options.print_done(f"it listens until {until:%Y-%m-%d %H:%M} UTC")


@cloud.command
def practice(
    *,
    matches: Annotated[
        int, Parameter(alias="-n", validator=validators.Number(gte=1, lte=100), help="How many.")
    ] = 1,
    opponent: Annotated[str, Parameter(help="self or dummy.")] = "self",
    tag: Annotated[tuple[str, ...], Parameter(help="Tags of the matches.")] = (),
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Have the practice function create matches, which the stack then plays."""
    order: dict[str, object] = {"matches": matches, "opponent": opponent, "tags": list(tag)}
    ids = stack_control.create_practice_matches(options.find(), order)
    options.print_result({"match_ids": ids}, (f"created match {match_id}" for match_id in ids))


@cloud.command
def matches(
    *,
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1), help="At most.")] = 20,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """List the stack's matches, the last started first."""
    stack = options.find()
    print_matches(stack.log.matches(limit=limit), stack.name, as_json=options.as_json)


@cloud.command(name="export")
def export_(
    file: Annotated[Path, Parameter(help="A match log on this machine, made where there is none.")],
    *,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Copy the stack's finished matches into a match log here, for `show`, `why` and `try`."""
    options.print_done(f"{export_matches(options.find().log, file)} matches copied to {file}")


@cloud.command
def link(
    match: Annotated[str, Parameter(help="A match's id, a part of it, or the word last.")],
    /,
    *,
    hours: Annotated[
        float, Parameter(validator=validators.Number(gt=0), help="How long it opens the page.")
    ] = 24,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Print a link to the page of one match, where the stack has pages (DeployWeb=yes).

    Whoever has it sees what a spectator may know, and our thoughts when the match is over.
    """
    stack, until = options.find(), datetime.now(UTC) + timedelta(hours=hours)
    url = stack_control.match_link(stack, find_match(stack.log, match), until)
    options.print_result({"url": url, "until": until.isoformat()}, [url])


@cloud.command
def logs(
    match: Annotated[str | None, Parameter(help="A match's id.")] = None,
    /,
    *,
    problems: Annotated[bool, Parameter(help="Warnings, errors and timeouts instead.")] = False,
    hours: Annotated[float, Parameter(help="How far back.")] = 24,
    follow: Annotated[
        bool, Parameter(help="Go on with what is logged from now on, until Ctrl-C.")
    ] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Print what all functions logged about a match, or their problems, in the order of time."""
    if (match is None) is not problems:
        raise ConfigError("Give a match's id, or --problems.")
    stack, since = options.find(), datetime.now(UTC) - timedelta(hours=hours)
    if not follow:
        lines = log_lines(stack, match, since)
        if not lines and match is not None:
            raise ConfigError(
                f"Within {hours:g} hours no function logged anything about {match}; see "
                "`cardsharp cloud matches`, or look further back with --hours."
            )
        options.print_result([line.document() for line in lines], lines)
        return
    for line in function_logs.follow(partial(log_lines, stack, match), since, SystemClock()):
        options.print_result([line.document()], [line])


@cloud.command
def rotate_secret(
    *,
    user: Annotated[str | None, Parameter(help="Our user id at the arena.")] = None,
    service: Annotated[
        str | None,
        Parameter(
            help="Instead the password of a service here: of deadmansdraw's organiser, or of the "
            "pages, viewer."
        ),
    ] = None,
    check: Annotated[
        bool, Parameter(negative="--no-check", help="First ask the arena whether it knows them.")
    ] = True,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Set user and password at the arena; the password is asked for, or read from stdin."""
    if service is not None and user is None:
        stack_control.rotate_service_secret(
            options.find(), service, _password(f"the service {service}")
        )
        options.print_done("the service knows the new password within five minutes")
        return
    if user is None or service is not None:
        raise ConfigError("Give --user ID for the bot's password, or --service NAME for another.")
    stack = options.find()
    password = _password(f"{user} at the arena")

    def ask_arena(username: str, password: str) -> None:
        if check:
            url, auth = stack_control.arena_url(stack)
            digest = auth == "digest"
            address = ServiceAddress(url, proxy=proxy_of())
            with ArenaClient(
                address, Credentials(username, password), use_digest_auth=digest
            ) as client:
                client.whoami()

    stack_control.rotate_secret(stack, user, password, ask_arena)
    options.print_done("the functions use the new password within a few minutes")


def _password(account: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(f"New password of {account}: ")
    return sys.stdin.readline().rstrip("\n")
