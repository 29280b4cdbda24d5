"""Validation of new contests and teams, and the page's actions with their confirmations.

The actions call the same functions as the commands, so the page rejects what a command rejects.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.formats.base import FORMATS_BY_NAME
from cardsharp.contest.models import ContestSettings, TeamEntry
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import utc_now
from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game
from cardsharp.play.game import Game
from cardsharp_tools.contest.contest_manager import ContestManager
from cardsharp_tools.contest.match_worker import simulation_for_side_count
from cardsharp_tools.executors.sandbox import check_sandbox
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import (
    SANDBOXED,
    TRUSTED,
    WEAKLY_SANDBOXED,
    StrategyReference,
    Submission,
    parse_strategy,
)

TeamRequests = Sequence[tuple[str, StrategyReference | None]]
"""Teams to enter, by name, each with the strategy that plays it here, if any."""

REMOTE_STRATEGIES = (None, SANDBOXED, WEAKLY_SANDBOXED, TRUSTED)
"""Strategies of teams that sign in, to play or to submit."""


def contest_settings(  # noqa: PLR0913, PLR0917 - what a contest is founded with
    name: str,
    format_name: str,
    matches: int,
    timeout: float,
    game_name: str,
    seats: int | None = None,
) -> ContestSettings:
    """Return valid settings of a contest; raise `ConfigError` if it cannot be held."""
    contest_format = FORMATS_BY_NAME[format_name]
    if (
        seats is not None
        and contest_format.replace_matching_fields(max_teams_per_match=seats).max_teams_per_match
        != seats
    ):
        raise ConfigError(
            f"In the format {format_name} two teams play a match. For more teams per match use "
            "--format tables."
        )
    if matches % 2 == 0 and not contest_format.by_points:
        raise ConfigError(
            "The number of matches per pairing must be odd, so that a team wins: --matches 5."
        )
    settings = ContestSettings(
        name=name,
        format=format_name,
        matches=matches,
        most=3 * matches,
        timeout=timeout,
        game=game_name,
        seats=seats or contest_format.max_teams_per_match,
    )
    for teams_at_table in range(settings.seats, 1, -1):
        simulation_for_side_count(settings.game, teams_at_table)
    return settings


def check_teams_and_get_game(
    records: ContestRecords, team_requests: TeamRequests, *, is_local: bool = True
) -> Game:
    """Check the teams that are to enter a contest, and return its game.

    `is_local` is True if the contest is held on this machine, which can play any strategy.

    Raises:
        ConfigError: a strategy cannot be played or is missing, or a name is taken.
    """
    of = get_game(records.settings.game)
    for name, strategy in team_requests:
        if strategy is None and not records.settings.has_arena:
            raise ConfigError(
                f"{of.title} has no arena that {name} could sign in to, so the contest must play "
                "it. Give --strategy with a built-in name, a FILE.py or a 'command'."
            )
        if strategy is not None and strategy.is_user_code and not is_local:
            raise ConfigError(
                f"A stack plays only built-in strategies. Enter {name} without a strategy, and "
                "play it on any machine: cardsharp bot --url URL --user ID --strategy STRATEGY"
            )
        if isinstance(strategy, Submission) and strategy.folder is None:
            if strategy.is_sandboxed:
                check_sandbox(needs_kernel_limits=strategy.needs_kernel_limits)
        elif strategy is not None:
            register_strategy(strategy, of)
    name_counts = Counter(
        [team.name for team in records.teams()] + [name for name, _ in team_requests]
    )
    twice = next((name for name, times in name_counts.items() if times > 1), None)
    if twice is not None:
        raise ConfigError(f"The name {twice} is already taken by another team. Choose another.")
    return of


def enter_teams_with_passwords(
    records: ContestRecords, team_requests: TeamRequests
) -> Iterator[tuple[TeamEntry, str | None]]:
    """Enter teams that were checked; yield each one, with a password if it needs one."""
    admin = ContestAdmin(records, utc_now)
    for name, strategy in team_requests:
        text = None if strategy is None else str(strategy.with_absolute_paths())
        team, password = admin.add_team(name, text)
        yield team, password if text in REMOTE_STRATEGIES else None


TeamCredentials = list[tuple[TeamEntry, str | None]]  # teams with passwords, which are shown once
AdminHandler = Callable[
    ..., TeamCredentials | None
]  # of a venue, the contest's name, and a form's fields


def _create_contest(manager: ContestManager, _contest: str, **form: str) -> None:
    if form["format"] not in FORMATS_BY_NAME:
        raise ConfigError(f"There is no format {form['format']}. Choose one of the list.")
    matches, timeout = int(_parse_number(form["count"])), _parse_number(form["timeout"])
    of = get_game(form["of"]).name
    manager.create_contest(contest_settings(form["name"], form["format"], matches, timeout, of))


def _enter_teams(manager: ContestManager, contest: str, *, teams: str) -> TeamCredentials:
    """Enter a team for each line.

    A line has the team's name and, optionally, a comma and its strategy.
    """
    lines = [line.partition(",") for line in teams.splitlines() if line.strip()]
    team_requests = [
        (name.strip(), parse_strategy(strategy.strip()) if strategy.strip() else None)
        for name, _, strategy in lines
    ]
    with manager.records(contest) as records:
        check_teams_and_get_game(records, team_requests)
        return list(enter_teams_with_passwords(records, team_requests))


def _reset_passwords(manager: ContestManager, contest: str, *, name: str = "") -> TeamCredentials:
    """Give a new password to a team, or to all teams that play remotely."""
    with manager.records(contest) as records:
        outside = [team.id for team in records.teams() if team.strategy in REMOTE_STRATEGIES]
        admin = ContestAdmin(records, utc_now)
        return [admin.reset_password(team) for team in ([name] if name else outside)]


def _start_contest(manager: ContestManager, contest: str, *, seeding: str) -> None:
    by_practice = ["--seed-by-practice"] if seeding == "practice" else []
    manager.start(contest, "run", "--keep-serving", *by_practice)


def _stop_contest(manager: ContestManager, contest: str) -> None:
    manager.stop(contest)
    _admin_handler(partial(ContestAdmin.add_history_entry, text="stopped"))(manager, contest)


def _admin_handler(action: Callable[..., object]) -> AdminHandler:
    """Wrap a function of `ContestAdmin` as a handler; form fields are passed by parameter name."""

    def done(manager: ContestManager, contest: str, **fields: str) -> None:
        with manager.records(contest) as records:
            action(ContestAdmin(records, utc_now), **fields)

    return done


def _parse_number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 10**6:
        raise ConfigError(f"{text} is not a number from 0 to 999999.")
    return value


ADMIN_ACTIONS: Mapping[str, tuple[str, AdminHandler]] = {
    "new": (
        "Create {name}: {format} of {of}, {count} matches per pairing, {timeout} s per turn?",
        _create_contest,
    ),
    "enter": ("Enter these teams, and show their passwords once?\n{teams}", _enter_teams),
    "password": (
        "Give {name} a new password? The old one becomes invalid within seconds.",
        _reset_passwords,
    ),
    "passwords": (
        "Give new passwords to all teams that sign in? The old ones become invalid.",
        _reset_passwords,
    ),
    "rename": ("Give {name} the name {new_name}?", _admin_handler(ContestAdmin.rename_team)),
    "remove": ("Remove {name}?", _admin_handler(ContestAdmin.remove_team)),
    "withdraw": (
        "Withdraw {name}? It loses its undecided pairings. The page will show the reason: {reason}",
        _admin_handler(ContestAdmin.withdraw_team),
    ),
    "rule": (
        (
            "Give pairing {pairing} to {winner}? Later pairings that depend on it are played "
            "again. The page will show the reason: {reason}"
        ),
        _admin_handler(ContestAdmin.rule_pairing),
    ),
    "undo": ("Undo: {what}?", _admin_handler(lambda admin, what: admin.undo())),  # noqa: ARG005
    "freeze": (
        "Freeze the scoreboard for spectators in {minutes} minutes?",
        _admin_handler(
            lambda admin, minutes: admin.freeze(
                utc_now() + timedelta(minutes=_parse_number(minutes))
            )
        ),
    ),
    "reveal": ("Reveal the next round to spectators?", _admin_handler(ContestAdmin.reveal_round)),
    "reveal-all": (
        "Reveal all results to spectators and end the freeze?",
        _admin_handler(partial(ContestAdmin.reveal_round, everything=True)),
    ),
    "pause": (
        "Pause the contest? Running matches finish, and no new ones begin.",
        _admin_handler(partial(ContestAdmin.set_paused, paused=True)),
    ),
    "resume": (
        "Resume the contest, so that new matches begin?",
        _admin_handler(partial(ContestAdmin.set_paused, paused=False)),
    ),
    "practice": (
        "Open the arena and let the teams practise until you stop it?",
        lambda manager, contest: manager.start(contest, "practice"),
    ),
    "run": ("Begin or continue? Practice ends, and teams are seeded by {seeding}.", _start_contest),
    "stop": ("Close the arena? No match continues until you start it again.", _stop_contest),
}
"""Actions of the organiser's page by name: the question that confirms one, and its handler.

The placeholders of a question are the fields of the form that are passed to the handler.
"""
