"""Console output about a contest: lines, tables and rows."""

import csv
import io
from collections.abc import Sequence

from rich.table import Table

from cardsharp.contest.formats.base import Format
from cardsharp.contest.match_host import MatchResultFacts, format_points
from cardsharp.contest.models import PairingResult, PracticeMatch, TeamConnection, TeamFaults
from cardsharp.contest.practice import practice_ladder
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.view.overview import ContestOverview, StandingsRow
from cardsharp_tools.cli.console import result_console

TeamNames = dict[str, str]  # of the teams, by their ids
Row = dict[str, object]  # values by column; lists are joined unless the row is printed as JSON
RESULT_COLUMNS, PRACTICE_COLUMNS = 8, 7  # number of first columns that fit on a terminal


def pairing_line(result: PairingResult, team_names: TeamNames, contest_format: Format) -> str:
    """Return a line with the current state of a pairing."""
    pair = " - ".join(team_names[team] for team in result.teams)
    start = f"pairing {result.pairing}, {result.part}: {pair}"
    if not result.decided:
        return f"{start}, {len(result.match_points)} played"
    won = "level" if result.winner is None else f"winner {team_names[result.winner]}"
    ruled = f", decided by the organiser: {result.ruled}" if result.ruled else ""
    return f"{start} {_format_score(result.deciding_totals(contest_format))}, {won}{ruled}"


def practice_match_line(match: PracticeMatch, team_names: TeamNames) -> str:
    """Return a line with the result of a practice match."""
    row = practice_match_row(match, team_names)
    pair, absent_names = (
        " - ".join(_to_display_names(match.teams, team_names)),
        _to_display_names(match.gone, team_names),
    )
    won = f"winner {row['winner']}" if row["winner"] else "drawn"
    outcome_text = f"missed by {' and '.join(absent_names)}" if absent_names else won
    return f"practice {match.number}: {pair} {row['points']}, {outcome_text}"


def pairing_row(result: PairingResult, team_names: TeamNames) -> Row:
    """Return the row of a pairing."""
    return {
        "pairing": result.pairing,
        "round": result.round,
        "part": result.part,
        "teams": _to_display_names(result.teams, team_names),
        "wins": _format_score(result.current_outcome.wins),
        "winner": None if result.winner is None else team_names[result.winner],
        "points": [_format_score(points) for points in result.match_points],
        "ruled": _format_ruling(result),
        "decided": result.decided,
        "matches": list(result.matches),
    }


def _format_ruling(result: PairingResult) -> str | None:
    """Return how an organiser decided the pairing, or that it does not count."""
    return result.ruled if result.counts else "does not count"


def match_rows(result: PairingResult, names: TeamNames) -> list[Row]:
    """Return a row for each match of a pairing; with three or more teams, one for each team.

    A pairing without matches gets a single row.
    """
    team_names, facts = (
        _to_display_names(result.teams, names),
        dict(result.finished_match_ids_and_facts),
    )
    return [
        {
            "pairing": result.pairing,
            "round": result.round,
            "part": result.part,
            "team": team_names[side],
            "opponent": _join_other_sides(team_names, side),
            "pairing won by": None if result.winner is None else names[result.winner],
            "ruled": _format_ruling(result),
            "decided": result.decided,
            **_build_match_cells(match, facts.get(match or ""), team_names, side),
        }
        for match in result.matches or (None,)
        for side in range(len(team_names) if len(team_names) > 2 else 1)  # noqa: PLR2004
    ]


def _build_match_cells(
    match: str | None, facts: MatchResultFacts | None, team_names: list[str], side: int
) -> Row:
    """Return the cells of a match's result.

    A running match has only its id; without a match all cells are empty.
    """
    if facts is None:
        return dict.fromkeys(("match", "points", "opponent's points", "won by")) | {"match": match}
    points = list(map(format_points, facts.points))
    won = "drawn" if facts.winner is None else team_names[facts.winner]
    row = {
        "match": match,
        "points": points[side],
        "opponent's points": _join_other_sides(points, side),
    }
    return {**row, "won by": won}


def _join_other_sides(values: list[str], side: int) -> str:
    return ", ".join(values[:side] + values[side + 1 :])


def _format_score(points: Sequence[float]) -> str:
    return ":".join(map(format_points, points))


def practice_match_row(match: PracticeMatch, team_names: TeamNames) -> Row:
    """Return the row of a practice match."""
    return {
        "number": match.number,
        "teams": _to_display_names(match.teams, team_names),
        "points": _format_score(match.facts.points),
        "winner": None if match.winner is None else team_names.get(match.winner, match.winner),
        "missed by": _to_display_names(match.gone, team_names),
        "seconds": round(match.facts.seconds, 1),
        "ended": match.at.isoformat(timespec="seconds"),
        "match": match.match,
    }


