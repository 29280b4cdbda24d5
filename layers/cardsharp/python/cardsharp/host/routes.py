"""A hosted game's service: create a game, join it, look at it, wait for it, act.

From the paths requests are answered and the document is made.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Clock
from cardsharp.errors import ConfigError, Conflict, Garbled, RulesError
from cardsharp.host import wire
from cardsharp.host.house import House, house
from cardsharp.host.records import Json, Move, Table, Tables, digest
from cardsharp.host.wire import GameBody, MoveBody
from cardsharp.keep.stores import Store
from cardsharp.web.api import Api
from cardsharp.web.reading import Messages
from cardsharp.web.route import Answer, Call, Refused, Route, bad_request, forbidden
from cardsharp.web.service import Service

MAX_CREATED = 200  # games that one caller may create on a day
LOOK = timedelta(milliseconds=200)  # how often a game is looked at that somebody waits for
_DICE = secrets.SystemRandom()  # chance that nobody can foretell
RESERVE = timedelta(seconds=3)  # what is left of a request's time when a wait ends without news


@dataclass(frozen=True, slots=True)
class Host:
    """The service of one game; every method may raise `Refused`."""

    house: House
    tables: Tables
    clock: Clock

    def create(self, call: Call[wire.CreateAsked]) -> Answer:
        """Begin a game; this machine may create as many as it likes."""
        try:
            rules = self.house.rules(call.asked.seats)
        except ConfigError as error:
            raise bad_request(str(error)) from None
        if call.caller is not None and not self.tables.admit(call.caller, MAX_CREATED):
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "That is enough for today.")
        state = self.house.codec.states.dump(rules.deal(_DICE))
        table = Table(uuid4().hex, rules.seats, state, state)
        self.tables.write(table)
        return Answer(wire.CreatedBody(game=table.game))

    def join(self, call: Call[wire.JoinAsked]) -> Answer:
        """Take a seat; the same request again changes nothing."""
        asked = call.asked
        table, player = self._find(asked.game), (asked.name, digest(asked.secret))
        if player in table.players:
            return Answer(wire.DoneBody())
        if len(table.players) == table.seats:
            raise forbidden(wire.FULL)
        if asked.name in table.names or table.seat_of(asked.secret) is not None:
            raise forbidden("Somebody is called so.")
        return self._done(replace(table, players=(*table.players, player)))

    def act(self, call: Call[wire.ActAsked]) -> Answer:
        """Do what is asked, if that is the game's next move and the player's turn."""
        table = self._find(call.asked.game)
        rules, codec = self.house.rules(table.seats), self.house.codec
        seat, state = table.seat_of(call.asked.secret), codec.states.load(table.state)
        if seat is None:
            raise forbidden(wire.NO_PLAYER)
        full = len(table.players) == table.seats
        if not full or call.asked.number != table.count or rules.to_act(state) != seat:
            raise Refused(HTTPStatus.CONFLICT, wire.NOT_NOW)
        try:
            action = codec.actions.load(call.asked.action)
            after = codec.states.dump(rules.act(state, action, _DICE))
        except (Garbled, RulesError) as refused:
            raise bad_request(str(refused)) from None
        now = replace(table, state=after, count=table.count + 1)
        return self._done(now, Move(seat, codec.actions.dump(action), after))

    def look(self, call: Call[wire.LookAsked]) -> Answer:
        """A game as one may see it; with `wait` once it has more moves, or it is one's turn."""
        asked = call.asked
        table = self._find(asked.game)
        viewer = table.seat_of(asked.secret)
        while asked.wait and self._is_old(table, asked.known, viewer) and call.left() > RESERVE:
            self.clock.sleep(LOOK)
            table = self._find(asked.game)
        return Answer(self._body(table, viewer, asked.known))

    def _is_old(self, table: Table, known: int, viewer: int | None) -> bool:
        """Whether a game has nothing new for whoever knows so many moves of it."""
        turn = self._turn(table)
        waits = turn is not None or len(table.players) < table.seats
        return waits and table.count <= known and (turn is None or turn != viewer)

    def _turn(self, table: Table) -> int | None:
        """Whose turn it is; nobody's before all have joined, nor after the end."""
        if len(table.players) < table.seats:
            return None
        state = self.house.codec.states.load(table.state)
        return self.house.rules(table.seats).to_act(state)

    def _body(self, table: Table, viewer: int | None, known: int) -> GameBody:
        rules, codec = self.house.rules(table.seats), self.house.codec
        state, turn = codec.states.load(table.state), self._turn(table)
        ended = rules.to_act(state) is None

        def seen(body: Json, seat: int | None) -> Any:  # noqa: ANN401 - the game's own
            """What a seat may know; nothing for a stranger where something is hidden."""
            if seat is None and rules.hides:
                return None
            return codec.positions.dump(rules.view(codec.states.load(body), seat or 0))

        return GameBody(
            seats=table.seats,
            names=table.names,
            count=table.count,
            moves=[
                MoveBody(
                    seat=move.seat,
                    player=table.names[move.seat],
                    action=move.action,
                    words=str(codec.actions.load(move.action)),
                    seen=seen(before, move.seat)
                    if viewer == move.seat or not rules.hides
                    else None,
                    left=seen(move.state, viewer),
                )
                for before, move in self._moves(table, known)
            ],
            turn=turn,
            position=seen(table.state, viewer),
            options=[
                codec.actions.dump(one)
                for one in (rules.actions(state) if turn is not None and turn == viewer else ())
            ],
            gains=list(rules.gains(state)) if ended else None,
            shown=[seen(before, move.seat) for before, move in self._moves(table, 0)]
            if ended
            else None,
        )

    def _moves(self, table: Table, known: int) -> list[tuple[Json, Move]]:
        """The moves from a number on, each with the state before it."""
        found = self.tables.moves(table.game, max(known - 1, 0))[: table.count]
        states = [move.state for move in found]
        if known:
            return list(zip(states, found[1:], strict=False))
        return list(zip([table.start, *states], found, strict=False))

    def _find(self, game: str) -> Table:
        table = self.tables.find(game)
        if table is None:
            raise Refused(HTTPStatus.NOT_FOUND, wire.NO_GAME)
        return table

    def _done(self, table: Table, move: Move | None = None) -> Answer:
        try:
            self.tables.write(table, move)
        except Conflict as conflict:
            raise Refused(HTTPStatus.CONFLICT, str(conflict)) from None
        return Answer(wire.DoneBody())


