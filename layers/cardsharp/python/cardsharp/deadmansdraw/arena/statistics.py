"""`/matches/statistics`: how the matches of a tag went, a row for each further tag of theirs.

With the tag of a tournament the rows are its rounds. Made here, so that it is read without script.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from markupsafe import Markup

from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import Book
from cardsharp.deadmansdraw.arena.templates import rendered
from cardsharp.viewer.base import Site

MAX_MATCHES = 500
"""Matches that one page shows."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The matches of two players in this order of seats, the oldest first."""

    players: tuple[str, str]
    matches: tuple[Match, ...]

    @property
    def runs(self) -> bool:
        """Whether one of them has not ended."""
        return any(not match.finished for match in self.matches)

    @property
    def wins(self) -> tuple[int, int]:
        """How many each seat has won."""
        outcomes = (match.state.outcome for match in self.matches)
        won = [None if outcome is None else outcome.winner for outcome in outcomes]
        return won.count(0), won.count(1)

    @property
    def leader(self) -> int | None:
        """The seat that has won more, once none runs; None where nobody has."""
        first, second = self.wins
        return None if self.runs or first == second else int(second > first)


def tags_page(site: Site, matches: Iterable[Match]) -> str:
    """The page where no tag was asked for: all tags, each with its number of matches."""
    counts = Counter(tag for match in matches for tag in set(match.params.tags or ()))
    return rendered("statistics.jinja", tag=None, counts=sorted(counts.items()), site=site)


def statistics_page(site: Site, tag: str, matches: Iterable[Match], book: Book) -> str:
    """The page of one tag: per pair of players what each match came to."""
    tagged = (match for match in matches if tag in (match.params.tags or ()))
    found = list(islice(tagged, MAX_MATCHES + 1))
    rows: defaultdict[str, list[Match]] = defaultdict(list)
    for match in found[:MAX_MATCHES]:
        rows[next((other for other in match.params.tags or () if other != tag), "")].append(match)
    return rendered(
        "statistics.jinja",
        tag=tag,
        rows=[(further, _pairs(rows[further], book)) for further in sorted(rows)],
        more=len(found) > MAX_MATCHES,
        most=MAX_MATCHES,
        named=lambda player: _named(player, book),
        site=site,
    )


def _pairs(matches: list[Match], book: Book) -> list[Pair]:
    pairs: defaultdict[tuple[str, str], list[Match]] = defaultdict(list)
    for match in sorted(matches, key=lambda match: match.started_at):
        pairs[match.pairing.players].append(match)
    named = sorted(pairs.items(), key=lambda pair: [book.name_of(player) for player in pair[0]])
    return [Pair(players, tuple(played)) for players, played in named]


def _named(player: str, book: Book) -> Markup:
    known = book.players.get(player)
    country = None if known is None else known.country
    return Markup("<bdi>{}</bdi>{}").format(
        book.name_of(player), f" ({country})" if country else ""
    )
