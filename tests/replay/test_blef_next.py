"""All recorded answers of the original's present generation, apart from listed differences."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any
from urllib.parse import quote, urlencode

from support.blef_service import (
    HttpResponse,
    IntendedDifferences,
    RecordedRandomness,
    client_view,
    memory_client,
    parse_cards,
)
from support.blef_v2_api import AGENTS, RecordingSockets, recorded_v2_requests

from cardsharp.games.blef.cards import sort_hand
from cardsharp.games.blef.service.bootstrap import resolve_topic_and_viewer
from cardsharp.games.blef.service.game_changes import SecureRandomness
from cardsharp.games.blef.service.records import room_number
from cardsharp.server.feed_subscriptions import FeedSubscriptions
from cardsharp.server.websocket_handler import build_websocket_handler
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, parse_response
from cardsharp_tools.local_cloud.lambda_events import API_REQUEST_TIMEOUT, LocalLambdaContext

Row = dict[str, Any]

ROWS = recorded_v2_requests()
LONG, FED = "x" * 300, "abc\n"
RENAMED = {LONG: "x" * 32, FED: "abc"}  # the nicknames that we refuse, and who plays in their place

REFUSED_NAMES: Mapping[str, str] = {
    LONG: "Nickname too long - must be within 32 characters",
    FED: "Nickname must start with a letter and only contain alphanumeric characters",
}
DECIDED = IntendedDifferences("blef_next_decisions")


def game_of(row: Row) -> str:
    """The game that a row is about, "" if it is about none."""
    return str(row["path"]).partition("/games/")[2].partition("/")[0]


class NextRecording:
    """The service, set up before each row as the recording requires."""

    def __init__(self) -> None:
        self.chance, self.sockets = RecordedRandomness(), RecordingSockets()
        self.client = memory_client("", chance=self.chance, agents=AGENTS)
        self.clock, self.store = self.client.clock, self.client.store
        about = partial(resolve_topic_and_viewer, self.client.blef)
        self._gate = build_websocket_handler(
            FeedSubscriptions(self.client.with_feed(self.sockets), about)
        )
        self._game = ""
        self._dealt = defaultdict[str, list[Row]](list)

    def ask(self, row: Row) -> HttpResponse:
        """Send a recorded request; undo effects that only our service has."""
        self.clock.advance(timedelta(seconds=0.25))
        self._game = game_of(row)
        self.sockets.sent.clear()
        self._prepare(row)
        saved = self.store.read(self._game)
        reply, new_name = self._send(row), RENAMED.get(row["query"].get("nickname", ""))
        if new_name is not None and reply.status == 400:
            assert self._send({**row, "query": {"nickname": new_name}}).status == 200
        current = self.store.read(self._game)
        if DECIDED.listed.get(row["case"], {}).get("undo") and saved and current:
            self.store.write(current, saved.game)
        return reply

    def _send(self, row: Row) -> HttpResponse:
        query = f"?{urlencode(row['query'])}" if row["query"] else ""
        return self.client.send(HttpRequest(row["method"], quote(row["path"], safe="/") + query))

    def shake(self, row: Row) -> HttpResponse:
        """Connect or disconnect a watching client, as it was recorded."""
        leaving = row["method"] == "DISCONNECT"
        connection = row["query"]["connection"] if leaving else row["connection"]
        about = {"routeKey": f"${row['method'].lower()}", "connectionId": connection}
        event = {
            "requestContext": about,
            "headers": row.get("request_headers", {}),
            "queryStringParameters": row["query"],
        }
        answer = parse_response(
            self._gate(event, LocalLambdaContext("blef", API_REQUEST_TIMEOUT, self.clock))
        )
        return client_view(answer)

    def delivered_messages(self) -> Counter[tuple[str, str]]:
        """Count the messages that the last change sent, by connection and text."""
        sent = self.sockets.sent.items()
        return Counter((to, written(plain(body))) for to, all_ in sent for body in all_)

    def _prepare(self, row: Row) -> None:
        """Prepare the random values that the recording had: uuids, hands and seating order."""
        body = row["body"] if isinstance(row["body"], dict) else {}
        self.chance.uuids = [body[key] for key in ("game_uuid", "player_uuid") if key in body]
        if row["case"] == "invite.ok":
            # The bot has the secret by which it moves in the recording, else some new one.
            moves = (invocation for invocation in ROWS if invocation["case"] == "bot.invoke")
            secrets = {game_of(move): str(move["query"]["player_uuid"]) for move in moves}
            self.chance.uuids = [secrets.get(self._game) or SecureRandomness().uuid()]
        self.chance.hands = []
        if "deal" not in row:
            return
        deal = row["deal"]
        self._dealt[self._game].append(deal)
        self.chance.hands = [tuple(card for h in deal["hands"] for card in parse_cards(h["hand"]))]
        saved = self.store.read(self._game)
        if saved is not None and saved.game.round is None:
            self.chance.orders = orders(
                [(player.nickname, player.bot_name is not None) for player in saved.game.players],
                [RENAMED.get(name, name) for name in deal["seats"]],
            )

    def expected(self, row: Row) -> Any:  # noqa: ANN401 - whatever JSON it was
        """Return the recorded body with our rooms and nicknames, without times, hands sorted.

        The winner of a finished game keeps the last hand, where the original deals a new one.
        """
        text = json.dumps(row["body"])
        for name, new_name in RENAMED.items():
            text = text.replace(json.dumps(name), json.dumps(new_name))
        body = json.loads(text)
        if isinstance(body, dict) and body.get("status") == "Finished":
            last = self._dealt[self._game][-2]["hands"]
            (winning_hand,) = body["hands"]
            body["hands"] = [hand for hand in last if hand["nickname"] == winning_hand["nickname"]]
        if isinstance(body, dict) and "last_modified" in body:
            body["room"] = room_number(self._game)
        return plain(body)


def orders(players: list[tuple[str, bool]], seats: list[str]) -> dict[int, tuple[int, ...]]:
    """Return the seating orders that put the players on these seats, by the number of players."""
    people = [name for name, is_bot in players if not is_bot]
    bots = len(players) - len(people)
    order_by_count = {len(people): tuple(people.index(name) for name in seats if name in people)}
    if bots:
        number, taken = len(seats), {at for at, name in enumerate(seats) if name not in people}
        first = next(
            first
            for first in range(number)
            if {(first + i * number // bots) % number for i in range(bots)} == taken
        )
        order_by_count[number] = (first, *(seat for seat in range(number) if seat != first))
    return order_by_count


def plain(body: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a body without its time, which must be a number, hands sorted, lists by uuid."""
    if isinstance(body, list):
        return sorted(map(plain, body), key=lambda game: str(game["game_uuid"]))
    if not isinstance(body, dict) or "last_modified" not in body:
        return body
    assert isinstance(body["last_modified"], float | int)
    result = {name: value for name, value in body.items() if name != "last_modified"}
    if "game_uuid" in result:
        result["room"] = room_number(result["game_uuid"])
    if "hands" in result:
        result["hands"] = [
            {**hand, "hand": sort_hand(parse_cards(hand["hand"]))} for hand in result["hands"]
        ]
    return result


