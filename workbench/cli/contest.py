"""`cardsharp contest`: found a contest, enter teams, play it to its end, look at it."""

import csv
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
from cyclopts import Parameter, validators
from rich.markup import escape
from rich.table import Table

from cardsharp.deadmansdraw.contest.pages import file_page
from cardsharp.deadmansdraw.contest.records import Records, Result, Settings, Stage
from cardsharp.deadmansdraw.contest.sqlite import SqliteContest
from cardsharp.errors import ConfigError
from workbench.cli.commands import command
from workbench.contest.home import PAUSE, Place, opened, run
from workbench.show.exits import Exit
from workbench.show.options import Json
from workbench.show.output import messages, print_json, results
from workbench.stage.surroundings import telemetry_in
from workbench.strategy_file import strategy_named

Folder = Annotated[Path, Parameter(help="The contest's folder.")]

_COMMAND = command("contest")

contest = cyclopts.App(name="contest", help_epilogue=_COMMAND.epilogue)
teams = cyclopts.App(name="teams", help="Enter teams, list and remove them, give new passwords.")
contest.command(teams)


@contextmanager
def _opened(folder: Path) -> Iterator[Records]:
    records = Records(SqliteContest(folder))
    try:
        yield records
    finally:
        records.close()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class NewOptions:
    """What a contest is founded with."""

    format: Annotated[
        Literal["double-elimination", "round-robin", "swiss"], Parameter(help="Who meets whom.")
    ] = "double-elimination"
    matches: Annotated[
        int,
        Parameter(
            alias="-n",
            validator=validators.Number(gte=1, lte=99),
            help="Matches of a pairing, an odd number; more only while it is level.",
        ),
    ] = 5
    timeout: Annotated[
        float, Parameter(validator=validators.Number(gt=0), help="Seconds that a turn may take.")
    ] = 7.0


@contest.command
def new(folder: Folder, /, *, options: NewOptions = NewOptions()) -> None:
    """Found a contest in a new folder; the folder's name tags its matches."""
    name = folder.resolve().name
    if not name.replace("-", "").replace("_", "").isalnum():
        raise ConfigError(f"{name} is no name for a contest; use letters, digits, - and _.")
    if options.matches % 2 == 0:
        raise ConfigError("An odd number of matches decides a pairing, such as --matches 5.")
    settings = Settings(name, options.format, options.matches, 3 * options.matches, options.timeout)
    SqliteContest.found(folder, settings).close()
    results().print(f"contest {name}: {options.format}, {options.matches} matches a pairing")
    results().print(f"Enter teams by: cardsharp contest teams add {folder} NAME", style="dim")


@teams.command
def add(folder: Folder, name: str, /, *, strategy: str | None = None) -> None:
    """Enter a team and print its id and password, which nobody can read again.

    Teams are seeded in the order of their entries. With --strategy the director plays it.
    """
    if strategy is not None:
        strategy = strategy_named(strategy)
    with _opened(folder) as records:
        team, password = records.enter(name, strategy)
    _print_entered(team.id, name, None if strategy else password)


@teams.command(name="import")
def import_(folder: Folder, file: Path, /) -> None:
    """Enter the teams of a CSV file: its column name, and strategy where one is played here."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as text:
            rows = list(csv.DictReader(text))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{file} cannot be read as CSV: {error}.") from None
    if not rows or any(not (row.get("name") or "").strip() for row in rows):
        raise ConfigError(f"{file} needs a column `name` with a name in every row.")
    for row in rows:
        strategy = (row.get("strategy") or "").strip()
        add(folder, row["name"].strip(), strategy=strategy or None)


@teams.command(name="list")
def list_(folder: Folder, /, *, as_json: Json = False) -> None:
    """List the teams in the order of their seeds."""
    with _opened(folder) as records:
        found = records.teams()
    if as_json:
        print_json(
            [{"id": team.id, "name": team.name, "strategy": team.strategy} for team in found]
        )
        return
    for place, team in enumerate(found, 1):
        here = f", played here by {team.strategy}" if team.strategy else ""
        results().print(f"{place:3}. {team.name} ({team.id}){here}", markup=False)


@teams.command
def remove(folder: Folder, name: str, /) -> None:
    """Remove a team before the contest has begun."""
    with _opened(folder) as records:
        records.remove(name)


@teams.command
def credentials(folder: Folder, name: str, /) -> None:
    """Give a team a new password and print it; it counts from the next `contest run` on."""
    with _opened(folder) as records:
        team, password = records.new_password(name)
    _print_entered(team.id, team.name, password)


def _print_entered(team_id: str, name: str, password: str | None) -> None:
    told = "played here" if password is None else f"password {password}"
    results().print(f"team {name}: id {team_id}, {told}", markup=False, soft_wrap=True)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Where the arena of the contest listens; as for `cardsharp arena`."""

    host: Annotated[str, Parameter(help="The address to listen on; 0.0.0.0 for all.")] = "127.0.0.1"
    port: Annotated[
        int, Parameter(validator=validators.Number(gte=0, lte=65535), help="0 for a free one.")
    ] = 8080
    tls: Annotated[
        tuple[Path, Path] | None,
        Parameter(negative=(), help="Serve https: the files CERT and KEY, in PEM."),
    ] = None
    insecure: Annotated[
        bool, Parameter(negative=(), help="Serve http to a private network, and to nobody else.")
    ] = False
    public: Annotated[
        bool, Parameter(negative=(), help="Let spectators look on without a password.")
    ] = False


