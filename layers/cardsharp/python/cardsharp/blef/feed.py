"""What those who watch a game, or the list, are told (docs/spec/blef-next.md section 8).

A frame is shaped as an answer, with the state as a text in its body.
"""

import json
from collections.abc import Mapping
from datetime import timedelta

from pydantic import BaseModel

from cardsharp.blef import params
from cardsharp.blef.records import key_of
from cardsharp.blef.refusals import Denied
from cardsharp.blef.service import Blef, Changed, StateLook, present
from cardsharp.blef.wire_next import list_news, state_body
from cardsharp.cloud.sockets import Feed, Watcher

LIST = "list"
"""The topic of those who watch the list of public games."""


def subscribe(blef: Blef, asked: Mapping[str, str]) -> tuple[str, str]:
    """The topic of the game that is asked for, or of the list, and the player's digest, if any.

    Raises `Refused`.
    """
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
