"""Encoding of the positions and actions of Dead Man's Draw as numbers."""

from collections.abc import Iterable

from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType
from cardsharp.games.deadmansdraw.cards import SERVER_DECK, Card
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.play.encoding import Encoding, Marks

_PILES = ("own bank", "other bank", "play area", "discard pile", "unseen", "known top", "offered")
_EFFECTS = tuple(EffectType)
_NUMBERS = {card: number for number, card in enumerate(SERVER_DECK)}
_DECK = len(SERVER_DECK)

_DRAW, _END_TURN, _NOT_TAKEN, _FIRST_CARD = 0, 1, 2, 3  # from 3 on, the cards of answers


def _marks(position: DeadMansDrawPosition) -> Marks:
    pending, known_top = position.pending, position.known_top
    return {
        "own bank": _places(position.own_bank),
        "other bank": _places(position.opponent_bank),
        "play area": _places(position.play_area),
        "discard pile": _places(position.discard_pile),
        "unseen": _places(position.unseen),
        "known top": _places([] if known_top is None else [known_top]),
        "offered": _places(() if pending is None else pending.cards),
        "pending": [] if pending is None else [_EFFECTS.index(pending.effect_type)],
        "scores": [(0, position.own_bank.score / 100), (1, position.opponent_bank.score / 100)],
        "left": [(0, len(position.unseen) / _DECK)],
    }


def _places(cards: Iterable[Card]) -> list[int]:
    return [_NUMBERS[card] for card in cards]


def _number(action: Action) -> int:
    if action in (DRAW, END_TURN):
        return _DRAW if action == DRAW else _END_TURN
    return _NOT_TAKEN if action.card is None else _FIRST_CARD + _NUMBERS[action.card]


def _choices(position: DeadMansDrawPosition) -> dict[int, Action]:
    return {_number(action): action for action in position.legal_actions()}


ENCODING = Encoding(
    blocks=dict.fromkeys(_PILES, _DECK) | {"pending": len(_EFFECTS), "scores": 2, "left": 1},
    marks=_marks,
    actions=_FIRST_CARD + _DECK,
    choices=_choices,
)
"""Encoding. Cards have their place in the deck; 0 draws, 1 ends the turn, 2 refuses an Oracle."""
