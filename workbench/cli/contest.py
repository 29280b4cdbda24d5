"""`cardsharp contest`: found a contest, enter teams, play it to its end, look at it."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.deadmansdraw.arena.config import utc_now
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.contest.director import Director
from cardsharp.deadmansdraw.contest.pages import file_page
from cardsharp.deadmansdraw.contest.practice import Practice, ladder
from cardsharp.deadmansdraw.contest.records import Records, Settings, Stage
from cardsharp.deadmansdraw.contest.sqlite import SqliteContest
from cardsharp.errors import ConfigError
from workbench.cli.commands import command
from workbench.cli.contest_teams import teams
from workbench.cli.contest_where import HERE, Folder, Where, name_of
from workbench.contest.home import PAUSE, Place, opened, records_in, run
from workbench.contest.showing import (
    MEETING_COLUMNS,
    RESULT_COLUMNS,
    Cells,
    Names,
    ladder_row,
    meeting_row,
    pairing_line,
    practice_line,
    print_csv,
    print_table,
    result_row,
)
from workbench.show.exits import Exit
from workbench.show.options import Json
from workbench.show.output import messages, print_json, results
from workbench.stage.surroundings import telemetry_in

if TYPE_CHECKING:
    from workbench.operate.contests import Contests

_COMMAND = command("contest")

contest = cyclopts.App(name="contest", help_epilogue=_COMMAND.epilogue)
contest.command(teams)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class NewOptions:
    """What a contest is founded with."""

    format: Annotated[
        Literal["double-elimination", "round-robin", "swiss", "ladder"],
        Parameter(help="Who meets whom."),
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
def new(folder: Folder, /, *, options: NewOptions = NewOptions(), where: Where = HERE) -> None:
    """Found a contest in a new folder, or in a deployed stack; its name tags its matches."""
    name = name_of(folder)
    if options.matches % 2 == 0:
        raise ConfigError("An odd number of matches decides a pairing, such as --matches 5.")
    settings = Settings(name, options.format, options.matches, 3 * options.matches, options.timeout)
    there = where.contests()
    if there is None:
        SqliteContest.found(folder, settings).close()
    else:
        there.found(settings)
    results().print(f"contest {name}: {options.format}, {options.matches} matches a pairing")
    stack = "" if there is None else f" --stack {where.stack}"
    results().print(
        f"Enter teams by: cardsharp contest teams add {folder} NAME{stack}", style="dim"
    )


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


@contextmanager
def _played(folder: Path, options: RunOptions) -> Iterator[tuple[Records, ArenaClient]]:
    """The contest with its arena running, and its organiser there."""
    place = Place(**asdict(options))
    organiser = secrets.token_urlsafe(18)
    with (
        records_in(folder) as records,
        telemetry_in(folder / "contest.log"),
        opened(records, folder, place, organiser) as (url, client),
    ):
        messages().print(f"contest {records.settings.name}: arena at {url}; Ctrl-C stops it.")
        yield records, client


def _wait() -> None:
    time.sleep(PAUSE.total_seconds())


@contest.command(name="run")
def run_(
    folder: Folder,
    /,
    *,
    seed_by_practice: Annotated[
        bool, Parameter(negative=(), help="Seed the teams by their ratings from practice.")
    ] = False,
    stay: Annotated[
        bool, Parameter(negative=(), help="Keep the arena and its pages at the end, until Ctrl-C.")
    ] = False,
    options: RunOptions = RunOptions(),
    where: Where = HERE,
) -> int:
    """Play the contest to its end; started again after whatever stopped it, it goes on.

    What is left of practice is played to its end first. In a stack the contest goes on by itself:
    this shows how, and Ctrl-C ends only the showing.
    """
    there = where.contests()
    if there is not None:
        if seed_by_practice or stay or options != RunOptions():
            raise ConfigError("With --stack the arena is there already; give --region at the most.")
        _show(there, name_of(folder))
        return Exit.OK
    with _played(folder, options) as (records, client):
        names = {team.id: team.name for team in records.teams()}
        left = Practice(records, client, utc_now)
        run(lambda: left.step(begin=False), lambda: None, _wait)
        if seed_by_practice and records.stage is Stage.OPEN:
            records.seed([row.team for row in ladder(records)])
        run(Director(records, client).step, _teller(records, names), _wait)
        results().print(f"won by {_joined(records.table()[0], names)}", markup=False)
        with suppress(KeyboardInterrupt):
            while stay:
                _wait()
    return Exit.OK


def _show(there: "Contests", name: str) -> None:
    """Let a stack's contest begin, and tell what is decided until it is over."""
    with there.records(name) as records:
        names = {team.id: team.name for team in records.teams()}
        if len(names) < 2:  # noqa: PLR2004 - nobody meets anybody
            raise ConfigError("A contest has two teams at least; `cardsharp contest teams add`.")
        records.begin()
        there.go_on()
        messages().print(f"contest {name}: arena at {there.url}; it goes on after Ctrl-C.")
        run(lambda: records.stage is Stage.OVER, _teller(records, names), _wait)
        results().print(f"won by {_joined(records.table()[0], names)}", markup=False)


def _teller(records: Records, names: Names) -> Callable[[], None]:
    """Tells of each pairing when it is decided."""
    told: set[str] = set()

    def tell() -> None:
        for result in records.results():
            if result.decided and result.pairing not in told:
                told.add(result.pairing)
                results().print(pairing_line(result, names), markup=False)

    return tell