def practice_ladder_rows(records: ContestRecords, team_names: TeamNames) -> list[Row]:
    """Return the rows of the practice ladder; `margin` is half of a rating's 95 % interval."""
    return [
        {
            "place": place,
            "team": team_names[row.team],
            "rating": None if row.rating is None else int(row.rating.rounded.value),
            "margin": None if row.rating is None else int(row.rating.rounded.margin),
            "matches": row.match_count,
            "won": row.wins,
            "drawn": row.ties,
            "lost": row.losses,
            "missed": row.missed_matches,
        }
        for place, row in enumerate(practice_ladder(records), 1)
    ]


def practice_rows(records: ContestRecords) -> list[Row]:
    """Return the rows of the practice ladder; none before the first practice match has ended."""
    if not records.practice_matches():
        return []
    return practice_ladder_rows(records, records.team_names_with_removed())


def standings_rows(records: ContestRecords) -> list[Row]:
    """Return the rows of the standings, the best first."""
    team_names = records.team_names_with_removed()
    return [standing_row(standing, team_names) for standing in ContestOverview(records).standings()]


def fault_rows(records: ContestRecords) -> list[Row]:
    """Return the rows of the teams that failed on this machine."""
    team_names = records.team_names_with_removed()
    return [
        team_faults_row(team_names[team], faults)
        for team, faults in records.faults_by_team().items()
    ]


def connection_rows(records: ContestRecords) -> list[Row]:
    """Return a row for each team with a program of its own, until the contest is over."""
    overview = ContestOverview(records)
    if overview.is_over:
        return []
    late_turns = overview.late_turn_counts()
    return [
        connection_row(overview.names[team], overview.connections.get(team), late_turns[team])
        for team in overview.teams
        if team not in overview.hosted_teams
    ]


def standing_row(standing: StandingsRow, team_names: TeamNames) -> Row:
    """Return a team's row of the standings: its possible places, and its pairings so far."""
    win_count, loss_count = standing.pairings
    row = {
        "place": standing.place_range,
        "team": team_names[standing.team],
        "won": win_count,
        "lost": loss_count,
    }
    score = {} if standing.score is None else {"points": format_points(round(standing.score, 2))}
    return {**row, **score, "state": standing.outlook}


def team_faults_row(name: str, faults: TeamFaults) -> Row:
    """Return a row with a local team's number of failures and the last of them."""
    last_fault = faults.last[0]
    at = f"{last_fault.at:%H:%M:%S}"
    return {"team": name, "faults": faults.count, "at (UTC)": at, "last": last_fault.what}


def connection_row(name: str, connection: TeamConnection | None, late_turns: int) -> Row:
    """Return a row of a team: since when it is connected, its last move, and its program.

    The cells of a team that is not connected are None. `late_turns` are those of all matches that
    are over.
    """
    moved_at = connection and connection.last_move_at
    return {
        "team": name,
        "connected since (UTC)": connection and f"{connection.since:%H:%M:%S}",
        "last move (UTC)": moved_at and f"{moved_at:%H:%M:%S}",
        "late turns": late_turns,
        "client": connection and connection.client,
    }


def join_team_names(ids: Sequence[str], team_names: TeamNames) -> str:
    """Return the names of teams, separated by commas."""
    return ", ".join(_to_display_names(ids, team_names))


def csv_text(rows: Sequence[Row]) -> str:
    """Return rows as CSV with a line of column titles."""
    buffer = io.StringIO()
    if rows:
        writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {title: _format_cell(value) for title, value in row.items()} for row in rows
        )
    return buffer.getvalue()


def print_table(rows: Sequence[Row], columns: int | None = None) -> None:
    """Print rows as a table, with the first `columns` columns or all of them."""
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    for title in list(rows[0] if rows else ())[:columns]:
        is_numeric = all(isinstance(row[title], int | None) for row in rows)
        table.add_column(title, justify="right" if is_numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_format_cell(value) for value in list(row.values())[:columns]))
    result_console().print(table)


def _to_display_names(teams: Sequence[str], team_names: TeamNames) -> list[str]:
    """Return the names of the teams; for a removed team, its id."""
    return [team_names.get(team, team) for team in teams]


def _format_cell(value: object) -> str:
    """Return a value as text, escaped so that a spreadsheet does not run it as a formula."""
    if value is None:
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text