@contest.command(name="run")
def run_(folder: Folder, /, *, options: RunOptions = RunOptions()) -> int:
    """Play the contest to its end; started again after whatever stopped it, it goes on."""
    place = Place(**asdict(options))
    organiser = secrets.token_urlsafe(18)
    with (
        _opened(folder) as records,
        telemetry_in(folder / "contest.log"),
        opened(records, folder, place, organiser) as (url, director),
    ):
        names = {team.id: team.name for team in records.teams()}
        messages().print(f"contest {records.settings.name}: arena at {url}; Ctrl-C stops it.")
        told: set[str] = set()

        def tell() -> None:
            for result in records.results():
                if result.decided and result.pairing not in told:
                    told.add(result.pairing)
                    results().print(_line(result, names), markup=False)

        run(director, tell, lambda: time.sleep(PAUSE.total_seconds()))
        results().print(f"won by {_joined(records.table()[0], names)}", markup=False)
    return Exit.OK


@contest.command
def status(folder: Folder, /, *, as_json: Json = False) -> None:
    """Say how the contest stands: what runs, and the places so far."""
    with _opened(folder) as records:
        found, table = records.results(), records.table()
        paused, settings, stage = records.paused, records.settings, records.stage
        names = {team.id: team.name for team in records.teams()}
    decided = sum(result.decided for result in found)
    if as_json:
        document = {"contest": settings.name, "stage": stage, "paused": paused}
        print_json({**document, "pairings": len(found), "decided": decided, "places": table})
        return
    state = "paused" if paused and stage is not Stage.OVER else _STATES[stage]
    results().print(f"contest {settings.name}, {settings.format}: {state}, {decided} decided")
    for result in found:
        if not result.decided:
            results().print(_line(result, names), markup=False)
    place = 1
    for teams_ in table:
        results().print(f"{place:3}. {_joined(teams_, names)}", markup=False)
        place += len(teams_)


@contest.command(name="results")
def results_(
    folder: Folder,
    /,
    *,
    as_json: Json = False,
    as_csv: Annotated[bool, Parameter(name="--csv", negative=(), help="Print CSV.")] = False,
    html: Annotated[
        Path | None, Parameter(help="Write the contest's page, a file that needs nothing else.")
    ] = None,
) -> None:
    """Print every pairing with its matches, for reading, as JSON or CSV; or write the page."""
    with _opened(folder) as records:
        if html is not None:
            _write(html, file_page(records))
            results().print(f"written to {html}", markup=False)
            return
        names = {team.id: team.name for team in records.teams()}
        rows = [_document(result, names) for result in records.results()]
    if as_json:
        print_json(rows)
    elif as_csv:
        writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({title: _cell(row[title]) for title in COLUMNS} for row in rows)
    else:
        table = Table(box=None, padding=(0, 2), pad_edge=False)
        for title in COLUMNS[:7]:
            table.add_column(title)
        for row in rows:
            table.add_row(*(escape(_cell(row[title])) for title in COLUMNS[:7]))
        results().print(table)


@contest.command
def rule(folder: Folder, pairing: str, winner: str, /, *, reason: str) -> None:
    """Decide a pairing as organiser, whatever its matches were; the reason is kept."""
    with _opened(folder) as records:
        known = {result.pairing: result for result in records.results()}
        if pairing not in known:
            raise ConfigError(
                f"There is no pairing {pairing}; `cardsharp contest results` has all."
            )
        if records.team(winner).id not in known[pairing].teams:
            raise ConfigError(f"{winner} does not take part in pairing {pairing}.")
        records.rule(pairing, winner, reason)


@contest.command
def pause(folder: Folder, /) -> None:
    """Let no match begin; those that run are played to their end."""
    with _opened(folder) as records:
        records.pause(on=True)


@contest.command
def resume(folder: Folder, /) -> None:
    """Let matches begin again."""
    with _opened(folder) as records:
        records.pause(on=False)


_STATES = {Stage.OPEN: "has not begun", Stage.BEGUN: "goes on", Stage.OVER: "over"}


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from None


def _line(result: Result, names: dict[str, str]) -> str:
    pair = " - ".join(names[team] for team in result.teams)
    start = f"pairing {result.pairing}, {result.part}: {pair}"
    if not result.decided:
        return f"{start}, {len(result.points)} played"
    won = "level" if result.winner is None else names[result.winner]
    ruled = f", by decision: {result.ruled}" if result.ruled else ""
    return f"{start} {result.wins[0]}:{result.wins[1]}, {won}{ruled}"


def _joined(ids: list[str], names: dict[str, str]) -> str:
    return ", ".join(names[team] for team in ids)


def _document(result: Result, names: dict[str, str]) -> dict[str, object]:
    return {
        "pairing": result.pairing,
        "round": result.round,
        "part": result.part,
        "teams": [names[team] for team in result.teams],
        "wins": f"{result.wins[0]}:{result.wins[1]}",
        "winner": None if result.winner is None else names[result.winner],
        "points": [f"{one}:{other}" for one, other in result.points],
        "decided": result.decided,
        "ruled": result.ruled,
        "matches": list(result.matches),
    }


COLUMNS = (
    "pairing", "round", "part", "teams", "wins", "winner", "points", "decided", "ruled", "matches",
)  # fmt: skip
"""Of the results, in their order; a terminal has room for the first seven."""


def _cell(value: object) -> str:
    """A value as a text that no spreadsheet takes for a formula."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text
