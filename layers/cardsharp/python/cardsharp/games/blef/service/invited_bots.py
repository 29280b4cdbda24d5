"""Bots that are invited to a game: seats of ours, which the same workers play as any other."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from pydantic import SecretStr

from cardsharp.aws.telemetry import metrics_recorder
from cardsharp.bot.service_seats import (
    SeatDependencies,
    ServiceSeat,
    build_seat_dependencies,
    reserve_seat,
)
from cardsharp.bot.settings import WorkerSettings
from cardsharp.errors import ConfigError
from cardsharp.games.blef.game import GAME
from cardsharp.games.blef.service.errors import NoBotAvailable
from cardsharp.games.blef.service.records import GamePlayer
from cardsharp.games.blef.service.service import DEFAULT_BOTS, InvitableBots
from cardsharp.games.blef.strategies import build
from cardsharp.server.http_service import BOT_QUEUE_SETTING, BOT_STORE_SETTING, BOT_URL_SETTING

BOTS_SETTING = "BLEF_AGENTS"
_BOT_PATTERN = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(.+?)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlayedBots(InvitableBots):
    """Invitable bots played by bot workers, which reach this service at `url`.

    A seat is reserved by storing it in the vault and queueing it for a worker.
    """

    url: str
    dependencies: SeatDependencies

    @contextmanager
    def reserve_bot(self, game_uuid: str, player: GamePlayer, player_uuid: str) -> Iterator[None]:
        """Reserve a bot for this player; raise `NoBotAvailable` while bots are paused."""
        strategy = player.bot_name or GAME.default_strategy
        seat = ServiceSeat(self.url, game_uuid, player.nickname, strategy, SecretStr(player_uuid))
        try:
            with reserve_seat(
                GAME.name, seat, self.dependencies.vault, self.dependencies.dispatcher
            ):
                yield
        except ConfigError as error:
            raise NoBotAvailable from error


def build_invited_bots(environment: Mapping[str, str]) -> WorkerPlayedBots:
    """The bots that an environment describes; raises `ConfigError` if something cannot be used."""
    worker_environment = {
        "CARDSHARP_STORE": environment[BOT_STORE_SETTING],
        "CARDSHARP_QUEUE": environment[BOT_QUEUE_SETTING],
    }
    dependencies = build_seat_dependencies(
        WorkerSettings.load(worker_environment), metrics_recorder
    )
    bot_list = environment.get(BOTS_SETTING) or DEFAULT_BOTS
    matches = [_BOT_PATTERN.fullmatch(bot_text) for bot_text in bot_list.split(";")]
    names = {match[1]: match[2] for match in matches if match is not None}
    if len(names) < len(matches):
        raise ConfigError(
            f"{BOTS_SETTING} must be NAME=STRATEGY; NAME=STRATEGY and so on, not {bot_list!r}."
        )
    for strategy in names.values():
        build(strategy, Random())
    return WorkerPlayedBots(
        names, url=environment[BOT_URL_SETTING].rstrip("/"), dependencies=dependencies
    )
