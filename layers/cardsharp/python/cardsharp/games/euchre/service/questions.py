"""The four questions of the protocol: reading them against a stored deal, and answering them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cardsharp.games.euchre.actions import (
    PASS,
    Action,
    Bid,
    DecisionType,
    Defend,
    Discard,
    Play,
)
from cardsharp.games.euchre.cards import SUITS, Card
from cardsharp.games.euchre.fallback import lowest_card
from cardsharp.games.euchre.position import EuchrePosition, current_position
from cardsharp.games.euchre.public_state import (
    DEALER,
    MAX_BIDS,
    SEATS,
    PendingDecision,
    PublicState,
    pending_decision,
)
from cardsharp.games.euchre.rules import FACE_DOWN, TURN_CARD_INDEX, Deal
from cardsharp.games.euchre.service.deal_store import (
    BidEvent,
    DealRecord,
    DefenseEvent,
    DiscardEvent,
    Event,
    PlayEvent,
)
from cardsharp.games.euchre.service.wire import (
    BidNotification,
    BidRequest,
    DefenseDecisionNotification,
    DefenseRequest,
    PlayNotification,
    PlayRequest,
    SwapRequest,
)

NO_CARD: Card = -1

QuestionRequest = BidRequest | SwapRequest | DefenseRequest | PlayRequest
"""A question. Of a lone defence only the documents ask, never the client."""

Notification = (
    BidNotification | DefenseDecisionNotification | PlayNotification
)  # what another player did


def requested_decision(request: QuestionRequest) -> PendingDecision:
    """Return the seat and type of the requested decision."""
    match request:
        case BidRequest():
            return PendingDecision(request.pos % 4, DecisionType.BID)
        case SwapRequest():
            return PendingDecision(DEALER, DecisionType.DISCARD)
        case DefenseRequest():
            return PendingDecision(request.pos, DecisionType.DEFEND)
        case PlayRequest():
            return PendingDecision(request.pos, DecisionType.PLAY)


def fallback_action(request: QuestionRequest) -> Action:
    """Return an answer that is always legal: a pass, or the lowest card, trumps last."""
    match request:
        case BidRequest():
            return PASS
        case SwapRequest():
            trump = None if request.turn_card < 0 else request.turn_card & 3
            return Discard(lowest_card(request.swappable_cards, trump))
        case DefenseRequest():
            return Defend(goes_alone=False)
        case PlayRequest():
            return Play(lowest_card(request.playable_cards))


def event_from_answer(request: QuestionRequest, action: Action) -> Event:
    """An answer as an event; raises TypeError if it answers another question."""
    match request, action:
        case BidRequest(), Bid(suit, alone):
            suit_number = -1 if suit is None else suit
            return BidEvent(True, request.round, request.pos, suit_number, alone)  # noqa: FBT003 - `ours`
        case SwapRequest(), Discard(card):
            return DiscardEvent(request.declarer_pos, card)
        case DefenseRequest(), Defend(alone):
            return DefenseEvent(request.pos, alone)
        case PlayRequest(), Play(card):
            return PlayEvent(request.trick_num, request.trick_seq, request.pos, card)
    raise TypeError(f"{action} answers another question.")


def event_from_notification(notification: Notification) -> Event:
    """Return another player's action as an event."""
    match notification:
        case BidNotification():
            return BidEvent(
                False,  # noqa: FBT003 - another player's
                notification.round,
                notification.pos,
                notification.suit,
                notification.alone,
            )
        case DefenseDecisionNotification():
            return DefenseEvent(notification.pos, notification.alone)
        case PlayNotification():
            return PlayEvent(
                notification.trick_num, notification.trick_seq, notification.pos, notification.card
            )


def stored_answer(request: QuestionRequest, record: DealRecord) -> Event | None:
    """Return the stored answer to the same question, if it is still among the offered ones."""
    stored, offered = (
        record.find_last_event(event_from_answer(request, fallback_action(request)).key),
        _offered_cards(request),
    )
    if isinstance(stored, DiscardEvent | PlayEvent) and offered is not None:
        return stored if stored.card in offered else None
    return stored


