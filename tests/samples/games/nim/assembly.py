"""The bot put together from settings; the service is put together in `routes`."""

from cardsharp.seats import Seated
from nim.bot import meeting
from nim.game import GAME
from nim.seats import SeatOrder

NIM = Seated(GAME.name, SeatOrder, meeting)
attend, order = NIM.attend, NIM.order
