"""A stored match as a page needs it: steps in words, what each changed, and its branches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property

from markupsafe import Markup

from cardsharp.analysis.action_labels import LabelAction, action_labels, label_decision
from cardsharp.analysis.judged_match import SIDE_COUNT
from cardsharp.analysis.replay import (
    BranchOrigin,
    Header,
    Outcome,
    ReplayStep,
    header_of,
    outcome_of,
)
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.pages.board_renderer import BoardRenderer
from cardsharp.play.catalog import get_game as game_called
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchRecord, MatchStatus, MoveRecord


@dataclass(frozen=True, slots=True)
class RenderedStep:
    """A step, and those parts of the drawn table that it changed."""

    step: ReplayStep
    player_name: str
    changed_parts: Mapping[str, Markup]

    @property
    def description_without_player(self) -> str:
        """Text of the step without the name of the player, which some games put first."""
        return self.step.description_without(self.player_name)


@dataclass(frozen=True, eq=False)
class RenderedMatch:
    """A match with its moves, of a game with a board renderer."""

    record: MatchRecord
    moves: Sequence[MoveRecord]
    game: Game
    renderer: BoardRenderer

    @cached_property
    def header(self) -> Header:
        """Header of the match with its players."""
        return header_of(self.record)

    @cached_property
    def outcome(self) -> Outcome | None:
        """Outcome of the match, None while it runs."""
        return outcome_of(self.record)

    @property
    def is_over(self) -> bool:
        """True if the match is finished."""
        return self.record.status is MatchStatus.FINISHED

    @property
    def side_names(self) -> tuple[str, ...]:
        """Names of the sides."""
        return self.header.side_names

    @cached_property
    def steps(self) -> list[RenderedStep]:
        """Steps in order; raises `StoreError` if a move cannot be read."""
        frames: list[RenderedStep] = []
        current_parts: dict[str, Markup] = {}
        replay, label = self.game.replay, action_labels(self.game)
        for step in () if replay is None else replay.load()(self.record, self.moves):
            board_parts = self.renderer.render_step(self.header, step)
            parts = {
                name: part
                for name, part in board_parts.items()
                if part is not None and part != current_parts.get(name)
            }
            current_parts |= parts
            player_name = self.header.player_name(step.seat) if step.seat is not None else ""
            frames.append(RenderedStep(_label_step(step, label), player_name, parts))
        return frames

    @cached_property
    def step_times(self) -> list[str]:
        """UTC time of each step and the seconds since the last one; "" if not recorded."""
        moments = [frame.step.played_at for frame in self.steps]
        if len({*moments} - {None}) < SIDE_COUNT:  # of a match that took no time
            return [""] * len(moments)
        return [
            _format_step_time(at, previous)
            for at, previous in zip(moments, [None, *moments], strict=False)
        ]

    def board_at(self, step_number: int) -> dict[str, Markup]:
        """Return the full board after the step of this number, counted from 0."""
        board: dict[str, Markup] = {}
        for frame in self.steps[: step_number + 1]:
            board |= frame.changed_parts
        return board


def _label_step(step: ReplayStep, label: LabelAction) -> ReplayStep:
    """Return the step with the names that its actions have at the table."""
    if step.decision is None:
        return step
    return replace(step, decision=label_decision(step.decision, label))


def _format_step_time(at: datetime | None, previous: datetime | None) -> str:
    if at is None:
        return ""
    took = "" if previous is None else f", {(at - previous).total_seconds():.1f} s"
    return f"{at.astimezone(UTC):%H:%M:%S}{took}"


def render_match(
    record: MatchRecord, moves: Sequence[MoveRecord], *, hide_private: bool = False
) -> RenderedMatch:
    """Return the match for a page.

    With `hide_private` it has only what all players at the table see. Raises `ConfigError` if
    matches of its game cannot be drawn, `InvalidInput` if its game is not installed,
    `StoreError` if the header cannot be read.
    """
    game = game_called(header_of(record).game)
    if game.replay is None or game.board_renderer is None:
        raise ConfigError(f"Matches of {game.title} cannot be drawn yet.")
    public_moves = [replace(move, intent=None) for move in moves] if hide_private else list(moves)
    visible_moves = [
        move for move in public_moves if move.facts is not None or move.intent is not None
    ]
    return RenderedMatch(
        record if hide_private else _name_players_by_strategy(record),
        visible_moves,
        game,
        game.board_renderer.load(),
    )


def _name_players_by_strategy(record: MatchRecord) -> MatchRecord:
    """Return the match with its strategies as player names, if both are recorded.

    The names of the seats tell a reader nothing.
    """
    header = header_of(record)
    if header.opponent is None or len(header.names) != SIDE_COUNT:
        return record
    names = [header.seats.get(seat, header.opponent) for seat in range(SIDE_COUNT)]
    return replace(record, header={**record.header, "names": names})


MAX_BRANCH_DEPTH = 8  # branches of branches of branches that are shown
RenderMatch = Callable[[str], RenderedMatch | None]  # the match of that id, where there is one
BranchIds = Callable[[str], Sequence[str]]  # the matches that are branches of that one


@dataclass(frozen=True, slots=True)
class RenderedBranch:
    """A branch with the action and result that tell it apart, and with its sub-branches."""

    match: RenderedMatch
    branch: BranchOrigin
    action_text: str
    result_text: str
    branches: Sequence["RenderedBranch"] = field(default=())


def render_branches(match_id: str, ids: BranchIds, render: RenderMatch) -> list[RenderedBranch]:
    """The branches of a match, the earliest step first; those that cannot be read are left out."""
    return sorted(
        _iter_branches(match_id, ids, render, MAX_BRANCH_DEPTH),
        key=lambda rendered: rendered.branch.step,
    )


def _iter_branches(
    match_id: str, find_branch_ids: BranchIds, render: RenderMatch, remaining_depth: int
) -> Iterator[RenderedBranch]:
    for branch_id in find_branch_ids(match_id) if remaining_depth else ():
        try:
            match = render(branch_id)
            branch = None if match is None else match.header.branch
            if match is None or branch is None or len(match.steps) < branch.step:
                continue
        except CardsharpError:
            continue
        first_step, sub_branches = (
            match.steps[branch.step - 1],
            _iter_branches(branch_id, find_branch_ids, render, remaining_depth - 1),
        )
        did = f"{first_step.player_name} {first_step.description_without_player}".strip()
        end = match.outcome
        scores = " : ".join(map(str, (end and end.scores) or ()))
        result_text = "" if end is None else f"{end.result} {scores}".strip()
        yield RenderedBranch(match, branch, did, result_text, list(sub_branches))


def flatten_branches(branches: Sequence[RenderedBranch]) -> Iterator[RenderedBranch]:
    """Yield all branches, each followed by its sub-branches."""
    for branch in branches:
        yield branch
        yield from flatten_branches(branch.branches)
