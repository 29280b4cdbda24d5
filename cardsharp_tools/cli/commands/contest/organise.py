"""`cardsharp contest status`, `results` and the decisions of the organiser."""

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.freeze import active_or_scheduled_freeze
from cardsharp.contest.models import ContestStage
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.team_presence import wrong_tags_line
from cardsharp.contest.view.overview import ContestOverview
from cardsharp.contest.view.pages import standalone_contest_page
from cardsharp.core.clock import utc_now
from cardsharp_tools.cli.commands.contest.create import (
    LOCAL_CONTEST,
    ContestLocation,
    Folder,
)
from cardsharp_tools.cli.console import message_console, print_json, result_console, write_file
from cardsharp_tools.cli.options import Json
from cardsharp_tools.contest import reports


def _check_future_delay(_kind: object, delay: timedelta | None) -> None:
    if delay is not None and delay < timedelta():
        raise ValueError("It must be a time in the future, such as 40m.")


def status(
    folder: Folder, /, *, as_json: Json = False, target: ContestLocation = LOCAL_CONTEST
) -> None:
    """Show the state: running pairings, places, practice ratings, and failed teams."""
    with target.open_records(folder) as records:
        if as_json:
            print_json(_status_document(records))
        else:
            _print_status(records)


def _status_document(records: ContestRecords) -> reports.Row:
    """Return the state of a contest for programs."""
    results, team_names = records.results(), records.team_names_with_removed()
    return {
        "contest": records.settings.name,
        "stage": records.stage,
        "paused": records.is_paused,
        "pairings": len(results),
        "decided": sum(result.decided for result in results),
        "places": records.standings(),
        "standings": reports.standings_rows(records),
        "practice": reports.practice_rows(records),
        "faults": reports.fault_rows(records),
        "programs": reports.connection_rows(records),
        "wrong tags": {
            team_names[team]: tags for team, tags in records.wrong_tags_by_team().items()
        },
    }


def _print_status(records: ContestRecords) -> None:
    """Print the state of a contest for a person."""
    settings, team_names = records.settings, records.team_names_with_removed()
    results, freeze = records.results(), active_or_scheduled_freeze(records)
    decided = sum(result.decided for result in results)
    state = ContestOverview(records).state_label
    result_console().print(
        f"contest {settings.name}, {settings.format}: {state}, {decided} decided"
    )
    if freeze is not None:
        result_console().print(
            f"Spectators see the state of {freeze.at:%H:%M:%S} UTC. You see everything."
        )
    for team, tags in records.wrong_tags_by_team().items():
        message_console().print(wrong_tags_line(settings, team_names[team], tags), style="bold")
    for result in (result for result in results if not result.decided):
        result_console().print(
            reports.pairing_line(result, team_names, settings.format_without_history)
        )
    reports.print_table(reports.standings_rows(records))
    tables = {
        "ladder of practice": reports.practice_rows(records),
        "programs of teams": reports.connection_rows(records),
        "teams that failed here": reports.fault_rows(records),
    }
    for title, rows in tables.items():
        if rows:
            result_console().print(title)
            reports.print_table(rows)


