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
| contest#NAME#freeze   | now     | a `Freeze`: since when spectators see no news                 |
| contest#NAME#still    | MOMENT  | what the contest was at that freeze, see `freeze`             |
| contest#NAME#meeting  | 0000012 | a `Meeting` of practice, by its number                        |
| contest#NAME#standing | 0000012 | a `Standing` of practice, by how many matches made it         |
| players               | ID      | name and ha1: what an arena in the cloud reads of its players |
"""

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from pydantic import TypeAdapter

from cardsharp.access import ha1
from cardsharp.contest.entries import (
    Entrant,
    Result,
    Ruling,
    Settings,
    Stage,
    decided_of,
)
from cardsharp.contest.formats import Format
from cardsharp.contest.meetings import Meeting, Standing
from cardsharp.contest.naming import check_name, new_password
from cardsharp.contest.pairing import Team
from cardsharp.errors import ConfigError, Conflict
from cardsharp.keep.port import MOST_CHANGES, Change, Delete, Document, Keep, Key, Put


@dataclass(frozen=True, slots=True)
class Progress:
    """A contest's settings, and how far it is; `entered` and `ruled` count for ever."""

    settings: Settings
    stage: Stage = Stage.OPEN
    paused: bool = False
    entered: int = 0
    ruled: int = 0


PROGRESS = TypeAdapter(Progress)
_TEAM = TypeAdapter(Entrant)
_RULING = TypeAdapter(Ruling)
RESULT = TypeAdapter(Result)
_MEETING = TypeAdapter(Meeting)
_STANDING = TypeAdapter(Standing)

CONTESTS, PLAYERS = "contests", "players"
"""The partitions of all contests, and of the players of an arena in the cloud."""

_PAGE = 1000


