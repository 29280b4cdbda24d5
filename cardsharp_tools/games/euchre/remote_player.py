"""Player behind HTTP, called as the real client calls it (docs/spec/euchre.md sections 3 to 5).

It has the habits of the real client. It sends bids and cards of other seats late, just before the
next question. The second element of a bid's address is its number from 0 to 7. It asks a local
dealer for the discard before it sends the call that caused it. It never asks about a lone defence.
"""

import uuid
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Self
from urllib.parse import urlsplit

import requests

from cardsharp.errors import CardsharpError, ConfigError, Unreachable
from cardsharp.games.euchre.actions import Action, Bid, DecisionType, Defend, Discard, Play
from cardsharp.games.euchre.public_state import (
    DEALER,
    PublicState,
    pending_decision,
    required_pending_decision,
)
from cardsharp.games.euchre.rules import Deal, legal_actions
from cardsharp.games.euchre.simulation import (
    PLAYER_COUNT,
    EuchreSimulation,
    SeatedDeal,
    SimulatedEuchreMatch,
)
from cardsharp_tools.http_session import http_session, proxy_failure
from cardsharp_tools.lab.match_runner import play_match
from cardsharp_tools.proxy_option import resolve_proxy

REQUEST_TIMEOUT_SECONDS = 30  # seconds; the real client has no timeout

Json = dict[str, object]

Message = tuple[str, str, Json, Json]  # method, path, address, and the other fields

_BIDS_PER_ROUND = 4
_SUIT_CODES = range(-1, 5)


class FatalServiceResponse(CardsharpError):
    """Error response that would end the tournament of the real client."""


class RemotePlayerClient:
    """Client of a service that plays one token's seats; a context manager.

    `base` is prefixed to every path as it is. The constructor raises `ConfigError` if it is not an
    address. Requests raise `Unreachable` without an answer, and `FatalServiceResponse` for a
    response that would have ended the real client's tournament.
    """

    def __init__(self, base: str) -> None:
        if urlsplit(base).scheme not in {"http", "https"}:
            raise ConfigError(f"'{base}' is no address; write e.g. http://127.0.0.1:8090.")
        self.base = base
        self.token = uuid.uuid4().hex[:12]
        self._proxy = resolve_proxy()
        self._http = http_session(base, self._proxy)
        self._has_session = False
        self._deal_number = -1
        self._seats: frozenset[int] = frozenset()
        self._sent_message_count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def for_match(self, seats: tuple[int, ...]) -> "RemoteMatchPlayer":
        """Return the player for these seats in a new match of the lab."""
        return RemoteMatchPlayer(self, seats)

    def begin_deal(self, deal: Deal, seats: frozenset[int]) -> None:
        """Send the start of a deal; before the first one, that of the session and game."""
        if not self._has_session:
            response = self._send_request(
                "POST", "/session", {"token": self.token}, {"status": "new"}
            )
            if (response.get("cards"), response.get("suits")) != ([*range(24)], [*range(4)]):
                raise FatalServiceResponse(
                    "The service numbers cards or suits differently from this program."
                )
            self._send_request(
                "POST", "/game", {"token": self.token, "gameNum": 0}, {"status": "new"}
            )
            self._has_session = True
        self._deal_number += 1
        self._seats, self._sent_message_count = seats, 0
        self._send_request(
            "POST", "/deal", self._build_deal_fields(), {"cards": [*deal.cards], "status": "new"}
        )

    def decide(self, deal: Deal) -> Action:
        """Send what has happened, and return the action of the seat to act."""
        seat, decision_type = required_pending_decision(deal.public_state)
        match decision_type:
            case DecisionType.BID:
                self._send_new_messages(deal)
                response = self._send_request(
                    "GET", "/bid", self._build_bid_fields(deal.public_state, seat), {}
                )
                suit = _require_integer(response, "suit")
                if suit not in _SUIT_CODES or "alone" not in response:
                    raise FatalServiceResponse(f"GET /bid was answered {response}.")
                return (
                    Bid(suit, bool(response["alone"])) if suit in range(_BIDS_PER_ROUND) else Bid()
                )
            case DecisionType.DISCARD:
                address = self._build_swap_fields(deal.public_state)
                offered = [*deal.cards[15:20], deal.public_state.turn_card]
                response = self._send_request("GET", "/swap", address, {"swappableCards": offered})
                return Discard(_require_integer(response, "card"))
            case DecisionType.DEFEND:
                return Defend(goes_alone=False)  # the real client does not ask
            case DecisionType.PLAY:
                self._send_new_messages(deal)
                trick_index = len(deal.public_state.complete_tricks)
                legal = [action.card for action in legal_actions(deal) if isinstance(action, Play)]
                address = self._build_play_fields(deal.public_state, trick_index, seat)
                response = self._send_request("GET", "/play", address, {"playableCards": legal})
                return Play(_require_integer(response, "card"))

    def end_deal(self, deal: Deal) -> None:
        """Send the remaining actions and the end of the deal."""
        self._send_new_messages(deal)
        self._send_request("PATCH", "/deal", self._build_deal_fields(), {"status": "complete"})

    def _send_new_messages(self, deal: Deal) -> None:
        messages = list(self._list_messages(deal))
        for message in messages[self._sent_message_count :]:
            self._send_request(*message)
        self._sent_message_count = len(messages)

    def _list_messages(self, deal: Deal) -> Iterator[Message]:
        """Yield the messages about the others' moves and about each trick.

        A trick is announced when its first card is requested.
        """
        table, call = deal.public_state, deal.public_state.trump_call
        for index, bid in enumerate(table.bids):
            if index % _BIDS_PER_ROUND not in self._seats:
                more: Json = {"suit": -1 if bid.suit is None else bid.suit, "alone": bid.goes_alone}
                yield "POST", "/bid", self._build_bid_fields(table, index), more
        if table.has_discarded and call is not None and DEALER not in self._seats:
            yield "POST", "/swap", self._build_swap_fields(table), {"card": deal.discard}
        pending = pending_decision(table)
        leads = (
            pending is not None
            and pending.decision_type is DecisionType.PLAY
            and not table.current_trick
        )
        for index in range(len(table.tricks) + leads):
            of_trick = {**self._build_deal_fields(), "trickNum": index}
            opened: Json = {"leadPos": _find_trick_leader(table, index), "status": "new"}
            yield "POST", "/trick", of_trick, opened
            for seat, card in table.tricks[index] if index < len(table.tricks) else ():
                if seat not in self._seats:
                    address = self._build_play_fields(table, index, seat)
                    yield "POST", "/play", address, {"card": card}
            if index < len(table.complete_tricks):
                yield "PATCH", "/trick", of_trick, {"status": "complete"}

    def _build_deal_fields(self) -> Json:
        return {"token": self.token, "gameNum": 0, "dealNum": self._deal_number}

    def _build_bid_fields(self, table: PublicState, seat: int) -> Json:
        rounds = 1 + len(table.bids) // _BIDS_PER_ROUND
        return {
            **self._build_deal_fields(),
            "round": rounds,
            "turnCard": table.turn_card,
            "pos": seat,
        }

    def _build_swap_fields(self, table: PublicState) -> Json:
        call_fields = {
            "declarerPos": table.require_trump_call.caller_seat,
            "turnCard": table.turn_card,
        }
        return {**self._build_deal_fields(), **call_fields, "pos": DEALER}

    def _build_play_fields(self, table: PublicState, trick_index: int, seat: int) -> Json:
        seq = (seat - _find_trick_leader(table, trick_index)) % 4
        return {**self._build_deal_fields(), "trickNum": trick_index, "trickSeq": seq, "pos": seat}

    def _send_request(self, method: str, path: str, address: Json, other_fields: Json) -> Json:
        """Send a request and return the response, which must repeat all fields of `address`."""
        payload = {**address, **other_fields}
        query: Any = payload if method == "GET" else None
        try:
            response = self._http.request(
                method,
                self.base + path,
                params=query,
                json=None if query else payload,
                timeout=REQUEST_TIMEOUT_SECONDS,
            )
        except requests.RequestException as error:
            at_proxy = proxy_failure(f"{method} {path}", self._proxy, error)
            raise at_proxy or Unreachable(
                f"No answer to {method} {path} from {self.base} ({type(error).__name__}). "
                "Is `cardsharp euchre serve` running there?"
            ) from error
        echo = dict(address)
        if "status" in other_fields:
            echo["status"] = "active" if other_fields["status"] == "new" else other_fields["status"]
        return _validate_response(f"{method} {path}", response, echo)


