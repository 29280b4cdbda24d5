"""The games: a codec over the port of what is kept (`cardsharp.keep.port`).

| partition | sort | body |
|---|---|---|
| game#UUID | game | `changed`, in microseconds, and `game`; in the list "public" if it is |
| game#UUID | round#00012 | a closed round |
| caller#… | games | a count: of a caller's day, by a digest |
| census#… | | see `census` |

A card is one letter and a hand a word, so a game of eight players fits into one kilobyte or two.
The table has no stream: a record of it would carry hands. A game that has expired is absent,
whether or not it was already removed.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from cardsharp.blef.cards import DECK
from cardsharp.blef.census import Lifetime, count_active, count_all, moves
from cardsharp.blef.records import RECENT, WHOLE_LIFE, ClosedRound, GameRecord, Player
from cardsharp.blef.rules import Move, Round
from cardsharp.cloud.codec import decode, from_micros, to_micros
from cardsharp.cloud.dynamodb_items import Item
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.telemetry import logger
from cardsharp.errors import StoreError
from cardsharp.keep.port import Add, Keep, Key, Listed, Put, is_done
from cardsharp.keep.stores import Store

LIST_LIMIT = 500  # public games in the list
_PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class Saved:
    """A game as it was read: `version` grows by one with every change."""

    game: GameRecord
    version: int
    changed: datetime
    expires: datetime


@dataclass(frozen=True, slots=True)
class Listing:
    """A public game as the list shows it."""

    uuid: str
    nicknames: tuple[str, ...]
    started: bool
    changed: datetime


_STEP = timedelta(milliseconds=2)
"""A change counts as made at least so long after the one before, whatever the clocks of two
machines say: clients leave out what is not newer than what they know."""


def closed_at(changed: datetime, closed: Round) -> ClosedRound:
    """A round as a change closed it: a moment before the game as it is then."""
    return ClosedRound(closed, changed - _STEP / 2)


def caller_on(day: date, caller: str) -> str:
    """Under what a caller's games of a day are counted: the address itself is nowhere kept."""
    return hashlib.sha256(f"{day} {caller}".encode()).hexdigest()


@dataclass
class Games:
    """Games, their closed rounds, and how many there are; raises `StoreError` if it fails."""

    keep: Keep
    clock: Clock

    def create(self, game: GameRecord) -> None:
        """Keep a new game."""
        now = self.clock.now()
        after = Lifetime(now, game.expires(now))
        self.keep.commit(_put(game, after, 0), *moves(game.uuid, None, after))

    def admit(self, caller: str, most: int) -> bool:
        """Count a game that a caller creates today; False where `most` are counted already."""
        now = self.clock.now()
        key = Key(f"caller#{caller_on(now.date(), caller)}", "games")
        return is_done(self.keep, Add(key, 1, now + timedelta(days=1), most))

    def read(self, game_uuid: str) -> Saved | None:
        """A game as of now, with every change that was acknowledged, or None."""
        found = self.keep.get(_key(game_uuid))
        if found is None:
            return None
        game = decode_game(game_uuid, found.body.get("game"))
        changed = from_micros(int(str(found.body["changed"])))
        return Saved(game, found.version, changed, found.expires or game.expires(changed))

    def write(self, saved: Saved, game: GameRecord, closed: Round | None = None) -> Saved:
        """Put `game` in the place of what was read, together with the round that it closed.

        Returns what is there now. Raises `Conflict` if the game was changed after it was read;
        nothing is written.
        """
        changed = max(self.clock.now(), saved.changed + _STEP)
        after = Lifetime(changed, game.expires(changed))
        rounds = []
        if closed is not None:  # it outlives the game
            body = encode_round(closed_at(changed, closed))
            end = game.created + WHOLE_LIFE
            rounds.append(Put(_round_key(game.uuid, closed.number), body, 0, end))
        shifts = moves(game.uuid, Lifetime(saved.changed, saved.expires), after)
        self.keep.commit(_put(game, after, saved.version), *shifts, *rounds)
        return Saved(game, saved.version + 1, *after)

    def closed_round(self, game_uuid: str, number: int) -> ClosedRound | None:
        """A closed round of a game, or None."""
        found = self.keep.get(_round_key(game_uuid, number))
        if found is None:
            return None
        body: Any = found.body
        try:
            return ClosedRound(_round(body), from_micros(body.get("at", 0)))
        except (ValueError, TypeError, KeyError, IndexError):
            raise StoreError("A stored round cannot be read.") from None

    def listed(self) -> list[Listing]:
        """The public games that changed recently, the last `LIST_LIMIT`, by uuid; perhaps late.

        One that cannot be read is left out, and the log says so.
        """
        listings = []
        for key, listed in self.keep.entries(_PUBLIC, self.clock.now() - RECENT, LIST_LIMIT):
            uuid = key.partition.partition("#")[2]
            try:
                names = tuple(json.loads(str(listed.shown["nicknames_json"])))
            except (ValueError, TypeError, KeyError):
                logger.warning("a stored game cannot be read", extra={"game": uuid})
                continue
            started = bool(listed.shown.get("is_started"))
            listings.append(Listing(uuid, names, started, listed.at))
        return sorted(listings, key=lambda listing: listing.uuid)

    def count_active(self) -> int:
        """How many games changed recently, to the minute."""
        return count_active(self.keep, self.clock.now())

    def count_all(self) -> int:
        """How many games there are; one may be counted up to a day after it expired.

        One that nobody has joined, up to an hour.
        """
        return count_all(self.keep, self.clock.now())

    def close(self) -> None:
        """Let go of files and connections; nothing is asked of it any more."""
        self.keep.close()


