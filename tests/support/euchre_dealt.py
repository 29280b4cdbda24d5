"""One deal as messages, for the tests of the service: what the client would send."""

from typing import Any

from support.euchre_api import Service

Json = dict[str, Any]

# Seat 0 holds clubs, 1 diamonds, 2 hearts, 3 spades, each without the ace; the ace of spades is
# turned up.
CARDS = [
    *(0, 4, 8, 12, 16),
    *(1, 5, 9, 13, 17),
    *(2, 6, 10, 14, 18),
    *(3, 7, 11, 15, 19),
    *(23, 20, 21, 22),
]
TURN_CARD = 23
TOKEN = "7f0e"


class Messages:
    """Sends the messages of one deal to a service."""

    def __init__(self, service: Service, token: str = TOKEN, deal: int = 0) -> None:
        self.service = service
        self.address: Json = {"token": token, "gameNum": 0, "dealNum": deal}

    def begin(self, cards: list[int] = CARDS) -> Json:
        body = {**self.address, "cards": cards, "status": "new"}
        return self.service.ok("POST", "/deal", body)

    def ask_bid(self, number: int, pos: int) -> Json:
        return self.get("/bid", round=number, turnCard=TURN_CARD, pos=pos)

    def tell_bid(self, number: int, pos: int, suit: int, *, alone: bool = False) -> Json:
        body = {"round": number, "turnCard": TURN_CARD, "pos": pos, "suit": suit, "alone": alone}
        return self.service.ok("POST", "/bid", {**self.address, **body})

    def ask_swap(self, declarer: int, cards: list[int]) -> Json:
        address = {"declarerPos": declarer, "turnCard": TURN_CARD, "pos": 3}
        return self.get("/swap", **address, swappableCards=cards)

    def tell_swap(self, declarer: int, card: int) -> Json:
        body = {"declarerPos": declarer, "turnCard": TURN_CARD, "pos": 3, "card": card}
        return self.service.ok("POST", "/swap", {**self.address, **body})

    def ask_play(self, trick: int, seq: int, pos: int, cards: list[int]) -> Json:
        return self.get("/play", trickNum=trick, trickSeq=seq, pos=pos, playableCards=cards)

    def tell_play(self, trick: int, seq: int, pos: int, card: int) -> Json:
        body = {"trickNum": trick, "trickSeq": seq, "pos": pos, "card": card}
        return self.service.ok("POST", "/play", {**self.address, **body})

    def get(self, path: str, **query: int | list[int]) -> Json:
        return self.service.ok("GET", target(path, {**self.address, **query}))


def target(path: str, query: Json) -> str:
    """A path with a query string in which lists repeat their key, as the client sends it."""
    pairs = [
        f"{name}={one}"
        for name, value in query.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    return f"{path}?{'&'.join(pairs)}"
