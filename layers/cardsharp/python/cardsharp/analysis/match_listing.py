"""Listing of one game's matches in a match log that holds matches of all games."""

from collections.abc import Iterator
from datetime import date

from cardsharp.analysis.replay import header_of, read_error_of
from cardsharp.play import catalog
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchReader, MatchRecord, MatchStatus

MAX_LISTED_HEADERS = 100_000  # headers that one listing reads at most
_PAGE_SIZE = 500  # headers that are read at once
_FIRST_READ = 20
_GROWTH = 10


def iter_matches(
    log: MatchReader, day: date | None, status: MatchStatus | None, limit: int
) -> Iterator[MatchRecord]:
    """Yield headers, the last started first, and read them page by page.

    So a long list needs no more memory than a page of it.
    """
    last_id: str | None = None
    while limit > 0:
        page = log.matches(day, status, min(limit, _PAGE_SIZE), last_id)
        if not page:
            return
        yield from page
        limit, last_id = limit - len(page), page[-1].match_id


def is_match_of(game: Game | None, record: MatchRecord) -> bool:
    """Return True if a match can be read and is of this game, or of any game for None.

    A match whose worker has not written its header yet belongs to no game.
    """
    if read_error_of(record) is not None or not record.header:
        return False
    name = header_of(record).game or catalog.get_game(None).name
    return name in (
        [mounted.name for mounted in catalog.all_games()] if game is None else [game.name]
    )


def newest_matches(
    log: MatchReader,
    game: Game | None,
    status: MatchStatus | None = None,
    *,
    limit: int,
    max_read: int = MAX_LISTED_HEADERS,
) -> list[MatchRecord]:
    """Return the newest `limit` readable matches of a game.

    A log can only list its newest matches of all games. Therefore this function requests more and
    more of them, at most `max_read`, until enough are of the game.
    """
    read_limit = min(max(limit, _FIRST_READ), max_read)
    while True:
        records = log.matches(status=status, limit=read_limit)
        matches = [record for record in records if is_match_of(game, record)]
        if len(matches) >= limit or len(records) < read_limit or read_limit == max_read:
            return matches[:limit]
        read_limit = min(read_limit * _GROWTH, max_read)