def written(body: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps(body, sort_keys=True)


def agrees(row: Row, reply: HttpResponse, recorded: NextRecording) -> bool:
    """Return True if status and body are as recorded, apart from times and rooms."""
    nickname = row["query"].get("nickname")
    if nickname in REFUSED_NAMES:
        message = f"Bad input value in 'nickname': {nickname}\n{REFUSED_NAMES[nickname]}"
        return (reply.status, reply.json) == (400, {"error": message})
    if reply.status != row["status"] or reply.headers["Content-Type"] != "application/json":
        return False
    if isinstance(reply.json, list):
        moments = [game["last_modified"] for game in reply.json]
        assert moments == sorted(moments, reverse=True), "newest first"
    # What is ours to choose is the uuid of a new game or player, and so it is the recorded one.
    return bool(plain(reply.json) == recorded.expected(row))


PARTLY = "gw.play.check"  # of this change one text of two was recorded


def wrong(row: Row, recorded: NextRecording) -> HttpResponse | None:
    """The answer to a recorded request where it is neither as recorded nor a listed decision."""
    reply, case = recorded.ask(row), row["case"]
    if agrees(row, reply, recorded):
        return None
    right = DECIDED.accepts(case, reply, {**row["query"], "game": game_of(row)})
    if case in {"state.one.upper", "gid.upper"}:
        query = {name: value.lower() for name, value in row["query"].items()}
        lowered = {**row, "path": row["path"].lower(), "query": query}
        right &= reply.json == recorded.ask(lowered).json
    return None if right else reply


def test_every_recorded_answer_and_watcher_agrees_or_is_a_listed_decision() -> None:
    """Watching clients receive exactly the recorded messages about each change."""
    recorded, faults = NextRecording(), list[object]()
    for row, following in pairwise((*ROWS, {"method": "GET", "case": ""})):
        match row["method"]:
            case "CONTROL":
                recorded.clock.advance(timedelta(seconds=row["query"].get("advance", 0)))
            case "GET":
                change, expected = row["case"], Counter[tuple[str, str]]()
                faults += filter(None, [wrong(row, recorded)])
            case "WS":
                expected[row["query"]["connection"], written(recorded.expected(row))] += 1
                delivered = recorded.delivered_messages()
                more = delivered - expected if change != PARTLY else Counter()
                if following["method"] != "WS" and (more or expected - delivered):
                    faults.append((change, more, expected - delivered))
            case _:
                reply = recorded.shake(row)
                if (reply.status, reply.json) != (row["status"], row["body"]):
                    faults.append((row["case"], reply))
    assert faults == []
    assert DECIDED.needed == set(DECIDED.listed), "a decision that nothing needs is none"
    method_counts = Counter(row["method"] for row in ROWS)
    assert (
        method_counts["GET"],
        method_counts["WS"],
        method_counts["CONNECT"] + method_counts["DISCONNECT"],
    ) == (550, 23, 11)
