"""A stored match of a hosted game: its turns, what decides them again, and how it is drawn."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from markupsafe import Markup

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.errors import StoreError
from cardsharp.game import Decisions, Restore
from cardsharp.host.house import House, house
from cardsharp.host.wire import MoveBody
from cardsharp.replay import Asked, Header, Restored, Step, Thought, parse
from cardsharp.viewer.board import NOTHING, Board, Parts

_TRIES = 20_000  # deals among which one is looked for that a match can have begun with


def decisions_of(folder: str) -> Decisions:
    """What finds their decisions."""
    return partial(_decisions, house(folder))


def restore_of(folder: str) -> Restore:
    """What plays them again."""
    return partial(_restored, house(folder))


def board_of(folder: str) -> Board:
    """How the table of the game in a folder is drawn on a page: by the lines of its drawing."""
    game = house(folder)
    positions = game.codec.positions

    def parts(_header: Header, step: Step) -> Parts:
        return seen((), 0, positions.load(step.state)) if step.state else {"middle": NOTHING}

    def seen(_names: Sequence[str], _you: int, position: Any) -> Parts:  # noqa: ANN401 - any game's
        rows = (Markup("<p>{}</p>").format(row) for row in game.drawing.rows(position))
        return {"middle": NOTHING.join(rows)}

    return Board({}, parts, seen)


def steps(_record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Step]:
    """The steps of a game; a move that the service has not told yet is not there."""
    for move in moves:
        if move.facts is not None:
            told = MoveBody.model_validate(move.facts)
            ours = None if move.intent is None else parse(Thought, move.intent)
            yield Step(
                sequence=move.sequence,
                turn=move.sequence + 1,
                seat=told.seat,
                happened=f"{told.player}: {told.words}",
                state=told.left or {},
                ours=ours if ours is not None and ours.action == told.words else None,
            )


def _decisions(game: House, record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
    """Every decision whose position is told: ours, and everybody's once the game has ended."""
    rules, outcome = game.rules(), record.outcome or {}
    shown: Any = outcome.get("shown") or [None] * len(moves)
    told = [MoveBody.model_validate(move.facts) for move in moves if move.facts is not None]
    for step, move in zip(steps(record, moves), told, strict=True):
        seen = move.seen if move.seen is not None else shown[step.sequence]
        if seen is not None:
            position = game.codec.positions.load(seen)
            thought = step.ours or Thought(seat=move.seat, turn=step.turn, action=move.words)
            options = {one: str(one) for one in rules.options(position)}
            yield Asked(replace(step, ours=thought), position, options)


def _restored(
    game: House, record: MatchRecord, moves: Sequence[MoveRecord], dice: Random
) -> Iterator[Restored]:
    """The states of a match that leads to told positions; raises `StoreError` if no deal does."""
    told = [MoveBody.model_validate(move.facts) for move in moves if move.facts is not None]
    known = {one.step.sequence: one.position for one in _decisions(game, record, moves)}
    rules, actions = game.rules(), [game.codec.actions.load(move.action) for move in told]
    for _ in range(_TRIES):
        states = [rules.deal(dice)]
        for number, action in enumerate(actions):
            position = rules.position(states[-1])
            if position != known.get(number, position) or action not in rules.options(position):
                break
            states.append(rules.apply(states[-1], action, dice))
        else:
            return map(Restored, range(len(actions)), states, actions)
    raise StoreError(f"No deal was found that leads to the match {record.match_id}.")
