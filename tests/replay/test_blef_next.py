"""All that today's generation of the original was recorded to answer, but for what is listed."""

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
    memory_client,
    parse_cards,
)
from support.blef_v2_api import AGENTS, RecordingSockets, recorded_v2_requests

from cardsharp.games.blef.cards import sort_hand
from cardsharp.games.blef.service.bootstrap import authorize_subscription
from cardsharp.games.blef.service.game_changes import SecureRandomness
from cardsharp.games.blef.service.records import room_number
from cardsharp.server import websocket_handler
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, parse_response
from cardsharp_tools.local_cloud.lambda_events import LocalLambdaContext
from cardsharp_tools.local_play.game_service import REQUEST_TIMEOUT

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
    """The service as the recording finds it, row after row."""

    def __init__(self) -> None:
        self.chance, self.sockets = RecordedRandomness(), RecordingSockets()
        self.client = memory_client("", chance=self.chance, agents=AGENTS)
        self.clock, self.store = self.client.clock, self.client.store
        about = partial(authorize_subscription, self.client.blef)
        self._gate = websocket_handler.build_websocket_handler(
            self.client.with_feed(self.sockets), about
        )
        self._game = ""
        self._dealt = defaultdict[str, list[Row]](list)

    def ask(self, row: Row) -> HttpResponse:
        """Send a recorded request; what only we carry out does not disturb what follows."""
        self.clock.advance(timedelta(seconds=0.25))
        self._game = game_of(row)
        self.sockets.sent.clear()
        self._prepare(row)
        saved = self.store.read(self._game)
        reply, ours = self._send(row), RENAMED.get(row["query"].get("nickname", ""))
        if ours is not None and reply.status == 400:
            assert self._send({**row, "query": {"nickname": ours}}).status == 200
        now = self.store.read(self._game)
        if DECIDED.listed.get(row["case"], {}).get("undo") and saved and now:
            self.store.write(now, saved.game)
        return reply

    def _send(self, row: Row) -> HttpResponse:
        query = f"?{urlencode(row['query'])}" if row["query"] else ""
        return self.client.send(HttpRequest(row["method"], quote(row["path"], safe="/") + query))

    def shake(self, row: Row) -> HttpResponse:
        """Let a client in that watches, or out, as it was recorded."""
        leaving = row["method"] == "DISCONNECT"
        connection = row["query"]["connection"] if leaving else row["connection"]
        about = {"routeKey": f"${row['method'].lower()}", "connectionId": connection}
        event = {
            "requestContext": about,
            "headers": row.get("request_headers", {}),
            "queryStringParameters": row["query"],
        }
        answer = parse_response(
            self._gate(event, LocalLambdaContext("blef", REQUEST_TIMEOUT, self.clock))
        )
        return HttpResponse(answer.status, answer.body.decode(), dict(answer.headers))

    def told(self) -> Counter[tuple[str, str]]:
        """What the last change told to which connection, and how often."""
        sent = self.sockets.sent.items()
        return Counter((to, written(plain(body))) for to, all_ in sent for body in all_)

    def _prepare(self, row: Row) -> None:
        """Have chance as it was."""
        body = row["body"] if isinstance(row["body"], dict) else {}
        self.chance.uuids = [body[key] for key in ("game_uuid", "player_uuid") if key in body]
        if row["case"] == "invite.ok":
            # The bot has the secret by which it moves in the recording, else some new one.
            moves = (one for one in ROWS if one["case"] == "bot.invoke")
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
                [(one.nickname, one.bot_name is not None) for one in saved.game.players],
                [RENAMED.get(name, name) for name in deal["seats"]],
            )

    def expected(self, row: Row) -> Any:  # noqa: ANN401 - whatever JSON it was
        """The recorded body in our rooms and nicknames, without moments, hands the highest first.

        The winner of a finished game keeps the last hand, where the original deals a new one.
        """
        text = json.dumps(row["body"])
        for name, ours in RENAMED.items():
            text = text.replace(json.dumps(name), json.dumps(ours))
        body = json.loads(text)
        if isinstance(body, dict) and body.get("status") == "Finished":
            last = self._dealt[self._game][-2]["hands"]
            (shown,) = body["hands"]
            body["hands"] = [hand for hand in last if hand["nickname"] == shown["nickname"]]
        if isinstance(body, dict) and "last_modified" in body:
            body["room"] = room_number(self._game)
        return plain(body)


def orders(players: list[tuple[str, bool]], seats: list[str]) -> dict[int, tuple[int, ...]]:
    """What chance is to say, by the number it is asked about, so that they sit like that."""
    people = [name for name, is_bot in players if not is_bot]
    bots = len(players) - len(people)
    found = {len(people): tuple(people.index(name) for name in seats if name in people)}
    if bots:
        number, taken = len(seats), {at for at, name in enumerate(seats) if name not in people}
        first = next(
            first
            for first in range(number)
            if {(first + i * number // bots) % number for i in range(bots)} == taken
        )
        found[number] = (first, *(one for one in range(number) if one != first))
    return found


def plain(body: Any) -> Any:  # noqa: ANN401 - JSON
    """A body without its moment, which must be a number, with sorted hands; a list by the uuids."""
    if isinstance(body, list):
        return sorted(map(plain, body), key=lambda one: str(one["game_uuid"]))
    if not isinstance(body, dict) or "last_modified" not in body:
        return body
    assert isinstance(body["last_modified"], float | int)
    told = {name: value for name, value in body.items() if name != "last_modified"}
    if "game_uuid" in told:
        told["room"] = room_number(told["game_uuid"])
    if "hands" in told:
        told["hands"] = [
            {**one, "hand": sort_hand(parse_cards(one["hand"]))} for one in told["hands"]
        ]
    return told


def written(body: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps(body, sort_keys=True)


def agrees(row: Row, reply: HttpResponse, recorded: NextRecording) -> bool:
    """Whether status and whole body are as recorded, but for moments and rooms."""
    nickname = row["query"].get("nickname")
    if nickname in REFUSED_NAMES:
        told = f"Bad input value in 'nickname': {nickname}\n{REFUSED_NAMES[nickname]}"
        return (reply.status, reply.json) == (400, {"error": told})
    if reply.status != row["status"] or reply.headers["Content-Type"] != "application/json":
        return False
    if isinstance(reply.json, list):
        moments = [one["last_modified"] for one in reply.json]
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
    """Whoever watches is told all that was recorded of a change, and nothing else."""
    recorded, faults = NextRecording(), list[object]()
    for row, following in pairwise((*ROWS, {"method": "GET", "case": ""})):
        match row["method"]:
            case "CONTROL":
                recorded.clock.advance(timedelta(seconds=row["query"].get("advance", 0)))
            case "GET":
                change, wanted = row["case"], Counter[tuple[str, str]]()
                faults += filter(None, [wrong(row, recorded)])
            case "WS":
                wanted[row["query"]["connection"], written(recorded.expected(row))] += 1
                told = recorded.told()
                more = told - wanted if change != PARTLY else Counter()
                if following["method"] != "WS" and (more or wanted - told):
                    faults.append((change, more, wanted - told))
            case _:
                reply = recorded.shake(row)
                if (reply.status, reply.json) != (row["status"], row["body"]):
                    faults.append((row["case"], reply))
    assert faults == []
    assert DECIDED.needed == set(DECIDED.listed), "a decision that nothing needs is none"
    asked = Counter(row["method"] for row in ROWS)
    assert (asked["GET"], asked["WS"], asked["CONNECT"] + asked["DISCONNECT"]) == (550, 23, 11)
