"""What a contest keeps of its own: settings, teams, rulings and results.

The matches are not here but in the arena, under tags that name pairing and number: from them the
director works out again where the contest stands, whatever befell it. The results are a copy for
those who look while it runs. A file at home keeps it, or the arena's table in the cloud:

| partition             | sort    | body                                                          |
|-----------------------|---------|---------------------------------------------------------------|
| contests              | NAME    | `Progress`: its settings and how far it is                    |
| contest#NAME#team     | ID      | an `Entrant`, and its seed                                    |
| contest#NAME#gone     | ID      | the name of a team that was removed                           |
| contest#NAME#withdrawn| ID      | the reason why a team has withdrawn                           |
| contest#NAME#ruling   | PAIRING | a `Ruling`                                                    |
| contest#NAME#act      | 00012   | an `Act` of an organiser, by its number                       |
| contest#NAME#fault    | ID      | a team's `Faults`, where it is played for                     |
| contest#NAME#result   | 00012   | a `Result`, by its place                                      |
| contest#NAME#aside    | 00012   | a `Result` of a match that counts no more                     |
| contest#NAME#freeze   | now     | a `Freeze`: since when spectators see no news                 |
| contest#NAME#still    | MOMENT  | what the contest was at that freeze, see `freeze`             |
| contest#NAME#meeting  | 0000012 | a `Meeting` of practice, by its number                        |
| contest#NAME#standing | 0000012 | a `Standing` of practice, by how many matches made it         |
| players               | ID      | name and ha1: what an arena in the cloud reads of its players |
"""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from pydantic import TypeAdapter

from cardsharp.access import ha1
from cardsharp.contest import entries
from cardsharp.contest.entries import Entrant, Faults, Meeting, Result, Ruling, Stage
from cardsharp.contest.formats import Format
from cardsharp.contest.pairing import Team
from cardsharp.contest.roster import PROGRESS, Roster, check_name, new_password, put_of
from cardsharp.errors import ConfigError, Conflict
from cardsharp.keep.port import Change, Delete

_RULING = TypeAdapter(Ruling)
RESULT = TypeAdapter(Result)
_MEETING = TypeAdapter(Meeting)
_STANDING = TypeAdapter(entries.Standing)
_FAULTS = TypeAdapter(Faults)

KEPT, LONGEST = 20, 500  # how many faults of a team are kept with their text, and characters of one


