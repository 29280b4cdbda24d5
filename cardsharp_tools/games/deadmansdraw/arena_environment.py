"""Settings of a bot from the options of a command and the environment, and its first contact."""

import getpass
import os
import sys
import uuid
from collections.abc import Callable, Iterable
from datetime import timedelta

from cardsharp.bot.settings import PREFIX
from cardsharp.client.config import RequestLimits
from cardsharp.core.clock import Clock
from cardsharp.errors import ConfigError, RateLimited, Unreachable, UntrustedCertificate
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.settings import ArenaBotSettings
from cardsharp.games.deadmansdraw.arena_bot.wire_views import WhoAmIView
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.play.catalog import all_setting_names
from cardsharp_tools.executors.strategy_file import register_strategy, source_version
from cardsharp_tools.executors.strategy_reference import StrategyReference
from cardsharp_tools.games.deadmansdraw.arena_options import ArenaOptions
from cardsharp_tools.local_play.handler_environment import USER_CODE_SETTINGS
from cardsharp_tools.match_sources.match_logs import default_store

_FLAGS_BY_VARIABLE = {
    "CARDSHARP_ARENA_URL": "--url",
    "CARDSHARP_USER": "--user",
    "CARDSHARP_STORE": "--store",
    "CARDSHARP_TAGS": "--tag",
    "CARDSHARP_PROXY": "--proxy",
}
"""Options by the variable that they set."""

_MAX_WAIT = timedelta(seconds=30)


def bot_environment_from_options(
    options: ArenaOptions, strategy: StrategyReference | None = None, **extra_settings: str | None
) -> dict[str, str]:
    """Return all `CARDSHARP_...` variables: the options over those of the environment.

    `more` are further settings by their lower-case names; a setting that is None is ignored. If no
    variable has the password, the user is asked for it. Raises `ConfigError` for the organiser's
    account, for an invalid setting or strategy, and without a password.
    """
    if strategy is not None:
        extra_settings |= {
            "strategy": register_strategy(strategy),
            "version": source_version(strategy, GAME),
        }
    environment = {
        key: value for key, value in os.environ.items() if key.startswith(PREFIX) and value
    }
    settings = {
        "arena_url": options.url,
        "user": options.user,
        "arena_auth": "digest" if options.digest else None,
        "arena_insecure": "true" if options.insecure else None,
        "proxy": options.proxy,
        "arena_ca": None if options.ca_file is None else str(options.ca_file),
        **extra_settings,
    }
    overrides = {f"{PREFIX}{k.upper()}": v for k, v in settings.items() if v is not None}
    environment |= overrides
    if environment.get("CARDSHARP_USER") == ADMIN:
        raise ConfigError(
            f"'{ADMIN}' is the arena's organiser, who plays no matches. Give the id of a player "
            "(--user or CARDSHARP_USER), such as 636438380ee778617e6e5be8."
        )
    if strategy is not None and strategy.is_user_code:
        environment = {**USER_CODE_SETTINGS, **environment}
    environment.setdefault("CARDSHARP_STORE", default_store())
    environment.setdefault("CARDSHARP_QUEUE", f"memory:{uuid.uuid4()}")
    if not {"CARDSHARP_PASSWORD", "CARDSHARP_SECRET_ID"} & environment.keys():
        user = environment.get("CARDSHARP_USER") or "our user"
        environment["CARDSHARP_PASSWORD"] = prompt_for_password(
            "CARDSHARP_PASSWORD", f"{user} at the arena"
        )
    try:
        ArenaBotSettings.load(environment, all_setting_names)
    except ConfigError as error:
        raise ConfigError(_replace_variables_by_flags(str(error), overrides)) from None
    return environment


def _replace_variables_by_flags(errors: str, option_variables: Iterable[str]) -> str:
    """Return the error text with the names of options in place of their variables."""
    for variable in {*option_variables} & _FLAGS_BY_VARIABLE.keys():
        errors = errors.replace(f"{variable} cannot", f"{_FLAGS_BY_VARIABLE[variable]} cannot")
    for variable, flag in _FLAGS_BY_VARIABLE.items():
        errors = errors.replace(f"{variable} is missing", f"{flag} (or {variable}) is missing")
    return errors.replace("set CARDSHARP_USER and", "set CARDSHARP_USER (or give --user) and")


def prompt_for_password(variable: str, account: str) -> str:
    """Ask for a password on the terminal and return it.

    Raises `ConfigError` without a terminal; it names the environment `variable` to set.
    """
    if not sys.stdin.isatty():
        raise ConfigError(f"Set {variable}, because there is no terminal to ask for the password.")
    return getpass.getpass(f"Password of {account}: ")


def single_attempt_client(settings: ArenaBotSettings) -> ArenaClient:
    """Return an arena client that never retries, independent of the handlers' clients."""
    digest = settings.arena_auth == "digest"
    return ArenaClient(
        settings.address, settings.credentials(), RequestLimits(max_attempts=1), digest
    )


def fetch_account_when_reachable(
    client: ArenaClient, clock: Clock, notify: Callable[[str], None]
) -> WhoAmIView:
    """Return the account that the arena recognises, retrying until it can be reached.

    Raises `ArenaError` if the arena rejects us.
    """
    wait = timedelta(seconds=1)
    while True:
        try:
            return client.whoami()
        except UntrustedCertificate:
            raise
        except (Unreachable, RateLimited) as error:
            notify(f"{error} Trying again in {wait.total_seconds():g} s; Ctrl-C stops.")
        clock.sleep(wait)
        wait = min(2 * wait, _MAX_WAIT)
