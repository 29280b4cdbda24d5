"""What a contest keeps of its teams, and how far it is: the lower half of its records."""

import secrets
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from pydantic import TypeAdapter

from cardsharp.access import LONGEST_NAME, ha1
from cardsharp.contest.entries import Entrant, Settings, Stage
from cardsharp.contest.pairing import Team
from cardsharp.errors import ConfigError, Conflict
from cardsharp.keep.port import MOST_CHANGES, Change, Delete, Document, Keep, Key, Put, is_done


def check_name(name: str, others: Iterable[Entrant]) -> None:
    """Raise `ConfigError` where no team can be called so beside those others."""
    if not name.strip() or len(name) > LONGEST_NAME:
        raise ConfigError(f"A team's name has 1 to {LONGEST_NAME} characters, and is not empty.")
    if not name.isprintable() or name != name.strip():
        raise ConfigError(
            f"The team's name {name!r} has characters that nobody sees, or blanks around it; "
            "leave them out, so that no two names look alike."
        )
    alike = next((other.name for other in others if _seen(other.name) == _seen(name)), None)
    if alike is not None:
        raise ConfigError(f"There is a team called {alike} already.")


def new_password() -> str:
    """A password of 128 bits, in characters that every command line takes."""
    return secrets.token_hex(16)


def _seen(name: str) -> str:
    """A name as people tell names apart: capitals, widths and ligatures make no other one."""
    return unicodedata.normalize("NFKC", name).casefold()


@dataclass(frozen=True, slots=True)
class Progress:
    """A contest's settings, and how far it is; `entered` and `ruled` count for ever.

    Matches of practice begin until the moment `practice`; None where none of them is left.
    """

    settings: Settings
    stage: Stage = Stage.OPEN
    paused: bool = False
    entered: int = 0
    ruled: int = 0
    practice: datetime | None = None


PROGRESS = TypeAdapter(Progress)
_TEAM = TypeAdapter(Entrant)

CONTESTS, PLAYERS = "contests", "players"  # of all contests, and of a cloud arena's players

_PAGE = 1000


class Roster:
    """The settings of one contest, how far it is and its teams, kept as `records` says.

    It is let go of at the end of a `with`. Raises `ConfigError` if there is none of that name;
    every method raises `StoreError` where its keep fails.
    """

    def __init__(self, keep: Keep, name: str) -> None:
        self.documents, self._name = keep, name
        self.settings = self._progress.settings

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
        return self._progress.stage

    @property
    def practises_until(self) -> datetime | None:
        """Until when matches of practice begin; None where it is over, and none of them runs."""
        return self._progress.practice

    def practise(self, until: datetime | None) -> None:
        """Let matches of practice begin until that moment; None says that none is left."""
        self._change(lambda one: replace(one, practice=until))

    def begin(self) -> None:
        """Let the contest begin, if it has not; from now on no team is removed."""
        self._change(
            lambda one: replace(one, stage=Stage.BEGUN) if one.stage is Stage.OPEN else one
        )

    def end(self, ruled: int) -> None:
        """Let the contest be over, unless more than `ruled` rulings were made in it."""
        self._change(lambda one: replace(one, stage=Stage.OVER) if one.ruled <= ruled else one)

    def teams(self) -> list[Entrant]:
        """The teams, the best seed first."""
        found = sorted(self.under("team"), key=lambda one: int(str(one.body["seed"])))
        return [_TEAM.validate_python(one.body) for one in found]

    def add(self, team: Entrant) -> None:
        """Enter a team as the last seed; raises `Conflict` if its name is taken, or it is late."""
        found, progress = self._found()
        if team.name in {one.name for one in self.teams()}:
            raise Conflict("The name is taken.")
        seed = progress.entered + 1
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
        found, progress = self._found()
        team, document = self._team(name)
        player = self.documents.get(Key(PLAYERS, team.id))
        gone = [one for one in (document, player) if one is not None]
        changes: list[Change] = [Delete(one.key, one.version) for one in gone]
        changes.append(Put(self.key("gone", team.id), {"name": team.name}, None))
        self._change_teams(found, progress.entered + 1, *changes)

    def names(self) -> dict[Team, str]:
        """The names of all teams, also of those that were removed after they had practised."""
        gone = {one.key.sort: str(one.body["name"]) for one in self.under("gone")}
        return gone | {team.id: team.name for team in self.teams()}

    def seed(self, order: Sequence[Team]) -> None:
        """Let the teams be seeded in this order of all their ids, before the contest has begun."""
        self._refuse_once_begun()
        found, progress = self._found()
        teams = {team.id: team for team in self.teams()}
        places = enumerate(order, progress.entered + 1)
        puts = [self._put_team(teams[team], place, None) for place, team in places]
        self._change_teams(found, progress.entered + len(order), *puts)

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

    @property
    def ruled(self) -> int:
        """How many acts of organisers there were."""
        return self._progress.ruled

    @property
    def paused(self) -> bool:
        """Whether no match is to begin."""
        return self._progress.paused

    def pause(self, *, on: bool) -> None:
        """Let no match begin, or let them begin again."""
        self._change(lambda one: replace(one, paused=on))

    def write(self, changes: Sequence[Change]) -> None:
        """Make changes of any number, which may be seen before all of them are made."""
        for first in range(0, len(changes), MOST_CHANGES):
            self.documents.commit(*changes[first : first + MOST_CHANGES])

    def _found(self) -> tuple[Document, Progress]:
        """The contest's own document, and what it says."""
        found = self.documents.get(Key(CONTESTS, self._name))
        if found is None:
            raise ConfigError(
                f"There is no contest {self._name}; `cardsharp contest new` founds one."
            )
        return found, PROGRESS.validate_python(found.body)

    @property
    def _progress(self) -> Progress:
        return self._found()[1]

    def _change(self, change: Callable[[Progress], Progress]) -> None:
        """Write what a change makes of the progress as it is now, however many write at once."""
        while True:
            found, before = self._found()
            after = change(before)
            put = put_of(found.key, PROGRESS, after, found.version)
            if after == before or is_done(self.documents, put):
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
    """What the arena's book has of a team; by its strategy an arena in the cloud plays it."""
    strategy = {} if team.strategy is None else {"strategy": team.strategy}
    return Put(Key(PLAYERS, team.id), {"name": team.name, "ha1": team.ha1, **strategy}, None)
