"""`cardsharp contest run` and `practice`: the arena, and what is played on it."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.director import Director
from cardsharp.contest.entries import Stage
from cardsharp.contest.practice import Practice, ladder
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import kept_in
from cardsharp.contest.status import Status
from cardsharp.contest.tables import PracticeHost
from cardsharp.errors import ConfigError
from workbench.cli.contest_where import HERE, Folder, Where, name_of
from workbench.contest.home import PAUSE, KeptTables, Place, directed, opened, run
from workbench.contest.showing import (
    Names,
    joined,
    ladder_rows,
    pairing_line,
    practice_line,
    print_table,
)
from workbench.contest.tables import HomeTables
from workbench.show.exits import Exit
from workbench.show.output import messages, results
from workbench.stage.surroundings import telemetry_in, warnings_to

if TYPE_CHECKING:
    from workbench.operate.contests import Contests


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ContestOptions:
    """Where the arena of the contest listens; as for `cardsharp arena`."""

    host: str = "127.0.0.1"
    """The address to listen on; 0.0.0.0 for all."""
    port: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=65535))] = 8080
    """0 for a free one."""
    tls: tuple[Path, Path] | None = None
    """Serve https: the files CERT and KEY, in PEM."""
    insecure: bool = False
    """Serve http, to a private network only."""
    public: bool = False
    """Let spectators look on without a password."""


Pause = Callable[[], None]
"""Waits between two steps of a director."""

_TOLD = ("cardsharp.deadmansdraw.arena", "workbench.contest")


def _wait() -> None:
    time.sleep(PAUSE.total_seconds())


@contextmanager
def _played(
    folder: Path, command: str, options: ContestOptions
) -> Iterator[tuple[Records, PracticeHost, Pause]]:
    """The contest with its arena running and its organiser there, or at tables of its own."""
    with (
        kept_in(folder) as records,
        directed(folder, command),
        telemetry_in(folder / "contest.log"),
        warnings_to(messages().print, *_TOLD),
    ):
        name, game = records.settings.name, records.settings.game
        if records.settings.has_arena:
            organiser = secrets.token_urlsafe(18)
            with opened(records, folder, Place(**asdict(options)), organiser) as (url, client):
                messages().print(f"contest {name}: arena at {url}; Ctrl-C stops it.")
                yield records, KeptTables(client, folder), _wait
            return
        if options != ContestOptions():
            raise ConfigError(f"A contest of {game} has no arena: leave its options out.")
        with HomeTables(records, folder, utc_now) as tables:
            messages().print(f"contest {name}: {game}, played here; Ctrl-C stops it.")
            yield records, tables, tables.pause


def run_(
    folder: Folder,
    /,
    *,
    seed_by_practice: Annotated[
        bool, Parameter(help="Seed the teams by their ratings from practice.")
    ] = False,
    stay: Annotated[
        bool, Parameter(help="Keep the arena running at the end, until Ctrl-C.")
    ] = False,
    options: ContestOptions = ContestOptions(),
    where: Where = HERE,
) -> int:
    """Play the contest to its end; started again after whatever stopped it, it goes on.

    What is left of practice is played to its end first. In a stack the contest
    goes on by itself: this shows how, and Ctrl-C ends only the showing.
    """
    there = where.contests()
    if there is not None:
        if seed_by_practice or stay or options != ContestOptions():
            raise ConfigError("With --stack the arena is there already; give --region at the most.")
        _show(there, name_of(folder))
        return Exit.OK
    with _played(folder, "run", options) as (records, tables, pause):
        names = records.names()
        left = Practice(records, tables, utc_now)
        run(lambda: left.step(begin=False), lambda: None, pause)
        if seed_by_practice and records.stage is Stage.OPEN:
            _seed_by_practice(records)
        run(Director(records, tables).step, _teller(records, names), pause)
        _print_winner(records, names)
        with suppress(KeyboardInterrupt):
            while stay:
                _wait()
    return Exit.OK


def _show(there: "Contests", name: str) -> None:
    """Let a stack's contest begin, and tell what is decided until it is over."""
    with there.records(name) as records:
        names = records.names()
        if len(names) < 2:  # noqa: PLR2004 - nobody meets anybody
            raise ConfigError("A contest has two teams at least; `cardsharp contest teams add`.")
        records.begin()
        there.go_on()
        messages().print(f"contest {name}: arena at {there.url}; it goes on after Ctrl-C.")
        run(lambda: records.stage is Stage.OVER, _teller(records, names), _wait)
        _print_winner(records, names)


def _print_winner(records: Records, names: Names) -> None:
    """Say who has won, and how sure it is that this is the strongest team."""
    status = Status(records)
    if status.sure is not None:
        chance = f"{100 * status.sure:.0f} %"
        results().print(f"By all matches the winner is the strongest with a chance of {chance}.")
    results().print(f"won by {joined(status.champions, names)}", markup=False)


def _teller(records: Records, names: Names) -> Callable[[], None]:
    """Tells of each pairing when it is decided."""
    told: set[str] = set()

    def tell() -> None:
        for result in records.results():
            if result.decided and result.pairing not in told:
                told.add(result.pairing)
                results().print(pairing_line(result, names, records.settings.form), markup=False)

    return tell


def _seed_by_practice(records: Records) -> None:
    if not records.meetings():
        raise ConfigError(
            "Nobody has practised, so nothing is there to seed by; leave --seed-by-practice out."
        )
    records.seed([row.team for row in ladder(records)])


def practice(
    folder: Folder,
    /,
    *,
    hours: Annotated[
        float | None,
        Parameter(
            validator=validators.Number(gt=0),
            help="Hours in which matches start; else until Ctrl-C.",
        ),
    ] = None,
    until: Annotated[
        str | None, Parameter(help="Start matches until this time of day, such as 16:30.")
    ] = None,
    options: ContestOptions = ContestOptions(),
) -> int:
    """Have the teams that are there play each other and rate them, before the contest.

    A team is there while its client waits for matches, in the folder cup by the
    tag cup-practice. Everybody plays as often, with teams of like rating more.
    After Ctrl-C, or whatever else stopped it, the same command goes on.
    """
    end = _end_of(hours, until)
    with _played(folder, "practice", options) as (records, tables, pause):
        names = records.names()
        practised = Practice(records, tables, utc_now)
        told = {meeting.number for meeting in practised.meetings}

        def goes_on() -> bool:
            return end is None or utc_now() < end

        def tell() -> None:
            for meeting in practised.meetings:
                if meeting.number not in told:
                    told.add(meeting.number)
                    results().print(practice_line(meeting, names), markup=False)

        run(lambda: practised.step(begin=goes_on()) and not goes_on(), tell, pause)
        print_table(ladder_rows(records, names))
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