class RemoteMatchPlayer:
    """Remote player in one match; begins a deal at its first decision and ends it later.

    A deal begins with the first request in it, and is ended after it.
    """

    def __init__(self, remote: RemotePlayerClient, seats: tuple[int, ...]) -> None:
        self._remote = remote
        self._seats = seats
        self._deal_index: int | None = None

    def decide(self, match: SimulatedEuchreMatch) -> Action:
        """Return the action that the service chooses."""
        if self._deal_index != len(match.finished):
            self._end_current_deal(match.finished)
            seats = (
                seat for seat in range(PLAYER_COUNT) if match.current.player_at(seat) in self._seats
            )
            self._remote.begin_deal(match.current.deal, frozenset(seats))
            self._deal_index = len(match.finished)
        return self._remote.decide(match.current.deal)

    def on_match_end(self, match: SimulatedEuchreMatch) -> None:
        """End the match: send the end of its last deal to the service."""
        self._end_current_deal(match.all_deals)

    def _end_current_deal(self, deals: Sequence[SeatedDeal]) -> None:
        if self._deal_index is not None:
            self._remote.end_deal(deals[self._deal_index].deal)


def _validate_response(request_name: str, response: requests.Response, echo: Json) -> Json:
    """Return the JSON object of a response.

    Raise `FatalServiceResponse` if the real client would fail.
    """
    if not response.ok:
        raise FatalServiceResponse(
            f"{request_name} was answered {response.status_code}: {response.text[:500]}"
        )
    try:
        response_body = response.json()
    except ValueError as error:
        raise FatalServiceResponse(f"{request_name} was answered without JSON.") from error
    for name, value in echo.items():
        echoed_value = response_body.get(name)
        if echoed_value != value or type(echoed_value) is not type(value):
            raise FatalServiceResponse(
                f"{request_name} must send {name} {value!r} back, not {echoed_value!r}."
            )
    result: Json = response_body
    return result


def _require_integer(response: Json, name: str) -> int:
    value = response.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise FatalServiceResponse(f"{name} must be a whole number, not {value!r}.")
    return value


def _find_trick_leader(table: PublicState, trick_index: int) -> int:
    return table.trick_winners[trick_index - 1] if trick_index else 0


def play_service_against_itself(url: str, random: Random) -> None:
    """Play a game in which the service has all four seats; raise `CardsharpError` on failure."""
    euchre, chairs = EuchreSimulation(), tuple(range(PLAYER_COUNT))
    with RemotePlayerClient(url) as remote:
        player = remote.for_match(chairs)
        player.on_match_end(
            play_match(euchre, euchre.initial_state(random), [player] * PLAYER_COUNT, random)
        )
