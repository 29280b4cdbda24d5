"""`/matches/statistics`: how the matches of a tag went, a row for each further tag of theirs.

With the tag of a tournament the rows are its rounds. Made here, so that it is read without script.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from html import escape
from itertools import islice
from urllib.parse import quote

from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import Book

MAX_MATCHES = 500
"""Matches that one page shows."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Arena · statistics</title>
<link rel="icon" href="/page/icon.svg">
<link rel="stylesheet" href="/page/style.css">
</head>
<body>
<header class="bar">
  <a class="brand" href="/matches">⚓ Arena</a>
  <nav><a href="/matches/statistics">Statistics</a> <a href="/docs">API</a></nav>
</header>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def tags_page(matches: Iterable[Match]) -> str:
    """The page where no tag was asked for: all tags, each with its number of matches."""
    counts = Counter(tag for match in matches for tag in set(match.params.tags or ()))
    items = [f"<li>{_statistics_link(tag)} {counts[tag]}</li>" for tag in sorted(counts)]
    listed = f"<ul>{''.join(items)}</ul>" if items else "<p>No match has a tag yet.</p>"
    return _PAGE.format(title="Statistics of which tag?", body=listed)


def statistics_page(tag: str, matches: Iterable[Match], book: Book) -> str:
    """The page of one tag: per pair of players what each match came to."""
    tagged = (match for match in matches if tag in (match.params.tags or ()))
    found = list(islice(tagged, MAX_MATCHES + 1))
    rows: defaultdict[str, list[Match]] = defaultdict(list)
    for match in found[:MAX_MATCHES]:
        rows[next((other for other in match.params.tags or () if other != tag), "")].append(match)
    lines = [_row(further, rows[further], book) for further in sorted(rows)]
    body = f'<table class="matches statistics"><tbody>{"".join(lines)}</tbody></table>'
    if not found:
        body = '<p class="muted">No match has this tag.</p>'
    if len(found) > MAX_MATCHES:
        body += f"<p>There are more than {MAX_MATCHES} matches; the rest is left out.</p>"
    return _PAGE.format(title=f"Statistics of {escape(tag)}", body=body)


def _row(further: str, matches: list[Match], book: Book) -> str:
    pairs: defaultdict[tuple[str, str], list[Match]] = defaultdict(list)
    for match in sorted(matches, key=lambda match: match.started_at):
        pairs[match.pairing.players].append(match)
    named = sorted(pairs.items(), key=lambda pair: [book.name_of(player) for player in pair[0]])
    cells = "".join(f"<td>{_pair(players, played, book)}</td>" for players, played in named)
    return f"<tr><th>{_statistics_link(further) if further else ''}</th>{cells}</tr>"


def _pair(players: tuple[str, str], matches: list[Match], book: Book) -> str:
    outcomes = [match.state.outcome for match in matches]
    wins = [
        sum(outcome is not None and outcome.winner == seat for outcome in outcomes)
        for seat in (0, 1)
    ]
    running = any(outcome is None for outcome in outcomes)
    names = [_player(player, book) for player in players]
    if not running and wins[0] != wins[1]:
        names = [
            _strong(name, when=mine == max(wins)) for name, mine in zip(names, wins, strict=True)
        ]
    head = f"{'▶︎ ' if running else ''}{names[0]} - {names[1]} - {wins[0]}:{wins[1]}"
    return f"{head}<br>{', '.join(map(_match, matches))}"


def _match(match: Match) -> str:
    outcome = match.state.outcome
    points = ":".join(
        _strong(str(bank.score), when=outcome is not None and outcome.winner == seat)
        for seat, bank in enumerate(match.state.banks)
    )
    seconds = (match.last_move_at - match.started_at).total_seconds()
    late = f" ⚠{match.state.timeouts}" if match.state.timeouts else ""
    mark = "▶︎ " if outcome is None else ""
    link = f'<a href="/matches/{match.id}">{mark}{points}</a>'
    return f"{link} <small>{seconds:.0f} s{late}</small>"


def _player(player: str, book: Book) -> str:
    known = book.players.get(player)
    country = None if known is None else known.country
    return escape(book.name_of(player) + (f" ({country})" if country else ""))


def _strong(text: str, *, when: bool) -> str:
    return f"<b>{text}</b>" if when else text


def _statistics_link(tag: str) -> str:
    address = f"/matches/statistics?tag={quote(tag, safe='')}"
    return f'<a class="tag" href="{address}">{escape(tag)}</a>'
