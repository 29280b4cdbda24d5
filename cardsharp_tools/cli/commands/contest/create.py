"""`cardsharp contest new` and `plan`: where a contest is, found one, and say first what fits."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from cardsharp.analysis.ratings import Rating
from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.contest_file import create_contest_in, open_contest_in
from cardsharp.contest.formats.base import FORMATS_BY_NAME
from cardsharp.contest.models import DEFAULT_FORMAT
from cardsharp.contest.practice import practice_ladder
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import utc_now
from cardsharp.errors import ConfigError
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.options import CommandOptions, Json
from cardsharp_tools.contest.admin_actions import contest_settings
from cardsharp_tools.contest.format_planner import VARIANT_COUNT, FormatForecast, forecast_formats
from cardsharp_tools.contest.reports import Row, print_table
from cardsharp_tools.lab.plan import DEFAULT_GAME
from cardsharp_tools.terminal.progress import track

if TYPE_CHECKING:
    from cardsharp_tools.operations.contests import StackContests

Folder = Annotated[
    Path, Parameter(help="The contest's folder; with --stack the contest's name in the stack.")
]


@dataclass(frozen=True, kw_only=True)
class ContestLocation(CommandOptions):
    """Location of a contest: a deployed stack, or a local folder if `stack` is None."""

    stack: str | None = None
    """The deployed stack that runs the contest. Default: a folder on this machine."""
    region: str | None = None
    """The stack's region. Default: AWS_DEFAULT_REGION."""

    def stack_contests(self) -> "StackContests | None":
        """Return the contests of the stack, or None for a contest in a folder."""
        if self.stack is None:
            return None
        from cardsharp_tools.operations.contests import StackContests  # noqa: PLC0415 - boto3 is slow to import
        from cardsharp_tools.operations.stack import account_clients, find_stack  # noqa: PLC0415 - as above

        return StackContests(find_stack(self.stack, account_clients(self.region)))

    def contest_location_arguments(self, folder: Path) -> str:
        """Return the command-line arguments that name the contest."""
        stack = "" if self.stack is None else f" --stack {self.stack}"
        return f"{shlex.quote(str(folder))}{stack}"

    def open_records(self, folder: Path) -> ContestRecords:
        """Open the records of the contest."""
        stack_contests = self.stack_contests()
        return (
            open_contest_in(folder)
            if stack_contests is None
            else stack_contests.repository.get(contest_name(folder))
        )

    @contextmanager
    def open_admin(self, folder: Path) -> Iterator[ContestAdmin]:
        """Open the contest for an organiser's action, and wake its director at the end."""
        with self.open_records(folder) as records:
            yield ContestAdmin(records, utc_now)
        self.wake_director()

    def wake_director(self) -> None:
        """Wake the stack's director; a local contest notices changes itself."""
        stack_contests = self.stack_contests()
        if stack_contests is not None:
            stack_contests.wake_director()


LOCAL_CONTEST = ContestLocation()  # in a folder


def contest_name(folder: Path) -> str:
    """Return a contest's name, that of its folder; raise `ConfigError` if it is not valid."""
    name = folder.resolve().name
    if not name.replace("-", "").replace("_", "").isalnum():
        raise ConfigError(f"A contest cannot be called {name}. Use letters, digits, - and _.")
    return name


DEFAULT_MATCHES = 5  # matches of a pairing unless said


def _check_format_name(_kind: object, name: str) -> None:
    if name not in FORMATS_BY_NAME:
        raise ValueError(f"It must be one of {', '.join(FORMATS_BY_NAME)}.")


@dataclass(frozen=True, kw_only=True)
class NewContestOptions(CommandOptions):
    """Settings of a new contest."""

    game: str = DEFAULT_GAME
    """The game. Dead Man's Draw is played in an arena, the others without one."""
    format: Annotated[
        str,
        Parameter(validator=_check_format_name, help=f"The format: {', '.join(FORMATS_BY_NAME)}."),
    ] = DEFAULT_FORMAT
    seats: Annotated[int | None, Parameter(validator=validators.Number(gte=2, lte=8))] = None
    """With --format tables: number of teams at a table. Default: 4."""
    matches: Annotated[int, Parameter(alias="-n", validator=validators.Number(gte=1, lte=99))] = (
        DEFAULT_MATCHES
    )
    """Matches per pairing: an odd number, except with tables. A draw adds more matches."""
    timeout: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 7.0
    """Time limit of a turn in seconds."""
    teams: Annotated[int | None, Parameter(validator=validators.Number(gte=2, lte=64))] = None
    """Choose the format and the matches per pairing that suit this number of teams best."""
    minutes: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 180
    """With --teams: how many minutes the contest may take."""


