"""Wire format of the current generation of the API (docs/spec/blef-next.md sections 2 and 5).

Cards, hands and moves are those of version 2.3.
"""

from typing import Annotated, Literal

from pydantic import Field, RootModel

from cardsharp.games.blef.service.game_store import GameListing, StoredGame
from cardsharp.games.blef.service.records import GameStatus, room_number
from cardsharp.games.blef.service.service import GameView
from cardsharp.games.blef.service.wire import (
    GameParams,
    HandBody,
    MoveBody,
    PlayerBody,
    ResponseBody,
    Uuid,
    hand_bodies,
    move_bodies,
    unstarted_position,
)

_ROUND_DESCRIPTION = "A round from 1 to the present one; nothing is the present one."
_ADMIN_UUID_DESCRIPTION = "The secret uuid of the player who joined first."
_AGENT_NAME_DESCRIPTION = "Who is to play: the name of a bot, such as Dazhbog."


class StateParamsV2022(GameParams):
    """Parameters of a request for a game's state."""

    player_uuid: str | None = Field(None, description="The secret uuid that joining gave to you.")
    round: str | None = Field(None, description=_ROUND_DESCRIPTION)


class JoinParamsV2022(GameParams):
    """Parameters of a request to join as a new player."""

    nickname: str | None = Field(
        None, description="An ASCII letter, then letters, digits and underscores."
    )


class InviteParamsV2022(GameParams):
    """Parameters of a request to invite a bot as a new player."""

    admin_uuid: str | None = Field(None, description=_ADMIN_UUID_DESCRIPTION)
    agent_name: str | None = Field(None, description=_AGENT_NAME_DESCRIPTION)


class BotPlayerBody(PlayerBody):
    """A bot that is a player, and what it plays by."""

    ai_agent: str


class StateBodyV2022(ResponseBody):
    """A game, or one of its rounds, as whoever asks may see it.

    A finished game stands at the round after its last one, with nothing said in it. `last_modified`
    are seconds since 1970; of the states of a game the later one has more.
    """

    admin_nickname: str | None
    public: Literal["true", "false"]
    room: Annotated[int, Field(ge=10, le=99)]
    status: GameStatus
    round_number: Annotated[int, Field(ge=0)]
    max_cards: Annotated[int, Field(ge=0)]
    players: list[BotPlayerBody | PlayerBody]
    hands: list[HandBody]
    cp_nickname: str | None
    history: list[MoveBody]
    last_modified: float


class ListedGameBodyV2022(ResponseBody):
    """A public game that has not started."""

    game_uuid: Uuid
    room: int
    players: list[str]
    last_modified: float


class GameListBodyV2022(RootModel[list[ListedGameBodyV2022]]):
    """The public games that changed in the last 30 minutes and have not started, newest first."""


class ListUpdateBody(ListedGameBodyV2022):
    """A game that is in the list, or that has just left it: then it is private."""

    public: Literal["true", "false"]


def state_body(game_view: GameView) -> StateBodyV2022:
    """Return the body of a game as its viewer sees it."""
    game, viewed_position = (
        game_view.game,
        game_view.position or unstarted_position(game_view.game),
    )
    names = game.nicknames
    over = viewed_position.to_round().winner is not None
    return StateBodyV2022(
        admin_nickname=game.admin_digest,
        public=_to_flag_text(public=game.is_public),
        room=room_number(game.uuid),
        # A round that is over is told as it was before its loser's cards were taken.
        status=game.status if over or game_view.position is None else GameStatus.RUNNING,
        round_number=viewed_position.round_number + over,
        max_cards=viewed_position.max_cards,
        players=[
            PlayerBody(nickname=player.nickname, n_cards=cards)
            if player.bot_name is None
            else BotPlayerBody(nickname=player.nickname, n_cards=cards, ai_agent=player.bot_name)
            for player, cards in zip(game.players, viewed_position.card_counts, strict=True)
        ],
        hands=hand_bodies(names, viewed_position),
        cp_nickname=None if viewed_position.turn is None else names[viewed_position.turn],
        history=[] if over else move_bodies(names, viewed_position),
        last_modified=game_view.changed_at.timestamp(),
    )


def joinable_game_list_body(listings: list[GameListing]) -> GameListBodyV2022:
    """The games of the list that can still be joined, newest first."""
    ordered = sorted(listings, key=lambda listing: listing.changed, reverse=True)
    return GameListBodyV2022(
        [
            ListedGameBodyV2022(
                game_uuid=listing.uuid,
                room=room_number(listing.uuid),
                players=list(listing.nicknames),
                last_modified=listing.changed.timestamp(),
            )
            for listing in ordered
            if not listing.is_started
        ]
    )


def build_list_update(stored_game: StoredGame) -> ListUpdateBody:
    """Return the update of a game for subscribers of the list."""
    game = stored_game.game
    return ListUpdateBody(
        game_uuid=game.uuid,
        room=room_number(game.uuid),
        public=_to_flag_text(public=game.is_public and game.round is None),
        players=list(game.nicknames),
        last_modified=stored_game.changed_at.timestamp(),
    )


def _to_flag_text(*, public: bool) -> Literal["true", "false"]:
    return "true" if public else "false"
