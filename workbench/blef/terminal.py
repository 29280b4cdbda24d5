"""A person at a game of Blef: against bots here, or with others at a service."""

from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import uuid4

from pydantic import SecretStr

from cardsharp.access import Limits
from cardsharp.blef.actions import LOST, name_of
from cardsharp.blef.bot import SeatMatch, SeatOrder, meet
from cardsharp.blef.client import BlefClient, Sighting
from cardsharp.blef.game import GAME
from cardsharp.blef.position import Position
from cardsharp.blef.records import Status
from cardsharp.blef.wire import StateBody, position_in
from cardsharp.cloud.adapters import build_vault
from cardsharp.cloud.clock import SystemClock
from cardsharp.errors import ArenaError, Garbled, Rejected
from cardsharp.seats import Seat
from workbench.blef.bot import check_there
from workbench.blef.screen import BlefScreen, capital
from workbench.show.http_session import proxy_of
from workbench.show.lookup import data_folder
from workbench.show.person import Person, Seating
from workbench.show.screen import Invitation, ScreenMove

_LIMITS = Limits(total=timedelta(minutes=1), attempts=100)  # a person waits for a restart
_CLOSED = 3  # the least that is done in a round: a bet, a check, and who lost


class Terminal(BlefScreen):
    """What is seen of a game here, and a seat in a game elsewhere."""

    @classmethod
    def join(cls, wanted: Invitation, seat: Seating[Position, int]) -> str:
        """Play a seat at a service to the end; who won. Raises `Malformed` or `ArenaError`."""
        order = SeatOrder.parse({**wanted._asdict(), "strategy": GAME.default_strategy})
        check_there(order.model_dump())
        clock = SystemClock()
        with closing(build_vault(f"sqlite:{data_folder() / 'blef.db'}", clock)) as vault:
            secret = SecretStr(str(uuid4()))
            kept = Seat(order.url, order.game, order.nickname, order.strategy, secret)
            vault.add(order.match_id, kept.body)
            connect = partial(BlefClient, limits=_LIMITS, proxy=proxy_of())
            with meet(connect, vault, clock, order.match_id) as match:
                return Visit(match, seat).play()


@dataclass
class Visit:
    """A seat of a person's in a served game, from joining to the end."""

    match: SeatMatch
    seat: Seating[Position, int]
    _closed: int = field(default=0, init=False)
    _said: int = field(default=0, init=False)
    _seated: list[str] = field(default_factory=list, init=False)

    def play(self) -> str:
        """The name of who has won; raises `Left`, and the seat stays theirs."""
        seen = self._started(self.match.enter())
        self._seated = _nicknames(seen.state)
        you = self._position(seen.state, self.match.seat.nickname).me or 0
        screen = BlefScreen([*self._seated[:you], "you", *self._seated[you + 1 :]], you)
        person = self.seat(screen)
        # Who takes the seat again has seen the rounds before.
        self._closed = seen.state.round_number - 1
        while True:
            state = seen.state
            self._catch_up(state, screen, person)
            if state.status is Status.FINISHED:
                winner = self._position(state, None).round().winner
                return "nobody" if winner is None else screen.names[winner]
            if state.cp_nickname == self.match.seat.nickname:
                seen = self._move(state, person)
            else:
                with person.waiting(f"{state.cp_nickname} is to move ..."):
                    seen = self.match.after(seen.version)

    def _started(self, seen: Sighting) -> Sighting:
        """The game once it has begun; the one who joined first begins it by a word."""
        told = ""
        person = self.seat(BlefScreen((), 0))
        while seen.state.status is Status.NOT_STARTED:
            here = ", ".join(_nicknames(seen.state))
            if here != told:
                person.tell(ScreenMove([f"Here are {here}; the game has not started yet."]))
            told = here
            if seen.state.admin_nickname == self.match.seat.nickname:
                seen = self._start(person)
            else:
                with person.waiting(f"{seen.state.admin_nickname} starts the game ..."):
                    seen = self.match.after(seen.version)
        return seen

    def _start(self, person: Person[Position, int]) -> Sighting:
        seat = self.match.seat
        if person.says("start", "You came first: start (when all are here; Enter looks again)? "):
            try:
                self.match.client.start(seat.game, seat.secret)
            except Rejected as denied:
                person.tell(ScreenMove([denied.message]))
        return self.match.now()

    def _catch_up(
        self, state: StateBody, screen: BlefScreen, person: Person[Position, int]
    ) -> None:
        """Tell the rounds that are over, with all hands, and what was said since."""
        over = state.status is Status.FINISHED
        cards = [player.n_cards for player in state.players]
        while self._closed < state.round_number - 1 + over:
            self._closed += 1
            past = self.match.client.past(self.match.seat.game, self._closed)
            closed = self._position(past, None).round()
            if not closed.is_over or len(closed.history) < _CLOSED:
                raise Garbled("The service does not show how the round ended.")
            lines = [*self._news(past, screen), *screen.outcome(closed, cards)]
            person.tell(ScreenMove(lines, closes=True))
            self._said = 0
        if not over:
            person.tell(ScreenMove(self._news(state, screen)))

    def _news(self, state: StateBody, screen: BlefScreen) -> list[str]:
        position = self._position(state, None)
        said = [move for move in position.history if move.action != LOST]
        new, self._said = said[self._said :], len(said)
        if position.round().is_over:
            new = [move for move in new if move != said[-1]]  # the outcome tells the check
        return [f"{capital(screen.names[seat])}: {name_of(action)}" for seat, action in new]

    def _move(self, state: StateBody, person: Person[Position, int]) -> Sighting:
        """Have the person decide, and the game after it; whatever came of it, it is sent once."""
        seat = self.match.seat
        action = person.decide(self._position(state, seat.nickname)).action
        try:
            self.match.client.act(seat.game, seat.secret, action)
        except ArenaError as error:
            person.tell(ScreenMove([str(error)]))
        return self.match.now()

    def _position(self, state: StateBody, nickname: str | None) -> Position:
        """What a state shows; raises `Garbled` where it contradicts itself or the states before."""
        position = position_in(state, nickname)
        if position is None or _nicknames(state) != self._seated:
            raise Garbled("The state does not show a round of this game.")
        return position


def _nicknames(state: StateBody) -> list[str]:
    return [player.nickname for player in state.players]
