"""`cardsharp contest run` and `practice`: the arena, and what is played on it."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from cardsharp.contest.contest_file import CONTEST_FILE_NAME
from cardsharp.contest.models import ContestStage
from cardsharp.contest.practice import practice_ladder
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.view.overview import ContestOverview
from cardsharp.core.clock import utc_now
from cardsharp.core.time_zones import local_zone, next_time_of_day, to_local
from cardsharp.errors import ConfigError
from cardsharp_tools.cli.commands.contest.create import (
    LOCAL_CONTEST,
    ContestLocation,
    Folder,
    contest_name,
)
from cardsharp_tools.cli.console import message_console, result_console
from cardsharp_tools.cli.options import ArenaServerOptions
from cardsharp_tools.cli.strategy_option import NO_PASSED_VARIABLES, UserCodeOptions
from cardsharp_tools.contest.admin_pages import serve_admin_pages
from cardsharp_tools.contest.contest_arena import DEFAULT_LISTEN_OPTIONS
from cardsharp_tools.contest.contest_manager import ContestManager
from cardsharp_tools.contest.contest_process import (
    ContestLoop,
    check_team_count,
    run_contest_loop,
)
from cardsharp_tools.contest.local_match_host import sleep_between_steps
from cardsharp_tools.contest.open_contest import open_and_lock_contest
from cardsharp_tools.contest.reports import (
    join_team_names,
    pairing_line,
    practice_ladder_rows,
    practice_match_line,
    print_table,
)
from cardsharp_tools.terminal.display import DisplayErrorGuard

if TYPE_CHECKING:
    from cardsharp_tools.operations.contests import StackContests


def run_(  # noqa: PLR0913 - each is a flag of its own
    folder: Folder,
    /,
    *,
    seed_by_practice: Annotated[
        bool, Parameter(help="Seed the teams by their ratings from practice.")
    ] = False,
    keep_serving: Annotated[
        bool, Parameter(help="Keep the arena running after the end, until Ctrl-C.")
    ] = False,
    options: ArenaServerOptions = DEFAULT_LISTEN_OPTIONS,
    user_code: UserCodeOptions = NO_PASSED_VARIABLES,  # noqa: ARG001 - it takes effect itself
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Play the contest to its end. If it was stopped, run it again to resume."""
    if target.stack is not None and keep_serving:
        raise ConfigError("With --stack the arena runs already. Remove --keep-serving.")
    with _open_contest_process(folder, "run", options, target) as process:
        records = process.records
        if target.stack is None or records.practice_until is not None:
            records.set_practice_until(utc_now())
            target.wake_director()
        process.finish_practice()
        if seed_by_practice and records.stage is ContestStage.OPEN:
            if not records.practice_matches():
                raise ConfigError(
                    "There are no practice matches, so there are no ratings to seed by. Remove "
                    "--seed-by-practice."
                )
            records.set_seeding([row.team for row in practice_ladder(records)])
        records.start_contest()
        target.wake_director()
        _print_results(records, process.contest_steps())
        with suppress(KeyboardInterrupt):
            while keep_serving:
                sleep_between_steps()


@contextmanager
def _open_contest_process(
    folder: Path, command: str, options: ArenaServerOptions, target: ContestLocation
) -> Iterator[ContestLoop]:
    """Yield the process of a contest: directed here, or followed where a stack directs it."""
    stack_contests = target.stack_contests()
    if stack_contests is None:
        notify = message_console().print
        with (
            open_and_lock_contest(folder, command, notify) as contest,
            run_contest_loop(contest, options, notify) as process,
        ):
            yield process
        return
    if options != DEFAULT_LISTEN_OPTIONS:
        raise ConfigError(
            "With --stack the arena runs already. Remove all options except --region."
        )
    name = contest_name(folder)
    with stack_contests.repository.get(name) as records:
        check_team_count(records)
        message_console().print(
            f"contest {name}: arena at {stack_contests.arena_url}. It continues after Ctrl-C."
        )
        yield _StackContestObserver(records, stack_contests)


class _StackContestObserver(ContestLoop):
    """Loop of a command that only shows a contest: the stack's director takes the steps."""

    def __init__(self, records: ContestRecords, stack_contests: "StackContests") -> None:
        super().__init__(records)
        self._stack_contests = stack_contests

    def take_step(self) -> None:
        """Do nothing."""

    def pause(self) -> None:
        """Wait until the next tick of the stack may have changed something."""
        self._stack_contests.wait_for_tick()