def _put(game: GameRecord, entry: Lifetime, expected: int) -> Put:
    """The write of a game; a private one leaves the list."""
    body = {"changed": to_micros(entry.changed), "game": encode_game(game)}
    shown: dict[str, str | bool] = {
        "nicknames_json": json.dumps(game.nicknames),
        "is_started": game.round is not None,
    }
    listed = Listed(_PUBLIC, entry.changed, shown) if game.public else None
    return Put(_key(game.uuid), body, expected, entry.expires, listed)


def _key(game_uuid: str) -> Key:
    return Key(f"game#{game_uuid}", "game")


def _round_key(game_uuid: str, round_number: int) -> Key:
    return Key(f"game#{game_uuid}", f"round#{round_number:05}")


def _earlier(item: Item) -> Mapping[str, object]:
    """The body of a game or round of version 0.2."""
    if "round_json" in item:
        return decode(item["round_json"]["S"])
    return {"changed": int(item["changed_at"]["N"]), "game": decode(item["game_json"]["S"])}


GAME_STORE = Store(
    Games,
    "BLEF_STORE",
    "file of games",
    Path(__file__).with_name("games.sql"),
    {"version": "game_version", "count": "game_count", "earlier": _earlier},
)


_FIRST = ord("a")
_LETTERS = {card: chr(_FIRST + index) for index, card in enumerate(DECK)}


def encode_game(game: GameRecord) -> Mapping[str, object]:
    """A game without its uuid, which is the key of the store."""
    return {
        "created": to_micros(game.created),
        "public": game.public,
        "admin": game.admin,
        # A bot has its strategy as a third text.
        "players": [[one.nickname, one.key, *filter(None, [one.agent])] for one in game.players],
        "round": None if game.round is None else _round_body(game.round),
    }


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


def _round_body(live: Round) -> dict[str, object]:
    return {
        "number": live.number,
        "max": live.max_cards,
        "cards": list(live.n_cards),
        "hands": ["".join(_LETTERS[card] for card in hand) for hand in live.hands],
        "turn": live.turn,
        "history": list(live.history),
    }


def _round(body: Any) -> Round:  # noqa: ANN401 - whatever was stored
    return Round(
        number=body["number"],
        max_cards=body["max"],
        n_cards=tuple(body["cards"]),
        hands=tuple(tuple(DECK[ord(letter) - _FIRST] for letter in word) for word in body["hands"]),
        turn=body["turn"],
        history=tuple(Move(seat, action) for seat, action in body["history"]),
    )
