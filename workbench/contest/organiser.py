"""What an organiser founds and enters, checked, and each act of the page with its question.

The acts call what the commands call, so what a command refuses the page refuses.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.acts import Desk
from cardsharp.contest.entries import Entrant, Settings
from cardsharp.contest.formats import FORMATS
from cardsharp.contest.records import Records
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.games import game
from workbench.contest.table import tabled
from workbench.contest.venue import Venue
from workbench.sandbox import check_sandbox
from workbench.strategy_file import is_own, lasting, strategy_named
from workbench.submission import SANDBOXED, TRUSTED

Wanted = Sequence[tuple[str, str | None]]  # teams to enter, and who plays them here
BY_ITSELF = (None, SANDBOXED, TRUSTED)  # of teams that sign in, to play or to submit


def founded(  # noqa: PLR0913, PLR0917 - what a contest is founded with
    name: str, form: str, matches: int, timeout: float, of: str, seats: int | None = None
) -> Settings:
    """The settings of a contest that can be held; raises `ConfigError` where it cannot."""
    found = FORMATS[form]
    if seats is not None and found.given(seats=seats).seats != seats:
        raise ConfigError(f"In {form} two meet; give --format tables for more at a table.")
    if matches % 2 == 0 and not found.by_points:
        raise ConfigError("An odd number of matches decides a pairing, such as --matches 5.")
    settings = Settings(
        name=name,
        format=form,
        matches=matches,
        most=3 * matches,
        timeout=timeout,
        game=of,
        seats=seats or found.seats,
    )
    for teams_at_table in range(settings.seats, 1, -1):
        tabled(settings.game, teams_at_table)
    return settings


def check_teams(records: Records, wanted: Wanted, *, here: bool = True) -> Game:
    """The game of a contest that those teams can enter; `here` is whether it can play any itself.

    Raises:
        ConfigError: one cannot be played, or must be and has no strategy, or a name is taken.
    """
    of = game(records.settings.game)
    for name, strategy in wanted:
        if strategy is None and not records.settings.has_arena:
            raise ConfigError(
                f"{of.title} has no arena where {name} could play: give its --strategy, a name of "
                "ours, a FILE.py or a 'command'."
            )
        if strategy is not None and is_own(strategy) and not here:
            raise ConfigError(
                f"A stack plays strategies of ours by name. Enter {name} without a strategy, and "
                "play it on any machine: cardsharp bot --url URL --user ID --strategy STRATEGY"
            )
        if strategy == SANDBOXED:
            check_sandbox()
        elif strategy not in {None, TRUSTED}:
            strategy_named(str(strategy), of)
    taken = Counter([team.name for team in records.teams()] + [name for name, _ in wanted])
    twice = next((name for name, times in taken.items() if times > 1), None)
    if twice is not None:
        raise ConfigError(f"There is a team called {twice} already.")
    return of


def entered_teams(records: Records, wanted: Wanted) -> Iterator[tuple[Entrant, str | None]]:
    """Enter teams that were checked; yields each with its password where it needs one."""
    desk = Desk(records, utc_now)
    for name, strategy in wanted:
        team, password = desk.enter(name, None if strategy is None else lasting(strategy))
        yield team, password if strategy in BY_ITSELF else None


Sheets = list[tuple[Entrant, str | None]]  # teams with the passwords that are told once
Doing = Callable[..., Sheets | None]  # of a venue, the contest's name, and a form's fields


def _new(venue: Venue, _contest: str, **form: str) -> None:
    if form["format"] not in FORMATS:
        raise ConfigError(f"There is no format {form['format']}.")
    matches, timeout = int(_number(form["count"])), _number(form["timeout"])
    of = game(form["of"]).name
    venue.found(founded(form["name"], form["format"], matches, timeout, of))


def _enter(venue: Venue, contest: str, *, teams: str) -> Sheets:
    """Enter a team for each line, its name and perhaps a comma and its strategy."""
    lines = [line.partition(",") for line in teams.splitlines() if line.strip()]
    wanted = [(name.strip(), strategy.strip() or None) for name, _, strategy in lines]
    with venue.records(contest) as records:
        check_teams(records, wanted)
        return list(entered_teams(records, wanted))


def _passwords(venue: Venue, contest: str, *, name: str = "") -> Sheets:
    """Give a team a new password, or all that play from outside."""
    with venue.records(contest) as records:
        outside = [one.id for one in records.teams() if one.strategy in BY_ITSELF]
        desk = Desk(records, utc_now)
        return [desk.new_password(team) for team in ([name] if name else outside)]


def _run(venue: Venue, contest: str, *, seeding: str) -> None:
    by_practice = ["--seed-by-practice"] if seeding == "practice" else []
    venue.start(contest, "run", "--stay", *by_practice)


def _stop(venue: Venue, contest: str) -> None:
    venue.stop(contest)
    _at_desk(partial(Desk.note, what="stopped"))(venue, contest)


def _at_desk(does: Callable[..., object]) -> Doing:
    """What does that at the desk of the contest, which takes the fields by its own names."""

    def done(venue: Venue, contest: str, **fields: str) -> None:
        with venue.records(contest) as records:
            does(Desk(records, utc_now), **fields)

    return done


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 10**6:
        raise ConfigError(f"{text} is no number of that kind.")
    return number


DEEDS: Mapping[str, tuple[str, Doing]] = {
    "new": (
        "Create {name}: {format} of {of}, {count} matches a pairing, {timeout} s a turn?",
        _new,
    ),
    "enter": ("Enter these teams, and show their passwords once?\n{teams}", _enter),
    "password": ("Give {name} a new password? The old one counts no more in seconds.", _passwords),
    "passwords": ("Give all teams from outside new passwords? The old count no more.", _passwords),
    "rename": ("Give {name} the name {new}?", _at_desk(Desk.rename)),
    "remove": ("Remove {name}?", _at_desk(Desk.remove)),
    "withdraw": (
        "Take {name} out? It loses what is not decided. The reason is shown: {reason}",
        _at_desk(Desk.withdraw),
    ),
    "rule": (
        "Give pairing {pairing} to {winner}? What follows is played anew. Shown is: {reason}",
        _at_desk(Desk.rule),
    ),
    "undo": ("Take back: {what}?", _at_desk(lambda desk, what: desk.undo())),  # noqa: ARG005
    "freeze": (
        "Hold the scoreboard back for spectators, in {minutes} minutes?",
        _at_desk(
            lambda desk, minutes: desk.freeze(utc_now() + timedelta(minutes=_number(minutes)))
        ),
    ),
    "reveal": ("Show spectators the next round?", _at_desk(Desk.reveal)),
    "reveal-all": (
        "Show spectators everything, and end the freeze?",
        _at_desk(partial(Desk.reveal, everything=True)),
    ),
    "pause": ("Start no new matches? Running ones finish.", _at_desk(partial(Desk.pause, on=True))),
    "resume": ("Let matches begin again?", _at_desk(partial(Desk.pause, on=False))),
    "practice": (
        "Open the arena, and have teams practise until you stop it?",
        lambda venue, contest: venue.start(contest, "practice"),
    ),
    "run": ("Begin or go on? Teams are seeded by {seeding}, and practice ends.", _run),
    "stop": ("Close the arena? Matches stand still until you start it again.", _stop),
}
"""The acts by their names; their questions name the fields of their forms."""
