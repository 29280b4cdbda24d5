"""A stored deal of Euchre event by event; each is a turn.

The service keeps deals in a store of its own: `moves_of` tells one as moves of a match.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord
from cardsharp.euchre.actions import Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import DECK, SUIT_NAMES, SUITS, Card, name
from cardsharp.euchre.cards import parse as parse_card
from cardsharp.euchre.rules import TURN
from cardsharp.euchre.store import (
    BidEvent,
    DefenseEvent,
    Event,
    PlayEvent,
    Record,
    SwapEvent,
    decode_event,
    encode_event,
)
from cardsharp.euchre.table import DEALER, TRICKS, Table
from cardsharp.replay import Step, Thought, parse

SEATS = ("first", "second", "third", "dealer")  # as seats count from the dealer's left


def moves_of(record: Record) -> list[MoveRecord]:
    """The events of a deal as moves, without our reasons: the log has those."""
    return [
        MoveRecord(number, None, {"event": encode_event(event)})
        for number, event in enumerate(record.events)
    ]


def is_over(record: Record) -> bool:
    """Whether all tricks were told, or eight passes; no event says that a deal is over."""
    actions = [action for _, _, action in map(asked_of, record.events)]
    bids = [action for action in actions if isinstance(action, Bid)]
    if all(bid.suit is None for bid in bids):
        return len(bids) == 2 * len(SEATS)
    alone = sum(isinstance(action, Bid | Defend) and action.alone for action in actions)
    return sum(isinstance(action, Play) for action in actions) == TRICKS * (len(SEATS) - alone)


def header_body(record: Record, *, over: bool) -> dict[str, object]:
    """What there is to say of a deal as a match; all cards of one that is over."""
    key = record.key
    return {
        "game": "euchre",
        "names": SEATS,
        "tags": [key.token, f"game {key.game}", f"deal {key.deal}"],
        "turnCard": name(record.cards[TURN]),
        **({"dealt": [name(card) for card in record.cards]} if over else {}),
    }


def dealt_of(record: MatchRecord) -> tuple[Card, ...] | None:
    """All 24 cards of a deal, in the order of `rules.Deal`, where its header tells them."""
    told = record.header.get("dealt")
    cards = tuple(parse_card(str(one)) for one in told) if isinstance(told, list) else ()
    return cards if sorted(cards) == list(DECK) else None


def replay(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Step]:
    """The steps of a deal; raises `StoreError` if an event or a decision cannot be read."""
    turned = record.header.get("turnCard")
    table = Table(parse_card(turned) if isinstance(turned, str) else DECK[0])
    for move in moves:
        question, seat, action = asked_of(event_of(move))
        spoken, ours = table.spoken(action), move.intent
        thought = None if ours is None else _thought_of(ours, table)
        table = table.after(seat, action)
        # Which card the dealer laid aside is nobody else's business.
        hidden = question is Question.DISCARD and ours is None
        yield Step(
            sequence=move.sequence,
            turn=move.sequence + 1,
            seat=seat,
            happened="discard" if hidden else spoken,
            state={"turnCard": turned, **open_state(table)},
            ours=thought,
        )


def open_state(table: Table, first: int = 0) -> dict[str, object]:
    """What was said, all plays, the last trick, and who won each; seats count from `first` on."""
    call = table.call
    bids = [(number % len(SEATS), bid.spoken(number)) for number, bid in enumerate(table.bids)]
    tricks = [[(seat, name(card)) for seat, card in trick] for trick in table.tricks]

    def counted(told: Iterable[tuple[int, str]]) -> list[list[object]]:
        return [[(seat - first) % len(SEATS), text] for seat, text in told]

    return {
        "bids": counted(bids),
        "plays": counted(chain.from_iterable(tricks)),
        "trick": counted(chain.from_iterable(tricks[-1:])),
        # Cards may have been told without the call; then nobody knows who won them.
        "won": [(seat - first) % len(SEATS) for seat in (table.winners if call else ())],
        "trumps": None if call is None else SUIT_NAMES[call.suit],
        "alone": call is not None and call.alone,
        "dealer": (DEALER - first) % len(SEATS),
    }


def event_of(move: MoveRecord) -> Event:
    """The event that a move tells."""
    return decode_event(str((move.facts or {}).get("event")))


def asked_of(event: Event) -> tuple[Question, int, Action]:
    """What was asked, of which seat, and what it did."""
    match event:
        case BidEvent():
            known = event.suit if event.suit in SUITS else None
            bid = Bid(known, event.alone and known is not None)
            return Question.BID, event.pos % len(SEATS), bid
        case SwapEvent():
            return Question.DISCARD, DEALER, Discard(event.card)
        case DefenseEvent():
            return Question.DEFEND, event.pos, Defend(event.alone)
        case PlayEvent():
            return Question.PLAY, event.pos, Play(event.card)


def _thought_of(entry: Body, table: Table) -> Thought:
    """A decision, from what the log says of it; bids, there their suits, as they are spoken."""
    bids = [Bid(suit, alone) for suit in SUITS for alone in (False, True)]
    said = {str(bid): table.spoken(bid) for bid in bids}
    told, answer = entry.get("candidates"), entry.get("answer")
    options = [
        {
            "action": said.get(one["answer"], one["answer"]),
            "value": one.get("points"),
            "note": one.get("note", ""),
        }
        for one in (told if isinstance(told, list) else [])
    ]
    seen = {part: entry[part] for part in ("question", "hand", "worlds") if part in entry}
    named = {"action": said.get(str(answer), answer), "decisionMs": entry.get("decision_ms")}
    return parse(Thought, {**entry, **named, "options": options, "position": seen})
