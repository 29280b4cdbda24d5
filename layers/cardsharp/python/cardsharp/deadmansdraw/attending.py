"""The bot put together from settings; apart from the assembly, as poller and practice need none."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random

from cardsharp.cloud.attend import Bot
from cardsharp.cloud.attended import Attended
from cardsharp.cloud.secrets import credentials, guarded
from cardsharp.cloud.timing import timing_of
from cardsharp.deadmansdraw.assembly import Assembly, assembly_of
from cardsharp.deadmansdraw.bot import meeting
from cardsharp.deadmansdraw.client import DUMMY_ID, Credentials
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.seats import Players, Seat
from cardsharp.deadmansdraw.strategies import build
from cardsharp.game import Job


def attend(match_id: str, job: Job) -> Attended:
    """Play a match at the arena; see `Bot.attend`."""
    with _bot(assembly_of(job), job.worker) as bot:
        return bot.attend(match_id, job.remaining)


@contextmanager
def _bot(assembly: Assembly, worker: str) -> Iterator[Bot]:
    """A bot for our seat and, where the settings name a strategy for it, the dummy's."""
    settings = assembly.settings

    def seat(given: Credentials, strategy: str) -> Seat:
        client = clients.enter_context(assembly.client_of(given))
        return Seat(given.user, client, build(strategy, Random()), strategy)

    with assembly.keeping_up(), ExitStack() as clients:
        me = seat(credentials(settings), settings.strategy or GAME.default_strategy)
        dummy = None
        if settings.dummy_strategy is not None:
            given = guarded(DUMMY_ID, settings.dummy_password.get_secret_value())
            dummy = seat(given, settings.dummy_strategy)
        meet = meeting(Players(me, dummy), assembly.log, assembly.clock)
        yield Bot(GAME.name, meet, assembly.offering, worker, timing_of(settings))
