"""A stored match as a page needs it: steps in words, what each changed, and its branches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property

from markupsafe import Markup

from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.game import Game
from cardsharp.games import game as game_called
from cardsharp.replay import Branch, Header, Outcome, Step, header_of, outcome_of
from cardsharp.viewer.board import Board

_PAIR = 2  # sides of a game of partners


@dataclass(frozen=True, slots=True)
class Frame:
    """A step, and those parts of the drawn table that it changed."""

    step: Step
    who: str
    parts: Mapping[str, Markup]

    @property
    def happened(self) -> str:
        """What happened, without the name of who did it, which some games say first."""
        return self.step.happened.removeprefix(f"{self.who}: ").removeprefix(f"{self.who} ")


@dataclass(frozen=True, eq=False)
class DrawnMatch:
    """A match with its moves, of a game whose table can be drawn."""

    record: MatchRecord
    moves: Sequence[MoveRecord]
    game: Game
    board: Board

    @cached_property
    def header(self) -> Header:
        """Who plays."""
        return header_of(self.record)

    @cached_property
    def outcome(self) -> Outcome | None:
        """How it ended, None while it runs."""
        return outcome_of(self.record)

    @property
    def over(self) -> bool:
        """Whether nothing can happen any more."""
        return self.record.status is Status.FINISHED

    @property
    def names(self) -> tuple[str, ...]:
        """What the sides are called."""
        return sides(self.header)

    @cached_property
    def frames(self) -> list[Frame]:
        """Its steps in order; raises `StoreError` if a move cannot be read."""
        frames: list[Frame] = []
        known: dict[str, Markup] = {}
        replay = self.game.replay
        for step in () if replay is None else replay.load()(self.record, self.moves):
            drawn = self.board.parts(self.header, step)
            parts = {
                name: part
                for name, part in drawn.items()
                if part is not None and part != known.get(name)
            }
            known |= parts
            who = self.header.name(step.seat) if step.seat is not None else ""
            frames.append(Frame(step, who, parts))
        return frames

    @cached_property
    def times(self) -> list[str]:
        """When each step was made, in UTC, and after how many seconds; "" where nobody tells."""
        moments = [frame.step.at for frame in self.frames]
        if len({*moments} - {None}) < _PAIR:  # of a match that took no time
            return [""] * len(moments)
        return [_timed(at, before) for at, before in zip(moments, [None, *moments], strict=False)]

    def table(self, number: int) -> dict[str, Markup]:
        """The whole table after the step of that number, which counts from 0."""
        drawn: dict[str, Markup] = {}
        for frame in self.frames[: number + 1]:
            drawn |= frame.parts
        return drawn


def _timed(at: datetime | None, before: datetime | None) -> str:
    if at is None:
        return ""
    took = "" if before is None else f", {(at - before).total_seconds():.1f} s"
    return f"{at.astimezone(UTC):%H:%M:%S}{took}"


def sides(header: Header) -> tuple[str, ...]:
    """What the players are called, of partners who play as one the name that both have."""
    alike = tuple(dict.fromkeys(header.players))
    return alike if _PAIR == len(alike) < len(header.players) else header.names or header.players


def shown(record: MatchRecord, moves: Sequence[MoveRecord], *, public: bool = False) -> DrawnMatch:
    """The match for a page; of a `public` one nothing but what everybody at the table sees.

    Raises `ConfigError` if matches of its game cannot be drawn, `Malformed` if no such game is
    mounted, `StoreError` if the header cannot be read.
    """
    game = game_called(header_of(record).game)
    if game.replay is None or game.board is None:
        raise ConfigError(f"Matches of {game.title} cannot be drawn yet.")
    seen = [replace(move, intent=None) for move in moves] if public else list(moves)
    told = [move for move in seen if move.facts is not None or move.intent is not None]
    return DrawnMatch(record if public else _named(record), told, game, game.board.load())


def _named(record: MatchRecord) -> MatchRecord:
    """The match between strategies, where we know both: the names of their seats say nothing."""
    header = header_of(record)
    if header.opponent is None or len(header.names) != _PAIR:
        return record
    names = [header.seats.get(seat, header.opponent) for seat in range(_PAIR)]
    return replace(record, header={**record.header, "names": names})


DEEPEST = 8  # branches of branches of branches that are shown
Drawn = Callable[[str], DrawnMatch | None]  # the match of that id, where there is one
BranchesOf = Callable[[str], Sequence[str]]  # the matches that are branches of that one


@dataclass(frozen=True, slots=True)
class DrawnBranch:
    """A branch with what was done where it begins, and with its own branches."""

    match: DrawnMatch
    branch: Branch
    did: str
    end: str
    branches: Sequence["DrawnBranch"] = field(default=())


def branches_of(match_id: str, ids: BranchesOf, drawn: Drawn) -> list[DrawnBranch]:
    """The branches of a match, the earliest step first; those that cannot be read are left out."""
    return sorted(_branches(match_id, ids, drawn, DEEPEST), key=lambda one: one.branch.step)


def _branches(match_id: str, ids: BranchesOf, drawn: Drawn, left: int) -> Iterator[DrawnBranch]:
    for found in ids(match_id) if left else ():
        try:
            match = drawn(found)
            branch = None if match is None else match.header.branch
            if match is None or branch is None or len(match.frames) < branch.step:
                continue
        except CardsharpError:
            continue
        first, own = match.frames[branch.step - 1], _branches(found, ids, drawn, left - 1)
        did = f"{first.who} {first.happened}".strip()
        end = match.outcome
        scores = " : ".join(map(str, (end and end.scores) or ()))
        ended = "" if end is None else f"{end.result} {scores}".strip()
        yield DrawnBranch(match, branch, did, ended, list(own))


def every(branches: Sequence[DrawnBranch]) -> Iterator[DrawnBranch]:
    """All of them, and theirs."""
    for one in branches:
        yield one
        yield from every(one.branches)
