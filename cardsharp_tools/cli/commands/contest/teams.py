"""`cardsharp contest teams`: enter teams, list and remove them, give new passwords."""

import secrets
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from cardsharp.contest.contest_file import open_contest_in
from cardsharp.contest.models import TeamEntry
from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game
from cardsharp.play.game import Game
from cardsharp_tools.cli.commands.contest.create import LOCAL_CONTEST, ContestLocation, Folder
from cardsharp_tools.cli.console import (
    message_console,
    print_json,
    print_json_or_lines,
    result_console,
)
from cardsharp_tools.cli.options import Json
from cardsharp_tools.cli.strategy_option import (
    NO_PASSED_VARIABLES,
    OptionalStrategy,
    UserCodeOptions,
)
from cardsharp_tools.contest.admin_actions import (
    check_teams_and_get_game,
    enter_teams_with_passwords,
)
from cardsharp_tools.contest.teams_file import read_teams
from cardsharp_tools.executors.sandbox import check_sandbox
from cardsharp_tools.executors.strategy_reference import (
    StrategyReference,
    Submission,
    parse_strategy,
)
from cardsharp_tools.executors.submission import (
    DEFAULT_ISOLATION,
    TeamSubmissions,
    read_submission,
    team_submissions,
)

teams = cyclopts.App(
    name="teams", help="Enter, list, rename and remove teams, and reset their passwords."
)