def position_of(record: DealRecord, request: QuestionRequest) -> EuchrePosition | None:
    """Return the position of the asked seat; None if the record cannot lead to the question.

    The legal actions are the client's offer as far as the rules allow it. The client decides
    what is legal, but its offer may include an illegal card.
    """
    table, pending = _build_public_state(request, record), requested_decision(request)
    if table is None or pending_decision(table) != pending:
        return None
    discard = _visible_discard(record, table, pending.seat)
    if table.has_discarded and discard is None:
        return None
    position = current_position(Deal(record.cards, table, discard))
    if _has_duplicate_card(position):
        return None
    offered = _offered_cards(request)
    if offered is None:
        return position
    choices = tuple(
        action
        for action in position.legal_actions
        if isinstance(action, Discard | Play) and action.card in offered
    )
    return replace(position, legal_actions=choices) if choices else None


def matches_turn_card(request: QuestionRequest, record: DealRecord) -> bool:
    """Return True unless the question names another turn card than the record."""
    requested_card = request.turn_card if isinstance(request, BidRequest | SwapRequest) else NO_CARD
    return requested_card in {NO_CARD, record.cards[TURN_CARD_INDEX]}


def _offered_cards(request: QuestionRequest) -> tuple[Card, ...] | None:
    match request:
        case SwapRequest():
            return request.swappable_cards
        case PlayRequest():
            return request.playable_cards
    return None


def _build_public_state(request: QuestionRequest, record: DealRecord) -> PublicState | None:
    turn_card = record.cards[TURN_CARD_INDEX]
    match request:
        case BidRequest():
            # Nobody is asked after a call, so there was none.
            bids = tuple(PASS for _ in bids_by_index(record))
            late = request.round > 1 and len(bids) < len(SEATS)
            early = request.round < 1 and len(bids) >= len(SEATS)
            return None if late or early or len(bids) >= MAX_BIDS else PublicState(turn_card, bids)
        case SwapRequest():
            # An opponent's call may not have been reported yet.
            return PublicState(
                turn_card, bids_ending_with(record, request.declarer_pos, Bid(turn_card & 3))
            )
        case DefenseRequest():
            # Whoever is asked second, the first has declined.
            bids = bids_ending_with(
                record, request.declarer_pos, Bid(request.trump_suit, goes_alone=True)
            )
            is_first = request.pos == (request.declarer_pos + 1) % 4
            picks_up = request.trump_suit == turn_card & 3
            return PublicState(turn_card, bids, picks_up, () if is_first else (False,))
        case PlayRequest():
            return public_state_at_play(record, request.trick_num, request.trick_seq, request.pos)


def _visible_discard(record: DealRecord, table: PublicState, seat: int) -> int | None:
    """Return the discard as a seat sees it.

    The dealer sees the card, every other seat sees a card face down. None if it is not
    recorded or not due.
    """
    if not table.has_discarded:
        return None
    if seat != DEALER:
        return FACE_DOWN
    swap = record.find_last_event(("swap",))
    return swap.card if isinstance(swap, DiscardEvent) else None


def _has_duplicate_card(position: EuchrePosition) -> bool:
    """Return True if a card that the seat sees would be in two places at once."""
    other_cards = [
        card
        for trick in position.public_state.tricks
        for seat, card in trick
        if seat != position.seat
    ]
    return len(set(other_cards)) < len(other_cards) or not set(other_cards).isdisjoint(
        position.seat_cards
    )


# --- what has happened in a stored deal, told in order (docs/spec/euchre.md section 5) ----------
#
# The client is the authority on what happened. Where a later message does not go together with an
# earlier one, the earlier one did not count.