KEEP_DAYS = "CARDSHARP_KEEP_DAYS"
_DAYS = "30"

_REFUSED = (403, 404, 409, 429)


def service(folder: str) -> Service[Host]:
    """The service of the game in a folder."""
    game = house(folder)
    store = Store(Tables, f"{game.game.name.upper()}_STORE")

    def assemble(environment: Mapping[str, str]) -> Host:
        clock = SystemClock()
        tables = store.open(environment.get(store.variable, ""), clock)
        life = timedelta(days=int(environment.get(KEEP_DAYS) or _DAYS))
        return Host(game, replace(tables, life=life), clock)

    return Service(api=api_of(game), store=store.variable, assemble=assemble)


def api_of(game: House) -> Api[Host]:
    """The paths of a game."""
    return Api(
        title=game.game.title,
        version="1.0.0",
        introduction=f"Create, join and play games of {game.game.title}.",
        reading=Messages(),
        routes=tuple(
            Route(
                methods=(method,),
                path=f"/{name}",
                name=name,
                summary=summary,
                act=act,
                request=request,
                answers={HTTPStatus.OK: (body,)},
                refusals=_REFUSED,
            )
            for method, name, summary, act, request, body in _ROUTES
        ),
    )


_Act = Callable[[Host, Call[Any]], Answer]
_ROUTES: tuple[tuple[str, str, str, _Act, type[wire.Message], type[wire.Message]], ...] = (
    ("POST", "create", "A new game", Host.create, wire.CreateAsked, wire.CreatedBody),
    ("GET", "game", "A game as you may see it", Host.look, wire.LookAsked, wire.GameBody),
    ("POST", "join", "Take a seat", Host.join, wire.JoinAsked, wire.DoneBody),
    ("POST", "act", "Do something", Host.act, wire.ActAsked, wire.DoneBody),
)
