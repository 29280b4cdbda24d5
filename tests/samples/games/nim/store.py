"""Where the service keeps its games: a SQLite file, or this process only."""

import json
from dataclasses import dataclass, replace

from cardsharp.cloud.sqlite_file import Contents, SqliteFile
from cardsharp.errors import Conflict
from nim.rules import Action, State, apply

VARIABLE = "NIM_STORE"

_GAMES = Contents(
    "file of games",
    VARIABLE,
    ("CREATE TABLE games (id TEXT PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL)",),
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A game: the heaps at its start, who plays (name and secret's digest), what was taken."""

    start: tuple[int, ...]
    players: tuple[tuple[str, str], ...] = ()
    moves: tuple[Action, ...] = ()
    version: int = 0

    def states(self) -> list[State]:
        """The state at the start and after each move."""
        states = [State(self.start)]
        for action in self.moves:
            states.append(apply(states[-1], action))
        return states


class Games:
    """Games by id."""

    def __init__(self, path: str) -> None:
        self._file = SqliteFile(path, _GAMES)

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._file.close()

    def add(self, game: str, kept: Kept) -> None:
        """Keep a new game."""
        with self._file.transaction() as db:
            db.execute("INSERT INTO games VALUES (?, ?, ?)", (game, kept.version, _text(kept)))

    def read(self, game: str) -> Kept | None:
        """The game of that id, None if there is none."""
        with self._file.reading() as db:
            row = db.execute("SELECT body, version FROM games WHERE id = ?", (game,)).fetchone()
        return None if row is None else replace(_kept(row["body"]), version=row["version"])

    def replace(self, game: str, old: Kept, new: Kept) -> None:
        """Keep a game as it is now; raises `Conflict` if it is no longer as it was read."""
        update = "UPDATE games SET version = version + 1, body = ? WHERE id = ? AND version = ?"
        with self._file.transaction() as db:
            written = db.execute(update, (_text(new), game, old.version)).rowcount
        if written != 1:
            raise Conflict("The game was changed by somebody else.")


def _text(kept: Kept) -> str:
    moves = [(action.heap, action.stones) for action in kept.moves]
    return json.dumps([kept.start, kept.players, moves])


def _kept(text: str) -> Kept:
    start, players, moves = json.loads(text)
    taken = tuple(Action(heap, stones) for heap, stones in moves)
    return Kept(tuple(start), tuple((name, key) for name, key in players), taken)
