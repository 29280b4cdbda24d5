"""What players do to a game: the checks in the order of docs/spec/blef.md section 5, the change.

Pure functions from a game to the changed game. A parameter that was not sent is None.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from random import Random, SystemRandom

from cardsharp.blef import params, rules
from cardsharp.blef.cards import DECK, Hand
from cardsharp.blef.params import NO_PLAYER, Denied
from cardsharp.blef.records import GameRecord, Player, Status
from cardsharp.blef.rules import Round
from cardsharp.errors import Illegal
from cardsharp.web.route import bad_request, forbidden

_SECRET = SystemRandom()


@dataclass
class SecretChance:
    """The chance of real games: nobody can foretell it, as long as nobody gives it other dice."""

    dice: Random = _SECRET

    def deal(self, number: int) -> Hand:
        """So many different cards, each choice and order equally likely."""
        return tuple(self.dice.sample(DECK, number))

    def seats(self, players: int) -> tuple[int, ...]:
        """Who of the players in order of joining sits where, each order equally likely."""
        return tuple(self.dice.sample(range(players), players))

    def uuid(self) -> str:
        """A new random uuid of version 4, in lower case."""
        return str(uuid.uuid4())


ReadAction = Callable[[], int]  # reads an action when it is to be checked; raises `Refused`


@dataclass(frozen=True, slots=True)
class Change:
    """A changed game, and the round that the change closed, if it did."""

    game: GameRecord
    closed: Round | None = None


def join(game: GameRecord, nickname: str | None, player_uuid: str) -> Change:
    """The game with one more player, whose secret uuid is given; raises `Refused`."""
    _check_open(game)
    _check_room(game)
    return Change(game.joined_by(_free_nickname(game, nickname), player_uuid))


def _free_nickname(game: GameRecord, nickname: str | None) -> str:
    """The nickname, which may be used here; raises `Refused`."""
    if not nickname:
        raise Denied("Nickname missing - please supply it", "nickname", nickname)
    if not params.is_nickname(nickname):
        text = "Nickname must start with a letter and only contain alphanumeric characters"
        raise Denied(text, "nickname", nickname)
    if len(nickname) > params.MAX_NICKNAME:
        text = f"Nickname too long - must be within {params.MAX_NICKNAME} characters"
        raise Denied(text, "nickname", nickname)
    if nickname in game.nicknames:
        raise Denied("Nickname already taken", "nickname", nickname, HTTPStatus.CONFLICT)
    return nickname


def join_as(game: GameRecord, nickname: str | None, wished: str) -> Change | None:
    """`join` with a uuid of the player's own; None where this player is there already.

    So whoever got no answer can ask again. What others know is no secret: neither a uuid that was
    not made by chance nor the game's own. Raises `Refused`.
    """
    uuid = params.read_uuid(wished)
    if uuid is None or not params.is_random(uuid) or uuid == game.uuid:
        raise Denied("Invalid player UUID", "player_uuid", wished)
    seat = game.seat_of(uuid)
    if seat is None:
        return join(game, nickname, uuid)
    if game.nicknames[seat] != nickname:
        raise Denied("Player UUID already taken", "player_uuid", wished, HTTPStatus.CONFLICT)
    return None


def invite(
    game: GameRecord,
    admin_uuid: str | None,
    agent_name: str | None,
    agents: Mapping[str, str],
    player_uuid: str,
) -> Change:
    """The game with one more player, a bot of ours under that secret uuid; raises `Refused`.

    `agents` are the strategies by the names under which bots are known.
    """
    _check_open(game)
    _check_admin(game, admin_uuid)
    _check_room(game)
    if not agent_name:
        raise Denied("Agent name missing - please supply it", "agent_name", agent_name)
    if agent_name not in agents:
        raise Denied("Invalid agent_name", "agent_name", None)
    more = ("", *(f"_{number}" for number in range(2, rules.MAX_PLAYERS + 1)))
    # No person can be called so, for the parentheses.
    named = (f"{agent_name}{number}_(AI)" for number in more)
    nickname = next(name for name in named if name not in game.nicknames)
    return Change(game.joined_by(nickname, player_uuid, agents[agent_name]))


def start(
    game: GameRecord, admin_uuid: str | None, chance: SecretChance, *, hide: bool = False
) -> Change:
    """The game seated and its first round dealt, private if `hide`; raises `Refused`."""
    _check_open(game)
    _check_admin(game, admin_uuid)
    if len(game.players) < rules.MIN_PLAYERS:
        raise forbidden("At least 2 players needed to start a game")
    seated = _seated(game.players, chance)
    first = rules.start(len(seated), chance.deal)
    return Change(replace(game, players=seated, round=first, public=game.public and not hide))


def _seated(players: tuple[Player, ...], chance: SecretChance) -> tuple[Player, ...]:
    """The players in seating order: by chance, and bots as evenly between people as can be.

    Bots take the seats i * players / bots from a seat drawn by chance on (docs/spec/blef-next.md
    section 3), in the order in which they were invited.
    """
    bots = [player for player in players if player.agent is not None]
    people = [player for player in players if player.agent is None]
    rest = iter([people[joined] for joined in chance.seats(len(people))])
    number = len(players)
    first = chance.seats(number)[0] if bots else 0
    seats = sorted((first + i * number // len(bots)) % number for i in range(len(bots)))
    taken = dict(zip(seats, bots, strict=True))
    return tuple(taken[seat] if seat in taken else next(rest) for seat in range(number))


def show(game: GameRecord, admin_uuid: str | None, *, public: bool) -> Change | None:
    """The game made public or private, None if it is so already; raises `Refused`."""
    if game.round is not None:
        raise forbidden("Cannot make the change - game already started")
    _check_admin(game, admin_uuid)
    return None if game.public is public else Change(replace(game, public=public))


def play(
    game: GameRecord, player_uuid: str | None, action: ReadAction, chance: SecretChance
) -> Change:
    """The game after an action of the player to move; raises `Refused`."""
    if game.round is None:
        raise bad_request("This game has not yet started")
    if game.status is Status.FINISHED:
        raise bad_request("This game has already finished")
    _check_turn(game, player_uuid)
    try:
        step = rules.apply(game.round, action(), chance.deal)
    except Illegal as error:
        raise bad_request(str(error)) from error
    return Change(replace(game, round=step.live), step.closed)


def _check_turn(game: GameRecord, player_uuid: str | None) -> None:
    if not player_uuid:
        raise Denied("Player UUID missing - please supply it", "player_uuid", player_uuid)
    uuid = params.read_uuid(player_uuid)
    if uuid is None:
        raise Denied("Invalid player UUID", "player_uuid", player_uuid)
    seat = game.seat_of(uuid)
    text = "The submitted UUID does not match the UUID of the current player"
    if seat is None:
        raise Denied(text, "player_uuid", player_uuid, today=NO_PLAYER)
    if game.round is None or seat != game.round.turn:
        raise Denied(text, "player_uuid", player_uuid)


def _check_open(game: GameRecord) -> None:
    if game.round is not None:
        raise forbidden("Game already started")


def _check_room(game: GameRecord) -> None:
    if len(game.players) >= rules.MAX_PLAYERS:
        raise Denied("The game room is full", status=HTTPStatus.FORBIDDEN, today="Game room full")


def _check_admin(game: GameRecord, admin_uuid: str | None) -> None:
    if not admin_uuid:
        raise Denied("Admin UUID missing - please supply it", "admin_uuid", admin_uuid)
    uuid = params.read_uuid(admin_uuid)
    if uuid is None:
        raise Denied("Invalid admin UUID", "admin_uuid", admin_uuid)
    if not game.is_admin(uuid):
        text = "Admin UUID does not match"
        raise Denied(text, "admin_uuid", admin_uuid, HTTPStatus.FORBIDDEN)
