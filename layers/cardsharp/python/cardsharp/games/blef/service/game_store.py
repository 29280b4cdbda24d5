"""Store of games: a codec over a document store (`cardsharp.store.documents`).

| partition | sort | body |
|---|---|---|
| game#UUID | game | `changed`, in microseconds, and `game`; in the list "public" if it is |
| game#UUID | round#00012 | a closed round |
| caller#… | | see `cardsharp.server.caller_quotas` |
| census#… | | see `game_counts` |

A card is one letter and a hand a string, so a game of eight players fits into one or two
kilobytes. The table has no stream, as its records would contain hands. An expired game counts
as absent, whether or not it was removed already.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cardsharp.aws.dynamodb_attributes import Item
from cardsharp.aws.telemetry import logger
from cardsharp.core.clock import Clock
from cardsharp.core.timestamps import from_micros, to_micros
from cardsharp.errors import StoreError
from cardsharp.games.blef.cards import DECK
from cardsharp.games.blef.rules import Round, RoundMove
from cardsharp.games.blef.service.game_counts import (
    ChangeAndExpiryTimes,
    build_count_updates,
    count_recently_changed_games,
    count_unexpired_games,
)
from cardsharp.games.blef.service.records import (
    ACTIVE_WINDOW,
    MAX_TTL,
    ClosedRound,
    GamePlayer,
    GameRecord,
)
from cardsharp.server.caller_quotas import count_if_allowed
from cardsharp.store.codec import decode
from cardsharp.store.documents import DocumentStore, IndexEntry, Key, Put
from cardsharp.store.factories import StoreFactory

LIST_LIMIT = 500  # public games in the list
_PUBLIC_LIST = "public"


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game as it was read: `version` grows by one with every change."""

    game: GameRecord
    version: int
    changed_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class GameListing:
    """A public game as the list shows it."""

    uuid: str
    nicknames: tuple[str, ...]
    is_started: bool
    changed: datetime


_MIN_CHANGE_INTERVAL = timedelta(milliseconds=2)
"""A change counts as made at least so long after the one before, whatever the clocks of two
machines say: clients leave out what is not newer than what they know."""


def to_closed_round(game_changed_at: datetime, finished_round: Round) -> ClosedRound:
    """Return a finished round as a `ClosedRound` with its time.

    The time is shortly before the change of the game that closed the round.
    """
    return ClosedRound(finished_round, game_changed_at - _MIN_CHANGE_INTERVAL / 2)


@dataclass
class GameStore:
    """Games, their closed rounds, and how many there are; raises `StoreError` if it fails."""

    documents: DocumentStore
    clock: Clock

    def create(self, game: GameRecord) -> None:
        """Store a new game."""
        current_time = self.clock.now()
        lifetime = ChangeAndExpiryTimes(current_time, game.expires_at(current_time))
        self.documents.commit(
            _build_game_put(game, lifetime, 0), *build_count_updates(game.uuid, None, lifetime)
        )

    def count_creation_if_allowed(self, caller: str, max_per_day: int) -> bool:
        """Count a game that a caller creates today; return False at `max_per_day`."""
        return count_if_allowed(self.documents, self.clock.now(), caller, max_per_day)

    def read(self, game_uuid: str) -> StoredGame | None:
        """Return a game with every acknowledged change, or None."""
        document = self.documents.get(_game_key(game_uuid))
        if document is None:
            return None
        game = decode_game(game_uuid, document.body.get("game"))
        changed = from_micros(int(str(document.body["changed"])))
        return StoredGame(
            game, document.version, changed, document.expires_at or game.expires_at(changed)
        )

    def write(
        self, stored_game: StoredGame, game: GameRecord, closed_round: Round | None = None
    ) -> StoredGame:
        """Replace the game that was read by `game`, and store the round that the change closed.

        Returns the stored game. Raises `WriteConflict`, and writes nothing, if the game was
        changed since it was read.
        """
        changed = max(self.clock.now(), stored_game.changed_at + _MIN_CHANGE_INTERVAL)
        lifetime = ChangeAndExpiryTimes(changed, game.expires_at(changed))
        rounds = []
        if closed_round is not None:  # it outlives the game
            body = encode_round(to_closed_round(changed, closed_round))
            end = game.created_at + MAX_TTL
            rounds.append(Put(_round_key(game.uuid, closed_round.number), body, 0, end))
        shifts = build_count_updates(
            game.uuid,
            ChangeAndExpiryTimes(stored_game.changed_at, stored_game.expires_at),
            lifetime,
        )
        self.documents.commit(
            _build_game_put(game, lifetime, stored_game.version), *shifts, *rounds
        )
        return StoredGame(game, stored_game.version + 1, *lifetime)

    def closed_round(self, game_uuid: str, round_number: int) -> ClosedRound | None:
        """A closed round of a game, or None."""
        document = self.documents.get(_round_key(game_uuid, round_number))
        if document is None:
            return None
        body: Any = document.body
        try:
            return ClosedRound(_decode_round(body), from_micros(body.get("at", 0)))
        except (ValueError, TypeError, KeyError, IndexError):
            raise StoreError("A stored round cannot be read.") from None

    def recent_public_games(self) -> list[GameListing]:
        """Return the last `LIST_LIMIT` recently changed public games by uuid; may lag behind.

        A game that cannot be read is left out and logged.
        """
        listings = []
        for key, listed in self.documents.query_index(
            _PUBLIC_LIST, self.clock.now() - ACTIVE_WINDOW, LIST_LIMIT
        ):
            uuid = key.partition_key.partition("#")[2]
            try:
                names = tuple(json.loads(str(listed.attributes["nicknames_json"])))
            except (ValueError, TypeError, KeyError):
                logger.warning("a stored game cannot be read", extra={"game": uuid})
                continue
            started = bool(listed.attributes.get("is_started"))
            listings.append(GameListing(uuid, names, started, listed.sort_time))
        return sorted(listings, key=lambda listing: listing.uuid)

    def count_recently_changed_games(self) -> int:
        """Return the number of recently changed games, to the minute."""
        return count_recently_changed_games(self.documents, self.clock.now())

    def count_unexpired_games(self) -> int:
        """Return the number of games; one may be counted up to a day after it expired.

        A game that no player has joined may be counted up to an hour after it expired.
        """
        return count_unexpired_games(self.documents, self.clock.now())

    def close(self) -> None:
        """Close files and connections; the store cannot be used any more."""
        self.documents.close()


