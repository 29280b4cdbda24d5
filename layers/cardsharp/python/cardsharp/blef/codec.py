"""How games and rounds are stored: as short JSON objects, the same in every store.

A card is one letter and a hand a word, so a game of eight players fits into one kilobyte or two.
"""

from collections.abc import Mapping
from typing import Any, TypedDict

from cardsharp.blef.cards import DECK
from cardsharp.blef.records import ClosedRound, GameRecord, Player
from cardsharp.blef.state import Move, Round
from cardsharp.cloud.codec import from_micros, to_micros
from cardsharp.errors import StoreError


class _RoundBody(TypedDict):
    number: int
    max: int
    cards: list[int]
    hands: list[str]
    turn: int | None
    history: list[tuple[int, int]]


class _GameBody(TypedDict):
    created: int
    public: bool
    admin: str | None
    players: list[list[str]]
    round: _RoundBody | None


_FIRST = ord("a")
_LETTERS = {card: chr(_FIRST + index) for index, card in enumerate(DECK)}


def encode_game(game: GameRecord) -> Mapping[str, object]:
    """A game without its uuid, which is the key of the store."""
    body: _GameBody = {
        "created": to_micros(game.created),
        "public": game.public,
        "admin": game.admin,
        # A bot has its strategy as a third text.
        "players": [[one.nickname, one.key, *filter(None, [one.agent])] for one in game.players],
        "round": None if game.round is None else _round_body(game.round),
    }
    return {**body}


def encode_round(closed: ClosedRound) -> Mapping[str, object]:
    """A round that is over."""
    return {**_round_body(closed.round), "at": to_micros(closed.at)}


def decode_game(uuid: str, body: Any) -> GameRecord:  # noqa: ANN401 - whatever was stored
    """The game that `encode_game` made this of; raises `StoreError`."""
    try:
        return GameRecord(
            uuid=uuid,
            created=from_micros(body["created"]),
            public=body["public"],
            admin=body["admin"],
            players=tuple(Player(*fields) for fields in body["players"]),
            round=None if body["round"] is None else _round(body["round"]),
        )
    except (ValueError, TypeError, KeyError, IndexError):
        # `from None`: the chained error might quote the text, and the hands in it.
        raise StoreError("A stored game cannot be read.") from None


def decode_round(body: Any) -> ClosedRound:  # noqa: ANN401 - whatever was stored
    """The round that `encode_round` made this of; raises `StoreError`."""
    try:
        return ClosedRound(_round(body), from_micros(body.get("at", 0)))
    except (ValueError, TypeError, KeyError, IndexError):
        raise StoreError("A stored round cannot be read.") from None


def _round_body(live: Round) -> _RoundBody:
    return {
        "number": live.number,
        "max": live.max_cards,
        "cards": list(live.n_cards),
        "hands": ["".join(_LETTERS[card] for card in hand) for hand in live.hands],
        "turn": live.turn,
        "history": list(live.history),
    }


def _round(body: _RoundBody) -> Round:
    return Round(
        number=body["number"],
        max_cards=body["max"],
        n_cards=tuple(body["cards"]),
        hands=tuple(tuple(DECK[ord(letter) - _FIRST] for letter in word) for word in body["hands"]),
        turn=body["turn"],
        history=tuple(Move(seat, action) for seat, action in body["history"]),
    )
