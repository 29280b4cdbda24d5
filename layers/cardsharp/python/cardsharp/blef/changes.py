"""What players do to a game: the checks in the order of docs/spec/blef.md section 5, the change.

Pure functions from a game to the changed game. A parameter that was not sent is None.
"""

from dataclasses import dataclass, replace
from http import HTTPStatus

from cardsharp.blef import params, rules
from cardsharp.blef.actions import CHECK
from cardsharp.blef.chance import Chance
from cardsharp.blef.records import GameRecord, Status
from cardsharp.blef.state import Round
from cardsharp.errors import Illegal
from cardsharp.web.refusals import Refused, bad_request, forbidden


@dataclass(frozen=True, slots=True)
class Change:
    """A changed game, and the round that the change closed, if it did."""

    game: GameRecord
    closed: Round | None = None


def join(game: GameRecord, nickname: str | None, player_uuid: str) -> Change:
    """The game with one more player, whose secret uuid is given; raises `Refused`."""
    if game.round is not None:
        raise forbidden("Game already started")
    if len(game.players) >= rules.MAX_PLAYERS:
        raise forbidden("The game room is full")
    if nickname is None:
        raise bad_request("Nickname missing - please supply it")
    if not params.is_nickname(nickname):
        raise bad_request(
            "Nickname must start with a letter and only contain alphanumeric characters"
        )
    if len(nickname) > params.MAX_NICKNAME:
        raise bad_request(f"Nickname too long - must be within {params.MAX_NICKNAME} characters")
    if nickname in game.nicknames:
        raise Refused(HTTPStatus.CONFLICT, "Nickname already taken")
    return Change(game.joined_by(nickname, player_uuid))


def join_as(game: GameRecord, nickname: str | None, wished: str) -> Change | None:
    """`join` with a uuid of the player's own; None where this player is there already.

    So whoever got no answer can ask again. What others know is no secret: neither a uuid that was
    not made by chance nor the game's own. Raises `Refused`.
    """
    uuid = params.read_uuid(wished)
    if uuid is None or not params.is_random(uuid) or uuid == game.uuid:
        raise bad_request("Invalid player UUID")
    seat = game.seat_of(uuid)
    if seat is None:
        return join(game, nickname, uuid)
    if game.nicknames[seat] != nickname:
        raise Refused(HTTPStatus.CONFLICT, "Player UUID already taken")
    return None


def start(game: GameRecord, admin_uuid: str | None, chance: Chance) -> Change:
    """The game with its players seated and the first round dealt; raises `Refused`."""
    if game.round is not None:
        raise forbidden("Game already started")
    _check_admin(game, admin_uuid)
    if len(game.players) < rules.MIN_PLAYERS:
        raise forbidden("At least 2 players needed to start a game")
    seats = chance.seats(len(game.players))
    seated = tuple(game.players[joined] for joined in seats)
    return Change(replace(game, players=seated, round=rules.start(len(seated), chance.deal)))


def show(game: GameRecord, admin_uuid: str | None, *, public: bool) -> Change | None:
    """The game made public or private, None if it is so already; raises `Refused`."""
    if game.round is not None:
        raise forbidden("Cannot make the change - game already started")
    _check_admin(game, admin_uuid)
    return None if game.public is public else Change(replace(game, public=public))


def play(
    game: GameRecord, player_uuid: str | None, action_id: str | None, chance: Chance
) -> Change:
    """The game after an action of the player to move; raises `Refused`."""
    if game.round is None:
        raise bad_request("This game has not yet started")
    if game.status is Status.FINISHED:
        raise bad_request("This game has already finished")
    if player_uuid is None:
        raise bad_request("Player UUID missing - please supply it")
    uuid = params.read_uuid(player_uuid)
    if uuid is None:
        raise bad_request("Invalid player UUID")
    seat = game.seat_of(uuid)
    if seat is None or seat != game.round.turn:
        raise bad_request("The submitted UUID does not match the UUID of the current player")
    try:
        step = rules.apply(game.round, _read_action(action_id), chance.deal)
    except Illegal as error:
        raise bad_request(str(error)) from error
    return Change(replace(game, round=step.live), step.closed)


def _read_action(action_id: str | None) -> int:
    """The action that a parameter names; raises `Refused`."""
    if action_id is None:
        raise bad_request("Action ID missing - please supply it")
    action = params.read_whole(action_id)
    if action is None or not 0 <= action <= CHECK:
        raise bad_request(f"Action ID must be an integer between 0 and {CHECK}")
    return action


def _check_admin(game: GameRecord, admin_uuid: str | None) -> None:
    """Raise `Refused` unless this is the uuid of the game's admin."""
    if admin_uuid is None:
        raise bad_request("Admin UUID missing - please supply it")
    uuid = params.read_uuid(admin_uuid)
    if uuid is None:
        raise bad_request("Invalid admin UUID")
    if not game.is_admin(uuid):
        raise forbidden("Admin UUID does not match")
