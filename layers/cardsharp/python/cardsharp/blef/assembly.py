"""The service that the environment describes."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from pydantic import BaseModel

from cardsharp.blef import params, routes_next
from cardsharp.blef.params import Denied
from cardsharp.blef.records import key_of
from cardsharp.blef.routes import API
from cardsharp.blef.service import Blef, Changed, StateLook, present
from cardsharp.blef.store import GAME_STORE
from cardsharp.blef.wire_next import list_news, state_body
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.feeds import FEED, watched
from cardsharp.cloud.sockets import Feed, Watcher
from cardsharp.errors import ConfigError
from cardsharp.web import gate
from cardsharp.web.api import Api
from cardsharp.web.events import Handler
from cardsharp.web.service import BOT_QUEUE, Service

NEXT = "BLEF_NEXT"


def build_service(environment: Mapping[str, str]) -> Blef:
    """The service over BLEF_STORE, with bots to invite if there are any; raises `ConfigError`."""
    clock = SystemClock()
    store = GAME_STORE.open(environment.get(GAME_STORE.variable, ""), clock)
    if not environment.get(BOT_QUEUE):  # nothing says which queue has bots play
        return Blef(store, clock)
    # A service without bots loads none of what plays.
    from cardsharp.blef.invited import build_agents  # noqa: PLC0415

    return Blef(store, clock, agents=build_agents(environment))


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
    feed = watched(place, environment.get(GAME_STORE.variable, ""), SystemClock())
    blef.hear = partial(announce, feed)
    return gate.build(feed, partial(subscribe, blef))


SERVICE = Service(
    api=API,
    store=GAME_STORE.variable,
    assemble=build_service,
    beside=beside,
    feed=build_feed,
    invites=True,
)


# --- what those who watch are told (docs/spec/blef-next.md section 8), shaped as answers ----------

LIST = "list"  # the topic of those who watch the list of public games


def subscribe(blef: Blef, asked: Mapping[str, str]) -> tuple[str, str]:
    """The topic of the game asked for, or of the list, and the player's digest; else `Refused`."""
    game_uuid, player_uuid = asked.get("game_uuid", ""), asked.get("player_uuid", "")
    if not game_uuid and not player_uuid:
        return LIST, ""
    try:
        sight = blef.state(game_uuid, StateLook(player_uuid), timedelta)
    except Denied as denied:
        raise denied.newer from None
    uuid = params.read_uuid(player_uuid)
    return _topic(sight.game.uuid), "" if uuid is None else key_of(uuid)


def announce(feed: Feed, changed: Changed) -> None:
    """Tell what a change led to: after a check the round that it closed, then the game as it is."""
    game = changed.now.game

    def texts(watcher: Watcher) -> list[str]:
        seat = game.seat_with(watcher.key)
        sights = (changed.closed_seen_by(seat), present(changed.now, seat))
        return [_frame(state_body(sight)) for sight in sights if sight is not None]

    feed.tell(_topic(game.uuid), texts)
    if changed.before.round is None and (changed.before.public or game.public):
        news = _frame(list_news(changed.now))
        feed.tell(LIST, lambda _: [news])


def _topic(game_uuid: str) -> str:
    return f"game#{game_uuid}"


def _frame(body: BaseModel) -> str:
    headers = {"Content-Type": "application/json"}
    return json.dumps({"statusCode": 200, "body": body.model_dump_json(), "headers": headers})
