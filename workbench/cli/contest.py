"""`cardsharp contest`: found a contest, look at it, decide in it; its other commands lie beside."""

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.acts import Desk
from cardsharp.contest.entries import Stage
from cardsharp.contest.freeze import freeze_of
from cardsharp.contest.pages import file_page
from cardsharp.contest.records import Records
from cardsharp.contest.status import Status
from workbench.cli.commands import command
from workbench.cli.contest_new import HERE, Folder, Where, new, plan
from workbench.cli.contest_play import organise, practice, run_
from workbench.cli.contest_teams import teams
from workbench.contest import showing
from workbench.show.options import Json
from workbench.show.output import print_json, results, write_file

contest = cyclopts.App(name="contest", help_epilogue=command("contest").epilogue)
contest.command(new)
contest.command(plan)
contest.command(teams)
contest.command(run_, name="run")
contest.command(practice)
contest.command(organise)


def _is_to_come(_kind: object, delay: timedelta | None) -> None:
    if delay is not None and delay < timedelta():
        raise ValueError("It must be a time to come, such as 40m.")


_STATES = {Stage.OPEN: "has not begun", Stage.BEGUN: "goes on", Stage.OVER: "over"}


@contest.command
def status(folder: Folder, /, *, as_json: Json = False, where: Where = HERE) -> None:
    """Say how the contest stands: what runs, the places, the ladder of practice, and faults."""
    with where.records(folder) as records:
        found, table = records.results(), records.table()
        paused, settings, stage = records.paused, records.settings, records.stage
        held, names = freeze_of(records), records.names()
        rows = showing.ladder_rows(records, names) if records.meetings() else []
        standings = [showing.standing_row(line, names) for line in Status(records).standings()]
        failed = [showing.fault_row(names[team], one) for team, one in records.faults().items()]
    decided = sum(result.decided for result in found)
    document: showing.Cells = {"contest": settings.name, "stage": stage, "paused": paused}
    if as_json:
        document |= {"pairings": len(found), "decided": decided, "places": table}
        print_json({**document, "standings": standings, "practice": rows, "faults": failed})
        return
    state = "paused" if paused and stage is not Stage.OVER else _STATES[stage]
    results().print(f"contest {settings.name}, {settings.format}: {state}, {decided} decided")
    if held is not None:
        results().print(f"frozen for spectators from {held.at:%H:%M:%S} UTC on; you see all")
    for result in (one for one in found if not one.decided):
        results().print(showing.pairing_line(result, names, settings.form))
    showing.print_table(standings)
    for title, more in (("ladder of practice", rows), ("teams that failed here", failed)):
        if more:
            results().print(title)
            showing.print_table(more)


@contest.command(name="results")
def results_(  # noqa: PLR0913 - each is a flag of its own
    folder: Folder,
    /,
    *,
    of_practice: Annotated[
        bool, Parameter(name="--practice", help="Show the practice matches instead.")
    ] = False,
    as_json: Json = False,
    as_csv: Annotated[bool, Parameter(name="--csv", help="Print CSV.")] = False,
    as_lines: Annotated[
        bool, Parameter(name="--jsonl", help="Print JSON Lines, rows as those of CSV.")
    ] = False,
    html: Annotated[
        Path | None, Parameter(help="Write the contest's page, a file that needs nothing else.")
    ] = None,
    where: Where = HERE,
) -> None:
    """Print every pairing with its matches, for reading, as JSON or CSV; or write the page.

    CSV and JSON Lines have a row for each match, JSON and the list one for each pairing.
    """
    with where.records(folder) as records:
        if html is not None:
            write_file(html, file_page(records))
            results().print(f"written to {html}")
            return
        rows = _rows(records, practice=of_practice, by_match=not as_json and (as_csv or as_lines))
    if as_json:
        print_json(rows)
    elif as_csv or as_lines:
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        sys.stdout.write(showing.csv_text(rows) if as_csv else lines)
    elif not rows:
        results().print("Nothing has been played yet.")
    else:
        columns = showing.MEETING_COLUMNS if of_practice else showing.RESULT_COLUMNS
        showing.print_table(rows, columns)


