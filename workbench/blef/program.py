"""What a program is told of Blef: a round as one player sees it, in the words of the API."""

from pydantic import BaseModel, Field

from cardsharp.blef.position import Position
from cardsharp.blef.strategies import Decision, Option
from cardsharp.blef.wire import CardBody
from workbench.program import Translation, told_by


class Said(BaseModel):
    """What the player of a seat did: 0 to 87 a bet, 88 the check; 89 tells who lost the round."""

    player: int = Field(validation_alias="seat")
    action_id: int = Field(validation_alias="action")


class OverRound(BaseModel):
    """A round that is over, as everybody saw it; `hands` are by seat, empty where one was out."""

    round_number: int = Field(validation_alias="number")
    hands: tuple[tuple[CardBody, ...], ...]
    history: tuple[Said, ...]


class Shown(BaseModel):
    """A round as the player on seat `me` sees it; `n_cards` are by seat, 0 where one is out.

    `last_bet` is the bet to beat or to check, null where there is none yet; `earlier` are the
    rounds before in this game.
    """

    me: int
    round_number: int = Field(validation_alias="number")
    max_cards: int
    n_cards: tuple[int, ...]
    hand: tuple[CardBody, ...]
    last_bet: int | None
    history: tuple[Said, ...]
    earlier: tuple[OverRound, ...]


TRANSLATION = Translation(told_by(Shown), Position.legal_actions, int, Decision, Option)
