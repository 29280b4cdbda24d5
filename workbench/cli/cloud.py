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

from cardsharp.access import Address, Credentials
from cardsharp.cloud.clock import SystemClock
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.errors import ConfigError
from workbench.cli.cloud_stack import NOTHING, USUAL, StackOptions, SwitchesWanted, deploy, letters
from workbench.cli.commands import command
from workbench.cli.matches import print_matches
from workbench.operate import orders
from workbench.operate.export import export
from workbench.operate.preflight import outdated, planned, preflight
from workbench.operate.stack import account_clients
from workbench.operate.status import look_at, spend
from workbench.operate.story import followed, lines_about
from workbench.show.checks import attempt, report
from workbench.show.exits import Exit
from workbench.show.http_session import proxy_of
from workbench.show.lookup import find_match
from workbench.show.options import span
from workbench.show.output import print_error

cloud = cyclopts.App(name="cloud", help_epilogue=command("cloud").epilogue)
cloud.command(letters)
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
    options: StackOptions = USUAL,
) -> int:
    """Check before the first deployment that the account allows it, and what to change."""
    games = tuple(filter(None, services.split(",")))
    plan = planned(games, web=web, matches=match_limit, teams=teams)
    demand = replace(plan, reserve=reserve or plan.reserve, stack=options.stack)
    clients = account_clients(options.region)
    checks = chain(preflight(clients, demand), outdated(clients, demand.stack))
    return report(checks, as_json=options.as_json)


@cloud.command
def doctor(*, options: StackOptions = USUAL) -> int:
    """Test settings, strategy and password from within the deployed functions."""
    stack = options.find()

    def ask() -> str:
        orders.practise(stack, {"matches": 0})
        return "settings, strategy and password can be used"

    def ask_arena() -> str:
        orders.await_challenge(stack)
        return "it answers, and has its organiser's password"

    found = [attempt("functions", ask)] if stack.has_bot else []
    found += [attempt("arena", ask_arena)] if stack.has_director else []
    return report(found, as_json=options.as_json)


@cloud.command
def status(
    *,
    costs: Annotated[
        bool, Parameter(help="Also what was spent this month; AWS takes a cent.")
    ] = False,
    options: StackOptions = USUAL,
) -> int:
    """Show whether the stack listens, plays and works; exits with 1 if not."""
    stack = options.find()
    look = look_at(stack)
    spent = {"spent": spend(stack.client, datetime.now(UTC))} if costs else {}
    money = [f"spent     {text}" for text in spent.values()]
    options.tell(look.document() | spent, [*look.lines(), *money])
    if not options.as_json:
        for problem in look.problems:
            print_error(problem)
    return Exit.FAILED if look.problems else Exit.OK


@cloud.command(name="test-alarm")
def alarm(*, options: StackOptions = USUAL) -> None:
    """Raise an alarm for some minutes, to test that its mail arrives."""
    name = orders.ring(options.find(), datetime.now(UTC))
    options.done(f"the alarm {name} is on for some minutes; its mail should arrive now")


@cloud.command
def pause(
    *,
    stop_schedule: Annotated[
        bool, Parameter(help="Stop listening altogether, which costs nothing.")
    ] = False,
    options: StackOptions = USUAL,
) -> None:
    """Start no new matches; running ones finish."""
    orders.pause(options.find(), stop_schedule=stop_schedule)
    told = "paused: no new matches are taken up, running ones are played on"
    if stop_schedule:
        told = "paused, and nobody listens any more until `cardsharp cloud resume`"
    options.done(told)


@cloud.command
def resume(*, options: StackOptions = USUAL) -> None:
    """Start new matches again."""
    orders.resume(options.find())
    options.done("resumed: new matches are taken up")


@cloud.command
def forget(
    *,
    matches: Annotated[
        bool, Parameter(help="Also the match log, which cannot be had again.")
    ] = False,
    options: StackOptions = USUAL,
) -> None:
    """Delete the stack's passwords before `sam delete`, which would leave them."""
    gone = orders.forget(options.find(), matches=matches)
    options.done(f"Deleted: {', '.join(gone) or 'nothing, for nothing was there'}.")


@cloud.command(name="set")
def set_(*, wanted: SwitchesWanted = NOTHING, options: StackOptions = USUAL) -> None:
    """Set who plays, which matches and how many, within seconds and without a deployment.

    Without options, show the settings. Running matches keep theirs.
    """
    stack, changes = options.find(), wanted.changes()
    if changes:
        orders.change(stack, **changes)
    now = orders.held(stack)
    options.tell(now.document(), [now])


