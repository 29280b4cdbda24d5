"""What a program is told of Blef: a round as one player sees it, in the words of the API."""

from pydantic import BaseModel

from cardsharp.blef.position import Position
from cardsharp.blef.strategies import Decision, Option
from cardsharp.blef.wire import CardBody
from workbench.program import Translation


class Said(BaseModel):
    """What the player of a seat did: 0 to 87 a bet, 88 the check."""

    player: int
    action_id: int


class Shown(BaseModel):
    """A round as the player on seat `me` sees it; `n_cards` are by seat, 0 where one is out.

    `last_bet` is the bet to beat or to check, null where there is none yet.
    """

    me: int
    round_number: int
    max_cards: int
    n_cards: tuple[int, ...]
    hand: tuple[CardBody, ...]
    last_bet: int | None
    history: tuple[Said, ...]


def shown(position: Position) -> Shown:
    """The position as a program reads it; raises `ValueError` for that of an observer."""
    if position.me is None:
        raise ValueError("An observer decides nothing.")
    return Shown(
        me=position.me,
        round_number=position.number,
        max_cards=position.max_cards,
        n_cards=position.n_cards,
        hand=tuple(CardBody(value=card.value, colour=card.colour) for card in position.hand),
        last_bet=position.last_bet,
        history=tuple(Said(player=seat, action_id=action) for seat, action in position.history),
    )


def _action_id(action: int) -> int:
    return action


TRANSLATION = Translation(shown, Position.legal_actions, _action_id, Decision, Option)
