"""The decisions of a stored match, as positions that can be decided again.

They are worked out from the moves alone, as a bot at the table does it, so those of both players
are found, also in a match that somebody else has recorded.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.deadmansdraw.bank import Bank
from cardsharp.deadmansdraw.cards import Suit
from cardsharp.deadmansdraw.events import (
    CardRemoved,
    Drawn,
    EffectAnswered,
    Event,
    TurnEnded,
    TurnStarted,
)
from cardsharp.deadmansdraw.logbook import position_body
from cardsharp.deadmansdraw.position import Observer, PastMove, Position
from cardsharp.deadmansdraw.reading import follow
from cardsharp.deadmansdraw.replay import EventStep, position_of, turns_of
from cardsharp.deadmansdraw.wire_views import MoveView
from cardsharp.errors import ConfigError
from cardsharp.replay import Asked, Thought


class StepLook(NamedTuple):
    """A step, the position of who made it, and the action; None for what is not known."""

    step: EventStep
    position: Position | None
    action: Action | None


def decisions(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
    """Every decision of either player, in order.

    One whose position the log has otherwise is left out: its match did not begin as all do.

    Raises:
        ConfigError: the match says so itself.
        StoreError: a move of the log cannot be read.
    """
    if "opening" in record.header:
        raise ConfigError(
            f"Match {record.match_id} began with cards of its own, not as all do: what its players "
            "knew is not told."
        )
    for step, position, action in looks(moves):
        if position is not None and action is not None:
            yield from _asked(step, position, action)


def looks(moves: Sequence[MoveRecord]) -> Iterator[StepLook]:
    """The steps of a match with what was seen at each, as far as the arena has told them.

    Raises:
        StoreError: a move of the log cannot be read.
    """
    table = _Table()
    steps = (step for turn in turns_of(moves) for step in turn.steps)
    for step, move in zip(steps, moves, strict=True):
        if move.facts is None:
            return
        action, position = action_of(step.events), table.position(step)
        yield StepLook(step, position, action)
        made = None if action is None or position is None else (position, action)
        table.see(step, made, MoveView.model_validate(move.facts))


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


def _asked(step: EventStep, position: Position, action: Action) -> Iterator[Asked]:
    """The decision with the reasons that the log has, or with none."""
    seen = Thought(
        seat=step.seat, turn=step.turn, action=str(action), position=position_body(position)
    )
    thought = step.ours or seen
    if position_of(thought) == position_of(seen):
        legal = {one: str(one) for one in position.legal_actions()}
        yield Asked(replace(step, ours=thought), position, legal)


class _Table:
    """What both players have seen of a match so far."""

    def __init__(self) -> None:
        self.banks = [Bank(), Bank()]
        self.observer = Observer()
        self.history: tuple[PastMove, ...] = ()
        self.between = True
        self.followed: Position | None = None

    def position(self, step: EventStep) -> Position | None:
        """The position of the player who made this step, None where it is not known."""
        if not self.between or step.seat is None:
            return self.followed
        seen = self.observer
        return Position(
            me=step.seat,
            banks=(self.banks[0], self.banks[1]),
            play_area=(),
            pending=None,
            discard_pile=tuple(seen.discard_pile),
            unseen=tuple(seen.unseen),
            known_top=seen.known_top,
            turn=step.turn,
            history=self.history,
        )

    def see(self, step: EventStep, made: tuple[Position, Action] | None, move: MoveView) -> None:
        """Take in a step, and what the decision `made` leads to."""
        followed = None if made is None else follow(*made, move.events)
        self.observer.refused = None
        for event in step.events:
            if step.seat is not None:
                self._bank(event, step.seat)
            self.observer.see(event)
        self.between = any(isinstance(event, TurnStarted | TurnEnded) for event in step.events[-1:])
        self.history = (*self.history, PastMove(step.turn, step.seat, step.events))
        self.followed = None if followed is None else replace(followed, history=self.history)

    def _bank(self, event: Event, player: int) -> None:
        """What an event in that player's turn takes from a bank or brings to it."""
        match event:
            case CardRemoved(card, index):
                self.banks[index] = self.banks[index].without(card)
            case TurnEnded(successful, bonus):
                area = self.observer.play_area
                suits = [card.suit for card in area]
                saved = suits.index(Suit.ANCHOR) if Suit.ANCHOR in suits else 0
                collected = area if successful else area[:saved]
                self.banks[player] = self.banks[player].with_cards((*collected, *(bonus or ())))
