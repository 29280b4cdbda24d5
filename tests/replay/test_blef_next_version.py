"""Recorded responses of the original's current API version, apart from listed differences."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any
from urllib.parse import quote, urlencode

from support.blef_service import (
    BlefResponse,
    IntendedDifferences,
    RecordedRandomness,
    client_view,
    memory_client,
    parse_cards,
)
from support.blef_v2_api import RECORDED_BOTS, RecordingSockets, recorded_v2_requests

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
LONG_NICKNAME, NEWLINE_NICKNAME = "x" * 300, "abc\n"
REPLACEMENT_NICKNAMES = {
    LONG_NICKNAME: "x" * 32,
    NEWLINE_NICKNAME: "abc",
}  # the nicknames that we refuse, and who plays in their place

REFUSED_NAMES: Mapping[str, str] = {
    LONG_NICKNAME: "Nickname too long - must be within 32 characters",
    NEWLINE_NICKNAME: "Nickname must start with a letter and only contain alphanumeric characters",
}
INTENDED_DIFFERENCES = IntendedDifferences("blef_next_decisions")


def game_of(row: Row) -> str:
    """Return the id of the game in a row's path, or "" if it has none."""
    return str(row["path"]).partition("/games/")[2].partition("/")[0]


class NextVersionReplay:
    """Blef service that is set up before each recorded request as the recording requires."""

    def __init__(self) -> None:
        self.randomness, self.sockets = RecordedRandomness(), RecordingSockets()
        self.client = memory_client("", chance=self.randomness, agents=RECORDED_BOTS)
        self.clock, self.store = self.client.clock, self.client.store
        resolve_topic = partial(resolve_topic_and_viewer, self.client.blef)
        self._websocket_handler = build_websocket_handler(
            FeedSubscriptions(self.client.with_feed(self.sockets), resolve_topic)
        )
        self._game = ""
        self._deals_by_game = defaultdict[str, list[Row]](list)

    def send_request(self, row: Row) -> BlefResponse:
        """Send a recorded request; undo effects that only our service has."""
        self.clock.advance(timedelta(seconds=0.25))
        self._game = game_of(row)
        self.sockets.sent.clear()
        self._prepare(row)
        saved_record = self.store.read(self._game)
        response, new_name = (
            self._send(row),
            REPLACEMENT_NICKNAMES.get(row["query"].get("nickname", "")),
        )
        if new_name is not None and response.status == 400:
            assert self._send({**row, "query": {"nickname": new_name}}).status == 200
        current_record = self.store.read(self._game)
        if (
            INTENDED_DIFFERENCES.decisions.get(row["case"], {}).get("undo")
            and saved_record
            and current_record
        ):
            self.store.write(current_record, saved_record.game)
        return response

    def _send(self, row: Row) -> BlefResponse:
        query = f"?{urlencode(row['query'])}" if row["query"] else ""
        return self.client.send(HttpRequest(row["method"], quote(row["path"], safe="/") + query))

    def change_connection(self, row: Row) -> BlefResponse:
        """Connect or disconnect a watching client as recorded."""
        is_disconnect = row["method"] == "DISCONNECT"
        connection = row["query"]["connection"] if is_disconnect else row["connection"]
        request_context = {"routeKey": f"${row['method'].lower()}", "connectionId": connection}
        event = {
            "requestContext": request_context,
            "headers": row.get("request_headers", {}),
            "queryStringParameters": row["query"],
        }
        response = parse_response(
            self._websocket_handler(
                event, LocalLambdaContext("blef", API_REQUEST_TIMEOUT, self.clock)
            )
        )
        return client_view(response)

    def delivered_messages(self) -> Counter[tuple[str, str]]:
        """Count the messages that the last change sent, by connection and text."""
        messages_by_connection = self.sockets.sent.items()
        return Counter(
            (connection, canonical_json(comparable_body(body)))
            for connection, bodies in messages_by_connection
            for body in bodies
        )

    def _prepare(self, row: Row) -> None:
        """Prepare the random values that the recording had: uuids, hands and seating order."""
        body = row["body"] if isinstance(row["body"], dict) else {}
        self.randomness.uuids = [body[key] for key in ("game_uuid", "player_uuid") if key in body]
        if row["case"] == "invite.ok":
            # The bot has the secret by which it moves in the recording, else some new one.
            bot_invocations = (
                invocation for invocation in ROWS if invocation["case"] == "bot.invoke"
            )
            secrets = {
                game_of(bot_invocation): str(bot_invocation["query"]["player_uuid"])
                for bot_invocation in bot_invocations
            }
            self.randomness.uuids = [secrets.get(self._game) or SecureRandomness().uuid()]
        self.randomness.hands = []
        if "deal" not in row:
            return
        deal = row["deal"]
        self._deals_by_game[self._game].append(deal)
        self.randomness.hands = [
            tuple(card for hand in deal["hands"] for card in parse_cards(hand["hand"]))
        ]
        saved_record = self.store.read(self._game)
        if saved_record is not None and saved_record.game.round is None:
            self.randomness.orders = seating_orders(
                [
                    (player.nickname, player.bot_name is not None)
                    for player in saved_record.game.players
                ],
                [REPLACEMENT_NICKNAMES.get(name, name) for name in deal["seats"]],
            )

    def expected_body(self, row: Row) -> Any:  # noqa: ANN401 - whatever JSON it was
        """Return the recorded body with our rooms and nicknames, without times, hands sorted.

        The winner of a finished game keeps the last hand, where the original deals a new one.
        """
        text = json.dumps(row["body"])
        for name, new_name in REPLACEMENT_NICKNAMES.items():
            text = text.replace(json.dumps(name), json.dumps(new_name))
        body = json.loads(text)
        if isinstance(body, dict) and body.get("status") == "Finished":
            last_hands = self._deals_by_game[self._game][-2]["hands"]
            (winning_hand,) = body["hands"]
            body["hands"] = [
                hand for hand in last_hands if hand["nickname"] == winning_hand["nickname"]
            ]
        if isinstance(body, dict) and "last_modified" in body:
            body["room"] = room_number(self._game)
        return comparable_body(body)


