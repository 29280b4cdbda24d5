"""The bot put together from settings; apart from the assembly, as poller and practice need none."""

import logging
from contextlib import ExitStack
from random import Random

from cardsharp.aws.ssm_credentials import credentials_redacted_in_logs
from cardsharp.aws.telemetry import BUILD
from cardsharp.bot.bot import Bot
from cardsharp.bot.session_result import SessionResult
from cardsharp.core.credentials import Credentials
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena_bot.arena_match import match_opener
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import (
    ArenaBotDependencies,
    dependencies_for,
)
from cardsharp.games.deadmansdraw.arena_bot.client import DUMMY_ID
from cardsharp.games.deadmansdraw.arena_bot.opponent_history import ArenaBotPlayer, BotAndDummySeats
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.games.deadmansdraw.strategies import build
from cardsharp.play.game import InvocationContext

_log = logging.getLogger("cardsharp.attending")


def run_session(match_id: str, context: InvocationContext) -> SessionResult:
    """Play a match at the arena; see `Bot.run_session`.

    If the settings name a strategy for the dummy, its seat is ours as well.
    """
    assembly = dependencies_for(context)
    settings = assembly.settings

    def seat(credentials: Credentials, strategy: str) -> ArenaBotPlayer:
        client = clients.enter_context(assembly.build_client_for(credentials))
        return ArenaBotPlayer(credentials.user, client, build(strategy, Random()), strategy)

    with assembly.refresh_credentials_on_401(), ExitStack() as clients:
        me = seat(settings.credentials(), _choose_strategy_name(assembly))
        dummy = None
        if settings.dummy_strategy is not None:
            dummy_credentials = credentials_redacted_in_logs(
                DUMMY_ID, settings.dummy_password.get_secret_value()
            )
            dummy = seat(dummy_credentials, settings.dummy_strategy)
        players = BotAndDummySeats(me, dummy, assembly.match_log)
        meet = match_opener(players, assembly.clock, assembly.match_tags_to_play())
        timing, version = settings.session_timing, settings.version or BUILD
        bot = Bot(
            GAME.name,
            meet,
            assembly.dispatcher,
            context.worker_id,
            timing,
            strategy_version=version,
        )
        return bot.run_session(match_id, context.remaining_time)


def _choose_strategy_name(assembly: ArenaBotDependencies) -> str:
    """Return the name of the strategy to play: the operator's, else the deployed one.

    If the operator names an unknown strategy, an error is logged, which triggers an alarm.
    The match is played all the same.
    """
    try:
        return assembly.current_strategy_name()
    except ConfigError as error:
        _log.error("%s %s plays instead.", error, assembly.strategy_name_without_override)
        return assembly.strategy_name_without_override
