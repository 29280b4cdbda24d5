"""Encoding of the positions and actions of Dead Man's Draw as numbers."""

from collections.abc import Iterable

from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType
from cardsharp.games.deadmansdraw.cards import SERVER_DECK, Card
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.play.encoding import Encoding, Marks

_CARD_BLOCK_NAMES = (
    "own bank",
    "other bank",
    "play area",
    "discard pile",
    "unseen",
    "known top",
    "offered",
)
_EFFECTS = tuple(EffectType)
_INDEX_BY_CARD = {card: number for number, card in enumerate(SERVER_DECK)}
_DECK_SIZE = len(SERVER_DECK)

_DRAW, _END_TURN, _REFUSAL, _FIRST_CARD = 0, 1, 2, 3  # from 3 on, the cards of answers


def _encode_position(position: DeadMansDrawPosition) -> Marks:
    pending, known_top = position.pending, position.known_top
    return {
        "own bank": _to_card_indexes(position.own_bank),
        "other bank": _to_card_indexes(position.opponent_bank),
        "play area": _to_card_indexes(position.play_area),
        "discard pile": _to_card_indexes(position.discard_pile),
        "unseen": _to_card_indexes(position.unseen),
        "known top": _to_card_indexes([] if known_top is None else [known_top]),
        "offered": _to_card_indexes(() if pending is None else pending.cards),
        "pending": [] if pending is None else [_EFFECTS.index(pending.effect_type)],
        "scores": [(0, position.own_bank.score / 100), (1, position.opponent_bank.score / 100)],
        "left": [(0, len(position.unseen) / _DECK_SIZE)],
    }


def _to_card_indexes(cards: Iterable[Card]) -> list[int]:
    return [_INDEX_BY_CARD[card] for card in cards]


def _to_action_index(action: Action) -> int:
    if action in (DRAW, END_TURN):
        return _DRAW if action == DRAW else _END_TURN
    return _REFUSAL if action.card is None else _FIRST_CARD + _INDEX_BY_CARD[action.card]


def _encode_choices(position: DeadMansDrawPosition) -> dict[int, Action]:
    return {_to_action_index(action): action for action in position.legal_actions()}


ENCODING = Encoding(
    blocks=dict.fromkeys(_CARD_BLOCK_NAMES, _DECK_SIZE)
    | {"pending": len(_EFFECTS), "scores": 2, "left": 1},
    marks=_encode_position,
    actions=_FIRST_CARD + _DECK_SIZE,
    choices=_encode_choices,
)
"""Encoding. Cards have their place in the deck; 0 draws, 1 ends the turn, 2 refuses an Oracle."""
