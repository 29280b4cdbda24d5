"""The bot put together from settings; apart from the assembly, as poller and practice need none."""

import logging
from contextlib import ExitStack
from random import Random

from cardsharp.access import Credentials
from cardsharp.cloud.attend import Bot
from cardsharp.cloud.attended import Attended
from cardsharp.cloud.secrets import guarded
from cardsharp.cloud.telemetry import BUILD
from cardsharp.deadmansdraw.assembly import Assembly, assembly_of
from cardsharp.deadmansdraw.bot import meeting
from cardsharp.deadmansdraw.briefing import Players, Seat
from cardsharp.deadmansdraw.client import DUMMY_ID
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.strategies import build
from cardsharp.errors import ConfigError
from cardsharp.game import Job

_log = logging.getLogger("cardsharp.attending")


def attend(match_id: str, job: Job) -> Attended:
    """Play a match at the arena; see `Bot.attend`.

    The dummy's seat is ours too where the settings name a strategy for it.
    """
    assembly = assembly_of(job)
    settings = assembly.settings

    def seat(given: Credentials, strategy: str) -> Seat:
        client = clients.enter_context(assembly.client_of(given))
        return Seat(given.user, client, build(strategy, Random()), strategy)

    with assembly.keeping_up(), ExitStack() as clients:
        me = seat(settings.credentials(), _strategy(assembly))
        dummy = None
        if settings.dummy_strategy is not None:
            given = guarded(DUMMY_ID, settings.dummy_password.get_secret_value())
            dummy = seat(given, settings.dummy_strategy)
        players = Players(me, dummy, assembly.log)
        meet = meeting(players, assembly.clock, assembly.wanted_tags())
        timing, version = settings.timing, settings.version or BUILD
        bot = Bot(GAME.name, meet, assembly.offering, job.worker, timing, version=version)
        return bot.attend(match_id, job.remaining)


def _strategy(assembly: Assembly) -> str:
    """Who plays: as an operator wants it, if there is such a strategy, and else as it was deployed.

    An error is logged then, which an alarm watches; the match is played.
    """
    try:
        return assembly.wanted_strategy()
    except ConfigError as error:
        _log.error("%s %s plays instead.", error, assembly.strategy)
        return assembly.strategy
