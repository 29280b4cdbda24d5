"""What an organiser can do from the page: each act with its question, and the use case it calls.

They are those that the commands call, so what a command refuses the page refuses.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.acts import Desk
from cardsharp.contest.entries import Entrant
from cardsharp.contest.formats import FORMATS
from cardsharp.errors import ConfigError
from cardsharp.games import game
from workbench.contest.entering import BY_ITSELF, check_teams, entered_teams, founded
from workbench.contest.venue import Venue

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
