"""Encoding of the positions and actions of Blef as numbers."""

from cardsharp.games.blef.actions import BETS
from cardsharp.games.blef.cards import DECK
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import MAX_PLAYERS
from cardsharp.play.encoding import Encoding, Marks, flatten_block_indexes, relative_seat

_INDEX_BY_CARD = {card: place for place, card in enumerate(DECK)}


def _encode_position(position: BlefPosition) -> Marks:
    me, seats = position.seat or 0, len(position.card_counts)
    bets: list[list[int]] = [[] for _ in range(MAX_PLAYERS)]
    for seat, action in position.history:
        bets[relative_seat(seat, me, seats)].append(action)
    cards = [
        (relative_seat(seat, me, seats), card_count / position.max_cards)
        for seat, card_count in enumerate(position.card_counts)
    ]
    last_bet = position.last_bet
    return {
        "hand": [_INDEX_BY_CARD[card] for card in position.hand],
        "cards": cards,
        "last bet": [] if last_bet is None else [last_bet],
        "said": flatten_block_indexes(bets, len(BETS)),
    }


def _encode_choices(position: BlefPosition) -> dict[int, int]:
    return {action: action for action in position.legal_actions()}


ENCODING = Encoding(
    blocks={
        "hand": len(DECK),
        "cards": MAX_PLAYERS,
        "last bet": len(BETS),
        "said": MAX_PLAYERS * len(BETS),
    },
    marks=_encode_position,
    actions=len(BETS) + 1,
    choices=_encode_choices,
)
"""Encoding of Blef. Seats count from the player's own seat; the index of an action is its id."""
