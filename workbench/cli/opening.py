"""The match that a word on the command line means: of a match log, in a file, or at an arena."""

from cardsharp.errors import ConfigError
from cardsharp.game import Game
from workbench.show.lookup import Found, read_match
from workbench.watch.sources import LogSource, source_of


def opened(word: str, store: str | None, game: Game | None) -> Found:
    """The match that a word means; one of that game where one is named.

    Raises:
        ConfigError: no match, more than one, or one of another game.
        StoreError: it cannot be read.
        Unreachable: the arena does not answer.
    """
    source, match_id = source_of(word, store, game)
    if isinstance(source, LogSource):
        return read_match(match_id, store, game)  # which names what cannot be read
    record = source.match(match_id)
    if record is None:
        raise ConfigError(f"There is no match {match_id}.")
    return Found(record, source.moves(match_id), [])
