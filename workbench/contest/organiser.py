"""What an organiser can do from the page: each act with its question, and the use case it calls.

They are those that the commands call, so what a command refuses the page refuses.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.acts import Desk
from cardsharp.contest.entries import Entrant
from cardsharp.contest.formats import FORMATS
from cardsharp.errors import ConfigError
from cardsharp.games import game
from workbench.contest.entering import BY_ITSELF, check_teams, entered_teams, founded
from workbench.contest.venue import Venue

Form = Mapping[str, str]

Sheets = list[tuple[Entrant, str | None]]
"""Teams with the passwords that are told once."""


@dataclass(frozen=True, slots=True)
class AskedDeed:
    """An act that was asked for: where, in which contest, and what the form says."""

    venue: Venue
    contest: str
    form: Form

    def desk(self, does: Callable[[Desk], object]) -> Sheets:
        """What the desk of the contest does."""
        with self.venue.records(self.contest) as records:
            does(Desk(records, utc_now))
        return []


@dataclass(frozen=True, slots=True)
class Deed:
    """A kind of act: the fields of its form, the question that it asks, and what it does."""

    fields: tuple[str, ...]
    question: str
    does: Callable[[AskedDeed], Sheets]


def _new(asked: AskedDeed) -> Sheets:
    form = asked.form
    if form["format"] not in FORMATS:
        raise ConfigError(f"There is no format {form['format']}.")
    matches, timeout = _number(form["count"]), _number(form["timeout"])
    of = game(form["game"]).name
    asked.venue.found(founded(form["name"], form["format"], int(matches), timeout, of))
    return []


def _enter(asked: AskedDeed) -> Sheets:
    """Enter a team for each line, its name and perhaps a comma and its strategy."""
    lines = [line.partition(",") for line in asked.form["teams"].splitlines() if line.strip()]
    wanted = [(name.strip(), strategy.strip() or None) for name, _, strategy in lines]
    with asked.venue.records(asked.contest) as records:
        check_teams(records, wanted)
        return list(entered_teams(records, wanted))


def _password(asked: AskedDeed) -> Sheets:
    with asked.venue.records(asked.contest) as records:
        return [Desk(records, utc_now).new_password(asked.form["team"])]


def _passwords(asked: AskedDeed) -> Sheets:
    with asked.venue.records(asked.contest) as records:
        desk = Desk(records, utc_now)
        own = [one.id for one in records.teams() if one.strategy in BY_ITSELF]
        return [desk.new_password(team) for team in own]


def _freeze(asked: AskedDeed) -> Sheets:
    delay = timedelta(minutes=_number(asked.form["minutes"]))
    return asked.desk(lambda desk: desk.freeze(utc_now() + delay))


def _run(asked: AskedDeed) -> Sheets:
    seeded = ("--seed-by-practice",) if asked.form["seeding"] == "practice" else ()
    asked.venue.start(asked.contest, "run", "--stay", *seeded)
    return []


def _practise(asked: AskedDeed) -> Sheets:
    asked.venue.start(asked.contest, "practice")
    return []


def _stop(asked: AskedDeed) -> Sheets:
    asked.venue.stop(asked.contest)
    return asked.desk(lambda desk: desk.note("stopped"))


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 10**6:
        raise ConfigError(f"{text or 'Nothing'} is no number of that kind.")
    return number


DEEDS: Mapping[str, Deed] = {
    "new": Deed(
        ("name", "format", "count", "timeout", "game"),
        "Create the contest {name}: {format}, {count} matches a pairing, {timeout} s a turn?",
        _new,
    ),
    "enter": Deed(("teams",), "Enter these teams, and show their passwords once?\n{teams}", _enter),
    "password": Deed(
        ("team",),
        "Give {team} a new password? The old one counts no more within seconds.",
        _password,
    ),
    "passwords": Deed(
        (),
        "Give every team that plays from outside a new password, to print them all? The old ones "
        "count no more.",
        _passwords,
    ),
    "rename": Deed(
        ("team", "new"),
        "Give {team} the name {new}?",
        lambda asked: asked.desk(lambda desk: desk.rename(asked.form["team"], asked.form["new"])),
    ),
    "remove": Deed(
        ("team",),
        "Remove {team}?",
        lambda asked: asked.desk(lambda desk: desk.remove(asked.form["team"])),
    ),
    "withdraw": Deed(
        ("team", "reason"),
        "Take {team} out? It loses what is not decided. The reason is shown: {reason}",
        lambda asked: asked.desk(
            lambda desk: desk.withdraw(asked.form["team"], _said(asked.form["reason"]))
        ),
    ),
    "rule": Deed(
        ("pairing", "winner", "reason"),
        "Give pairing {pairing} to {winner}? What follows from it is played anew. The reason is "
        "shown: {reason}",
        lambda asked: asked.desk(
            lambda desk: desk.rule(
                asked.form["pairing"], asked.form["winner"], _said(asked.form["reason"])
            )
        ),
    ),
    "undo": Deed(
        ("what",),
        "Take back: {what}?",
        lambda asked: asked.desk(Desk.undo),
    ),
    "freeze": Deed(
        ("minutes",), "Hold the scoreboard back for spectators, in {minutes} minutes?", _freeze
    ),
    "reveal": Deed((), "Show spectators the next round?", lambda asked: asked.desk(Desk.reveal)),
    "reveal-all": Deed(
        (),
        "Show spectators everything, and end the freeze?",
        lambda asked: asked.desk(lambda desk: desk.reveal(everything=True)),
    ),
    "pause": Deed(
        (),
        "Let no match begin? Those that run are played to their end.",
        lambda asked: asked.desk(lambda desk: desk.pause(on=True)),
    ),
    "resume": Deed(
        (),
        "Let matches begin again?",
        lambda asked: asked.desk(lambda desk: desk.pause(on=False)),
    ),
    "practice": Deed(
        (),
        "Open the arena, and have the teams that are there practise until you stop it?",
        _practise,
    ),
    "run": Deed(
        ("seeding",),
        "Begin the contest, or have it go on? Teams are seeded by {seeding}. Practice ends.",
        _run,
    ),
    "stop": Deed(
        (),
        "Close the arena? Matches under way stand still until you start it again.",
        _stop,
    ),
}
"""The acts by their names."""


def _said(reason: str) -> str:
    if not reason.strip():
        raise ConfigError("Say why; the reason is shown with the result.")
    return reason.strip()
