"""`cardsharp cloud pause`, `set` and other commands that change what a deployed bot does."""

import getpass
import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.client.config import ServiceAddress
from cardsharp.core.credentials import Credentials
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp_tools.cli.commands.cloud.stack_options import (
    DEFAULT_STACK_OPTIONS,
    NO_CHANGES,
    SettingChanges,
    StackOptions,
)
from cardsharp_tools.cli.console import print_notice
from cardsharp_tools.cli.options import parse_duration
from cardsharp_tools.operations import stack_control
from cardsharp_tools.proxy_option import resolve_proxy


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
    """Start no new matches. Running matches are played to their end."""
    print_notice("Waiting until every function has read the new setting ...")
    stack_control.pause_new_matches(options.find_stack(), stop_schedule=disable_schedule)
    message = "Paused: no new match starts. Running matches are played to their end."
    if disable_schedule:
        message = "Paused, and nothing listens until `cardsharp cloud resume`."
    options.print_done_message(message)


def resume(*, options: StackOptions = DEFAULT_STACK_OPTIONS) -> None:
    """Start new matches again after `cloud pause`, and listen."""
    stack_control.resume(options.find_stack())
    options.print_done_message("Resumed: new matches start again.")


def set_(
    *, new_values: SettingChanges = NO_CHANGES, options: StackOptions = DEFAULT_STACK_OPTIONS
) -> None:
    """Change strategy, tags or concurrency within seconds, without a deployment."""
    stack, changes = options.find_stack(), new_values.changes()
    if changes:
        stack_control.update_settings(stack, **changes)
    settings = stack_control.read_effective_settings(stack)
    options.print_json_or_lines(settings.document(), [settings])


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


def delete_secrets(
    *,
    include_match_log: Annotated[
        bool, Parameter(help="Also delete the match log for ever.")
    ] = False,
    options: StackOptions = DEFAULT_STACK_OPTIONS,
) -> None:
    """Delete the stack's passwords. Run it before `sam delete`, which leaves them."""
    deleted_names = stack_control.delete_passwords_and_log(
        options.find_stack(), include_match_log=include_match_log
    )
    options.print_done_message(
        f"Deleted: {', '.join(deleted_names) or 'nothing, because nothing was left'}."
    )


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
    """Set the bot's user and password. The password is asked for, or read from stdin."""
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
