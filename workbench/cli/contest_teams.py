"""`cardsharp contest teams`: enter teams, list and remove them, give new passwords."""

import secrets
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from cardsharp.contest.entries import Entrant
from cardsharp.contest.sqlite import kept_in
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.games import game
from workbench.cli.contest_new import HERE, Folder, Where
from workbench.contest.organiser import check_teams, entered_teams
from workbench.contest.teams_file import read_teams
from workbench.sandbox import check_sandbox
from workbench.show.options import Json
from workbench.show.output import messages, print_json, results, tell
from workbench.strategy_file import called
from workbench.submission import SANDBOXED, TRUSTED, Submitted, contents_of, submitted

teams = cyclopts.App(name="teams", help="Enter teams, list and remove them, give new passwords.")


@teams.command
def add(  # noqa: PLR0913 - each is a flag of its own
    folder: Folder,
    name: str,
    /,
    *,
    strategy: Annotated[
        str | None, Parameter(help="Played here: a strategy's name, a FILE.py or a 'command'.")
    ] = None,
    submission: Annotated[
        Path | None, Parameter(help="Played here in a sandbox: bot.py, bot.js, a folder or a .zip.")
    ] = None,
    trust: Annotated[
        bool, Parameter(help="Play the submission without a sandbox: it may do what you may.")
    ] = False,
    as_json: Json = False,
    where: Where = HERE,
) -> None:
    """Enter a team and print its id and password, which nobody can read again.

    Teams are seeded in the order of their entries. In a contest that has begun it
    plays from the next round on, but for double elimination. With --strategy its
    matches are played here, or by the stack, which knows strategies of ours by
    name. A team with `--strategy submission` submits at the page `/submit` of the
    contest's arena, and so may one with --submission again.
    """
    if strategy is not None and submission is not None:
        raise ConfigError("A team has a strategy or a submission; leave one of them out.")
    if trust and submission is None:
        raise ConfigError("--trust is for a --submission; leave it out, or give one.")
    kind = strategy if submission is None else TRUSTED if trust else SANDBOXED
    _enter(folder, [(name, kind)], where, as_json=as_json, submission=submission)


@teams.command
def submit(folder: Folder, name: str, file: Path, /) -> None:
    """Give a team's submission another version, which plays from its next match on."""
    with kept_in(folder) as records:
        team = records.team(name)
        if team.strategy not in {SANDBOXED, TRUSTED}:
            raise ConfigError(f"{team.name} has no submission; enter it with --submission.")
        of = game(records.settings.game)
    _submit(submitted(folder, team.id, team.strategy), file, of)


def _submit(versions: Submitted, file: Path, of: Game) -> None:
    """Keep a version of a team's, and say how it is played."""
    if versions.sandboxed:
        check_sandbox()
        how = "in a sandbox"
    else:
        how = "WITHOUT a sandbox, as you trust it: its code may do whatever you may"
    number = versions.submit(contents_of(file), of)
    messages().print(f"Version {number} has answered once; it is played {how}.")


@teams.command(name="import")
def import_(folder: Folder, file: Path, /, *, as_json: Json = False, where: Where = HERE) -> None:
    """Enter the teams of a CSV file: its column name, and strategy where one is played here.

    Cells are separated by commas, semicolons or tabs. All teams are entered or, where
    something is wrong with one, none.
    """
    rows, encoding = read_teams(file)
    with where.records(folder) as records:
        for row in rows:
            try:
                check_teams(records, [(row.name, row.strategy)], here=where.stack is None)
            except ConfigError as error:
                raise ConfigError(f"{file}, line {row.line}: {error}") from error
    if encoding is not None:
        messages().print(
            f"{file} is not in UTF-8 and was read as {encoding}; where names look wrong, remove "
            "the teams, save the file as UTF-8 and import it again."
        )
    _enter(folder, [(row.name, row.strategy) for row in rows], where, as_json=as_json)


def _enter(
    folder: Path,
    wanted: list[tuple[str, str | None]],
    where: Where,
    *,
    as_json: bool,
    submission: Path | None = None,
) -> None:
    """Enter teams, each with its strategy where it is played here; all of them or none."""
    with where.records(folder) as records:
        of = check_teams(records, wanted, here=where.stack is None)
    first = submitted(folder, f"new-{secrets.token_hex(8)}", wanted[0][1])
    with where.records(folder) as records, ExitStack() as stack:
        if submission is not None:
            stack.callback(shutil.rmtree, first.folder, ignore_errors=True)
            _submit(first, submission, of)
        entered = []
        for team, shown in entered_teams(records, wanted):
            if submission is not None:
                first.folder.rename(first.folder.with_name(team.id))
            told = {"id": team.id, "name": team.name, "password": shown, "since": team.since}
            entered.append(told)
            if not as_json:
                _print_entered(team, shown)
        is_late = any(one["since"] != 1 for one in entered)
    if is_late:
        where.go_on()
    if as_json:
        print_json(entered)


@teams.command(name="list")
def list_(folder: Folder, /, *, as_json: Json = False, where: Where = HERE) -> None:
    """List the teams in the order of their seeds."""
    with where.records(folder) as records:
        found = records.teams()
    told = [{"id": team.id, "name": team.name, "strategy": team.strategy} for team in found]
    here = (f", played here by {called(one.strategy)}" if one.strategy else "" for one in found)
    listed = (f"{team.name} ({team.id}){by}" for team, by in zip(found, here, strict=True))
    tell(told, *(f"{place:3}. {one}" for place, one in enumerate(listed, 1)), as_json=as_json)


@teams.command
def remove(folder: Folder, name: str, /, *, where: Where = HERE) -> None:
    """Remove a team before the contest has begun."""
    with where.desk(folder) as desk:
        desk.remove(name)
    results().print(f"Removed {name}.")


@teams.command
def rename(folder: Folder, name: str, new: str, /, *, where: Where = HERE) -> None:
    """Give a team another name, also in a running contest; its id and password stay."""
    with where.desk(folder) as desk:
        act = desk.rename(name, new)
    results().print(act.what)


@teams.command
def withdraw(
    folder: Folder,
    name: str,
    /,
    *,
    reason: Annotated[str, Parameter(help="Why; shown with the pairings.")] = "has left",
    where: Where = HERE,
) -> None:
    """Take a team out of a contest that has begun: it loses what is not decided.

    `cardsharp contest undo` takes it back.
    """
    with where.desk(folder) as desk:
        act = desk.withdraw(name, reason)
    results().print(act.what)


@teams.command
def credentials(folder: Folder, name: str, /, *, where: Where = HERE) -> None:
    """Give a team a new password and print it.

    It counts within seconds, and the old one no more.
    """
    with where.desk(folder) as desk:
        team, password = desk.new_password(name)
    _print_entered(team, password)


def _print_entered(team: Entrant, password: str | None) -> None:
    told = "played here" if password is None else f"password {password}"
    late = f", from round {team.since} on" if team.since > 1 else ""
    results().print(f"team {team.name}: id {team.id}, {told}{late}", soft_wrap=True)
