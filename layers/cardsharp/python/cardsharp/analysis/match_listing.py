"""Listing of one game's matches in a match log that holds matches of all games."""

from collections.abc import Iterator
from datetime import date

from cardsharp.analysis.replay import header_of, read_error_of
from cardsharp.play import catalog
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchReader, MatchRecord, MatchStatus

MAX_LISTED_HEADERS = 100_000  # headers that one listing reads at most
_PAGE_SIZE = 500  # headers that are read at once
_FIRST_PAGE_SIZE = 20  # headers of the first page, among which a wanted match most likely is


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

    A log can only list the matches of all games. Therefore this function reads page by page, at
    most `max_read` headers, until enough are of the game.
    """
    matches, cursor, page_size = list[MatchRecord](), None, max(limit, _FIRST_PAGE_SIZE)
    while max_read > 0:
        page_size = min(page_size, max_read)
        page = log.matches(status=status, limit=page_size, cursor=cursor)
        matches += (record for record in page if is_match_of(game, record))
        if len(matches) >= limit or len(page) < page_size:
            break
        max_read, cursor, page_size = max_read - page_size, page[-1].match_id, _PAGE_SIZE
    return matches[:limit]
