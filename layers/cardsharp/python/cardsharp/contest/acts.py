"""What an organiser does in a contest: each act is on record, the last can be taken back."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from cardsharp.cloud.clock import Now
from cardsharp.contest.entries import Entrant, Ruling, Stage, following
from cardsharp.contest.freeze import KIND, Freeze, board, freeze_of, frozen, next_round
from cardsharp.contest.records import Records
from cardsharp.contest.roster import PLAYERS
from cardsharp.errors import ConfigError, Conflict
from cardsharp.keep.port import Change, Delete, Key, Put


@dataclass(frozen=True, slots=True)
class Altered:
    """A document that an act changed: what it was, and what it is; None where there was none."""

    partition: str
    sort: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    def stands(self, body: Mapping[str, Any]) -> bool:
        """Whether a document's body still has all that the act changed of it."""
        return all(body.get(name) == value for name, value in self._changed.items())

    def without(self, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """The body without the change, with what else has come since; None where none was."""
        if self.before is None:
            return None
        return {**body, **{name: self.before[name] for name in self._changed}}

    @property
    def _changed(self) -> dict[str, Any]:
        before, after = self.before or {}, self.after or {}
        return {name: value for name, value in after.items() if before.get(name) != value}


@dataclass(frozen=True, slots=True)
class Act:
    """Something that an organiser did at that moment, in words; a note without changes."""

    number: int
    at: datetime
    what: str
    changes: tuple[Altered, ...]
    undone: bool = False


_ACT = TypeAdapter(Act)

_TRIES = 20  # how often a note is written that others come before


class Desk:
    """The organiser's desk, where acts are done and written down; `clock` tells their moments."""

    def __init__(self, records: Records, clock: Now) -> None:
        self._records, self._clock = records, clock

    def enter(self, name: str, strategy: str | None = None) -> tuple[Entrant, str]:
        """A new team and its password, as `Records.enter`."""
        team, password = self._records.enter(name, strategy)
        self.note(f"{name} takes part" + (f" from round {team.since} on" if team.since > 1 else ""))
        return team, password

    def remove(self, name: str) -> None:
        """Remove a team before the contest has begun."""
        self._records.remove(name)
        self.note(f"{name} is removed")

    def new_password(self, name: str) -> tuple[Entrant, str]:
        """A team and its new password, as `Records.new_password`."""
        team, password = self._records.new_password(name)
        self.note(f"{team.name} has a new password")
        return team, password

    def pause(self, *, on: bool) -> None:
        """Let no match begin, or let them begin again."""
        self._records.pause(on=on)
        self.note("paused" if on else "resumed")

    def note(self, what: str) -> None:
        """Write down what was done and cannot be taken back, only done the other way."""
        for _ in range(_TRIES):
            with suppress(ConfigError):  # somebody else is organising just now
                self._act(what)
                return

    def rule(self, pairing: str, winner: str, reason: str, *, replay: bool = True) -> Act:
        """Decide a pairing, whatever its matches were; a later ruling replaces an earlier one.

        Raises `ConfigError` if there is no such pairing, or the team takes no part in it; or others
        would meet by it where matches are played already, and nothing is to be played anew.
        """
        team = self._records.team(winner)
        known = {result.pairing: result for result in self._records.results()}
        if pairing not in known:
            raise ConfigError(
                f"There is no pairing {pairing}; `cardsharp contest results` has all."
            )
        if team.id not in known[pairing].teams:
            raise ConfigError(f"{winner} does not take part in pairing {pairing}.")
        ruling = Ruling(pairing, team.id, reason)
        anew = [] if replay else self._overturned(ruling)
        if anew:
            raise ConfigError(
                f"Played already, and by other teams after this ruling: pairing {', '.join(anew)}. "
                "Leave --no-replay out to have them played anew."
            )
        put = Put(self._records.key("ruling", pairing), asdict(ruling), None)
        return self._act(f"pairing {pairing} goes to {team.name}: {reason}", put)

    def _overturned(self, ruling: Ruling) -> list[str]:
        """The pairings with matches that would not count any more."""
        results = self._records.results()
        ruled = [
            replace(one, winner=ruling.winner, decided=True)
            if one.pairing == ruling.pairing
            else one
            for one in results
        ]
        teams = self._records.teams()
        form = self._records.settings.form_of(teams, ruled)
        ids = [team.id for team in teams]
        stands = {(one.pairing, one.teams) for one in following(ruled, form, ids)}
        played = (one for one in results if one.matches)
        return [one.pairing for one in played if (one.pairing, one.teams) not in stands]

    def withdraw(self, name: str, reason: str) -> Act:
        """Take a team out, which loses all that is undecided; raises `ConfigError` if it cannot."""
        if self._records.stage is Stage.OPEN:
            raise ConfigError(f"The contest has not begun: remove {name} instead.")
        team = self._records.team(name)
        if team.id in self._records.withdrawn():
            raise ConfigError(f"{team.name} has withdrawn already.")
        put = Put(self._records.key("withdrawn", team.id), {"reason": reason}, None)
        return self._act(f"{team.name} has withdrawn: {reason}", put)

    def rename(self, name: str, new: str) -> Act:
        """Give a team another name; its id, password and matches stay."""
        is_frozen = board(self._records, self._clock()).frozen is not None
        team, puts = self._records.renamed(name, new, told=not is_frozen)
        return self._act(f"{team.name} is called {new}", *puts)

    def freeze(self, at: datetime) -> Act:
        """Show spectators nothing new from then on; raises `ConfigError` if that cannot be now."""
        before = freeze_of(self._records)
        if before is not None:
            raise ConfigError(
                f"There is a freeze from {before.at:%Y-%m-%d %H:%M:%S} UTC on already; `cardsharp "
                "contest reveal` or `undo` ends it."
            )
        if self._records.stage is Stage.OPEN and at <= self._clock():
            raise ConfigError("The contest has not begun: say when to freeze it, as --in 40m.")
        what = f"frozen for spectators from {at:%Y-%m-%d %H:%M:%S} UTC on"
        act = self._act(what, frozen(self._records, Freeze(at)))
        board(self._records, self._clock())
        return act

    def reveal(self, *, everything: bool = False) -> Act:
        """Show spectators the next round of which they have not seen all, or everything.

        With the last round of a contest that is over its freeze ends. Raises `ConfigError` if
        nothing is frozen, or what is not shown is still to be played.
        """
        freeze, now = freeze_of(self._records), self._clock()
        if freeze is None or board(self._records, now).frozen is None:
            raise ConfigError("Nothing is frozen; `cardsharp contest freeze` does that.")
        number, is_over = next_round(self._records, now), self._records.stage is Stage.OVER
        last = max((one.round for one in self._records.results()), default=0)
        if everything or (is_over and (number is None or number == last)):
            put = frozen(self._records, replace(freeze, on=False))
            what = "revealed to the end, and the freeze is over"
            return self._act(what, put, *self._records.told())
        if number is None:
            raise ConfigError(
                "Spectators see all that was played so far, and no more from here on; --all ends "
                "the freeze."
            )
        put = frozen(self._records, replace(freeze, revealed=number))
        return self._act(f"revealed up to round {number}", put)

    def history(self) -> list[Act]:
        """All acts, the first one first."""
        return [_ACT.validate_python(one.body) for one in self._records.under("act")]

    def undo(self) -> Act:
        """Take back the last act that stands, as if it had not been; raises `ConfigError`."""
        acts = (act for act in reversed(self.history()) if act.changes and not act.undone)
        last = next(acts, None)
        if last is None:
            raise ConfigError("There is nothing to undo; `cardsharp contest history` lists it all.")
        changes: list[Change] = []
        is_frozen = board(self._records, self._clock()).frozen is not None
        for one in last.changes:
            key = Key(one.partition, one.sort)
            if is_frozen and one.partition == PLAYERS:
                continue  # nobody is to see a name's change on a match's page
            now = self._records.documents.get(key)
            if now is None or not one.stands(now.body):
                raise ConfigError(f"What it did has been changed since: {last.what}.")
            before, gone = one.without(now.body), Delete(key, now.version)
            changes.append(gone if before is None else Put(key, before, now.version))
            if one.before is None and one.partition.endswith(f"#{KIND}"):
                changes += self._records.told()
        undone = replace(last, undone=True)
        self._records.organise(
            lambda _number: (self._put(undone, None), *changes), reopens=_is_played(last.changes)
        )
        return undone

    def _act(self, what: str, *puts: Put) -> Act:
        board(self._records, self._clock())  # a freeze that is due comes first
        found = [(put, self._records.documents.get(put.key)) for put in puts]
        altered = tuple(
            Altered(put.key.partition, put.key.sort, then and dict(then.body), dict(put.body))
            for put, then in found
        )
        expected = [put._replace(expected=then.version if then else 0) for put, then in found]
        act = Act(0, self._clock(), what, altered)

        def commit(number: int) -> tuple[Change, ...]:
            nonlocal act
            act = replace(act, number=number)
            return (self._put(act, 0), *expected)

        with suppress(Conflict):
            self._records.organise(commit, reopens=_is_played(altered))
            return act
        raise ConfigError("Somebody else is organising just now; look again, and repeat it.")

    def _put(self, act: Act, expected: int | None) -> Put:
        key = self._records.key("act", f"{act.number:05}")
        return Put(key, _ACT.dump_python(act, mode="json"), expected)


def _is_played(changes: tuple[Altered, ...]) -> bool:
    """Whether matches may follow from these changes, and not only what spectators see."""
    return any(one.partition.endswith(("#ruling", "#withdrawn")) for one in changes)
