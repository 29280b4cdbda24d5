"""The decisions of a stored game of Blef, as positions that can be decided again.

Our own are as our intents have them. What the others held is told when their round is over: then
their decisions are known too, each with the hand of who made it and no other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from cardsharp.blef import rules
from cardsharp.blef.actions import BETS, CHECK, name_of
from cardsharp.blef.cards import sort_hand
from cardsharp.blef.logbook import SPAN, Dealt, named, rounds_of
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.replay import replay, seats_of
from cardsharp.blef.state import Move, Round
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord
from cardsharp.replay import Asked, Step, Stored, Thought, parse

_Said = Annotated[int, named({name_of(action): action for action in (*range(len(BETS)), CHECK)})]
"""An action, by its name in the log."""


class _Seen(Stored):
    """What an intent says of the position that it was decided on."""

    hand: tuple[Dealt, ...]
    cards: tuple[int, ...]
    history: tuple[tuple[int, _Said], ...]


def decisions(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
    """Our decisions and, of rounds that are over, everybody's, in order.

    Raises:
        StoreError: the log holds what cannot be read.
    """
    rounds = opened(record, moves)
    for step, move in zip(replay(record, moves), moves, strict=True):
        position = _position(step, rounds)
        if position is not None and step.seat is not None:
            thought = step.ours or Thought(
                seat=step.seat, turn=step.turn, action=str((move.facts or {}).get("action"))
            )
            legal = {one: name_of(one) for one in position.legal_actions()}
            yield Asked(replace(step, ours=thought), position, legal)


def opened(record: MatchRecord, moves: Sequence[MoveRecord]) -> dict[int, Round]:
    """The rounds that are over, by number, where it is known who sits where.

    Raises:
        StoreError: the log holds what cannot be read.
    """
    facts = {move.sequence: move.facts for move in moves if move.facts is not None}
    return rounds_of(facts, seats_of(record, moves))


def _position(step: Step, rounds: Mapping[int, Round]) -> Position | None:
    """What whoever made a step knew, None where that is not told or nothing was decided."""
    thought, over = step.ours, rounds.get(step.turn)
    earlier = tuple(rounds[number] for number in sorted(rounds) if number < step.turn)
    if thought is not None and thought.position is not None and thought.seat is not None:
        return replace(_as_seen(thought.position, thought.seat, step.turn), earlier=earlier)
    if over is None or step.seat is None:
        return None
    live = replace(over, turn=step.seat, history=over.history[: step.sequence % SPAN])
    return position_of(live, step.seat, earlier)


def _as_seen(body: Body, me: int, number: int) -> Position:
    """The position that an intent has."""
    seen = parse(_Seen, body)
    return Position(
        me=me,
        number=number,
        max_cards=rules.max_cards(len(seen.cards)),
        n_cards=seen.cards,
        hands=tuple(sort_hand(seen.hand) if seat == me else () for seat in range(len(seen.cards))),
        turn=me,
        history=tuple(Move(seat, said) for seat, said in seen.history),
    )
