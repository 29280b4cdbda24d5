"""What the commands print of a contest: lines, tables, rows."""

import csv
import io
from collections.abc import Sequence

from rich.table import Table

from cardsharp.contest.entries import Faults, Meeting, Result
from cardsharp.contest.formats import Format
from cardsharp.contest.practice import ladder
from cardsharp.contest.records import Records
from cardsharp.contest.status import TeamLine
from cardsharp.contest.tables import Facts, shown
from workbench.show.output import results

Names = dict[str, str]  # of the teams, by their ids
Cells = dict[str, object]  # a row by its columns; lists are joined where it is not printed as JSON
RESULT_COLUMNS, MEETING_COLUMNS = 8, 7  # as many of the columns have room on a terminal


def pairing_line(result: Result, names: Names, form: Format) -> str:
    """How a pairing stands."""
    pair = " - ".join(names[team] for team in result.teams)
    start = f"pairing {result.pairing}, {result.part}: {pair}"
    if not result.decided:
        return f"{start}, {len(result.points)} played"
    won = "level" if result.winner is None else names[result.winner]
    ruled = f", by decision: {result.ruled}" if result.ruled else ""
    return f"{start} {_ratio(result.tally(form))}, {won}{ruled}"


def practice_line(meeting: Meeting, names: Names) -> str:
    """How a match of practice ended."""
    row = meeting_row(meeting, names)
    pair, left = " - ".join(_named(meeting.teams, names)), _named(meeting.gone, names)
    ended = f"left by {' and '.join(left)}" if left else row["winner"] or "drawn"
    return f"practice {meeting.number}: {pair} {row['points']}, {ended}"


def result_row(result: Result, names: Names) -> Cells:
    """A pairing."""
    return {
        "pairing": result.pairing,
        "round": result.round,
        "part": result.part,
        "teams": _named(result.teams, names),
        "wins": _ratio(result.so_far.wins),
        "winner": None if result.winner is None else names[result.winner],
        "points": [_ratio(points) for points in result.points],
        "ruled": _ruled(result),
        "decided": result.decided,
        "matches": list(result.matches),
    }


def _ruled(result: Result) -> str | None:
    return result.ruled if result.counts else "does not count"


def match_rows(result: Result, names: Names) -> list[Cells]:
    """A pairing's matches as rows, at tables one a team; a single row where it has none."""
    called, ended = _named(result.teams, names), dict(result.ended)
    return [
        {
            "pairing": result.pairing,
            "round": result.round,
            "part": result.part,
            "team": called[own],
            "opponent": _rest(called, own),
            "pairing won by": None if result.winner is None else names[result.winner],
            "ruled": _ruled(result),
            "decided": result.decided,
            **_match_cells(match, ended.get(match or ""), called, own),
        }
        for match in result.matches or (None,)
        for own in range(len(called) if len(called) > 2 else 1)  # noqa: PLR2004
    ]


def _match_cells(match: str | None, facts: Facts | None, called: list[str], own: int) -> Cells:
    """What a match came to; nothing but its id while it runs, and nothing where there is none."""
    if facts is None:
        return dict.fromkeys(("match", "points", "opponent's points", "won by")) | {"match": match}
    points = list(map(shown, facts.points))
    won = "drawn" if facts.winner is None else called[facts.winner]
    told = {"match": match, "points": points[own], "opponent's points": _rest(points, own)}
    return {**told, "won by": won}


def _rest(every: list[str], own: int) -> str:
    return ", ".join(every[:own] + every[own + 1 :])


def _ratio(numbers: Sequence[float]) -> str:
    return ":".join(map(shown, numbers))


def meeting_row(meeting: Meeting, names: Names) -> Cells:
    """A match of practice."""
    return {
        "number": meeting.number,
        "teams": _named(meeting.teams, names),
        "points": _ratio(meeting.facts.points),
        "winner": None if meeting.winner is None else names.get(meeting.winner, meeting.winner),
        "left by": _named(meeting.gone, names),
        "seconds": round(meeting.facts.seconds, 1),
        "ended": meeting.at.isoformat(timespec="seconds"),
        "match": meeting.match,
    }


def ladder_rows(records: Records, names: Names) -> list[Cells]:
    """The ladder of practice; a rating's margin is of 95 % confidence."""
    return [
        {
            "place": place,
            "team": names[row.team],
            "rating": None if row.rating is None else int(row.rating.rounded.value),
            "margin": None if row.rating is None else int(row.rating.rounded.margin),
            "matches": row.played,
            "won": row.won,
            "drawn": row.drawn,
            "lost": row.lost,
            "left": row.missed,
        }
        for place, row in enumerate(ladder(records), 1)
    ]


def standing_row(line: TeamLine, names: Names) -> Cells:
    """A team's line in the standings: the places that it can have, and its pairings so far."""
    won, lost = line.pairings
    row = {"place": line.places, "team": names[line.team], "won": won, "lost": lost}
    score = {} if line.score is None else {"points": shown(round(line.score, 2))}
    return {**row, **score, "state": line.fate}


def fault_row(name: str, failed: Faults) -> Cells:
    """How often a team that is played here has failed, and how the last time."""
    last = failed.last[0]
    at = f"{last.at:%H:%M:%S}"
    return {"team": name, "faults": failed.count, "at (UTC)": at, "last": last.what}


def joined(ids: Sequence[str], names: Names) -> str:
    """The names of teams, one after the other."""
    return ", ".join(_named(ids, names))


def csv_text(rows: Sequence[Cells]) -> str:
    """Rows as CSV, the columns first."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({title: _cell(value) for title, value in row.items()} for row in rows)
    return text.getvalue()


def print_table(rows: Sequence[Cells], columns: int | None = None) -> None:
    """Print rows for reading, as many columns of them."""
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    for title in list(rows[0] if rows else ())[:columns]:
        numbers = all(isinstance(row[title], int | None) for row in rows)
        table.add_column(title, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in list(row.values())[:columns]))
    results().print(table)


def _named(teams: Sequence[str], names: Names) -> list[str]:
    """Their names; the id of one that has been removed."""
    return [names.get(team, team) for team in teams]


def _cell(value: object) -> str:
    """A value as a text that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text
