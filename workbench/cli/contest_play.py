"""`cardsharp contest run` and `practice`: the arena, and what is played on it."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.entries import Stage
from cardsharp.contest.practice import ladder
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import FILE
from cardsharp.contest.status import Status
from cardsharp.errors import ConfigError
from cardsharp.time_zones import local_zone, next_time_of_day, to_local
from workbench.cli.contest_new import HERE, Folder, Where, name_of
from workbench.contest.hall import Hall, check_enough, hall, wait
from workbench.contest.home import USUAL
from workbench.contest.organiser_site import organiser_served
from workbench.contest.showing import joined, ladder_rows, pairing_line, practice_line, print_table
from workbench.contest.venue import Venue
from workbench.show.display import DisplayGuard
from workbench.show.options import ArenaPlace
from workbench.show.output import messages, results


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
    options: ArenaPlace = USUAL,
    where: Where = HERE,
) -> None:
    """Play the contest to its end; started again after whatever stopped it, it goes on.

    Where `contest practice` runs, it is asked to end and hands over; what is left
    of it is played to its end first. In a stack the contest goes on by itself:
    this shows how, and Ctrl-C ends only the showing.
    """
    if where.stack is not None and stay:
        raise ConfigError("With --stack the arena is there already; leave --stay out.")
    with _under_way(folder, "run", options, where) as under_way:
        records = under_way.records
        if where.stack is None or records.practises_until is not None:
            records.practise(utc_now())
            where.go_on()
        for _ in under_way.steps(lambda: records.practises_until is None):
            pass
        if seed_by_practice and records.stage is Stage.OPEN:
            if not records.meetings():
                raise ConfigError(
                    "Nobody has practised, so nothing is there to seed by; leave "
                    "--seed-by-practice out."
                )
            records.seed([row.team for row in ladder(records)])
        records.begin()
        where.go_on()
        _tell(records, under_way.steps(lambda: records.stage is Stage.OVER))
        with suppress(KeyboardInterrupt):
            while stay:
                wait()


@contextmanager
def _under_way(folder: Path, command: str, options: ArenaPlace, where: Where) -> Iterator[Hall]:
    """The contest while a command directs it here, or looks on where a stack directs it."""
    there = where.contests()
    if there is None:
        with hall(folder, command, options, messages().print) as found:
            yield found
        return
    if options != USUAL:
        raise ConfigError("With --stack the arena is there already; give --region at the most.")
    name = name_of(folder)
    with there.kept.named(name) as records:
        check_enough(records)
        messages().print(f"contest {name}: arena at {there.url}; it goes on after Ctrl-C.")
        yield Hall(records, lambda: None, records.meetings, there.wait)


def _tell(records: Records, looks: Iterable[None]) -> None:
    """Tell of each pairing when it is decided, and in the end who has won, and how sure that is."""
    told, guard = set[str](), DisplayGuard()

    def tell_pairings() -> None:
        for result in records.results():
            if result.decided and result.pairing not in told:
                told.add(result.pairing)
                results().print(pairing_line(result, records.names(), records.settings.form))

    for _ in looks:
        guard.run(tell_pairings, "The pairings")
    status = Status(records)
    if (sure := status.sure) is not None:
        chance = f"{100 * sure:.0f} %"
        results().print(f"By all matches the winner is the strongest with a chance of {chance}.")
    results().print(f"won by {joined(status.champions, status.names)}")


_NEVER = datetime.max.replace(tzinfo=UTC)


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
        str | None,
        Parameter(
            help="Start matches until this time of day, such as 16:30, where this machine is."
        ),
    ] = None,
    options: ArenaPlace = USUAL,
    where: Where = HERE,
) -> None:
    """Have the teams that are there play each other and rate them, before the contest.

    A team is there while its client waits for matches, in the folder cup by the
    tag cup-practice. Everybody plays as often, with teams of like rating more.
    After Ctrl-C, or whatever else stopped it, the same command goes on; in a stack
    practice itself goes on. It ends at its time, or for `cardsharp contest run`.
    """
    end = _end_of(hours, until)
    with _under_way(folder, "practice", options, where) as under_way:
        if end < _NEVER:
            messages().print(f"Matches start until {to_local(end):%Y-%m-%d %H:%M %Z}.")
        records = under_way.records
        names, told = records.names(), {meeting.number for meeting in under_way.meetings()}
        if where.stack is not None and records.stage is not Stage.OPEN:
            raise ConfigError("The contest has begun; teams practise before that.")
        records.practise(end)
        where.go_on()
        guard = DisplayGuard()

        def tell_meetings() -> None:
            for meeting in under_way.meetings():
                if meeting.number not in told:
                    told.add(meeting.number)
                    results().print(practice_line(meeting, names))

        for _ in under_way.practice(end):
            guard.run(tell_meetings, "The matches of practice")
        print_table(ladder_rows(records, names))
        if heir := under_way.heir():
            messages().print(f"handed over to `contest run` in process {heir.process}")


def _end_of(hours: float | None, until: str | None) -> datetime:
    if hours is not None and until is not None:
        raise ConfigError("Give --hours or --until, not both.")
    if hours is not None:
        return utc_now() + timedelta(hours=hours)
    if until is None:
        return _NEVER
    try:
        moment = datetime.strptime(until, "%H:%M").time()  # noqa: DTZ007 - an hour, not a moment
    except ValueError:
        raise ConfigError(f"--until takes a time of the day such as 16:30, not {until}.") from None
    return next_time_of_day(moment, utc_now(), local_zone())


def organise(
    folder: Annotated[Path, Parameter(help="Where the contests' folders lie.")] = Path(),
    /,
    *,
    page: Annotated[
        int, Parameter(validator=validators.Number(gte=0, lte=65535), help="The page's port.")
    ] = 8090,
    options: ArenaPlace = USUAL,
) -> None:
    """Serve the organiser's page until Ctrl-C: what the other commands do, in a browser.

    It is for this machine alone, behind the name admin and the password of
    ARENA_ADMIN_PASSWORD or, without that, a new one, which is printed. The other
    options are those of the arenas that it opens. Contests go on without it.
    """
    given = os.environ.get("ARENA_ADMIN_PASSWORD")
    password = given or secrets.token_urlsafe(18)
    root = folder.absolute().parent if (folder / FILE).exists() else folder
    with organiser_served(Venue(root, options), password, page) as url:
        said = "of ARENA_ADMIN_PASSWORD" if given else password
        results().print(f"organiser's page at {url}: user admin, password {said}", soft_wrap=True)
        messages().print("Ctrl-C stops the page, and no contest.", style="dim")
        with suppress(KeyboardInterrupt):
            while True:
                wait()
