"""Observed decisions of a player, each with the position in which it was made.

They are derived from the public events, which contain every draw, answer and end of a turn. Moves
without a choice are left out: the first draw of a turn, a Kraken's draws, a single possible answer.
The server's own moves after a timeout are left out, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.games.deadmansdraw.cards import SERVER_DECK, Card, lowest_of_each_suit
from cardsharp.games.deadmansdraw.events import (
    CardDrawn,
    CardRemovedFromBank,
    EffectAnswered,
    Event,
    TurnEnded,
    TurnStarted,
)
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, PastMove, PublicInfoTracker
from cardsharp.games.deadmansdraw.strategies import PastMatch
from cardsharp.games.deadmansdraw.strategies.position_features import pending_effect_targets


@dataclass(frozen=True, slots=True)
class ObservedDecision:
    """Decision of a player: the position as the player knew it, and the action."""

    position: DeadMansDrawPosition
    action: Action


class ObservedDecisionExtractor:
    """Tracker that derives the decisions of a match from its moves, from the beginning on.

    `draw_pile` are the cards of the draw pile at the start, in any order.
    """

    def __init__(self, draw_pile: frozenset[Card]) -> None:
        suits = {card.suit for card in draw_pile}
        lowest = (card for card in lowest_of_each_suit(SERVER_DECK) if card.suit in suits)
        self._public_info = PublicInfoTracker(
            draw_pile, tuple(card for card in lowest if card not in draw_pile)
        )
        self._turn_events: list[Event] = []
        self._is_inconsistent = False

    def decisions_in(self, move: PastMove) -> list[ObservedDecision]:
        """Return the decisions in a move; none once the match has become inconsistent.

        It is inconsistent if it began with cards that no event has named (a debug start state).
        """
        decisions: list[ObservedDecision] = []
        is_player_move = move.player is not None and move.timed_out_player is None
        for event in move.events:
            if isinstance(event, CardRemovedFromBank):
                self._is_inconsistent |= event.card not in self._public_info.banks[event.bank_index]
            if self._is_inconsistent:
                return []
            if is_player_move:
                decisions += self._observe_decision(move, event)
            self._turn_events = (
                [event] if isinstance(event, TurnStarted) else [*self._turn_events, event]
            )
            self._public_info.apply_event(event, move.player)
        if not isinstance(move.events[-1] if move.events else None, EffectAnswered):
            self._public_info.refused_oracle_card = None
        return decisions

    def _observe_decision(self, move: PastMove, event: Event) -> Iterator[ObservedDecision]:
        action = self._infer_action(event)
        if action is not None:
            turn = PastMove(move.turn, move.player, tuple(self._turn_events))
            position = self._public_info.position_for(move.player or 0, move.turn, (turn,))
            if _has_choice(position):
                yield ObservedDecision(position, action)

    def _infer_action(self, event: Event) -> Action | None:
        """Return the action that `event` begins, None if the event only follows from an action."""
        pending = self._public_info.pending
        match event:
            case EffectAnswered(_, card) if pending is not None:
                return respond(pending.effect_type, card)
            case CardDrawn() if pending is None:
                return DRAW
            case CardDrawn(card) if (
                pending is not None and pending.effect_type is EffectType.ORACLE
            ):
                is_answered = isinstance(self._turn_events[-1], EffectAnswered)
                return None if is_answered else respond(EffectType.ORACLE, card)
            case TurnEnded(is_banked=True) if self._public_info.unseen:
                return END_TURN
            case _:
                return None


def _has_choice(position: DeadMansDrawPosition) -> bool:
    if position.pending is None:
        return bool(position.play_area)
    return (
        position.pending.effect_type is EffectType.ORACLE
        or len(pending_effect_targets(position)) > 1
    )


def cards_from_draw_pile(history: tuple[PastMove, ...]) -> frozenset[Card]:
    """Return all cards that were drawn from the draw pile."""
    events = (event for move in history for event in move.events)
    return frozenset(event.card for event in events if isinstance(event, CardDrawn))


def opponent_decisions(match: PastMatch) -> Iterator[ObservedDecision]:
    """Yield the opponent's decisions in a past match."""
    witness = ObservedDecisionExtractor(cards_from_draw_pile(match.history))
    for move in match.history:
        decisions = witness.decisions_in(move)
        if move.player == match.opponent_seat:
            yield from decisions
