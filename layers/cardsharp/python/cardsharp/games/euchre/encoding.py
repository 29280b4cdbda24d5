"""Encoding of the positions and actions of Euchre as numbers."""

from cardsharp.games.euchre.actions import (
    PASS,
    Action,
    Bid,
    DecisionType,
    Defend,
    Discard,
    Play,
)
from cardsharp.games.euchre.cards import DECK, SUITS
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.public_state import MAX_BIDS, SEATS, TRICKS
from cardsharp.play.encoding import Encoding, Marks, flatten_block_indexes, relative_seat

_ACTIONS: tuple[Action, ...] = (
    PASS,
    *(Bid(suit, alone) for alone in (False, True) for suit in SUITS),
    *map(Discard, DECK),
    *(Defend(alone) for alone in (False, True)),
    *map(Play, DECK),
)
_INDEX_BY_ACTION = {action: number for number, action in enumerate(_ACTIONS)}
_DECISION_TYPES = tuple(DecisionType)


def _encode_position(position: EuchrePosition) -> Marks:
    table, me = position.public_state, position.seat
    call, trump = table.trump_call, table.trump
    played = [table.cards_played_by((me + seat) % len(SEATS)) for seat in SEATS]
    trick = [[card] for _, card in table.current_trick]
    won = table.tricks_won if me % 2 == 0 else table.tricks_won[::-1]
    return {
        "question": [_DECISION_TYPES.index(position.decision_type)],
        "seat": [me],
        "hand": position.hand,
        "discard": [] if position.discard is None else [position.discard],
        "turn card": [table.turn_card],
        "bids": [(0, len(table.bids) / MAX_BIDS)],
        "trumps": [] if trump is None else [trump],
        "caller": [] if call is None else [relative_seat(call.caller_seat, me, len(SEATS))],
        "alone": [0] if call is not None and call.goes_alone else [],
        "played": flatten_block_indexes(played, len(DECK)),
        "trick": flatten_block_indexes(trick, len(DECK)),
        "tricks won": [(side, trick_count / TRICKS) for side, trick_count in enumerate(won)],
    }


def _encode_choices(position: EuchrePosition) -> dict[int, Action]:
    return {_INDEX_BY_ACTION[action]: action for action in position.legal_actions}


ENCODING = Encoding(
    blocks={
        "question": len(_DECISION_TYPES),
        "seat": len(SEATS),
        "hand": len(DECK),
        "discard": len(DECK),
        "turn card": len(DECK),
        "bids": 1,
        "trumps": len(SUITS),
        "caller": len(SEATS),
        "alone": 1,
        "played": len(SEATS) * len(DECK),
        "trick": (len(SEATS) - 1) * len(DECK),
        "tricks won": 2,
    },
    marks=_encode_position,
    actions=len(_ACTIONS),
    choices=_encode_choices,
)
"""Encoding of Euchre.

Seats in `caller` and `played` count from the player's own; `seat` counts from the dealer's left.
"""
