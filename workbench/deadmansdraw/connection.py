"""Which arena to attend, and as whom: options over `CARDSHARP_...` variables."""

import getpass
import os
import sys
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cardsharp.access import Limits
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.settings import PREFIX
from cardsharp.deadmansdraw.arena.players import ADMIN
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.settings import Settings
from cardsharp.deadmansdraw.wire_views import WhoAmI
from cardsharp.errors import ConfigError, RateLimited, Unreachable, Untrusted
from cardsharp.games import settings_names
from workbench.show.lookup import own_store
from workbench.show.options import CommandOptions, ProxyAddress
from workbench.strategy_file import strategy_named, version_of

_FLAGS = {
    "CARDSHARP_ARENA_URL": "--url",
    "CARDSHARP_USER": "--user",
    "CARDSHARP_STORE": "--store",
    "CARDSHARP_TAGS": "--tag",
    "CARDSHARP_PROXY": "--proxy",
}
"""The options that set a variable."""

_LONGEST_WAIT = timedelta(seconds=30)


@dataclass(frozen=True, kw_only=True)
class ArenaOptions(CommandOptions):
    """The arena and the player; what is not given comes from the environment."""

    url: str | None = None
    """The arena's address; else CARDSHARP_ARENA_URL."""
    user: str | None = None
    """Our user id; else CARDSHARP_USER."""
    digest: bool = False
    """Authenticate by Digest instead of Basic."""
    insecure: bool = False
    """Send the password over http in a private network."""
    ca: Path | None = None
    """CA file to trust, for an arena with a certificate of its own."""
    proxy: ProxyAddress = None


def variables_for(
    options: ArenaOptions, strategy: str | None = None, **more: str | None
) -> dict[str, str]:
    """All `CARDSHARP_...` variables: those of the environment under what was given.

    `more` are further settings by their lower-case names; None leaves one as it is. A password that
    nothing names is asked for. `ConfigError` is for the organiser, a bad setting or strategy, or no
    password.
    """
    if strategy is not None:
        more |= {"strategy": strategy_named(strategy), "version": version_of(strategy, GAME)}
    found = {key: value for key, value in os.environ.items() if key.startswith(PREFIX) and value}
    given = {
        "arena_url": options.url,
        "user": options.user,
        "arena_auth": "digest" if options.digest else None,
        "arena_insecure": "true" if options.insecure else None,
        "proxy": options.proxy,
        "arena_ca": None if options.ca is None else str(options.ca),
        **more,
    }
    told = {f"{PREFIX}{k.upper()}": v for k, v in given.items() if v is not None}
    found |= told
    if found.get("CARDSHARP_USER") == ADMIN:
        raise ConfigError(
            f"'{ADMIN}' is the arena's organiser, who plays no match; "
            "give a player's id (--user or CARDSHARP_USER), e.g. 636438380ee778617e6e5be8."
        )
    found.setdefault("CARDSHARP_STORE", own_store())
    found.setdefault("CARDSHARP_QUEUE", f"memory:{uuid.uuid4()}")
    if not {"CARDSHARP_PASSWORD", "CARDSHARP_SECRET_ID"} & found.keys():
        user = found.get("CARDSHARP_USER") or "our user"
        found["CARDSHARP_PASSWORD"] = ask_password("CARDSHARP_PASSWORD", f"{user} at the arena")
    try:
        Settings.load(found, settings_names)
    except ConfigError as error:
        raise ConfigError(_by_flags(str(error), told)) from None
    return found


def _by_flags(faults: str, told: Iterable[str]) -> str:
    """The faults of settings, those that came by an option, or could have, under its name."""
    for variable in {*told} & _FLAGS.keys():
        faults = faults.replace(f"{variable} cannot", f"{_FLAGS[variable]} cannot")
    for variable, flag in _FLAGS.items():
        faults = faults.replace(f"{variable} is missing", f"{flag} (or {variable}) is missing")
    return faults.replace("set CARDSHARP_USER and", "set CARDSHARP_USER (or give --user) and")


def ask_password(variable: str, whose: str) -> str:
    """A password that is typed; raises `ConfigError` where nobody is there, to set the variable."""
    if not sys.stdin.isatty():
        raise ConfigError(f"Set {variable}; there is no terminal to ask for it.")
    return getpass.getpass(f"Password of {whose}: ")


def client_for(settings: Settings) -> ArenaClient:
    """A client of our own, beside those of the handlers; it repeats nothing."""
    digest = settings.arena_auth == "digest"
    return ArenaClient(settings.address, settings.credentials(), Limits(attempts=1), digest)


def await_arena(client: ArenaClient, clock: Clock, say: Callable[[str], None]) -> WhoAmI:
    """Who the arena takes us for, asked until it can be reached; raises `ArenaError` otherwise."""
    wait = timedelta(seconds=1)
    while True:
        try:
            return client.whoami()
        except Untrusted:
            raise
        except (Unreachable, RateLimited) as error:
            say(f"{error} Trying again in {wait.total_seconds():g} s; Ctrl-C stops.")
        clock.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT)