@teams.command
def add(  # noqa: PLR0913 - each is a flag of its own
    folder: Folder,
    name: str,
    /,
    *,
    strategy: Annotated[
        OptionalStrategy,
        Parameter(
            help="Play the team's matches here with this strategy: its name, FILE.py, or a "
            "'command'."
        ),
    ] = None,
    submission: Annotated[
        Path | None,
        Parameter(
            help="Play the team's matches here in a sandbox: bot.py, bot.js, a folder or a .zip."
        ),
    ] = None,
    no_sandbox: Annotated[
        bool,
        Parameter(
            help="Run the submission without a sandbox. Its code can then do everything "
            "that you can."
        ),
    ] = False,
    without_kernel_limits: Annotated[
        bool,
        Parameter(
            help="Play the submission in a sandbox even if this machine has no control groups, "
            "which hold its limits."
        ),
    ] = False,
    user_code: UserCodeOptions = NO_PASSED_VARIABLES,  # noqa: ARG001 - it takes effect itself
    as_json: Json = False,
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Enter a team, and print its id and password. The password is shown only once.

    Teams are seeded in the order of entry. In a running contest, except double
    elimination, the team plays from the next round on. With --strategy its matches
    are played on this machine, or by the stack, which has our own strategies. With
    `--strategy submission` the team uploads its bot at the page `/submit` of the
    contest's arena. A team with --submission can upload new versions there, too.

    Example: cardsharp contest teams add cup 'Goal Diggers'
    """
    if strategy is not None and submission is not None:
        raise ConfigError(
            "A team has either a strategy or a submission. Remove --strategy or --submission."
        )
    if no_sandbox and submission is None:
        raise ConfigError(
            "--no-sandbox needs --submission. Add --submission, or remove --no-sandbox."
        )
    if without_kernel_limits and (submission is None or no_sandbox):
        raise ConfigError(
            "--without-kernel-limits is for a submission in a sandbox. Add --submission and "
            "remove --no-sandbox, or remove --without-kernel-limits."
        )
    isolation = Submission(
        is_sandboxed=not no_sandbox, needs_kernel_limits=not without_kernel_limits
    )
    played_by = strategy if submission is None else isolation
    _enter_teams(folder, [(name, played_by)], target, as_json=as_json, submission=submission)


@teams.command
def submit(
    folder: Folder,
    name: str,
    file: Path,
    /,
    *,
    user_code: UserCodeOptions = NO_PASSED_VARIABLES,  # noqa: ARG001 - it takes effect itself
) -> None:
    """Upload a new version of a team's submission. It plays from the next match on.

    Example: cardsharp contest teams submit cup 'Goal Diggers' bot.py
    """
    with open_contest_in(folder) as records:
        team = records.resolve_team(name)
        isolation = parse_strategy(team.strategy or "")
        if not isinstance(isolation, Submission):
            raise ConfigError(f"{team.name} has no submission. Enter the team with --submission.")
        of = get_game(records.settings.game)
    _add_version(team_submissions(folder, team.id, isolation), file, of)


def _add_version(versions: TeamSubmissions, file: Path, of: Game) -> None:
    """Store a version of a team's strategy, and print how it is played."""
    if versions.is_sandboxed:
        check_sandbox(needs_kernel_limits=versions.needs_kernel_limits)
        isolation = "in a sandbox"
        if not versions.needs_kernel_limits:
            isolation += " that may lack the kernel's limits"
    else:
        isolation = "WITHOUT a sandbox: its code can do everything that you can"
    version_number = versions.add_version(read_submission(file), of)
    message_console().print(
        f"Version {version_number} passed a first test. It is played {isolation}."
    )


@teams.command(name="import")
def import_(
    folder: Folder,
    file: Path,
    /,
    *,
    user_code: UserCodeOptions = NO_PASSED_VARIABLES,  # noqa: ARG001 - it takes effect itself
    as_json: Json = False,
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Enter all teams of a CSV file with the columns name and, optionally, strategy.

    Cells are separated by commas, semicolons or tabs. If a row is wrong, no team is
    entered, and the error names the line.

    Example: cardsharp contest teams import cup teams.csv
    """
    rows, encoding = read_teams(file)
    with target.open_records(folder) as records:
        for row in rows:
            try:
                check_teams_and_get_game(
                    records, [(row.name, row.strategy)], is_local=target.stack is None
                )
            except ConfigError as error:
                raise ConfigError(f"{file}, line {row.line}: {error}") from error
    if encoding is not None:
        message_console().print(
            f"{file} is not in UTF-8 and was read as {encoding}. If names look wrong, remove "
            "the teams, save the file as UTF-8, and import it again."
        )
    _enter_teams(folder, [(row.name, row.strategy) for row in rows], target, as_json=as_json)


def _enter_teams(
    folder: Path,
    team_requests: list[tuple[str, StrategyReference | None]],
    target: ContestLocation,
    *,
    as_json: bool,
    submission: Path | None = None,
) -> None:
    """Enter all of the teams or none.

    Each has a strategy if its matches are played on this machine.
    """
    with target.open_records(folder) as records:
        of = check_teams_and_get_game(records, team_requests, is_local=target.stack is None)
    isolation = team_requests[0][1]
    first_submissions = team_submissions(
        folder,
        f"new-{secrets.token_hex(8)}",
        isolation if isinstance(isolation, Submission) else DEFAULT_ISOLATION,
    )
    with target.open_records(folder) as records, ExitStack() as stack:
        if submission is not None:
            stack.callback(shutil.rmtree, first_submissions.folder, ignore_errors=True)
            _add_version(first_submissions, submission, of)
        entered = []
        for team, password in enter_teams_with_passwords(records, team_requests):
            if submission is not None:
                first_submissions.folder.rename(first_submissions.folder.with_name(team.id))
            team_document = {
                "id": team.id,
                "name": team.name,
                "password": password,
                "since": team.since,
            }
            entered.append(team_document)
            if not as_json:
                _print_team(team, password)
        is_late = any(team_document["since"] != 1 for team_document in entered)
    if is_late:
        target.wake_director()
    if as_json:
        print_json(entered)


@teams.command(name="list")
def list_(
    folder: Folder, /, *, as_json: Json = False, target: ContestLocation = LOCAL_CONTEST
) -> None:
    """List the teams in the order of their seeds.

    Example: cardsharp contest teams list cup
    """
    with target.open_records(folder) as records:
        team_entries = records.teams()
    documents = [
        {"id": team.id, "name": team.name, "strategy": team.strategy} for team in team_entries
    ]
    strategy_suffixes = (
        f", played here by {parse_strategy(team.strategy).display_name}" if team.strategy else ""
        for team in team_entries
    )
    listed = (
        f"{team.name} ({team.id}){by}"
        for team, by in zip(team_entries, strategy_suffixes, strict=True)
    )
    print_json_or_lines(
        documents,
        *(f"{team_number:3}. {line}" for team_number, line in enumerate(listed, 1)),
        as_json=as_json,
    )


@teams.command
def remove(folder: Folder, name: str, /, *, target: ContestLocation = LOCAL_CONTEST) -> None:
    """Remove a team before the contest starts. Later, use `contest teams withdraw`.

    Example: cardsharp contest teams remove cup 'Goal Diggers'
    """
    with target.open_admin(folder) as admin:
        admin.remove_team(name)
    result_console().print(f"Removed {name}.")


@teams.command
def rename(
    folder: Folder,
    name: str,
    new_name: Annotated[str, Parameter(name="NEW")],
    /,
    *,
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Rename a team, also in a running contest. Its id and password stay the same.

    Example: cardsharp contest teams rename cup 'Goal Diggers' 'Gold Diggers'
    """
    with target.open_admin(folder) as admin:
        act = admin.rename_team(name, new_name)
    result_console().print(act.what)


@teams.command
def withdraw(
    folder: Folder,
    name: str,
    /,
    *,
    reason: Annotated[
        str, Parameter(help="The reason, which is shown with the pairings.")
    ] = "has left",
    target: ContestLocation = LOCAL_CONTEST,
) -> None:
    """Withdraw a team from a running contest. It loses its undecided pairings.

    `cardsharp contest undo` takes this back.

    Example: cardsharp contest teams withdraw cup 'Goal Diggers' --reason 'laptop broke'
    """
    with target.open_admin(folder) as admin:
        act = admin.withdraw_team(name, reason)
    result_console().print(act.what)


@teams.command
def reset_password(
    folder: Folder, name: str, /, *, target: ContestLocation = LOCAL_CONTEST
) -> None:
    """Give a team a new password and print it.

    Within seconds the new password is valid and the old one is not.

    Example: cardsharp contest teams reset-password cup 'Goal Diggers'
    """
    with target.open_admin(folder) as admin:
        team, password = admin.reset_password(name)
    _print_team(team, password)


def _print_team(team: TeamEntry, password: str | None) -> None:
    access = "played here" if password is None else f"password {password}"
    late = f", from round {team.since} on" if team.since > 1 else ""
    result_console().print(f"team {team.name}: id {team.id}, {access}{late}", soft_wrap=True)
