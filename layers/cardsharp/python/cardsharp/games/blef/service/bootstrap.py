"""Build the Blef service that the environment variables describe."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from pydantic import BaseModel

from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.games.blef.service import request_params, routes_v2022
from cardsharp.games.blef.service.error_tables import ERRORS_V2022
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp.games.blef.service.routes import API
from cardsharp.games.blef.service.service import (
    BlefService,
    StateQuery,
    WrittenChange,
    current_view,
)
from cardsharp.games.blef.service.wire_v2022 import build_list_update, state_body
from cardsharp.server.api import Api
from cardsharp.server.api_application import build_application
from cardsharp.server.error_table import find_http_error
from cardsharp.server.feed_bootstrap import FEED_VARIABLE, build_feed
from cardsharp.server.feed_subscriptions import FeedSubscriptions
from cardsharp.server.http_service import BOT_QUEUE_SETTING, HttpService, ServiceApplication
from cardsharp.server.seat_secrets import secret_digest
from cardsharp.server.service_errors import ServiceError
from cardsharp.server.websocket_feed import Feed, Subscriber

V2022_SETTING = "BLEF_NEXT"


def build_service(environment: Mapping[str, str]) -> BlefService:
    """The service over BLEF_STORE, with bots to invite if there are any; raises `ConfigError`."""
    clock = SystemClock()
    store = GAME_STORE_FACTORY.open(environment.get(GAME_STORE_FACTORY.setting_name, ""), clock)
    if not environment.get(BOT_QUEUE_SETTING):  # nothing says which queue has bots play
        return BlefService(store, clock)
    # A service without bots loads none of what plays.
    from cardsharp.games.blef.service.invited_bots import build_invited_bots  # noqa: PLC0415

    return BlefService(store, clock, bots=build_invited_bots(environment))


def build_v2022_apis(environment: Mapping[str, str]) -> Sequence[Api[BlefService]]:
    """Build the API of 2022 at the prefix in BLEF_NEXT; empty for "off"; raise `ConfigError`."""
    prefix = environment.get(V2022_SETTING, "/")
    if prefix == "off":
        return ()
    if re.fullmatch(r"/([a-z0-9.-]+/?)*", prefix) is None or prefix.rstrip("/") == API.base_path:
        raise ConfigError(
            f"{V2022_SETTING} must be off or a prefix such as / or /next, not {prefix!r}."
        )
    return (replace(routes_v2022.API, base_path=prefix.rstrip("/")),)


def build_subscriptions(
    service: BlefService, environment: Mapping[str, str]
) -> FeedSubscriptions | None:
    """Build the subscriptions of spectators, who get updates over the WebSocket of CARDSHARP_FEED.

    Returns None if there is no feed; raises `ConfigError`.
    """
    place = environment.get(FEED_VARIABLE, "")
    if not place:
        return None
    feed = build_feed(place, environment.get(GAME_STORE_FACTORY.setting_name, ""), SystemClock())
    service.on_change = partial(publish_change, feed)
    return FeedSubscriptions(feed, partial(resolve_topic_and_viewer, service))


def build_blef_application(environment: Mapping[str, str]) -> ServiceApplication:
    """Build the application of both generations; raise `ConfigError`."""
    service = build_service(environment)
    application = build_application((API, *build_v2022_apis(environment)), service)
    return ServiceApplication(application, build_subscriptions(service, environment))


SERVICE = HttpService(
    api=API,
    store_setting=GAME_STORE_FACTORY.setting_name,
    build=build_blef_application,
    extra_apis=build_v2022_apis,
    has_feed=True,
    supports_invites=True,
)


# --- what those who watch are told (docs/spec/blef-next.md section 8), shaped as answers ----------

LIST_TOPIC = "list"  # the topic of those who watch the list of public games


def resolve_topic_and_viewer(service: BlefService, message: Mapping[str, str]) -> tuple[str, str]:
    """Return the topic of a game or the list, and the player's digest; raise `HttpError`."""
    game_uuid, player_uuid = message.get("game_uuid", ""), message.get("player_uuid", "")
    if not game_uuid and not player_uuid:
        return LIST_TOPIC, ""
    try:
        sight = service.get_state(game_uuid, StateQuery(player_uuid), timedelta)
    except ServiceError as error:
        raise (find_http_error(ERRORS_V2022, error) or error) from None
    uuid = request_params.parse_uuid_or_none(player_uuid)
    return _feed_topic(sight.game.uuid), "" if uuid is None else secret_digest(uuid)


def publish_change(feed: Feed, change: WrittenChange) -> None:
    """Publish a change: after a check first the closed round, then the current game."""
    game = change.saved.game

    def texts(watcher: Subscriber) -> list[str]:
        seat = game.seat_of_digest(watcher.viewer_key)
        sights = (change.closed_round_for(seat), current_view(change.saved, seat))
        return [_encode_frame(state_body(sight)) for sight in sights if sight is not None]

    feed.publish(_feed_topic(game.uuid), texts)
    if change.previous.round is None and (change.previous.is_public or game.is_public):
        news = _encode_frame(build_list_update(change.saved))
        feed.publish(LIST_TOPIC, lambda _: [news])


def _feed_topic(game_uuid: str) -> str:
    return f"game#{game_uuid}"


def _encode_frame(body: BaseModel) -> str:
    headers = {"Content-Type": "application/json"}
    return json.dumps({"statusCode": 200, "body": body.model_dump_json(), "headers": headers})
