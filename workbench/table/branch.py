"""A branch: another course of a stored match, from one of its decisions on; those of our log."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any

from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.errors import ConfigError, StoreError
from cardsharp.game import Game
from cardsharp.registry import strategies_of
from cardsharp.replay import Branch, Restored, Step, fault_of, header_of, outcome_of
from cardsharp.viewer.site import Manner
from workbench.lab.extras import Taken
from workbench.lab.plan import AnySimulation, simulated
from workbench.show.lookup import game_of, open_to_read, store_or_default
from workbench.watch.sources import opened, source_of

_log = logging.getLogger(__name__)

Kept = tuple[MatchRecord, list[MoveRecord]]


@dataclass(frozen=True)
class BranchPoint:
    """A decision of a stored match: `seat` decides again what was done in `step`.

    The cards come as they came there (`same`) or are dealt anew out of those that whoever decides
    did not know.
    """

    record: MatchRecord
    moves: Sequence[MoveRecord]
    game: Game
    simulation: AnySimulation
    steps: Sequence[Step]  # those before, and at last that of the decision
    seat: int
    same: bool

    @property
    def step(self) -> Step:
        """In which it was decided."""
        return self.steps[-1]

    @property
    def number(self) -> int:
        """The number of that step, counted from 1."""
        return len(self.steps)

    def opening(self, dice: Random) -> tuple[list[Taken], Any]:
        """What was done before, and the state in which it is decided, as far as that is told."""
        before: list[Taken] = []
        for one in _restored(self.game, self.record, self.moves, dice):
            if one.sequence == self.step.sequence:
                state = one.state if self.same else self.simulation.disguised(one.state, dice)
                return before, state
            before.append(Taken(one.state, one.action, None))
        raise ConfigError(f"Step {self.number} of match {self.record.match_id} is not there.")

    def player(self, seat: int) -> str | None:
        """The strategy that played a seat, where it is one that everybody has."""
        header = header_of(self.record)
        ours = header.seats.get(seat)
        there = strategies_of(self.game.strategies).names()
        told = (ours, header.name(seat), None if ours else header.opponent)
        return next((name for name in told if name in there), None)

    @property
    def told(self) -> str:
        """What whoever plays on is told."""
        cards = "The same cards come" if self.same else "What you did not know is dealt anew"
        return f"Step {self.number} of {self.record.match_id}, then: {self.step.happened}. {cards}."

    def kept(self, parts: Sequence[Kept]) -> list[Kept]:
        """The parts of a match that began here, for the log: tagged, the first with its branch."""
        (record, moves), *others = parts
        branch = Branch(of=self.record.match_id, step=self.number, same=self.same)
        opening = {n: part for n, part in self.record.header.items() if n == "opening"}
        tags = ["branch", f"{branch.of}@{branch.step}", *(["same-cards"] if self.same else [])]
        more = {"branch": branch.model_dump(), "tags": tags, **opening}
        # Of others' reasons some would tell cards that were dealt anew.
        own = {s.sequence for s in self.steps[:-1] if self.same or s.seat == self.step.seat}
        reasons = {m.sequence: m.intent for m in self.moves if m.sequence in own}
        marked = [replace(m, intent=reasons.get(m.sequence, m.intent)) for m in moves]
        rest = [(replace(r, header={**r.header, "tags": tags}), told) for r, told in others]
        return [(replace(record, header={**record.header, **more}), marked), *rest]


def branch_point(
    record: MatchRecord, moves: Sequence[MoveRecord], number: int = 1, *, same: bool = False
) -> BranchPoint:
    """The first known decision at or after that step, from 1; or `ConfigError`, `StoreError`."""
    game = game_of(record)
    if same and record.status is not Status.FINISHED:
        raise ConfigError(f"Match {record.match_id} is not over: what comes is not to be known.")
    if game.replay is None:
        raise ConfigError(f"Matches of {game.title} are not kept.")
    steps = list(game.replay.load()(record, moves))
    places = {step.sequence: place for place, step in enumerate(steps, 1)}
    for one in _restored(game, record, moves, Random(0)):
        place = places[one.sequence]
        if one.action is not None and place >= number:
            outcome, names = outcome_of(record), header_of(record).names
            seats = max(len(names), 0 if outcome is None else len(outcome.names))
            simulation = simulated(game, seats or None)
            seat = simulation.to_act(one.state)
            if seat is not None:
                return BranchPoint(record, moves, game, simulation, steps[:place], seat, same)
    raise ConfigError(
        f"Nothing that is known was decided in match {record.match_id} from step {number} on; it "
        f"has {len(steps)} steps."
    )


def point_named(word: str, game: Game | None, *, same: bool = False) -> BranchPoint:
    """The decision that `MATCH@STEP` means, or the first; or `ConfigError` or `StoreError`."""
    match, at, step = word.rpartition("@")
    named, number = (match, int(step)) if at and step.isdecimal() else (word, 1)
    found = opened(named, None, game)
    return branch_point(found.record, found.moves, number, same=same)


def _restored(
    game: Game, record: MatchRecord, moves: Sequence[MoveRecord], dice: Random
) -> Iterable[Restored]:
    if game.restore is None:
        raise ConfigError(f"Nothing can be tried from within a match of {game.title}.")
    return game.restore.load()(record, moves, dice)


_NEWEST = 5000  # matches of the log among which branches are looked for
_FRESH = 50  # of the newest so many one is new where anything is


def branches_in_log(match_id: str) -> Sequence[MatchRecord]:
    """The branches of a match, the first played first."""
    try:
        with open_to_read(None) as log:
            fresh = tuple((one.match_id, one.beat) for one in log.matches(limit=_FRESH))
        return _branches(store_or_default(), fresh).get(match_id, [])
    except ConfigError:  # nothing was kept yet
        return []
    except StoreError as error:  # the match itself may lie elsewhere, and is shown
        _log.warning("Branches of match %s cannot be listed: %s", match_id, error)
        return []


@lru_cache(maxsize=1)
def _branches(_store: str, _fresh: tuple[object, ...]) -> Mapping[str, list[MatchRecord]]:
    """All branches of the log, by what they are branches of; kept until there is a new match."""
    found: dict[str, list[MatchRecord]] = {}
    with open_to_read(None) as log:
        for one in reversed(log.matches(limit=_NEWEST)):
            if "branch" in one.header and fault_of(one) is None:
                branch = header_of(one).branch
                found.setdefault(branch.of if branch else "", []).append(one)
    return found


def with_branches(manner: Manner) -> Manner:
    """The same where branches are listed under their matches."""

    def ids(match_id: str) -> list[str]:
        return [one.match_id for one in branches_in_log(match_id)]

    return replace(manner, behind=source_of(None), branches=ids)