def new(
    folder: Folder | None = None,
    /,
    *,
    options: NewContestOptions = NewContestOptions(),
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Create a contest in a new folder or in a deployed stack."""
    if options.teams is not None:
        if (options.format, options.matches) != (DEFAULT_FORMAT, DEFAULT_MATCHES):
            raise ConfigError(
                "--teams chooses the format and the matches. Remove --format and --matches."
            )
        best, rows = _rank_formats(options.minutes, forecast_formats(options.teams, 60, 100))
        print_table(rows)
        options = replace(options, format=best.format, matches=best.matches)
    if folder is None:
        if options.teams is None:
            raise ConfigError("Name the contest's folder, as in `cardsharp contest new cup`.")
        kind = f"--format {options.format} --matches {options.matches}"
        result_console().print(f"To create it: cardsharp contest new NAME {kind}", soft_wrap=True)
        return
    name = contest_name(folder)
    settings = contest_settings(
        name, options.format, options.matches, options.timeout, options.game, options.seats
    )
    stack_contests = target.stack_contests()
    if stack_contests is None:
        create_contest_in(folder, settings).close()
    elif not settings.has_arena:
        raise ConfigError(
            f"A stack has no arena for {options.game}. Create the contest in a folder."
        )
    else:
        stack_contests.repository.create(settings)
    match_count_text = "1 match" if options.matches == 1 else f"{options.matches} matches"
    result_console().print(f"contest {name}: {options.format}, {match_count_text} a pairing")
    played = "" if settings.has_arena else " --strategy STRATEGY"
    command = (
        f"cardsharp contest teams add {target.contest_location_arguments(folder)} NAME{played}"
    )
    result_console().print(f"To enter teams: {command}", style="dim", soft_wrap=True)


def plan(  # noqa: PLR0913 - each is a flag of its own
    folder: Annotated[
        Path | None,
        Parameter(
            help="A contest with practice matches: plan with its teams and their ratings. With "
            "--stack its name in the stack."
        ),
    ] = None,
    /,
    *,
    teams: Annotated[int, Parameter(validator=validators.Number(gte=2, lte=64))] = 8,
    minutes: Annotated[float, Parameter(help="How many minutes the contest may take.")] = 180,
    match_seconds: Annotated[float, Parameter(help="Duration of a match in seconds.")] = 60,
    strength_deviation: Annotated[
        float,
        Parameter(help="Standard deviation of the teams' strengths, in Elo points."),
    ] = 100,
    as_json: Json = False,
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Show which formats fit the time, and how likely the best team wins each."""
    ratings: list[Rating] = []
    if folder is None and target.stack is not None:
        raise ConfigError("Name the contest in the stack, as in `cardsharp contest plan cup`.")
    if folder is not None:
        with target.open_records(folder) as records:
            ratings = [row.rating for row in practice_ladder(records) if row.rating is not None]
        if len(ratings) < 2:  # noqa: PLR2004 - nobody meets anybody
            raise ConfigError(f"{folder} has no practice matches yet. Give --teams instead.")
    kinds = forecast_formats(len(ratings) or teams, match_seconds, strength_deviation, ratings)
    (print_json if as_json else print_table)(_rank_formats(minutes, kinds)[1])


def _rank_formats(
    max_minutes: float, forecasts: Iterable[FormatForecast]
) -> tuple[FormatForecast, list[Row]]:
    """Return the best format of a contest, and a table of all.

    Formats that fit into the time come first, and among them those that the best team wins
    most often.
    """
    every = track(forecasts, "simulating contests", VARIANT_COUNT)
    ranked = sorted(
        every,
        key=lambda proposal: (
            proposal.minutes > max_minutes,
            -proposal.best_team_win_chance,
            proposal.minutes,
        ),
    )
    return ranked[0], [
        {
            "format": proposal.format,
            "matches a pairing": proposal.matches,
            "best wins": f"{proposal.best_team_win_chance:.0%}".replace("%", " %"),
            "minutes": round(proposal.minutes),
            "fits": "yes" if proposal.minutes <= max_minutes else "no",
        }
        for proposal in ranked
    ]
