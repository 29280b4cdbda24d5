"""Start of `cardsharp bot`: its settings, and the first contact with the arena."""

import time
from math import inf
from pathlib import Path

from cardsharp.core.clock import utc_now
from cardsharp.core.time_zones import to_local
from cardsharp_tools.cli.console import print_notice
from cardsharp_tools.games.deadmansdraw.arena_environment import (
    bot_environment_from_options,
    fetch_account_when_reachable,
    single_attempt_client,
)
from cardsharp_tools.games.deadmansdraw.commands.bot import BotOptions
from cardsharp_tools.local_play.bot_runtime import open_bot_dependencies
from cardsharp_tools.local_play.handler_environment import (
    Notify,
    forward_warnings,
    redirect_telemetry,
)
from cardsharp_tools.match_sources.match_logs import data_folder

WARNING_REPEAT_SECONDS = 30.0  # seconds for which a warning is not said again


def start_bot(options: BotOptions) -> None:
    """Sign in at the arena, then play every match that waits for us until Ctrl-C."""
    variables = bot_environment_from_options(
        options.arena,
        options.strategy,
        tags=",".join(options.tag) or None,
        store=None if options.store is None else f"sqlite:{options.store}",
    )
    say = _create_notifier()
    with (
        redirect_telemetry(bot_log_path()),
        forward_warnings(say),
        open_bot_dependencies(variables) as assembly,
    ):
        with single_attempt_client(assembly.settings) as client:
            identity = fetch_account_when_reachable(client, assembly.clock, say)
        # What plays and shows takes as long to import as all before, and none of it asks this.
        from cardsharp_tools.games.deadmansdraw.bot_runner import run_bot  # noqa: PLC0415

        run_bot(assembly, identity.name or identity.username, options, say)


def bot_log_path() -> Path:
    """Return the path of the bot's log file."""
    return data_folder() / "bot.log"


def _create_notifier() -> Notify:
    """Return a function that prints a sentence on stderr with the time of day.

    It does not repeat a sentence that it printed a moment ago.
    """
    last_times = dict[str, float]()

    def say(sentence: str) -> None:
        current_time = time.monotonic()
        if current_time - last_times.get(sentence, -inf) >= WARNING_REPEAT_SECONDS:
            last_times[sentence] = current_time
            print_notice(f"{to_local(utc_now()):%H:%M:%S} {sentence}")

    return say