def results_(  # noqa: PLR0913 - each is a flag of its own
    folder: Folder,
    /,
    *,
    practice: Annotated[
        bool, Parameter(name="--practice", help="Show the practice matches instead.")
    ] = False,
    as_json: Json = False,
    as_csv: Annotated[bool, Parameter(name="--csv", help="Print CSV.")] = False,
    as_jsonl: Annotated[
        bool, Parameter(name="--jsonl", help="Print JSON Lines with the rows of --csv.")
    ] = False,
    html: Annotated[
        Path | None,
        Parameter(help="Write the contest's page into this file, which opens without a network."),
    ] = None,
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Print every pairing with its matches, as text, JSON or CSV, or write the page."""
    with target.open_records(folder) as records:
        if html is not None:
            write_file(html, standalone_contest_page(records))
            result_console().print(f"Created {html}.")
            return
        rows = _build_rows(
            records, practice=practice, by_match=not as_json and (as_csv or as_jsonl)
        )
    if as_json:
        print_json(rows)
    elif as_csv or as_jsonl:
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        sys.stdout.write(reports.csv_text(rows) if as_csv else lines)
    elif not rows:
        result_console().print("Nothing has been played yet.")
    else:
        columns = reports.PRACTICE_COLUMNS if practice else reports.RESULT_COLUMNS
        reports.print_table(rows, columns)


def _build_rows(records: ContestRecords, *, practice: bool, by_match: bool) -> list[reports.Row]:
    team_names = records.team_names_with_removed()
    if practice:
        return [
            reports.practice_match_row(meeting, team_names)
            for meeting in records.practice_matches()
        ]
    if by_match:
        return [
            row
            for result in records.results_with_discarded()
            for row in reports.match_rows(result, team_names)
        ]
    return [reports.pairing_row(result, team_names) for result in records.results_with_discarded()]


def override_result(  # noqa: PLR0913 - each is a flag of its own
    folder: Folder,
    pairing: Annotated[
        str, Parameter(help="The number of the pairing, as `contest results` shows it.")
    ],
    winner: Annotated[str, Parameter(help="The name of the team that wins.")],
    /,
    *,
    reason: Annotated[str, Parameter(help="The reason, which is shown with the result.")],
    refuse_replay: Annotated[
        bool,
        Parameter(
            help="Refuse the decision if it would cause finished pairings to be played again.",
        ),
    ] = False,
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Award a pairing to a team, whatever its matches were, and store the reason."""
    with target.open_records(folder) as records:
        is_over = records.stage is ContestStage.OVER
        ContestAdmin(records, utc_now).rule_pairing(
            pairing, winner, reason, play_again=not refuse_replay
        )
    target.wake_director()
    result_console().print(f"pairing {pairing} goes to {winner}: {reason}")
    if is_over:
        command = f"cardsharp contest run {target.contest_location_arguments(folder)}"
        result_console().print(
            f"To play the later pairings again: {command}", style="dim", soft_wrap=True
        )


def history(
    folder: Folder, /, *, as_json: Json = False, target: ContestLocation = LOCAL_CONTEST
) -> None:
    """List the organiser's actions, such as decisions and renamings, in order of time."""
    with target.open_records(folder) as records:
        acts = ContestAdmin(records, utc_now).action_history()
    rows = [
        {"number": act.number, "at (UTC)": f"{act.at:%Y-%m-%d %H:%M:%S}", "what": act.what,
         "undone": act.undone}
        for act in acts
    ]  # fmt: skip
    if as_json:
        print_json(rows)
    elif not rows:
        result_console().print("There is no action of the organiser yet.")
    else:
        reports.print_table([{**row, "undone": "undone" if row["undone"] else ""} for row in rows])


def undo(folder: Folder, /, *, target: ContestLocation = LOCAL_CONTEST) -> None:
    """Take back the last action of `contest history`, and compute the contest again."""
    with target.open_admin(folder) as admin:
        act = admin.undo()
    result_console().print(f"Undone: {act.what}")


def freeze(
    folder: Folder,
    /,
    *,
    delay: Annotated[
        timedelta | None,
        Parameter(
            name="--after",
            validator=_check_future_delay,
            help="Freeze after this time, such as 40m or 1h30m. Default: now.",
        ),
    ] = None,
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Freeze the scoreboard: spectators keep seeing the state of this moment."""
    with target.open_admin(folder) as admin:
        act = admin.freeze(utc_now() + (delay or timedelta()))
    result_console().print(f"The scoreboard is {act.what}.")
    command = f"cardsharp contest reveal {target.contest_location_arguments(folder)}"
    result_console().print(
        f"To show it, one round at a time: {command}", style="dim", soft_wrap=True
    )


def reveal(
    folder: Folder,
    /,
    *,
    all_rounds: Annotated[bool, Parameter(name="--all", help="Show all rounds at once.")] = False,
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Show spectators the next round of a frozen scoreboard, or all rounds."""
    with target.open_admin(folder) as admin:
        act = admin.reveal_round(everything=all_rounds)
    result_console().print(f"The scoreboard is {act.what}.")


def pause(folder: Folder, /, *, target: ContestLocation = LOCAL_CONTEST) -> None:
    """Start no new matches. Running matches are played to their end."""
    with target.open_admin(folder) as admin:
        admin.set_paused(paused=True)
    command = f"cardsharp contest resume {target.contest_location_arguments(folder)}"
    result_console().print(
        f"No new match starts. To continue: {command}", style="dim", soft_wrap=True
    )


def resume(folder: Folder, /, *, target: ContestLocation = LOCAL_CONTEST) -> None:
    """Start new matches again after `contest pause`."""
    with target.open_admin(folder) as admin:
        admin.set_paused(paused=False)
    result_console().print("New matches start again.")