@contest.command
def practice(
    folder: Folder,
    /,
    *,
    hours: Annotated[
        float | None,
        Parameter(validator=validators.Number(gt=0), help="How long matches begin; for ever."),
    ] = None,
    until: Annotated[
        str | None, Parameter(help="Until what time of the day matches begin, such as 16:30.")
    ] = None,
    options: RunOptions = RunOptions(),
) -> int:
    """Have the teams that are there play each other, and rate them, before the contest.

    Everybody plays as often, and meets teams of like rating more often. A team is there while its
    client waits for matches: `tags=cup-practice` for a contest in the folder cup. What has begun is
    played to its end; after Ctrl-C, or whatever else stopped it, the same command goes on.
    """
    end = _end_of(hours, until)
    with _played(folder, options) as (records, client):
        names = {team.id: team.name for team in records.teams()}
        told = {meeting.number for meeting in records.meetings()}

        def goes_on() -> bool:
            return end is None or utc_now() < end

        def tell() -> None:
            for meeting in records.meetings():
                if meeting.number not in told:
                    told.add(meeting.number)
                    results().print(practice_line(meeting, names), markup=False)

        practised = Practice(records, client, utc_now)
        run(lambda: practised.step(begin=goes_on()) and not goes_on(), tell, _wait)
        print_table(_ladder_rows(records, names))
    return Exit.OK


def _end_of(hours: float | None, until: str | None) -> datetime | None:
    """When the last match may begin."""
    if hours is not None and until is not None:
        raise ConfigError("Give --hours or --until, not both.")
    if hours is not None:
        return utc_now() + timedelta(hours=hours)
    if until is None:
        return None
    try:
        moment = datetime.strptime(until, "%H:%M").time()  # noqa: DTZ007 - an hour, not a moment
    except ValueError:
        raise ConfigError(f"--until takes a time of the day such as 16:30, not {until}.") from None
    now = utc_now().astimezone()
    end = datetime.combine(now.date(), moment).astimezone()
    return end if end > now else end + timedelta(days=1)


def _ladder_rows(records: Records, names: Names) -> list[Cells]:
    return [ladder_row(place, row, names) for place, row in enumerate(ladder(records), 1)]


_STATES = {Stage.OPEN: "has not begun", Stage.BEGUN: "goes on", Stage.OVER: "over"}


@contest.command
def status(folder: Folder, /, *, as_json: Json = False, where: Where = HERE) -> None:
    """Say how the contest stands: what runs, the places so far, and the ladder of practice."""
    with where.records(folder) as records:
        found, table = records.results(), records.table()
        paused, settings, stage = records.paused, records.settings, records.stage
        names = {team.id: team.name for team in records.teams()}
        rows = _ladder_rows(records, names) if records.meetings() else []
    decided = sum(result.decided for result in found)
    if as_json:
        document = {"contest": settings.name, "stage": stage, "paused": paused}
        counts = {"pairings": len(found), "decided": decided}
        print_json({**document, **counts, "places": table, "practice": rows})
        return
    state = "paused" if paused and stage is not Stage.OVER else _STATES[stage]
    results().print(f"contest {settings.name}, {settings.format}: {state}, {decided} decided")
    for result in found:
        if not result.decided:
            results().print(pairing_line(result, names), markup=False)
    place = 1
    for teams_ in table:
        results().print(f"{place:3}. {_joined(teams_, names)}", markup=False)
        place += len(teams_)
    if rows:
        results().print("ladder of practice")
        print_table(rows)


@contest.command(name="results")
def results_(  # noqa: PLR0913 - each is a flag of its own
    folder: Folder,
    /,
    *,
    of_practice: Annotated[
        bool, Parameter(name="--practice", negative=(), help="The matches of practice instead.")
    ] = False,
    as_json: Json = False,
    as_csv: Annotated[bool, Parameter(name="--csv", negative=(), help="Print CSV.")] = False,
    html: Annotated[
        Path | None, Parameter(help="Write the contest's page, a file that needs nothing else.")
    ] = None,
    where: Where = HERE,
) -> None:
    """Print every pairing with its matches, for reading, as JSON or CSV; or write the page."""
    with where.records(folder) as records:
        if html is not None:
            _write(html, file_page(records))
            results().print(f"written to {html}", markup=False)
            return
        names = {team.id: team.name for team in records.teams()}
        rows = (
            [meeting_row(meeting, names) for meeting in records.meetings()]
            if of_practice
            else [result_row(result, names) for result in records.results()]
        )
    if as_json:
        print_json(rows)
    elif as_csv:
        print_csv(rows)
    else:
        print_table(rows, MEETING_COLUMNS if of_practice else RESULT_COLUMNS)


@contest.command
def rule(folder: Folder, pairing: str, winner: str, /, *, reason: str, where: Where = HERE) -> None:
    """Decide a pairing as organiser, whatever its matches were; the reason is kept."""
    with where.records(folder) as records:
        known = {result.pairing: result for result in records.results()}
        if pairing not in known:
            raise ConfigError(
                f"There is no pairing {pairing}; `cardsharp contest results` has all."
            )
        if records.team(winner).id not in known[pairing].teams:
            raise ConfigError(f"{winner} does not take part in pairing {pairing}.")
        records.rule(pairing, winner, reason)
    where.go_on()
    results().print(f"pairing {pairing} goes to {winner}: {reason}", markup=False)


@contest.command
def pause(folder: Folder, /, *, where: Where = HERE) -> None:
    """Let no match begin; those that run are played to their end."""
    with where.records(folder) as records:
        records.pause(on=True)
    results().print("No match begins until: cardsharp contest resume", style="dim")


@contest.command
def resume(folder: Folder, /, *, where: Where = HERE) -> None:
    """Let matches begin again."""
    with where.records(folder) as records:
        records.pause(on=False)
    where.go_on()


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from None


def _joined(ids: list[str], names: Names) -> str:
    return ", ".join(names[team] for team in ids)
