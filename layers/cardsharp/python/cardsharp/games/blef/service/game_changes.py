"""Changes that players make to a game: checks in the order of docs/spec/blef.md section 5.

They are pure functions from a game to the changed game. A parameter that was not sent is None.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random, SystemRandom

from cardsharp.games.blef import rules
from cardsharp.games.blef.cards import DECK, Hand
from cardsharp.games.blef.rules import Round
from cardsharp.games.blef.service import request_params
from cardsharp.games.blef.service.errors import (
    CurrentPlayerNotInGame,
    GameAlreadyFinished,
    GameAlreadyStarted,
    GameNotStarted,
    NicknameTaken,
    NotCurrentPlayer,
    NotGameAdmin,
    PlayerUuidTaken,
    TooFewPlayers,
    VisibilityFixed,
)
from cardsharp.games.blef.service.records import GamePlayer, GameRecord, GameStatus
from cardsharp.server.service_errors import GameFull, InvalidParameter

_SECURE_RNG = SystemRandom()


@dataclass
class SecureRandomness:
    """Unpredictable randomness of real games, unless a test passes another `rng`."""

    rng: Random = _SECURE_RNG

    def deal(self, card_count: int) -> Hand:
        """Deal `card_count` different cards; each choice and order is equally likely."""
        return tuple(self.rng.sample(DECK, card_count))

    def random_seating_indexes(self, player_count: int) -> tuple[int, ...]:
        """Return a random seating: for each seat a player's index in the order of joining."""
        return tuple(self.rng.sample(range(player_count), player_count))

    def uuid(self) -> str:
        """A new random uuid of version 4, in lower case."""
        return str(uuid.uuid4())


ParseAction = Callable[[], int]  # reads an action when it is to be checked; raises `ServiceError`


@dataclass(frozen=True, slots=True)
class GameChangeResult:
    """A changed game, and the round that the change closed, if it did."""

    game: GameRecord
    closed_round: Round | None = None


def join(game: GameRecord, nickname: str | None, player_uuid: str) -> GameChangeResult:
    """Add a player with this new secret uuid; raise `ServiceError`."""
    _check_not_started(game)
    _check_free_seat(game)
    return GameChangeResult(game.with_player(_validate_nickname(game, nickname), player_uuid))


def _validate_nickname(game: GameRecord, nickname: str | None) -> str:
    """Return the nickname; raise `ServiceError` if it may not be used in this game."""
    if not nickname:
        raise InvalidParameter("nickname", nickname, "Nickname missing - please supply it")
    if not request_params.is_nickname(nickname):
        message = "Nickname must start with a letter and only contain alphanumeric characters"
        raise InvalidParameter("nickname", nickname, message)
    if len(nickname) > request_params.MAX_NICKNAME:
        message = f"Nickname too long - must be within {request_params.MAX_NICKNAME} characters"
        raise InvalidParameter("nickname", nickname, message)
    if nickname in game.nicknames:
        raise NicknameTaken("nickname", nickname)
    return nickname


def join_with_uuid(
    game: GameRecord, nickname: str | None, player_uuid: str
) -> GameChangeResult | None:
    """Add a player with a uuid of its choice; return None if this player has joined already.

    So a client that got no response can repeat its request. A uuid must be secret: one that is
    not random (version 4), or is the game's, is refused. Raises `ServiceError`.
    """
    uuid = request_params.parse_uuid_or_none(player_uuid)
    if uuid is None or not request_params.is_random_uuid(uuid) or uuid == game.uuid:
        raise InvalidParameter("player_uuid", player_uuid, "Invalid player UUID")
    seat = game.seat_of(uuid)
    if seat is None:
        return join(game, nickname, uuid)
    if game.nicknames[seat] != nickname:
        raise PlayerUuidTaken("player_uuid", player_uuid)
    return None


def invite(
    game: GameRecord,
    admin_uuid: str | None,
    agent_name: str | None,
    agents: Mapping[str, str],
    player_uuid: str,
) -> GameChangeResult:
    """Add an invited bot as a player with this secret uuid; raise `ServiceError`.

    `agents` maps the names of bots to their strategies.
    """
    _check_not_started(game)
    _check_admin(game, admin_uuid)
    _check_free_seat(game)
    if not agent_name:
        raise InvalidParameter("agent_name", agent_name, "Agent name missing - please supply it")
    if agent_name not in agents:
        raise InvalidParameter("agent_name", None, "Invalid agent_name")
    more = ("", *(f"_{number}" for number in range(2, rules.MAX_PLAYERS + 1)))
    # No person can be called so, for the parentheses.
    candidate_names = (f"{agent_name}{suffix}_(AI)" for suffix in more)
    nickname = next(name for name in candidate_names if name not in game.nicknames)
    return GameChangeResult(game.with_player(nickname, player_uuid, agents[agent_name]))


