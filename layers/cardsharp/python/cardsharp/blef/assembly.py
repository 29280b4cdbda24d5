"""The service that the environment describes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from cardsharp.blef import routes_next
from cardsharp.blef.feed import announce, subscribe
from cardsharp.blef.routes import API
from cardsharp.blef.service import NO_AGENTS, Agents, Blef
from cardsharp.blef.store import Games
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.feeds import FEED, watched
from cardsharp.cloud.stores import Stores
from cardsharp.errors import ConfigError
from cardsharp.game import Part
from cardsharp.web import gate
from cardsharp.web.api import Api
from cardsharp.web.events import Handler
from cardsharp.web.service import BOT_QUEUE, Service

NEXT = "BLEF_NEXT"

STORES: Stores[Games] = Stores(
    "BLEF_STORE",
    Part("cardsharp.blef.store:sqlite_games"),
    Part("cardsharp.blef.store:dynamo_games"),
)


def build_service(environment: Mapping[str, str]) -> Blef:
    """The service over BLEF_STORE, with bots to invite if there are any; raises `ConfigError`."""
    clock = SystemClock()
    store = STORES.open(environment.get(STORES.variable, ""), clock)
    return Blef(store, clock, agents=_agents(environment))


def _agents(environment: Mapping[str, str]) -> Agents:
    """The bots that can be invited: none where nothing says which queue has them play."""
    if not environment.get(BOT_QUEUE):
        return NO_AGENTS
    # A service without bots loads none of what plays.
    from cardsharp.blef.invited import build_agents  # noqa: PLC0415

    return build_agents(environment)


def beside(environment: Mapping[str, str]) -> Sequence[Api[Blef]]:
    """Today's generation of the API, under BLEF_NEXT: a prefix or "off"; raises `ConfigError`."""
    prefix = environment.get(NEXT, "/")
    if prefix == "off":
        return ()
    if re.fullmatch(r"/([a-z0-9.-]+/?)*", prefix) is None or prefix.rstrip("/") == API.base:
        raise ConfigError(f"{NEXT} must be off or a prefix such as / or /next, not {prefix!r}.")
    return (replace(routes_next.API, base=prefix.rstrip("/")),)


def build_feed(blef: Blef, environment: Mapping[str, str]) -> Handler | None:
    """What lets people watch, by the sockets of CARDSHARP_FEED; raises `ConfigError`."""
    place = environment.get(FEED, "")
    if not place:
        return None
    feed = watched(place, environment.get(STORES.variable, ""), SystemClock())
    blef.hear = partial(announce, feed)
    return gate.build(feed, partial(subscribe, blef))


SERVICE = Service(
    api=API,
    store=STORES.variable,
    assemble=build_service,
    beside=beside,
    feed=build_feed,
    invites=True,
)