def seating_orders(players: list[tuple[str, bool]], seats: list[str]) -> dict[int, tuple[int, ...]]:
    """Return the seating orders that put the players on these seats, by the number of players."""
    person_names = [name for name, is_bot in players if not is_bot]
    bot_count = len(players) - len(person_names)
    order_by_count = {
        len(person_names): tuple(person_names.index(name) for name in seats if name in person_names)
    }
    if bot_count:
        seat_count, bot_seats = (
            len(seats),
            {seat for seat, name in enumerate(seats) if name not in person_names},
        )
        first_bot_seat = next(
            first_bot_seat
            for first_bot_seat in range(seat_count)
            if {
                (first_bot_seat + i * seat_count // bot_count) % seat_count
                for i in range(bot_count)
            }
            == bot_seats
        )
        order_by_count[seat_count] = (
            first_bot_seat,
            *(seat for seat in range(seat_count) if seat != first_bot_seat),
        )
    return order_by_count


def comparable_body(body: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a body without its time, which must be a number, hands sorted, lists by uuid."""
    if isinstance(body, list):
        return sorted(map(comparable_body, body), key=lambda game: str(game["game_uuid"]))
    if not isinstance(body, dict) or "last_modified" not in body:
        return body
    assert isinstance(body["last_modified"], float | int)
    comparable = {name: value for name, value in body.items() if name != "last_modified"}
    if "game_uuid" in comparable:
        comparable["room"] = room_number(comparable["game_uuid"])
    if "hands" in comparable:
        comparable["hands"] = [
            {**hand, "hand": sort_hand(parse_cards(hand["hand"]))} for hand in comparable["hands"]
        ]
    return comparable


def canonical_json(body: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps(body, sort_keys=True)


def is_as_recorded(row: Row, response: BlefResponse, replay: NextVersionReplay) -> bool:
    """Return True if status and body are as recorded, apart from times and rooms."""
    nickname = row["query"].get("nickname")
    if nickname in REFUSED_NAMES:
        message = f"Bad input value in 'nickname': {nickname}\n{REFUSED_NAMES[nickname]}"
        return (response.status, response.json) == (400, {"error": message})
    if response.status != row["status"] or response.headers["Content-Type"] != "application/json":
        return False
    if isinstance(response.json, list):
        modification_times = [game["last_modified"] for game in response.json]
        assert modification_times == sorted(modification_times, reverse=True), "newest first"
    # What is ours to choose is the uuid of a new game or player, and so it is the recorded one.
    return bool(comparable_body(response.json) == replay.expected_body(row))


PARTLY_RECORDED_CASE = "gw.play.check"  # of this change one text of two was recorded


def differing_response(row: Row, replay: NextVersionReplay) -> BlefResponse | None:
    """Return the response if it is neither as recorded nor a listed decision, else None."""
    response, case = replay.send_request(row), row["case"]
    if is_as_recorded(row, response, replay):
        return None
    is_intended = INTENDED_DIFFERENCES.accepts(
        case, response, {**row["query"], "game": game_of(row)}
    )
    if case in {"state.one.upper", "gid.upper"}:
        query = {name: value.lower() for name, value in row["query"].items()}
        lowercase_row = {**row, "path": row["path"].lower(), "query": query}
        is_intended &= response.json == replay.send_request(lowercase_row).json
    return None if is_intended else response


def test_every_recorded_answer_and_watcher_agrees_or_is_a_listed_decision() -> None:
    """Watching clients receive exactly the recorded messages about each change."""
    replay, faults = NextVersionReplay(), list[object]()
    for row, next_row in pairwise((*ROWS, {"method": "GET", "case": ""})):
        match row["method"]:
            case "CONTROL":
                replay.clock.advance(timedelta(seconds=row["query"].get("advance", 0)))
            case "GET":
                current_case, expected_messages = row["case"], Counter[tuple[str, str]]()
                faults += filter(None, [differing_response(row, replay)])
            case "WS":
                expected_messages[
                    row["query"]["connection"], canonical_json(replay.expected_body(row))
                ] += 1
                delivered_messages = replay.delivered_messages()
                unexpected_messages = (
                    delivered_messages - expected_messages
                    if current_case != PARTLY_RECORDED_CASE
                    else Counter()
                )
                if next_row["method"] != "WS" and (
                    unexpected_messages or expected_messages - delivered_messages
                ):
                    faults.append(
                        (current_case, unexpected_messages, expected_messages - delivered_messages)
                    )
            case _:
                response = replay.change_connection(row)
                if (response.status, response.json) != (row["status"], row["body"]):
                    faults.append((row["case"], response))
    assert faults == []
    assert INTENDED_DIFFERENCES.used_cases == set(INTENDED_DIFFERENCES.decisions), (
        "a decision that nothing needs is none"
    )
    method_counts = Counter(row["method"] for row in ROWS)
    assert (
        method_counts["GET"],
        method_counts["WS"],
        method_counts["CONNECT"] + method_counts["DISCONNECT"],
    ) == (550, 23, 11)
