"""What went wrong with the teams that are played for: told to the organiser, and to the team."""

from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import TypeAdapter

from cardsharp.contest.pairing import Team
from cardsharp.contest.records import Records
from cardsharp.contest.roster import put_of

KEPT, LONGEST = 20, 500
"""How many faults of a team are kept with their text, and characters of one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One, in a sentence."""

    at: datetime
    what: str


@dataclass(frozen=True, slots=True)
class Faults:
    """Those of a team: how many there were, and the last ones, the newest first."""

    count: int = 0
    last: tuple[Fault, ...] = ()


_FAULTS = TypeAdapter(Faults)


def faults(records: Records) -> dict[Team, Faults]:
    """The faults of all teams that have any."""
    return {one.key.sort: _FAULTS.validate_python(one.body) for one in records.under("fault")}


def note_fault(records: Records, team: Team, what: str, at: datetime) -> None:
    """Keep one more fault of a team."""
    before = faults(records).get(team, Faults())
    last = (Fault(at, what[:LONGEST]), *before.last)[:KEPT]
    after = replace(before, count=before.count + 1, last=last)
    records.documents.commit(put_of(records.key("fault", team), _FAULTS, after))
