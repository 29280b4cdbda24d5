"""Users of the arena: players from a JSON file, and the admin if there is a password."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from cardsharp.client.config import MAX_NAME_LENGTH
from cardsharp.core.credentials import digest_ha1
from cardsharp.core.text_files import read_valid_json_text
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.dto import Json

_log = logging.getLogger(__name__)

DEFAULT_FILE = Path(__file__).with_name("players.json")  # the dummy player and two teams
DUMMY_ID = "0" * 24  # the player whose password everybody knows (docs/spec/arena.md section 4)
ADMIN = "admin"  # the organiser's user name
PLAYER = "player"  # role of users that may play matches


class PlayerAccount(BaseModel):
    """One entry of the players' file, with a password or else its hash (`ha1`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(alias="_id", pattern="^[0-9a-f]{24}$")
    name: str = Field(min_length=1, max_length=MAX_NAME_LENGTH)
    password: SecretStr = SecretStr("")
    ha1: SecretStr = SecretStr("")
    email: str | None = None
    country: str | None = None

    @model_validator(mode="after")
    def _check_password_or_ha1(self) -> Self:
        if bool(self.password.get_secret_value()) == bool(self.ha1.get_secret_value()):
            raise ValueError("give either a password or its ha1, and not both")
        return self

    @property
    def password_ha1(self) -> str:
        """HA1 of the player's password."""
        stored_ha1 = self.ha1.get_secret_value()
        return stored_ha1 or digest_ha1(self.id, self.password.get_secret_value())

    def public_json(self) -> Json:
        """Return the account as the players' endpoints show it: without the password."""
        body = {"_id": self.id, "name": self.name, "email": self.email, "country": self.country}
        return {key: value for key, value in body.items() if value is not None}


LoadPlayers = Callable[[], Mapping[str, PlayerAccount]]  # brings the players by id, as of now


@dataclass(frozen=True, slots=True)
class User:
    """Authenticated user."""

    id: str
    name: str | None
    role: str
    country: str | None = None

    @property
    def is_admin(self) -> bool:
        """True if this is the organiser, who sees everything and plays nothing."""
        return self.role == ADMIN

    @property
    def is_player(self) -> bool:
        """True if this user has matches of their own; other users may look at all matches."""
        return self.role == PLAYER


ADMIN_USER = User(ADMIN, None, ADMIN)


@dataclass(frozen=True, slots=True)
class UserDirectory:
    """Source of the players by id, and of the admin's password if there is an admin."""

    load_players: LoadPlayers
    admin_password: Callable[[], SecretStr | None] = field(default=lambda: None, repr=False)

    @property
    def players_by_id(self) -> Mapping[str, PlayerAccount]:
        """Players by id, as of now."""
        return self.load_players()

    def digest_ha1_of(self, user_id: str) -> str | None:
        """Return HA1 of the password of a player or the admin, None for an unknown user."""
        if user_id == ADMIN:
            password = self.admin_password()
            return None if password is None else digest_ha1(ADMIN, password.get_secret_value())
        player = self.players_by_id.get(user_id)
        return None if player is None else player.password_ha1

    def user(self, user_id: str) -> User:
        """Return the user with this id, which must exist."""
        if user_id == ADMIN:
            return ADMIN_USER
        player = self.players_by_id[user_id]
        return User(player.id, player.name, PLAYER, player.country)

    def name_of(self, player_id: str) -> str:
        """Return a player's name, or the id if the player is no longer in the file."""
        player = self.players_by_id.get(player_id)
        return player_id if player is None else player.name


_PLAYERS_ADAPTER = TypeAdapter(list[PlayerAccount])


def load_players_by_id(path: Path) -> dict[str, PlayerAccount]:
    """Return the players of a JSON file by id.

    Raises `ConfigError` if the file is missing, or not a list of players with different ids.
    The message names every fault and no password.
    """
    try:
        players = _PLAYERS_ADAPTER.validate_json(read_valid_json_text(path))
    except ConfigError as error:
        raise ConfigError(
            f"The players' file {str(error).removesuffix('.')}. "
            'It must be a JSON list of {"_id", "name", "password"}.'
        ) from None
    except ValidationError as error:
        raise ConfigError(
            f"The players' file {path} is not valid: {_describe_validation_errors(error)}."
        ) from None
    players_by_id = {player.id: player for player in players}
    if len(players_by_id) < len(players):
        raise ConfigError(
            f"The players' file {path} contains the same _id twice. Give each player its own."
        )
    return players_by_id


class PlayersFile:
    """Players of a JSON file by id, read again when it changes; raises `ConfigError` once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mtime = self._read_mtime()
        self._players = load_players_by_id(path)

    def __call__(self) -> Mapping[str, PlayerAccount]:
        """Return the current players."""
        written = self._read_mtime()
        if written != self._mtime:
            self._mtime = written
            try:
                self._players = load_players_by_id(self._path)
            except ConfigError as error:
                _log.warning("%s The arena continues with the previous players.", error)
        return self._players

    def _read_mtime(self) -> int | None:
        try:
            return self._path.stat().st_mtime_ns
        except OSError:
            return None


def _describe_validation_errors(error: ValidationError) -> str:
    """Return all errors in one sentence, without the values, which may be passwords."""
    return "; ".join(
        f"{'.'.join(str(key) for key in fault['loc']) or 'the file'}: {fault['msg']}"
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    )
