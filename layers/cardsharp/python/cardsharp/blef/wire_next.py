"""What travels in today's generation of the API (docs/spec/blef-next.md sections 2 and 5).

Cards, hands and moves are those of version 2.3.
"""

from typing import Annotated, Literal

from pydantic import Field, RootModel

from cardsharp.blef.records import Status, room_of
from cardsharp.blef.service import Sight
from cardsharp.blef.store import Listing, Saved
from cardsharp.blef.wire import (
    Body,
    GameAsked,
    HandBody,
    MoveBody,
    PlayerBody,
    Uuid,
    before_start,
    hands_of,
    moves_of,
)

_ROUND = "A round from 1 to the present one; nothing is the present one."
_ADMIN = "The secret uuid of the player who joined first."
_AGENT = "Who is to play: the name of a bot, such as Dazhbog."


class StateAsked(GameAsked):
    """What is there to be seen?"""

    player_uuid: str | None = Field(None, description="The secret uuid that joining gave to you.")
    round: str | None = Field(None, description=_ROUND)


class JoinAsked(GameAsked):
    """A new player."""

    nickname: str | None = Field(None, description="An ASCII letter, then letters and digits.")


class InviteAsked(GameAsked):
    """A bot as a new player."""

    admin_uuid: str | None = Field(None, description=_ADMIN)
    agent_name: str | None = Field(None, description=_AGENT)


class AgentBody(PlayerBody):
    """A bot that is a player, and what it plays by."""

    ai_agent: str


class NextStateBody(Body):
    """A game, or one of its rounds, as whoever asks may see it.

    A finished game stands at the round after its last one, with nothing said in it. `last_modified`
    are seconds since 1970; of the states of a game the later one has more.
    """

    admin_nickname: str | None
    public: Literal["true", "false"]
    room: Annotated[int, Field(ge=10, le=99)]
    status: Status
    round_number: Annotated[int, Field(ge=0)]
    max_cards: Annotated[int, Field(ge=0)]
    players: list[AgentBody | PlayerBody]
    hands: list[HandBody]
    cp_nickname: str | None
    history: list[MoveBody]
    last_modified: float


class NextListedBody(Body):
    """A public game that has not started."""

    game_uuid: Uuid
    room: int
    players: list[str]
    last_modified: float


class NextListBody(RootModel[list[NextListedBody]]):
    """The public games that changed in the last 30 minutes and have not started, newest first."""


class ListNewsBody(NextListedBody):
    """A game that is in the list, or that has just left it: then it is private."""

    public: Literal["true", "false"]


def state_body(sight: Sight) -> NextStateBody:
    """A game as it is seen."""
    game, seen = sight.game, sight.position or before_start(sight.game)
    names = game.nicknames
    over = seen.round().winner is not None
    return NextStateBody(
        admin_nickname=game.admin,
        public=_text(public=game.public),
        room=room_of(game.uuid),
        # A round that is over is told as it was before its loser's cards were taken.
        status=game.status if over or sight.position is None else Status.RUNNING,
        round_number=seen.number + over,
        max_cards=seen.max_cards,
        players=[
            PlayerBody(nickname=one.nickname, n_cards=cards)
            if one.agent is None
            else AgentBody(nickname=one.nickname, n_cards=cards, ai_agent=one.agent)
            for one, cards in zip(game.players, seen.n_cards, strict=True)
        ],
        hands=hands_of(names, seen),
        cp_nickname=None if seen.turn is None else names[seen.turn],
        history=[] if over else moves_of(names, seen),
        last_modified=sight.changed.timestamp(),
    )


def list_body(listings: list[Listing]) -> NextListBody:
    """The games of the list that can still be joined, newest first."""
    ordered = sorted(listings, key=lambda listing: listing.changed, reverse=True)
    return NextListBody(
        [
            NextListedBody(
                game_uuid=one.uuid,
                room=room_of(one.uuid),
                players=list(one.nicknames),
                last_modified=one.changed.timestamp(),
            )
            for one in ordered
            if not one.started
        ]
    )


def list_news(saved: Saved) -> ListNewsBody:
    """What those who watch the list are told of a game."""
    game = saved.game
    return ListNewsBody(
        game_uuid=game.uuid,
        room=room_of(game.uuid),
        public=_text(public=game.public and game.round is None),
        players=list(game.nicknames),
        last_modified=saved.changed.timestamp(),
    )


def _text(*, public: bool) -> Literal["true", "false"]:
    return "true" if public else "false"
