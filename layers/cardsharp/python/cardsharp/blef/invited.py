"""Bots that are invited to a game: seats of ours, which the same workers play as any other."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from random import Random

from pydantic import SecretStr

from cardsharp.blef.game import GAME
from cardsharp.blef.records import Player
from cardsharp.blef.service import DEFAULT_NAMES, Agents
from cardsharp.blef.strategies import build
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.telemetry import meter
from cardsharp.errors import ConfigError
from cardsharp.seats import Places, Seat, assemble, reserved
from cardsharp.web.route import Refused
from cardsharp.web.service import BOT_QUEUE, BOT_STORE, BOT_URL

NAMES = "BLEF_AGENTS"
_NAMED = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(.+?)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatedAgents(Agents):
    """The bots of these names, who find the service at `url`."""

    url: str
    places: Places

    @contextmanager
    def seat(self, game_uuid: str, player: Player, secret: str) -> Iterator[None]:
        """Have the bot be this player, by `reserved`; raises `Refused` while it is paused."""
        strategy = player.agent or GAME.default_strategy
        seat = Seat(self.url, game_uuid, player.nickname, strategy, SecretStr(secret))
        try:
            with reserved(GAME.name, seat, self.places.vault, self.places.offering):
                yield
        except ConfigError as error:
            text = "No agent can join now - please try again later"
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, text) from error


def build_agents(environment: Mapping[str, str]) -> SeatedAgents:
    """The bots that an environment describes; raises `ConfigError` if something cannot be used."""
    named = {"CARDSHARP_STORE": environment[BOT_STORE], "CARDSHARP_QUEUE": environment[BOT_QUEUE]}
    places = assemble(Workplace.load(named), meter)
    text = environment.get(NAMES) or DEFAULT_NAMES
    found = [_NAMED.fullmatch(part) for part in text.split(";")]
    names = {one[1]: one[2] for one in found if one is not None}
    if len(names) < len(found):
        raise ConfigError(f"{NAMES} must be NAME=STRATEGY; NAME=STRATEGY and so on, not {text!r}.")
    for strategy in names.values():
        build(strategy, Random())
    return SeatedAgents(names, url=environment[BOT_URL].rstrip("/"), places=places)
