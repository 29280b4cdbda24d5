"""The match that a word on the command line means: of a match log, or in a file."""

from pathlib import Path

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.game import Game
from cardsharp.games import game as game_named
from workbench.lab.extras import extras_of
from workbench.show.lookup import read_match

_RECORDED = ".json"


def opened(word: str, store: str | None, game: Game | None) -> tuple[MatchRecord, list[MoveRecord]]:
    """The match that a word means; one of that game where one is named.

    A FILE.json is what an arena has answered, of the first game where none is named.

    Raises:
        ConfigError: no match, more than one, or one of another game.
        StoreError: it cannot be read.
    """
    file = Path(word)
    if file.suffix == _RECORDED:
        return extras_of((game or game_named(None)).name).recorded(file)
    found = read_match(word, store, game)
    return found.record, found.moves
