"""A stored match of a hosted game: its steps, decisions and states, and its board renderer."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from markupsafe import Markup

from cardsharp.analysis.replay import (
    DecisionPoint,
    Header,
    ReplayStep,
    RestoredState,
    StoredDecision,
    parse_record,
)
from cardsharp.errors import StoreError
from cardsharp.pages.board_renderer import EMPTY_MARKUP, BoardParts, BoardRenderer
from cardsharp.pages.table_parts import NO_ACTIONS, TableActions
from cardsharp.play.game import ListDecisions, RestoreStates
from cardsharp.server.hosted.hosted_game import HostedGame, load_hosted_game
from cardsharp.server.hosted.wire import HostedPastMoveBody
from cardsharp.store.match_log import MatchRecord, MoveRecord

_MAX_DEAL_ATTEMPTS = 20_000  # deals among which one is looked for that a match can have begun with


def decisions_lister(package: str) -> ListDecisions:
    """Return the function that lists the decisions of a stored match."""
    return partial(_iter_decision_points, load_hosted_game(package))


def state_restorer(package: str) -> RestoreStates:
    """Return the function that restores the states of a stored match."""
    return partial(_restore_states, load_hosted_game(package))


def board_renderer_for(package: str) -> BoardRenderer:
    """Return the board renderer of a game, which shows the lines of its text renderer."""
    game = load_hosted_game(package)
    positions = game.json_codecs.positions

    def parts(_header: Header, step: ReplayStep) -> BoardParts:
        return (
            render_position((), 0, positions.load(step.public_state), NO_ACTIONS)
            if step.public_state
            else {"middle": EMPTY_MARKUP}
        )

    def render_position(
        _names: Sequence[str],
        _you: int,
        position: Any,  # noqa: ANN401 - any game's
        _actions: TableActions,
    ) -> BoardParts:
        rows = (Markup("<p>{}</p>").format(row) for row in game.text_renderer.lines(position))
        return {"middle": EMPTY_MARKUP.join(rows)}

    return BoardRenderer({}, parts, render_position)


def replay_steps(_record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[ReplayStep]:
    """Yield the steps of a game; moves that the service has not reported yet are left out."""
    for move in moves:
        if move.facts is not None:
            body = HostedPastMoveBody.model_validate(move.facts)
            decision = None if move.intent is None else parse_record(StoredDecision, move.intent)
            yield ReplayStep(
                sequence=move.sequence,
                turn=move.sequence + 1,
                seat=body.seat,
                description=f"{body.player}: {body.words}",
                public_state=body.left or {},
                decision=decision
                if decision is not None and decision.action == body.words
                else None,
            )


def _iter_decision_points(
    game: HostedGame, record: MatchRecord, moves: Sequence[MoveRecord]
) -> Iterator[DecisionPoint]:
    """Yield every decision with a recorded position.

    During the match these are our own decisions; after the end they are those of all players.
    """
    rules, outcome = game.build_rules(), record.outcome or {}
    revealed_positions: Any = outcome.get("shown") or [None] * len(moves)
    move_bodies = [
        HostedPastMoveBody.model_validate(move.facts) for move in moves if move.facts is not None
    ]
    for step, move in zip(replay_steps(record, moves), move_bodies, strict=True):
        position_body = move.seen if move.seen is not None else revealed_positions[step.sequence]
        if position_body is not None:
            position = game.json_codecs.positions.load(position_body)
            thought = step.decision or StoredDecision(
                seat=move.seat, turn=step.turn, action=move.words
            )
            options = {action: str(action) for action in rules.legal_actions_in(position)}
            yield DecisionPoint(replace(step, decision=thought), position, options)


def _restore_states(
    game: HostedGame, record: MatchRecord, moves: Sequence[MoveRecord], dice: Random
) -> Iterator[RestoredState]:
    """Return the states of a match, consistent with all recorded positions.

    Deals are tried at random. Raise `StoreError` if none leads to the match.
    """
    move_bodies = [
        HostedPastMoveBody.model_validate(move.facts) for move in moves if move.facts is not None
    ]
    positions = {
        point.step.sequence: point.position for point in _iter_decision_points(game, record, moves)
    }
    rules, actions = (
        game.build_rules(),
        [game.json_codecs.actions.load(move.action) for move in move_bodies],
    )
    for _ in range(_MAX_DEAL_ATTEMPTS):
        states = [rules.initial_state(dice)]
        for move_index, action in enumerate(actions):
            position = rules.current_position(states[-1])
            if position != positions.get(
                move_index, position
            ) or action not in rules.legal_actions_in(position):
                break
            states.append(rules.next_state(states[-1], action, dice))
        else:
            return map(RestoredState, range(len(actions)), states, actions)
    raise StoreError(f"No deal was found that leads to the match {record.match_id}.")