def bids_by_index(record: DealRecord) -> tuple[Bid, ...]:
    """Return the bids of a deal by number.

    This service numbers them in the order of their arrival; a seat that is skipped has passed.
    No bid follows a call, so an earlier call was not accepted: the client took it as a pass. If
    the last bid is a call, its suit decides its number, however many bids were reported.
    """
    bids: list[Bid] = []
    for event in record.deduplicated_events:
        if not isinstance(event, BidEvent):
            continue
        last_index = len(bids) - 1
        if bids and not event.is_answer and event.bid_index in {last_index, last_index % 4}:
            bids.pop()  # told once more, or our own told back to us: nobody bids twice in a row
        # The client reports the bids of others under their number, from 0 to 7.
        min_index = 0 if event.is_answer else event.bid_index
        while len(bids) < min_index or len(bids) % 4 != event.bid_index % 4:
            bids.append(PASS)
        bids.append(Bid(event.suit, event.alone) if event.suit in SUITS else PASS)
    call = PublicState(record.cards[TURN_CARD_INDEX], tuple(bids)).trump_call
    return (
        tuple(PASS for _ in bids)
        if call is None
        else _list_bids_up_to(record, call.caller_seat, bids[-1])
    )


def bids_ending_with(record: DealRecord, seat: int, trump_call: Bid) -> tuple[Bid, ...]:
    """Return the bids that end with a reported call, alone if its recorded bid says so."""
    called_bids, recorded_bids = _list_bids_up_to(record, seat, trump_call), bids_by_index(record)
    same = len(called_bids) == len(recorded_bids) and recorded_bids[-1].suit == trump_call.suit
    return recorded_bids if same else called_bids


def _list_bids_up_to(record: DealRecord, seat: int, call: Bid) -> tuple[Bid, ...]:
    """Return the bids up to and including a call.

    The call is in the first round if it names the suit of the turn card.
    """
    bid_index = seat if call.suit == record.cards[TURN_CARD_INDEX] & 3 else seat + len(SEATS)
    return (*(PASS for _ in range(bid_index)), call)


def public_state_at_play(record: DealRecord, trick: int, seq: int, seat: int) -> PublicState | None:
    """Return the state when `seat` is to play that card; None if no events lead to it.

    The real client never reports a lone defender; only the missing plays of the partner show
    it. So the plays are replayed without a lone defender first and, if the seats do not match,
    with either.
    """
    plays = [event for event in record.deduplicated_events if isinstance(event, PlayEvent)]
    earlier = sorted(
        (e for e in plays if (e.trick, e.trick_position) < (trick, seq)),
        key=lambda e: (e.trick, e.trick_position),
    )
    for opening in _iter_opening_states(record):
        table = _apply_plays(opening, earlier)
        if table is not None and pending_decision(table) == PendingDecision(
            seat, DecisionType.PLAY
        ):
            return table if len(table.complete_tricks) == trick else None
    return None


def _iter_opening_states(record: DealRecord) -> Iterator[PublicState]:
    """Yield the possible states at the first lead.

    There is no lone defender, or, if the caller plays alone, either opponent may be one.
    """
    turn_card, bids = record.cards[TURN_CARD_INDEX], bids_by_index(record)
    swap = record.find_last_event(("swap",))
    if isinstance(swap, DiscardEvent):
        bids = bids_ending_with(record, swap.caller_seat, Bid(turn_card & 3))
    table = PublicState(turn_card, bids)
    call = table.trump_call
    if call is None:
        return
    table = replace(table, has_discarded=call.is_order_up)
    if not call.goes_alone:
        yield table
        return
    defenses = [
        record.find_last_event(("defense", (call.caller_seat + offset) % 4)) for offset in (1, 3)
    ]
    for defences in ((False, False), (True,), (False, True)):
        # Only the documents' clients tell; whoever is not told of may have said either.
        pairs = zip(defenses, defences, strict=False)
        if all(
            not isinstance(event, DefenseEvent) or event.alone is alone for event, alone in pairs
        ):
            yield replace(table, defense_answers=defences)


def _apply_plays(table: PublicState, plays: Iterable[PlayEvent]) -> PublicState | None:
    for event in plays:
        if pending_decision(table) != PendingDecision(event.seat, DecisionType.PLAY):
            return None
        table = table.with_action(event.seat, Play(event.card))
    return table
