"""What an operator may order of Blef: a seat in a game, by its uuid and under a nickname."""

from uuid import UUID

from pydantic import Field, field_validator

from cardsharp import seats
from cardsharp.blef.client import service_address
from cardsharp.blef.game import GAME
from cardsharp.blef.params import MAX_NICKNAME, is_nickname


class SeatOrder(seats.SeatOrder):
    """To join this game, there, by this name."""

    nickname: str = Field(max_length=MAX_NICKNAME)
    strategy: str = GAME.default_strategy

    @field_validator("game")
    @classmethod
    def _check_game(cls, value: str) -> str:
        try:
            return str(UUID(value))
        except ValueError:
            raise ValueError("a game has a uuid; check it") from None

    @field_validator("nickname")
    @classmethod
    def _check_nickname(cls, value: str) -> str:
        if not is_nickname(value):
            raise ValueError("a nickname is a letter, then letters and digits")
        return value

    @staticmethod
    def address(url: str) -> str:
        """The service's address without its base path; raises `ConfigError` if it is none."""
        return service_address(url)