class Records:
    """The records of one contest, let go of at the end of a `with`.

    Every method raises `StoreError` where its keep fails.

    Raises:
        ConfigError: there is none of that name.
    """

    frozen: datetime | None = None
    """Since when these do not change, whatever happens; None for those that do."""

    def __init__(self, keep: Keep, name: str) -> None:
        self.documents = keep
        self._name = name
        self.settings = self._progress().settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what keeps it."""
        self.documents.close()

    @property
    def stage(self) -> Stage:
        """How far the contest is."""
        return self._progress().stage

    def begin(self) -> None:
        """Let the contest begin, if it has not; from now on no team is removed."""
        self._change(
            lambda one: replace(one, stage=Stage.BEGUN) if one.stage is Stage.OPEN else one
        )

    def end(self, ruled: int) -> None:
        """Let the contest be over, unless more than `ruled` rulings were made in it."""
        self._change(lambda one: replace(one, stage=Stage.OVER) if one.ruled <= ruled else one)

    # --- teams -----------------------------------------------------------------------------

    def teams(self) -> list[Entrant]:
        """The teams, the best seed first."""
        found = sorted(self.under("team"), key=lambda one: int(str(one.body["seed"])))
        return [_TEAM.validate_python(one.body) for one in found]

    @property
    def form(self) -> Format:
        """Who meets whom, also of the teams that came late."""
        return self.settings.form_of(self.teams())

    def enter(self, name: str, strategy: str | None = None) -> tuple[Entrant, str]:
        """A new team and its password, which nobody can read again.

        It takes part at once or, in a contest that has begun, from the next round on.
        """
        since = self._next_round(name)
        check_name(name, self.teams())
        team_id, password = secrets.token_hex(12), new_password()
        team = Entrant(team_id, name, ha1(team_id, password), strategy, since)
        try:
            self.add(team)
        except Conflict:
            raise ConfigError(f"Somebody else is changing the teams; enter {name} again.") from None
        return team, password

    def add(self, team: Entrant) -> None:
        """Enter a team as the last seed.

        Raises:
            Conflict: the name is taken, or the contest has begun or ended meanwhile.
        """
        found = self._document()
        if team.name in {one.name for one in self.teams()}:
            raise Conflict("The name is taken.")
        seed = PROGRESS.validate_python(found.body).entered + 1
        stage = Stage.OPEN if team.since == 1 else Stage.BEGUN
        self._change_teams(found, seed, self._put_team(team, seed, 0), _player(team), stage=stage)

    def new_password(self, name: str) -> tuple[Entrant, str]:
        """A team and its new password, which counts within seconds in place of the old one."""
        password = new_password()
        team, document = self._team(name)
        team = replace(team, ha1=ha1(team.id, password))
        seed = int(str(document.body["seed"]))
        player = replace(team, name=self.players().get(team.id, team.name))
        self.documents.commit(self._put_team(team, seed, document.version), _player(player))
        return team, password

    def remove(self, name: str) -> None:
        """Remove a team before the contest has begun."""
        self._refuse_once_begun()
        found = self._document()
        team, document = self._team(name)
        entered = PROGRESS.validate_python(found.body).entered + 1
        player = self.documents.get(Key(PLAYERS, team.id))
        gone = [one for one in (document, player) if one is not None]
        changes: list[Change] = [Delete(one.key, one.version) for one in gone]
        changes.append(Put(self.key("gone", team.id), {"name": team.name}, None))
        self._change_teams(found, entered, *changes)

    def names(self) -> dict[Team, str]:
        """The names of all teams, also of those that were removed after they had practised."""
        gone = {one.key.sort: str(one.body["name"]) for one in self.under("gone")}
        return gone | {team.id: team.name for team in self.teams()}

    def seed(self, order: Sequence[Team]) -> None:
        """Let the teams be seeded in this order of all their ids, before the contest has begun."""
        self._refuse_once_begun()
        found = self._document()
        entered = PROGRESS.validate_python(found.body).entered
        teams = {team.id: team for team in self.teams()}
        puts = [
            self._put_team(teams[team], entered + place, None)
            for place, team in enumerate(order, 1)
        ]
        self._change_teams(found, entered + len(order), *puts)

    def team(self, name: str) -> Entrant:
        """The team with that name or id."""
        return self._team(name)[0]

    def _team(self, name: str) -> tuple[Entrant, Document]:
        found = [(_TEAM.validate_python(one.body), one) for one in self.under("team")]
        named = next((one for one in found if name in (one[0].id, one[0].name)), None)
        if named is None:
            names = ", ".join(team.name for team in self.teams()) or "nobody yet"
            raise ConfigError(f"No team is called {name}; entered are {names}.")
        return named

    def _put_team(self, team: Entrant, seed: int, expected: int | None) -> Put:
        put = put_of(self.key("team", team.id), _TEAM, team, expected)
        return put._replace(body={**put.body, "seed": seed})

    def _change_teams(
        self, found: Document, entered: int, *changes: Change, stage: Stage = Stage.OPEN
    ) -> None:
        """Change teams of a contest at that stage, still as it was found; raises `Conflict`."""
        progress = PROGRESS.validate_python(found.body)
        if progress.stage is not stage:
            raise Conflict("The contest has gone on.")
        # It is counted as ruled, so that no contest ends that has not seen who came late.
        counted = replace(progress, entered=entered, ruled=progress.ruled + (stage is Stage.BEGUN))
        self.documents.commit(put_of(found.key, PROGRESS, counted, found.version), *changes)

    def _refuse_once_begun(self) -> None:
        if self.stage is not Stage.OPEN:
            raise ConfigError(
                "The contest has begun: its teams can withdraw, but none is removed, and none is "
                "seeded anew."
            )

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

    # --- what organisers say ---------------------------------------------------------------

    def organise(self, changes: Callable[[int], Sequence[Change]], *, reopens: bool) -> None:
        """Make the changes of an organiser's act, which is told its number; see `acts`.

        Where it `reopens` a contest that was over goes on. Raises `Conflict` where somebody else
        acts.
        """
        found = self._document()
        before = PROGRESS.validate_python(found.body)
        number = before.ruled + 1
        stage = Stage.BEGUN if reopens and before.stage is Stage.OVER else before.stage
        after = replace(before, stage=stage, ruled=number)
        self.documents.commit(put_of(found.key, PROGRESS, after, found.version), *changes(number))

    def withdrawn(self) -> dict[Team, str]:
        """The teams that have withdrawn, each with its reason."""
        return {one.key.sort: str(one.body["reason"]) for one in self.under("withdrawn")}

    def renamed(self, name: str, new: str, *, told: bool) -> tuple[Entrant, list[Put]]:
        """The team, and what a new name of it writes; also where the arena is `told` of it."""
        team, document = self._team(name)
        check_name(new, [other for other in self.teams() if other != team])
        puts = [Put(document.key, {**document.body, "name": new}, None)]
        return team, [*puts, *([_player(replace(team, name=new))] if told else [])]

    def players(self) -> dict[Team, str]:
        """The names of the teams as the arena has been told them."""
        found = (self.documents.get(Key(PLAYERS, team.id)) for team in self.teams())
        return {one.key.sort: str(one.body["name"]) for one in found if one is not None}

    def told(self) -> list[Put]:
        """What tells the arena of the names that it has not been told yet."""
        known = self.players()
        return [_player(team) for team in self.teams() if known.get(team.id, "") != team.name]

    def rulings(self) -> dict[str, Ruling]:
        """The rulings by pairing."""
        found = [_RULING.validate_python(one.body) for one in self.under("ruling")]
        return {ruling.pairing: ruling for ruling in found}

    @property
    def ruled(self) -> int:
        """How many acts of organisers there were."""
        return self._progress().ruled

    @property
    def paused(self) -> bool:
        """Whether no match is to begin."""
        return self._progress().paused

    def pause(self, *, on: bool) -> None:
        """Let no match begin, or let them begin again."""
        self._change(lambda one: replace(one, paused=on))

    # --- results ---------------------------------------------------------------------------

    def keep(self, results: Iterable[Result]) -> None:
        """Keep how the contest stands, in place of how it stood; what has not changed is left."""
        before = {one.key: one for one in self.under("result")}
        after = [
            put_of(self.key("result", f"{place:05}"), RESULT, result)
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

    def table(self) -> list[list[Team]]:
        """The places so far, the best first."""
        teams = [team.id for team in self.teams()]
        return self.form.table(teams, decided_of(self.results()))

    # --- practice --------------------------------------------------------------------------

    def add_meeting(self, meeting: Meeting) -> None:
        """Keep a match of practice that has ended, by its number."""
        self.documents.commit(
            put_of(self.key("meeting", f"{meeting.number:07}"), _MEETING, meeting)
        )

    def meetings(self) -> list[Meeting]:
        """The matches of practice that have ended, in the order in which they did."""
        found = [_MEETING.validate_python(one.body) for one in self.under("meeting")]
        return sorted(found, key=lambda meeting: (meeting.at, meeting.number))

    def add_standing(self, standing: Standing) -> None:
        """Keep ratings, by how many matches made them."""
        self.documents.commit(
            put_of(self.key("standing", f"{standing.played:07}"), _STANDING, standing)
        )

    def standings(self) -> list[Standing]:
        """The ratings of practice over time, the oldest first."""
        return [_STANDING.validate_python(one.body) for one in self.under("standing")]

    # --- documents -------------------------------------------------------------------------

    def write(self, changes: Sequence[Change]) -> None:
        """Make changes of any number, which may be seen before all of them are made."""
        for first in range(0, len(changes), MOST_CHANGES):
            self.documents.commit(*changes[first : first + MOST_CHANGES])

    def _document(self) -> Document:
        found = self.documents.get(Key(CONTESTS, self._name))
        if found is None:
            raise ConfigError(
                f"There is no contest {self._name}; `cardsharp contest new` founds one."
            )
        return found

    def _progress(self) -> Progress:
        return PROGRESS.validate_python(self._document().body)

    def _change(self, change: Callable[[Progress], Progress], *more: Put) -> None:
        """Write what a change makes of the progress as it is now, however many write at once."""
        while True:
            found = self._document()
            before = PROGRESS.validate_python(found.body)
            after = change(before)
            if after == before:
                return
            with suppress(Conflict):
                self.documents.commit(put_of(found.key, PROGRESS, after, found.version), *more)
                return

    def key(self, kind: str, sort: str) -> Key:
        """Where a document of that kind lies."""
        return Key(f"contest#{self._name}#{kind}", sort)

    def under(self, kind: str) -> Iterator[Document]:
        """Yield all documents of a kind in order."""
        return all_under(self.documents, f"contest#{self._name}#{kind}")


def all_under(keep: Keep, partition: str) -> Iterator[Document]:
    """Yield all documents of a partition in order."""
    found = keep.range(partition, most=_PAGE)
    yield from found
    while len(found) == _PAGE:
        found = keep.range(partition, found[-1].key.sort, _PAGE)
        yield from found


def put_of(key: Key, kind: TypeAdapter[Any], value: object, expected: int | None = None) -> Put:
    """What writes a value as a document of that kind."""
    return Put(key, kind.dump_python(value, mode="json"), expected)


def _player(team: Entrant) -> Put:
    """What the arena's book has of a team."""
    return Put(Key(PLAYERS, team.id), {"name": team.name, "ha1": team.ha1}, None)
