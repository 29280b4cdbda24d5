"""Decisions of a stored Euchre deal, as positions in which to decide again, and its states.

Each decision has the hand of the player who made it and no other: ours comes from the log, another
player's from the cards that it played. A branch is played to ten points from the score at the start
of the deal, if that is recorded. A deal without a score counts as the last of a match: both sides
have nine points, so the side that scores wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Annotated, NamedTuple

from pydantic import Field

from cardsharp.analysis.replay import (
    DecisionPoint,
    ReplayStep,
    RestoredState,
    StoredDecision,
    StoredModel,
    parse_record,
)
from cardsharp.errors import IllegalAction, StoreError
from cardsharp.games.euchre.actions import Action, DecisionType, Discard, Play
from cardsharp.games.euchre.cards import DECK, Card, parse_card
from cardsharp.games.euchre.history.replay import decision_in_event, event_from_move
from cardsharp.games.euchre.history.replay import replay as replayed
from cardsharp.games.euchre.position import EuchrePosition, current_position
from cardsharp.games.euchre.public_state import (
    DEALER,
    SEATS,
    TRICKS,
    PendingDecision,
    PublicState,
    pending_decision,
)
from cardsharp.games.euchre.rules import (
    FACE_DOWN,
    HAND_SIZE,
    TURN_CARD_INDEX,
    Deal,
    apply,
    start,
)
from cardsharp.games.euchre.simulation import WINNING_SCORE, SeatedDeal, SimulatedEuchreMatch
from cardsharp.store.match_log import MatchRecord, MoveRecord


class DecisionContext(NamedTuple):
    """Step with its action, and the public state and discard before it."""

    step: ReplayStep
    public_state: PublicState
    discard: Card | None
    seat: int
    action: Action


def decision_points(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[DecisionPoint]:
    """Yield our decisions and, for a finished deal, those of seats with fully revealed hands.

    They come in order, as long as the events that lead to each are recorded. Other seats do not
    know the discard of a dealer who took the turn card, nor the hand of a seat that sat out, so
    their decisions are left out. Raises `StoreError` if an event or a decision cannot be read.
    """
    contexts = list(decision_contexts(record, moves))
    for context_index, context in enumerate(contexts):
        step, seat = context.step, context.seat
        hand = (
            _hand_from_plays(contexts, context_index)
            if step.decision is None
            else _parse_logged_hand(step.decision)
        )
        if hand is not None:
            position = _build_position(hand, context)
            spoken = context.public_state.describe
            thought = step.decision or StoredDecision(
                seat=seat, turn=step.turn, action=spoken(context.action)
            )
            option_names = {choice: spoken(choice) for choice in position.legal_actions}
            yield DecisionPoint(replace(step, decision=thought), position, option_names)


def _parse_logged_hand(decision: StoredDecision) -> list[Card] | None:
    hand = (decision.position or {}).get("hand")
    return [parse_card(str(card)) for card in hand] if isinstance(hand, list) else None


def _hand_from_plays(contexts: Sequence[DecisionContext], context_index: int) -> list[Card] | None:
    """Return a seat's hand at a step, None unless the plays of the deal reveal all of it."""
    seat, call = contexts[context_index].seat, contexts[-1].public_state.trump_call
    if call is None or (seat == DEALER and call.is_order_up):
        return None
    plays = [
        (index, context.action.card)
        for index, context in enumerate(contexts)
        if context.seat == seat and isinstance(context.action, Play)
    ]
    return (
        [card for index, card in plays if index >= context_index] if len(plays) == TRICKS else None
    )


def decision_contexts(
    record: MatchRecord, moves: Sequence[MoveRecord]
) -> Iterator[DecisionContext]:
    """Yield every step with its context until one contradicts the rules; raise `StoreError`."""
    table = PublicState(parse_card(str(record.header.get("turnCard"))))
    discard: Card | None = None
    for step, move in zip(replayed(record, moves), moves, strict=True):
        decision_type, seat, action = decision_in_event(event_from_move(move))
        if decision_type is not DecisionType.DISCARD and pending_decision(table) == PendingDecision(
            DEALER, DecisionType.DISCARD
        ):
            # the dealer is another player, whose discard the log does not have
            table = replace(table, has_discarded=True)
            discard = FACE_DOWN
        if pending_decision(table) != PendingDecision(seat, decision_type):
            return
        yield DecisionContext(step, table, discard, seat, action)
        if isinstance(action, Discard):
            discard = action.card
        table = table.with_action(seat, action)


