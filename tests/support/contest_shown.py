"""An arena that shows a contest, for tests of its page."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from cardsharp.contest.facts import Facts
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.records import Records
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.contest.page_routes import ContestPages
from support.arena import ADMIN_PASSWORD, HandClock
from support.contests import held, practised
from workbench.arena.server import ArenaServer


@dataclass(frozen=True)
class Show:
    """An arena that shows a contest, one match of which runs unless it is over."""

    arena: ArenaServer
    records: Records
    clock: HandClock
    match: str

    @property
    def address(self) -> str:
        return f"{self.arena.url}/contest"

    def late(self) -> None:
        """The turn of the match runs out of time, and spectators are answered anew."""
        self.clock.turn(timedelta(seconds=9))
        self.arena.end_overdue_turns()

    def decide(self) -> None:
        """The pairing of the match is won by its first team, and nothing runs any more."""
        results = self.records.results()
        (at,) = (at for at, one in enumerate(results) if self.match in one.matches)
        won = Facts((40, 30), 0, 61.0, 20, (1, 2), (0, 0))
        winner = results[at].teams[0]
        results[at] = replace(
            results[at], facts=(won,), wins=(1, 0), winner=winner, decided=True, ruled="it was late"
        )
        self.records.keep(results)
        self.clock.turn(timedelta(seconds=9))


def contest_shown(
    folder: Path, names: Sequence[str], decided: int | None, practice: int = 0
) -> Iterator[Show]:
    """A contest of which so many pairings are decided, None for all, in rounds of one match."""
    records, _ = held(folder / "cup", names, decided)
    if practice:
        practised(records, practice)
    players = [{"_id": one.id, "name": one.name, "ha1": one.ha1} for one in records.teams()]
    (folder / "players.json").write_text(json.dumps(players))
    clock = HandClock()
    config = ArenaConfig(
        players=folder / "players.json", clock=clock, public=True, admin_password=ADMIN_PASSWORD
    )
    with ArenaServer(config, ContestPages(lambda: ContestsKept(records.documents))) as arena:
        yield Show(arena, records, clock, _begun(arena, records))
    records.close()


def _begun(arena: ArenaServer, records: Records) -> str:
    """The id of a match of the first pairing that is not decided, which begins; else nothing."""
    results = [replace(one, matches=one.matches[: len(one.facts)]) for one in records.results()]
    at = next((at for at, one in enumerate(results) if not one.decided), None)
    if at is None:
        return ""
    tags = (f"cup_Round{results[at].round}", "cup")
    match = arena.create_match(results[at].teams, tags=tags, timeout=timedelta(seconds=7))
    results[at] = replace(results[at], facts=(), matches=(match,))
    records.keep(results)
    return match
