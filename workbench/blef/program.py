"""What a program is told of Blef: a round as one player sees it, in the words of the API."""

from collections.abc import Sequence

from pydantic import BaseModel

from cardsharp.blef.cards import Hand
from cardsharp.blef.position import Position
from cardsharp.blef.rules import Move
from cardsharp.blef.strategies import Decision, Option
from cardsharp.blef.wire import CardBody
from workbench.program import Translation


class Said(BaseModel):
    """What the player of a seat did: 0 to 87 a bet, 88 the check; 89 tells who lost the round."""

    player: int
    action_id: int


class OverRound(BaseModel):
    """A round that is over, as everybody saw it; `hands` are by seat, empty where one was out."""

    round_number: int
    hands: tuple[tuple[CardBody, ...], ...]
    history: tuple[Said, ...]


class Shown(BaseModel):
    """A round as the player on seat `me` sees it; `n_cards` are by seat, 0 where one is out.

    `last_bet` is the bet to beat or to check, null where there is none yet; `earlier` are the
    rounds before in this game.
    """

    me: int
    round_number: int
    max_cards: int
    n_cards: tuple[int, ...]
    hand: tuple[CardBody, ...]
    last_bet: int | None
    history: tuple[Said, ...]
    earlier: tuple[OverRound, ...]


def shown(position: Position) -> Shown:
    """The position as a program reads it; raises `ValueError` for that of an observer."""
    if position.me is None:
        raise ValueError("An observer decides nothing.")
    return Shown(
        me=position.me,
        round_number=position.number,
        max_cards=position.max_cards,
        n_cards=position.n_cards,
        hand=_cards(position.hand),
        last_bet=position.last_bet,
        history=_said(position.history),
        earlier=tuple(
            OverRound(
                round_number=over.number,
                hands=tuple(map(_cards, over.hands)),
                history=_said(over.history),
            )
            for over in position.earlier
        ),
    )


def _cards(hand: Hand) -> tuple[CardBody, ...]:
    return tuple(CardBody(value=card.value, colour=card.colour) for card in hand)


def _said(history: Sequence[Move]) -> tuple[Said, ...]:
    return tuple(Said(player=seat, action_id=action) for seat, action in history)


TRANSLATION = Translation(
    shown, Position.legal_actions, lambda action_id: action_id, Decision, Option
)
