"""Replay of a stored Euchre deal, event by event. Each event is a turn.

The service keeps deals in a separate store; `to_move_records` converts a deal to the moves of
a match.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from cardsharp.analysis.replay import (
    Header,
    ReplayStep,
    StoredDecision,
    header_of,
    parse_record,
)
from cardsharp.games.euchre.actions import Action, Bid, DecisionType, Defend, Discard, Play
from cardsharp.games.euchre.cards import DECK, SUIT_NAMES, SUITS, Card, card_name, parse_card
from cardsharp.games.euchre.public_state import DEALER, TRICKS, PublicState
from cardsharp.games.euchre.rules import TURN_CARD_INDEX
from cardsharp.games.euchre.sentences import action_predicate, add_trick_winner
from cardsharp.games.euchre.service.deal_store import (
    BidEvent,
    DealRecord,
    DefenseEvent,
    DiscardEvent,
    Event,
    PlayEvent,
    decode_event,
    encode_event,
)
from cardsharp.store.match_log import Body, MatchRecord, MoveRecord

# names of the seats, counted from the dealer's left
SEAT_NAMES = ("first", "second", "third", "dealer")


def to_move_records(record: DealRecord) -> list[MoveRecord]:
    """Return the events of a deal as moves, without our reasons, which are in the log."""
    return [
        MoveRecord(sequence, None, {"event": encode_event(event)})
        for sequence, event in enumerate(record.deduplicated_events)
    ]


def is_over(record: DealRecord) -> bool:
    """Return True if all tricks are recorded, or eight passes; no event marks the end of a deal."""
    actions = [action for _, _, action in map(decision_in_event, record.deduplicated_events)]
    bids = [action for action in actions if isinstance(action, Bid)]
    if all(bid.suit is None for bid in bids):
        return len(bids) == 2 * len(SEAT_NAMES)
    alone = sum(isinstance(action, Bid | Defend) and action.goes_alone for action in actions)
    return sum(isinstance(action, Play) for action in actions) == TRICKS * (len(SEAT_NAMES) - alone)


def header_body(record: DealRecord, *, is_over: bool) -> dict[str, object]:
    """Return the header of a deal as a match; a finished deal includes all cards."""
    key = record.key
    return {
        "game": "euchre",
        "names": SEAT_NAMES,
        "tags": [key.token, f"game {key.game}", f"deal {key.deal}"],
        "turnCard": card_name(record.cards[TURN_CARD_INDEX]),
        **({"dealt": [card_name(card) for card in record.cards]} if is_over else {}),
    }


def dealt_cards(record: MatchRecord) -> tuple[Card, ...] | None:
    """Return all 24 cards in the order of `rules.Deal`, or None if the header lacks them."""
    names = record.header.get("dealt")
    cards = tuple(parse_card(str(name)) for name in names) if isinstance(names, list) else ()
    return cards if sorted(cards) == list(DECK) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DealReplayStep(ReplayStep):
    """Step of a deal, with the public state before it.

    `score` is that of the match at the start of the deal, of seats 0 and 2 and of seats 1 and 3;
    None if it is not recorded.
    """

    previous_state: PublicState
    score: tuple[int, int] | None = None


def player_at(header: Header, seat: int) -> str:
    """Return the player at a seat of the deal for the owner of the log, "" if it is not recorded.

    Logs of earlier releases list the players by their seats in the match and not in the deal.
    Of these only our own side is known.
    """
    if seat in header.seats:
        return header.seats[seat]
    is_by_deal = len(header.players) == len(SEAT_NAMES) and all(
        header.players[own_seat] == name for own_seat, name in header.seats.items()
    )
    return header.players[seat] if is_by_deal else ""


def seat_name(header: Header, seat: int) -> str:
    """Return the name of a seat in a sentence: "the dealer", or that of its player.

    Strategies are not named, because spectators read these sentences, too.

    >>> seat_name(Header(names=SEAT_NAMES), 3), seat_name(Header(names=("a", "b", "a", "b")), 1)
    ('the dealer', 'b (second)')
    """
    names = header.names or header.players
    if len(names) != len(SEAT_NAMES) or names == SEAT_NAMES:
        return f"the {SEAT_NAMES[seat]}{'' if seat == DEALER else ' player'}"
    return names[seat] if names.count(names[seat]) == 1 else f"{names[seat]} ({SEAT_NAMES[seat]})"


def replay(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[DealReplayStep]:
    """Yield the steps of a deal; raises `StoreError` if an event or a decision cannot be read."""
    turned = record.header.get("turnCard")
    table = PublicState(parse_card(turned) if isinstance(turned, str) else DECK[0])
    name_of, score = partial(seat_name, header_of(record)), _parse_score(record)
    for move in moves:
        decision_type, seat, action = decision_in_event(event_from_move(move))
        previous_state, intent = table, move.intent
        thought = None if intent is None else _parse_logged_decision(intent, table)
        table = table.with_action(seat, action)
        # Only the dealer may know its discard.
        hidden = decision_type is DecisionType.DISCARD and intent is None
        predicate = action_predicate(previous_state, action, is_card_visible=not hidden)
        yield DealReplayStep(
            sequence=move.sequence,
            turn=move.sequence + 1,
            seat=seat,
            description=add_trick_winner(predicate, action, table, seat, name_of),
            public_state={"turnCard": turned, **public_state_body(table)},
            decision=thought,
            previous_state=previous_state,
            score=score,
        )


def _parse_score(record: MatchRecord) -> tuple[int, int] | None:
    """Return the recorded score at the start of the deal; None if it cannot be read."""
    match record.header.get("score"):
        case [int(first_points), int(second_points)]:
            return first_points, second_points
    return None


def public_state_body(public_state: PublicState, first_seat: int = 0) -> dict[str, object]:
    """Return bids, plays, last trick and trick winners; seats count from `first_seat` on."""
    call = public_state.trump_call
    bids = [
        (bid_index % len(SEAT_NAMES), bid.describe(bid_index))
        for bid_index, bid in enumerate(public_state.bids)
    ]
    tricks = [[(seat, card_name(card)) for seat, card in trick] for trick in public_state.tricks]

    def counted(pairs: Iterable[tuple[int, str]]) -> list[list[object]]:
        return [[(seat - first_seat) % len(SEAT_NAMES), text] for seat, text in pairs]

    return {
        "bids": counted(bids),
        "plays": counted(chain.from_iterable(tricks)),
        "trick": counted(chain.from_iterable(tricks[-1:])),
        # The log may have cards without the call. Then the winners of the tricks are unknown.
        "won": [
            (seat - first_seat) % len(SEAT_NAMES)
            for seat in (public_state.trick_winners if call else ())
        ],
        "trumps": None if call is None else SUIT_NAMES[call.suit],
        "alone": call is not None and call.goes_alone,
        "dealer": (DEALER - first_seat) % len(SEAT_NAMES),
    }


def event_from_move(move: MoveRecord) -> Event:
    """Return the event of a move."""
    return decode_event(str((move.facts or {}).get("event")))


def decision_in_event(event: Event) -> tuple[DecisionType, int, Action]:
    """Return the decision's type, its seat, and its action."""
    match event:
        case BidEvent():
            suit = event.suit if event.suit in SUITS else None
            bid = Bid(suit, event.alone and suit is not None)
            return DecisionType.BID, event.bid_index % len(SEAT_NAMES), bid
        case DiscardEvent():
            return DecisionType.DISCARD, DEALER, Discard(event.card)
        case DefenseEvent():
            return DecisionType.DEFEND, event.seat, Defend(event.alone)
        case PlayEvent():
            return DecisionType.PLAY, event.seat, Play(event.card)


def _parse_logged_decision(log_entry: Body, table: PublicState) -> StoredDecision:
    """Return a decision from its log entry, with bids in their spoken form."""
    bids = [Bid(suit, alone) for suit in SUITS for alone in (False, True)]
    descriptions = {str(bid): table.describe(bid) for bid in bids}
    candidates, answer = log_entry.get("candidates"), log_entry.get("answer")
    options = [
        {
            "action": descriptions.get(candidate["answer"], candidate["answer"]),
            "value": candidate.get("points"),
            "note": candidate.get("note", ""),
        }
        for candidate in (candidates if isinstance(candidates, list) else [])
    ]
    position_body = {
        field_name: log_entry[field_name]
        for field_name in ("question", "hand", "worlds")
        if field_name in log_entry
    }
    decision_fields = {
        "action": descriptions.get(str(answer), answer),
        "decisionMs": log_entry.get("decision_ms"),
    }
    return parse_record(
        StoredDecision,
        {**log_entry, **decision_fields, "options": options, "position": position_body},
    )
