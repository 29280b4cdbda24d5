"""What an operator may order of Nim: a seat in a game, under a name."""

from cardsharp import seats
from nim.game import GAME
from nim.wire import Id, Name


class SeatOrder(seats.SeatOrder):
    """To join this game, there, by this name."""

    game: Id
    nickname: Name
    strategy: str = GAME.default_strategy
