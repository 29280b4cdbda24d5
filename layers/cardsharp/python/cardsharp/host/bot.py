"""A seat in a hosted game as the bot attends it; what all games share is in cloud/attend."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import count
from random import Random
from typing import Any

from pydantic import ValidationError, create_model

from cardsharp import seats
from cardsharp.access import Address, Limits, Proxy
from cardsharp.cloud.attended import After, Attended, Facts, Sight
from cardsharp.cloud.ports import Body
from cardsharp.deciding import Decided, Decider, intent_body
from cardsharp.errors import Garbled, Rejected
from cardsharp.exchange import Call, Client, Exchange
from cardsharp.game import Job
from cardsharp.host.house import House, decider_of, house
from cardsharp.host.wire import FULL, NO_GAME, GameBody, Id, Name
from cardsharp.seats import Places, Seat, Seated, find_seat
from cardsharp.strategy import Decision, Strategy


@cache
def _seated(folder: str) -> Seated:
    game = house(folder)
    kind = create_model(
        "SeatOrder",
        __base__=seats.SeatOrder,
        game=(Id, ...),
        nickname=(Name, ...),
        strategy=(str, game.game.default_strategy),
    )
    return Seated(game.game.name, kind, partial(_met, folder))


def attend(folder: str) -> Callable[[str, Job], Attended]:
    """What plays a seat of ours in the game of a folder."""
    return _seated(folder).attend


def order(folder: str) -> Callable[[Mapping[str, Any], Job], Sequence[str]]:
    """What has the bot take a seat in it."""
    return _seated(folder).order


@contextmanager
def _met(folder: str, places: Places, match_id: str) -> Iterator["SeatMatch"]:
    """A seat of ours, met within the limits of the settings."""
    seat = find_seat(places.vault, match_id)
    settings = places.settings
    with HostClient(seat.url, settings.limits, settings.proxy) as client:
        yield seat_match(folder, seat, client, Random())


def seat_match(folder: str, seat: Seat, client: "HostClient", dice: Random) -> "SeatMatch":
    """A seat of ours, played by the strategy that it names."""
    game = house(folder)
    strategy = game.rules().strategies.build(seat.strategy, dice)
    return SeatMatch(game, seat, strategy, client, decider_of(folder))


@dataclass(frozen=True, slots=True)
class SeatMatch:
    """A game from one seat."""

    house: House
    seat: Seat
    strategy: Strategy[Any, Decision[Any]]
    client: "HostClient"
    decider: Decider[Any, Any, Decision[Any]]

    @property
    def header(self) -> Body:
        """All that is known of the seat but its secret."""
        return self.seat.header(self.house.game.name)

    def look(self, known: Facts) -> Sight[Any]:
        """The game as it is now; joined first, which changes nothing where we are in it."""
        self.client.join(self.seat.game, self.seat.nickname, self.seat.secret)
        return self._sight(known)

    def wait(self, known: Facts) -> Sight[Any] | None:
        """The game once there is another move."""
        return self._sight(known, wait=True)

    def gone(self, denied: Rejected) -> Body | None:
        """The outcome where the service says that there is no seat for us in the game."""
        if denied.message not in {NO_GAME, FULL}:
            return None
        return {"result": "unknown", "winner": None, "reason": denied.message}

    def _sight(self, known: Facts, *, wait: bool = False) -> Sight[Any]:
        missing = next(number for number in count() if number not in known)
        seen = self.client.look(self.seat.game, self.seat.secret, missing, wait=wait)
        ours = seen.turn is not None and seen.names[seen.turn] == self.seat.nickname
        return Sight(
            sequence=seen.count,
            facts={missing + at: move.model_dump() for at, move in enumerate(seen.moves)},
            outcome=outcome_of(seen, self.seat.nickname),
            turn=SeatTurn(self, seen) if ours else None,
        )


def outcome_of(seen: GameBody, name: str) -> Body | None:
    """How a game ended for us, None while it runs."""
    if seen.gains is None:
        return None
    mine, best = seen.gains[seen.names.index(name)], max(seen.gains)
    alone = seen.gains.count(best) == 1
    result = "won" if mine == best and alone else "tied" if mine == best else "lost"
    return {
        "result": result,
        "winner": seen.gains.index(best) if alone else None,
        "turns": seen.count,
        "moves": seen.count,
        "gains": seen.gains,
        "names": seen.names,
        "shown": seen.shown,
    }


@dataclass(frozen=True, slots=True)
class SeatTurn:
    """Our turn."""

    match: SeatMatch
    seen: GameBody

    def decide(
        self, limit: timedelta, monotonic: Callable[[], float], refused: frozenset[Any]
    ) -> Decided[Decision[Any]]:
        """The decision of the strategy that plays this seat."""
        position = self.match.house.codec.positions.load(self.seen.position)
        return self.match.decider.decide(self.match.strategy, position, limit, monotonic, refused)

    def intent(self, decided: Decided[Decision[Any]], at: datetime, worker: str) -> Body:
        """The decision, and the position that it was made on."""
        return {
            **intent_body(decided, at, worker, self.match.seat.strategy),
            "seat": self.seen.turn,
            "turn": self.seen.count + 1,
            "position": self.seen.position,
        }

    def act(self, action: Any) -> After:  # noqa: ANN401 - the game's own
        """Send the action; then it is somebody else's turn, or ours again."""
        seat = self.match.seat
        told = self.match.house.codec.actions.dump(action)
        self.match.client.act(seat.game, seat.secret, self.seen.count, told)
        return After.LOOK


class HostClient(Client):
    """A session at a service, closed by `with`; every method raises `ArenaError`."""

    def __init__(self, url: str, limits: Limits, proxy: Proxy | None = None) -> None:
        super().__init__(Exchange(Address(url, proxy=proxy), None, limits), limits)

    def look(self, game: str, secret: str, known: int = 0, *, wait: bool = False) -> GameBody:
        """The game as whoever has the secret may see it, with the moves from a number on."""
        params = {"game": game, "secret": secret, "known": str(known)}
        if wait:
            params["wait"] = "true"
        limit = self._limits.long_poll if wait else self._limits.read
        kind = "wait" if wait else "look"
        call = Call(kind=kind, path="/game", params=params, limit=limit, waits=wait)
        answer = self._exchange.send(call)
        try:
            return GameBody.model_validate_json(answer.body)
        except ValidationError:
            raise Garbled("The service's answer is no game.") from None

    def join(self, game: str, name: str, secret: str) -> None:
        """Take a seat; may be asked again."""
        self._post("join", {"game": game, "name": name, "secret": secret})

    def act(self, game: str, secret: str, number: int, action: Any) -> None:  # noqa: ANN401 - any JSON
        """Act as the game's move of that number; sent exactly once."""
        self._post("act", {"game": game, "secret": secret, "number": number, "action": action})

    def _post(self, kind: str, body: dict[str, object]) -> None:
        limit = self._limits.act
        self._exchange.send(Call(kind=kind, method="POST", path=f"/{kind}", body=body, limit=limit))