@cloud.command
def listen(
    *,
    time: Annotated[
        timedelta, Parameter(name="--for", converter=span, help="How long, e.g. 4h or 2d.")
    ],
    options: StackOptions = USUAL,
) -> None:
    """Have a stack listen without a break for a while."""
    until = datetime.now(UTC) + time
    orders.change(options.find(), awake_until=until)
    options.done(f"it listens until {until:%Y-%m-%d %H:%M} UTC")


@cloud.command
def practice(
    *,
    matches: Annotated[
        int, Parameter(alias="-n", validator=validators.Number(gte=1, lte=100), help="How many.")
    ] = 1,
    opponent: Annotated[str, Parameter(help="self or dummy.")] = "self",
    tag: Annotated[tuple[str, ...], Parameter(help="Tags of the matches.")] = (),
    options: StackOptions = USUAL,
) -> None:
    """Have the practice function create matches, which the stack then plays."""
    order: dict[str, object] = {"matches": matches, "opponent": opponent, "tags": list(tag)}
    ids = orders.practise(options.find(), order)
    options.tell({"match_ids": ids}, (f"created match {match_id}" for match_id in ids))


@cloud.command
def matches(
    *,
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1), help="At most.")] = 20,
    options: StackOptions = USUAL,
) -> None:
    """List the stack's matches, the last started first."""
    stack = options.find()
    print_matches(stack.log.matches(limit=limit), stack.name, as_json=options.as_json)


@cloud.command(name="export")
def export_(
    file: Annotated[Path, Parameter(help="A match log on this machine, made where there is none.")],
    *,
    options: StackOptions = USUAL,
) -> None:
    """Copy the stack's finished matches into a match log here, for `show`, `why` and `try`."""
    options.done(f"{export(options.find().log, file)} matches copied to {file}")


@cloud.command
def link(
    match: Annotated[str, Parameter(help="A match's id, a part of it, or the word last.")],
    /,
    *,
    hours: Annotated[
        float, Parameter(validator=validators.Number(gt=0), help="How long it opens the page.")
    ] = 24,
    options: StackOptions = USUAL,
) -> None:
    """Print a link to the page of one match, where the stack has pages (DeployWeb=yes).

    Whoever has it sees what a spectator may know, and our thoughts when the match is over.
    """
    stack, until = options.find(), datetime.now(UTC) + timedelta(hours=hours)
    url = orders.link_to(stack, find_match(stack.log, match), until)
    options.tell({"url": url, "until": until.isoformat()}, [url])


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
    options: StackOptions = USUAL,
) -> None:
    """Print what all functions logged about a match, or their problems, in the order of time."""
    if (match is None) is not problems:
        raise ConfigError("Give a match's id, or --problems.")
    stack, since = options.find(), datetime.now(UTC) - timedelta(hours=hours)
    if not follow:
        lines = lines_about(stack, match, since)
        if not lines and match is not None:
            raise ConfigError(
                f"Within {hours:g} hours no function logged anything about {match}; see "
                "`cardsharp cloud matches`, or look further back with --hours."
            )
        options.tell([line.document() for line in lines], lines)
        return
    for line in followed(partial(lines_about, stack, match), since, SystemClock()):
        options.tell([line.document()], [line])


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
    options: StackOptions = USUAL,
) -> None:
    """Set user and password at the arena; the password is asked for, or read from stdin."""
    if service is not None and user is None:
        orders.rotate_service_secret(options.find(), service, _password(f"the service {service}"))
        options.done("the service knows the new password within five minutes")
        return
    if user is None or service is not None:
        raise ConfigError("Give --user ID for the bot's password, or --service NAME for another.")
    stack = options.find()
    password = _password(f"{user} at the arena")

    def ask_arena(username: str, word: str) -> None:
        if check:
            url, auth = orders.arena_url(stack)
            digest = auth == "digest"
            address = Address(url, proxy=proxy_of())
            with ArenaClient(address, Credentials(username, word), digest=digest) as client:
                client.whoami()

    orders.rotate_secret(stack, user, password, ask_arena)
    options.done("the functions use the new password within a few minutes")


def _password(whose: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(f"New password of {whose}: ")
    return sys.stdin.readline().rstrip("\n")
