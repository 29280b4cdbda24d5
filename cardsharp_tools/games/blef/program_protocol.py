"""JSON protocol of programs that play Blef: a round from one player's view, in the API's terms."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.service.wire import CardBody
from cardsharp.games.blef.strategies import BlefDecision, BlefOption
from cardsharp_tools.executors.external_program import ProtocolCodec, position_encoder

CardView = Annotated[
    CardBody, BeforeValidator(lambda card: CardBody(value=card.value, colour=card.suit))
]  # of a `Card`


class HistoryEntry(BaseModel):
    """Action of a seat: 0 to 87 is a bet, 88 the check; 89 marks the loser of the round."""

    player: int = Field(validation_alias="seat")
    action_id: int = Field(validation_alias="action")


class FinishedRoundView(BaseModel):
    """Round that is over, as all players saw it.

    `hands` are by seat, empty for a player who is out.
    """

    round_number: int = Field(validation_alias="number")
    hands: tuple[tuple[CardView, ...], ...]
    history: tuple[HistoryEntry, ...]


class RoundView(BaseModel):
    """Round as the player on seat `me` sees it; `n_cards` are by seat, 0 for a player who is out.

    `last_bet` is the bet that must be beaten or checked, null if there is none yet. `earlier` are
    the earlier rounds of this game.
    """

    me: int = Field(validation_alias="seat")
    round_number: int
    max_cards: int
    n_cards: tuple[int, ...] = Field(validation_alias="card_counts")
    hand: tuple[CardView, ...] = Field(validation_alias="hand")
    last_bet: int | None
    history: tuple[HistoryEntry, ...]
    earlier: tuple[FinishedRoundView, ...] = Field(validation_alias="earlier_rounds")


CODEC = ProtocolCodec(
    position_encoder(RoundView), BlefPosition.legal_actions, int, BlefDecision, BlefOption
)