class Records(Roster):
    """The records of one contest, let go of at the end of a `with`.

    Every method raises `StoreError` where its keep fails. Raises `ConfigError` if there is none of
    that name.
    """

    frozen: datetime | None = None
    """Since when these do not change, whatever happens; None for those that do."""

    @property
    def form(self) -> Format:
        """Who meets whom, also of the teams that came late."""
        return self.settings.form_of(self.teams(), self.results())

    def enter(self, name: str, strategy: str | None = None) -> tuple[Entrant, str]:
        """A new team and its password, told once; it takes part at once, or from the next round."""
        since = self._next_round(name)
        check_name(name, self.teams())
        team_id, password = secrets.token_hex(12), new_password()
        team = Entrant(team_id, name, ha1(team_id, password), strategy, since)
        try:
            self.add(team)
        except Conflict:
            raise ConfigError(f"Somebody else is changing the teams; enter {name} again.") from None
        return team, password

    def _next_round(self, name: str) -> int:
        """The first round that a team can still play; raises `ConfigError` where none is left."""
        stage, results = self.stage, self.results()
        if stage is Stage.OPEN:
            return 1
        if stage is Stage.OVER:
            raise ConfigError(f"The contest is over; {name} can enter the next one.")
        teams, last = self.teams(), max((one.round for one in results), default=1)
        number = 1 + min((one.round for one in results if not one.decided), default=last)
        number = max(number, *(team.since for team in teams))
        until = self.form.open_until([team.id for team in teams])
        if until is not None and number > until:
            why = "its last round is under way" if until else "its bracket is drawn"
            raise ConfigError(
                f"The contest has begun, and {why}. {name} can take the place of a team that has "
                "not come: give that one's entry the name by `cardsharp contest teams rename`, and "
                "a new password by `cardsharp contest teams credentials`."
            )
        return number

    def organise(self, changes: Callable[[int], Sequence[Change]], *, reopens: bool) -> None:
        """Make an act's changes, told its number; may reopen; raises `Conflict` if others act."""
        found, before = self._found()
        number = before.ruled + 1
        stage = Stage.BEGUN if reopens and before.stage is Stage.OVER else before.stage
        after = replace(before, stage=stage, ruled=number)
        self.documents.commit(put_of(found.key, PROGRESS, after, found.version), *changes(number))

    def withdrawn(self) -> dict[Team, str]:
        """The teams that have withdrawn, each with its reason."""
        return {one.key.sort: str(one.body["reason"]) for one in self.under("withdrawn")}

    def rulings(self) -> dict[str, Ruling]:
        """The rulings by pairing."""
        found = [_RULING.validate_python(one.body) for one in self.under("ruling")]
        return {ruling.pairing: ruling for ruling in found}

    def keep(self, results: Iterable[Result], aside: Iterable[Result] = ()) -> None:
        """Keep how the contest stands, in place of how it stood; what has not changed is left."""
        self._keep("aside", aside)
        self._keep("result", results)

    def _keep(self, kind: str, results: Iterable[Result]) -> None:
        before = {one.key: one for one in self.under(kind)}
        after = [
            put_of(self.key(kind, f"{place:05}"), RESULT, result)
            for place, result in enumerate(results)
        ]
        changes: list[Change] = [
            put for put in after if put.key not in before or before[put.key].body != put.body
        ]
        gone = before.keys() - {put.key for put in after}
        changes += [Delete(key, before[key].version) for key in sorted(gone)]
        self.write(changes)

    def results(self) -> list[Result]:
        """How the contest stood last, the pairings in their order."""
        return [RESULT.validate_python(one.body) for one in self.under("result")]

    def aside(self) -> list[Result]:
        """The matches that count no more, as a ruling brought others together; each a result."""
        return [RESULT.validate_python(one.body) for one in self.under("aside")]

    def listed(self) -> list[Result]:
        """The results, and at the end of each round its matches that count no more."""
        return sorted(self.results() + self.aside(), key=lambda one: one.round)

    def table(self) -> list[list[Team]]:
        """The places so far, the best first."""
        teams = [team.id for team in self.teams()]
        return self.form.table(teams, entries.decided_of(self.results()))

    def add_meeting(self, meeting: Meeting) -> None:
        """Keep a match of practice that has ended, by its number."""
        key = self.key("meeting", f"{meeting.number:07}")
        self.documents.commit(put_of(key, _MEETING, meeting))

    def meetings(self) -> list[Meeting]:
        """The matches of practice that have ended, in the order in which they did."""
        found = [_MEETING.validate_python(one.body) for one in self.under("meeting")]
        return sorted(found, key=lambda meeting: (meeting.at, meeting.number))

    def add_standing(self, standing: entries.Standing) -> None:
        """Keep ratings, by how many matches made them."""
        key = self.key("standing", f"{standing.played:07}")
        self.documents.commit(put_of(key, _STANDING, standing))

    def standings(self) -> list[entries.Standing]:
        """The ratings of practice over time, the oldest first."""
        return [_STANDING.validate_python(one.body) for one in self.under("standing")]

    def faults(self) -> dict[Team, Faults]:
        """The faults of all teams that have any."""
        return {one.key.sort: _FAULTS.validate_python(one.body) for one in self.under("fault")}

    def note_fault(self, team: Team, what: str, at: datetime) -> None:
        """Keep one more fault of a team."""
        before = self.faults().get(team, Faults())
        last = (entries.Fault(at, what[:LONGEST]), *before.last)[:KEPT]
        after = Faults(before.count + 1, last)
        self.documents.commit(put_of(self.key("fault", team), _FAULTS, after))