def start(
    game: GameRecord,
    admin_uuid: str | None,
    randomness: SecureRandomness,
    *,
    make_private: bool = False,
) -> GameChangeResult:
    """Seat the players and deal the first round; raise `ServiceError`.

    With `make_private` the game leaves the public list.
    """
    _check_not_started(game)
    _check_admin(game, admin_uuid)
    if len(game.players) < rules.MIN_PLAYERS:
        raise TooFewPlayers
    seated = _assign_seats(game.players, randomness)
    first_round = rules.start(len(seated), randomness.deal)
    return GameChangeResult(
        replace(
            game, players=seated, round=first_round, is_public=game.is_public and not make_private
        )
    )


def _assign_seats(
    players: tuple[GamePlayer, ...], randomness: SecureRandomness
) -> tuple[GamePlayer, ...]:
    """Return the players in random seating order, with bots spread evenly between people.

    Bots take the seats i * players / bots, counted from a random seat (docs/spec/blef-next.md
    section 3), in the order of their invitation.
    """
    bots = [player for player in players if player.bot_name is not None]
    people = [player for player in players if player.bot_name is None]
    rest = iter([people[joined] for joined in randomness.random_seating_indexes(len(people))])
    player_count = len(players)
    first_bot_seat = randomness.random_seating_indexes(player_count)[0] if bots else 0
    seats = sorted(
        (first_bot_seat + i * player_count // len(bots)) % player_count for i in range(len(bots))
    )
    bots_by_seat = dict(zip(seats, bots, strict=True))
    return tuple(
        bots_by_seat[seat] if seat in bots_by_seat else next(rest) for seat in range(player_count)
    )


def set_visibility(
    game: GameRecord, admin_uuid: str | None, *, public: bool
) -> GameChangeResult | None:
    """Make the game public or private; return None if it is so already; raise `ServiceError`."""
    if game.round is not None:
        raise VisibilityFixed
    _check_admin(game, admin_uuid)
    return None if game.is_public is public else GameChangeResult(replace(game, is_public=public))


def play(
    game: GameRecord,
    player_uuid: str | None,
    parse_action: ParseAction,
    randomness: SecureRandomness,
) -> GameChangeResult:
    """Apply an action of the player to move; raise `ServiceError` or `IllegalAction`."""
    if game.round is None:
        raise GameNotStarted
    if game.status is GameStatus.FINISHED:
        raise GameAlreadyFinished
    _check_turn(game, player_uuid)
    step = rules.apply(game.round, parse_action(), randomness.deal)
    return GameChangeResult(replace(game, round=step.current_round), step.closed_round)


def _check_turn(game: GameRecord, player_uuid: str | None) -> None:
    if not player_uuid:
        raise InvalidParameter("player_uuid", player_uuid, "Player UUID missing - please supply it")
    uuid = request_params.parse_uuid_or_none(player_uuid)
    if uuid is None:
        raise InvalidParameter("player_uuid", player_uuid, "Invalid player UUID")
    seat = game.seat_of(uuid)
    if seat is None:
        raise CurrentPlayerNotInGame("player_uuid", player_uuid)
    if game.round is None or seat != game.round.turn:
        raise NotCurrentPlayer("player_uuid", player_uuid)


def _check_not_started(game: GameRecord) -> None:
    if game.round is not None:
        raise GameAlreadyStarted


def _check_free_seat(game: GameRecord) -> None:
    if len(game.players) >= rules.MAX_PLAYERS:
        raise GameFull


def _check_admin(game: GameRecord, admin_uuid: str | None) -> None:
    if not admin_uuid:
        raise InvalidParameter("admin_uuid", admin_uuid, "Admin UUID missing - please supply it")
    uuid = request_params.parse_uuid_or_none(admin_uuid)
    if uuid is None:
        raise InvalidParameter("admin_uuid", admin_uuid, "Invalid admin UUID")
    if not game.is_admin(uuid):
        raise NotGameAdmin("admin_uuid", admin_uuid)