def _build_position(hand: Sequence[Card], context: DecisionContext) -> EuchrePosition:
    table, seat = context.public_state, context.seat
    dealt_cards = {*hand, *table.cards_played_by(seat)}
    call = table.trump_call
    if seat == DEALER and call is not None and call.is_order_up:
        discarded = set() if context.discard is None else {context.discard}
        dealt_cards = (dealt_cards | discarded) - {table.turn_card}
    cards = [FACE_DOWN] * len(DECK)
    cards[TURN_CARD_INDEX] = table.turn_card
    cards[HAND_SIZE * seat : HAND_SIZE * seat + len(dealt_cards)] = sorted(dealt_cards)
    return current_position(Deal(tuple(cards), table, context.discard))


_MAX_DEAL_ATTEMPTS = 5000

Points = Annotated[int, Field(ge=0, lt=WINNING_SCORE)]


class DealHeader(StoredModel):
    """Deal header: the match score at the start, of seats 0 and 2 and of seats 1 and 3."""

    score: tuple[Points, Points] | None = None


def initial_score(header: Mapping[str, object]) -> tuple[int, int] | None:
    """Return the match score at the start of a deal, None if unrecorded; raise `StoreError`."""
    return parse_record(DealHeader, header, "The match log").score


def restore_states(
    record: MatchRecord, moves: Sequence[MoveRecord], rng: Random
) -> Iterator[RestoredState]:
    """Return the state of each step, with unknown cards dealt at random; raise `StoreError`."""
    contexts = list(decision_contexts(record, moves))
    if not contexts:
        return iter(())
    cards_by_seat = _collect_cards_by_seat(record, moves, contexts)
    # The recorded plays restrict the hidden cards, for example by a void suit. Sampling layouts
    # until one allows all plays is simpler than solving these restrictions.
    for _ in range(_MAX_DEAL_ATTEMPTS):
        try:
            cards = _complete_deal(cards_by_seat, contexts[0].public_state.turn_card, rng)
            points = initial_score(record.header) or (WINNING_SCORE - 1, WINNING_SCORE - 1)
            return iter(list(_replay_deal(contexts, start(cards), points, rng)))
        except IllegalAction:  # a recorded action is illegal with these cards
            continue
    raise StoreError(f"The deal {record.match_id} is impossible by the rules.")


def _collect_cards_by_seat(
    record: MatchRecord, moves: Sequence[MoveRecord], contexts: Sequence[DecisionContext]
) -> list[set[Card]]:
    end = contexts[-1].public_state.with_action(contexts[-1].seat, contexts[-1].action)
    cards_by_seat = [set(end.cards_played_by(seat)) for seat in SEATS]
    for point in decision_points(record, moves):
        cards_by_seat[point.position.seat] |= {*point.position.seat_cards}
    if end.trump_call is not None and end.trump_call.is_order_up:
        cards_by_seat[DEALER].discard(end.turn_card)
    return cards_by_seat


def _complete_deal(
    cards_by_seat: Sequence[set[Card]], turn_card: Card, dice: Random
) -> tuple[Card, ...]:
    """Return the 24 cards in the order of a deal, with unknown cards dealt at random."""
    unknown = [
        card
        for card in DECK
        if card != turn_card and not any(card in cards for cards in cards_by_seat)
    ]
    rest = iter(dice.sample(unknown, len(unknown)))
    hands = [
        [*sorted(cards), *(next(rest) for _ in range(HAND_SIZE - len(cards)))]
        for cards in cards_by_seat
    ]
    return (*(card for hand in hands for card in hand), turn_card, *rest)


def _replay_deal(
    contexts: Sequence[DecisionContext], deal: Deal, points: tuple[int, int], dice: Random
) -> Iterator[RestoredState]:
    """Yield the deal step by step; raise `IllegalAction` if its cards do not allow the plays."""
    plays = {context.action.card for context in contexts if isinstance(context.action, Play)}
    for context in contexts:
        laying = pending_decision(deal.public_state) == PendingDecision(
            DEALER, DecisionType.DISCARD
        )
        if laying and not isinstance(context.action, Discard):  # the log does not have the discard
            hand = [card for card in deal.hand(DEALER) if card not in plays]
            deal = apply(deal, Discard(dice.choice(hand)))
        yield RestoredState(
            context.step.sequence,
            SimulatedEuchreMatch(SeatedDeal(deal, 0), points=points),
            context.action,
        )
        deal = apply(deal, context.action)