def _print_results(records: ContestRecords, steps: Iterable[None]) -> None:
    """Print each pairing when it is decided, and at the end the winner and its certainty."""
    announced, guard = set[str](), DisplayErrorGuard()

    def tell_pairings() -> None:
        for result in records.results():
            if result.decided and result.pairing not in announced:
                announced.add(result.pairing)
                result_console().print(
                    pairing_line(
                        result,
                        records.team_names_with_removed(),
                        records.settings.format_without_history,
                    )
                )

    for _ in steps:
        guard.run(tell_pairings, "The pairings")
    status = ContestOverview(records)
    if (sure := status.winner_confidence) is not None:
        probability_text = f"{100 * sure:.0f} %"
        result_console().print(
            "According to all matches, the winner is the strongest team with probability "
            f"{probability_text}."
        )
    result_console().print(f"won by {join_team_names(status.champions, status.names)}")


_NEVER = datetime.max.replace(tzinfo=UTC)


def practice(  # noqa: PLR0913 - each is a flag of its own
    folder: Folder,
    /,
    *,
    hours: Annotated[
        float | None,
        Parameter(
            validator=validators.Number(gt=0),
            help="Start matches for this many hours. Default: until Ctrl-C.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        Parameter(help="Start matches until this local time of day, such as 16:30."),
    ] = None,
    options: ArenaServerOptions = DEFAULT_LISTEN_OPTIONS,
    user_code: UserCodeOptions = NO_PASSED_VARIABLES,  # noqa: ARG001 - it takes effect itself
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Before the contest, let the connected teams play each other, and rate them."""
    end = _parse_end(hours, until)
    with _open_contest_process(folder, "practice", options, target) as process:
        if end < _NEVER:
            message_console().print(f"Matches start until {to_local(end):%Y-%m-%d %H:%M %Z}.")
        records = process.records
        team_names, announced = (
            records.team_names_with_removed(),
            {meeting.number for meeting in process.practice_matches()},
        )
        if target.stack is not None and records.stage is not ContestStage.OPEN:
            raise ConfigError("The contest has begun; teams practise before that.")
        records.set_practice_until(end)
        target.wake_director()
        guard = DisplayErrorGuard()

        def tell_meetings() -> None:
            for meeting in process.practice_matches():
                if meeting.number not in announced:
                    announced.add(meeting.number)
                    result_console().print(practice_match_line(meeting, team_names))

        for _ in process.practice_steps_until(end):
            guard.run(tell_meetings, "The matches of practice")
        print_table(practice_ladder_rows(records, team_names))
        if heir := process.waiting_command():
            message_console().print(f"handed over to `contest run` in process {heir.pid}")


def _parse_end(hours: float | None, until: str | None) -> datetime:
    if hours is not None and until is not None:
        raise ConfigError("Give --hours or --until, not both.")
    if hours is not None:
        return utc_now() + timedelta(hours=hours)
    if until is None:
        return _NEVER
    try:
        moment = datetime.strptime(until, "%H:%M").time()  # noqa: DTZ007 - an hour, not a moment
    except ValueError:
        raise ConfigError(f"--until must be a time of day such as 16:30, not {until}.") from None
    return next_time_of_day(moment, utc_now(), local_zone())


def admin(
    folder: Annotated[
        Path, Parameter(help="The folder that contains the contests' folders.")
    ] = Path(),
    /,
    *,
    page_port: Annotated[
        int,
        Parameter(
            validator=validators.Number(gte=0, lte=65535), help="The port of the organiser's page."
        ),
    ] = 8090,
    options: ArenaServerOptions = DEFAULT_LISTEN_OPTIONS,
    user_code: UserCodeOptions = NO_PASSED_VARIABLES,  # noqa: ARG001 - it takes effect itself
) -> None:
    """Serve the organiser's page, which offers the other commands in a browser."""
    configured_password = os.environ.get("ARENA_ADMIN_PASSWORD")
    password = configured_password or secrets.token_urlsafe(18)
    root = folder.absolute().parent if (folder / CONTEST_FILE_NAME).exists() else folder
    with serve_admin_pages(ContestManager(root, options), password, page_port) as url:
        password_text = "of ARENA_ADMIN_PASSWORD" if configured_password else password
        result_console().print(
            f"organiser's page at {url}: user admin, password {password_text}", soft_wrap=True
        )
        message_console().print("Ctrl-C stops the page. Contests continue.", style="dim")
        with suppress(KeyboardInterrupt):
            while True:
                sleep_between_steps()