def _build_game_put(game: GameRecord, lifetime: ChangeAndExpiryTimes, expected_version: int) -> Put:
    """Return the write of a game; a private game leaves the public list."""
    body = {"changed": to_micros(lifetime.changed_at), "game": encode_game(game)}
    attributes: dict[str, str | bool] = {
        "nicknames_json": json.dumps(game.nicknames),
        "is_started": game.round is not None,
    }
    listed = IndexEntry(_PUBLIC_LIST, lifetime.changed_at, attributes) if game.is_public else None
    return Put(_game_key(game.uuid), body, expected_version, lifetime.expires_at, listed)


def _game_key(game_uuid: str) -> Key:
    return Key(f"game#{game_uuid}", "game")


def _round_key(game_uuid: str, round_number: int) -> Key:
    return Key(f"game#{game_uuid}", f"round#{round_number:05}")


def _decode_legacy_body(item: Item) -> Mapping[str, object]:
    """Return the body of a game or round that version 0.2 stored."""
    if "round_json" in item:
        return decode(item["round_json"]["S"])
    return {"changed": int(item["changed_at"]["N"]), "game": decode(item["game_json"]["S"])}


GAME_STORE_FACTORY = StoreFactory(
    GameStore,
    "BLEF_STORE",
    "file of games",
    Path(__file__).with_name("games.sql"),
    {"version": "game_version", "count": "game_count", "decode_legacy": _decode_legacy_body},
)


_FIRST_LETTER = ord("a")
_LETTER_BY_CARD = {card: chr(_FIRST_LETTER + index) for index, card in enumerate(DECK)}


def encode_game(game: GameRecord) -> Mapping[str, object]:
    """A game without its uuid, which is the key of the store."""
    return {
        "created": to_micros(game.created_at),
        "public": game.is_public,
        "admin": game.admin_digest,
        # A bot has its strategy as a third text.
        "players": [
            [player.nickname, player.uuid_digest, *filter(None, [player.bot_name])]
            for player in game.players
        ],
        "round": None if game.round is None else _encode_round(game.round),
    }


def encode_round(closed: ClosedRound) -> Mapping[str, object]:
    """Return a closed round as a document body, with the time of its end."""
    return {**_encode_round(closed.round), "at": to_micros(closed.closed_at)}


def decode_game(uuid: str, body: Any) -> GameRecord:  # noqa: ANN401 - whatever was stored
    """The game that `encode_game` made this of; raises `StoreError`."""
    try:
        return GameRecord(
            uuid=uuid,
            created_at=from_micros(body["created"]),
            is_public=body["public"],
            admin_digest=body["admin"],
            players=tuple(GamePlayer(*fields) for fields in body["players"]),
            round=None if body["round"] is None else _decode_round(body["round"]),
        )
    except (ValueError, TypeError, KeyError, IndexError):
        # `from None`: the chained error might quote the text, and the hands in it.
        raise StoreError("A stored game cannot be read.") from None


def _encode_round(live: Round) -> dict[str, object]:
    return {
        "number": live.number,
        "max": live.max_cards,
        "cards": list(live.n_cards),
        "hands": ["".join(_LETTER_BY_CARD[card] for card in hand) for hand in live.hands],
        "turn": live.turn,
        "history": list(live.history),
    }


def _decode_round(body: Any) -> Round:  # noqa: ANN401 - whatever was stored
    return Round(
        number=body["number"],
        max_cards=body["max"],
        n_cards=tuple(body["cards"]),
        hands=tuple(
            tuple(DECK[ord(letter) - _FIRST_LETTER] for letter in hand) for hand in body["hands"]
        ),
        turn=body["turn"],
        history=tuple(RoundMove(seat, action) for seat, action in body["history"]),
    )
