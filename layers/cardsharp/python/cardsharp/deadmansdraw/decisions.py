"""The decisions of a stored match, as positions that can be decided again.

They are worked out from the moves alone, as a bot at the table does it, so those of both players
are found, also in a match that somebody else has recorded.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.deadmansdraw.events import Drawn, EffectAnswered, Event, TurnEnded, TurnStarted
from cardsharp.deadmansdraw.logbook import position_body
from cardsharp.deadmansdraw.position import Observer, PastMove, Position
from cardsharp.deadmansdraw.replay import EventStep, position_of, turns_of
from cardsharp.errors import ConfigError
from cardsharp.replay import Asked, Thought

StepLook = tuple[EventStep, Position | None, Action | None]
"""A step, the position of who made it, and the action; None for what is not known."""


def decisions(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
    """Every decision of either player, in order.

    One whose position the log has otherwise is left out: its match did not begin as all do. Raises
    `ConfigError` if the match says so itself, and `StoreError` if a move of the log cannot be read.
    """
    if "opening" in record.header:
        raise ConfigError(
            f"Match {record.match_id} began with cards of its own, not as all do: what its players "
            "knew is not told."
        )
    for step, position, action in looks(moves):
        if position is None or action is None:
            continue
        seen = Thought(
            seat=step.seat, turn=step.turn, action=str(action), position=position_body(position)
        )
        thought = step.ours or seen
        if position_of(thought) == position_of(seen):
            yield asked(step, position, thought)


def asked(step: EventStep, position: Position, thought: Thought) -> Asked:
    """That step with what was thought in a position, and what was legal there."""
    legal = {one: str(one) for one in position.legal_actions()}
    return Asked(replace(step, ours=thought), position, legal)


def looks(moves: Sequence[MoveRecord]) -> Iterator[StepLook]:
    """The steps of a match with what was seen at each, as far as told; raises `StoreError`."""
    seen, history = Observer(), tuple[PastMove, ...]()
    steps = (step for turn in turns_of(moves) for step in turn.steps)
    for step, move in zip(steps, moves, strict=True):
        if move.facts is None:
            return
        position = None if step.seat is None else seen.position(step.seat, step.turn, history)
        yield step, position, action_of(step.events)
        seen.see_move(step.move)
        history = (*history, step.move)


def action_of(events: Iterable[Event]) -> Action | None:
    """The action of a player that made these events, None where nobody's did."""
    first = next((event for event in events if not isinstance(event, TurnStarted)), None)
    match first:
        case Drawn():
            return DRAW
        case TurnEnded():
            return END_TURN
        case EffectAnswered(effect, card) if isinstance(effect, EffectType):
            return respond(effect, card)
    return None