def _rows(records: Records, *, practice: bool, by_match: bool) -> list[showing.Cells]:
    names = records.names()
    if practice:
        return [showing.meeting_row(meeting, names) for meeting in records.meetings()]
    if by_match:
        return [row for result in records.listed() for row in showing.match_rows(result, names)]
    return [showing.result_row(result, names) for result in records.listed()]


@contest.command
def rule(  # noqa: PLR0913 - each is a flag of its own
    folder: Folder,
    pairing: Annotated[str, Parameter(help="Its number, as `contest results` has it.")],
    winner: Annotated[str, Parameter(help="The name of one of its two teams.")],
    /,
    *,
    reason: Annotated[str, Parameter(help="Why; shown with the result.")],
    no_replay: Annotated[
        bool, Parameter(help="Refuse it where others would meet by it, in pairings played already.")
    ] = False,
    where: Where = HERE,
) -> None:
    """Decide a pairing as organiser, whatever its matches were; the reason is kept."""
    with where.records(folder) as records:
        is_over = records.stage is Stage.OVER
        Desk(records, utc_now).rule(pairing, winner, reason, replay=not no_replay)
    where.go_on()
    results().print(f"pairing {pairing} goes to {winner}: {reason}")
    if is_over:
        command = f"cardsharp contest run {where.arguments(folder)}"
        results().print(f"What follows is played anew by: {command}", style="dim", soft_wrap=True)


@contest.command
def history(folder: Folder, /, *, as_json: Json = False, where: Where = HERE) -> None:
    """List what the organiser has done, such as rulings and renamings, the last one last."""
    with where.records(folder) as records:
        acts = Desk(records, utc_now).history()
    rows = [
        {"number": act.number, "at (UTC)": f"{act.at:%Y-%m-%d %H:%M:%S}", "what": act.what,
         "undone": act.undone}
        for act in acts
    ]  # fmt: skip
    if as_json:
        print_json(rows)
    elif not rows:
        results().print("The organiser has done nothing yet.")
    else:
        showing.print_table([{**row, "undone": "undone" if row["undone"] else ""} for row in rows])


@contest.command
def undo(folder: Folder, /, *, where: Where = HERE) -> None:
    """Take back the last act of `contest history`; what follows is worked out anew."""
    with where.desk(folder) as desk:
        act = desk.undo()
    results().print(f"Undone: {act.what}")


@contest.command
def freeze(
    folder: Folder,
    /,
    *,
    delay: Annotated[
        timedelta | None,
        Parameter(
            name="--in",
            validator=_is_to_come,
            help="Not at once but after a while, such as 40m or 1h30m.",
        ),
    ] = None,
    where: Where = HERE,
) -> None:
    """Hold the scoreboard back: spectators see the contest as it stands now, while it goes on.

    Teams see their own matches, you and these commands see all. `cardsharp contest
    reveal` shows it, `undo` takes it back.
    """
    with where.desk(folder) as desk:
        act = desk.freeze(utc_now() + (delay or timedelta()))
    results().print(f"The scoreboard is {act.what}.")
    command = f"cardsharp contest reveal {where.arguments(folder)}"
    results().print(f"Show it, a round at a time, by: {command}", style="dim", soft_wrap=True)


@contest.command
def reveal(
    folder: Folder,
    /,
    *,
    everything: Annotated[bool, Parameter(name="--all", help="Show all of it at once.")] = False,
    where: Where = HERE,
) -> None:
    """Show spectators the next round of a frozen scoreboard, or all of it."""
    with where.desk(folder) as desk:
        act = desk.reveal(everything=everything)
    results().print(f"The scoreboard is {act.what}.")


@contest.command
def pause(folder: Folder, /, *, where: Where = HERE) -> None:
    """Start no new matches; running ones finish."""
    with where.desk(folder) as desk:
        desk.pause(on=True)
    command = f"cardsharp contest resume {where.arguments(folder)}"
    results().print(f"No match begins until: {command}", style="dim", soft_wrap=True)


@contest.command
def resume(folder: Folder, /, *, where: Where = HERE) -> None:
    """Start new matches again."""
    with where.desk(folder) as desk:
        desk.pause(on=False)
    results().print("Matches begin again.")
