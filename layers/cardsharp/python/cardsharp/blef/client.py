"""A player's requests to a Blef service, ours or another one that speaks the same API."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from uuid import UUID

from pydantic import TypeAdapter

from cardsharp.access import Address, Limits, Proxy, checked_address
from cardsharp.blef.wire import BASE, VERSION_HEADER, JoinedBody, PublicGame, StateBody, parse_state
from cardsharp.errors import Foreign, Garbled, NotFound, Rejected
from cardsharp.exchange import Answer, Call, Client, Exchange

_PUBLIC = TypeAdapter(list[PublicGame])
_DONE = frozenset({HTTPStatus.OK, HTTPStatus.ACCEPTED})


@dataclass(frozen=True, slots=True)
class Sighting:
    """A game as it was seen, and its version where the service says it."""

    state: StateBody
    version: int | None


class BlefClient(Client):
    """A session at a service; for one thread at a time, closed by `with`.

    Every method raises `ArenaError`. Reads are repeated while that can help. `join` and `act`
    are sent exactly once; `join` may be asked again with the same uuid, `act` never unseen.
    """

    def __init__(self, url: str, limits: Limits, proxy: Proxy | None = None) -> None:
        address = Address(service_address(url), proxy=proxy)
        super().__init__(Exchange(address, None, limits), limits)
        self._takes_post = True

    def public(self) -> list[PublicGame]:
        """The public games that have not started: of today's list, which has rooms, or of 2.3's."""
        try:
            answer = self._exchange.send(self._listing("/games"))
        except (NotFound, Rejected, Foreign):
            answer = self._exchange.send(self._listing(f"{BASE}/games"))
        try:
            games = _PUBLIC.validate_json(answer.body)
        except ValueError:
            raise Garbled("The answer is no list of games.") from None
        return [game for game in games if not game.started]

    def _listing(self, path: str) -> Call:
        return Call(kind="list", path=path, limit=self._limits.read)

    def glance(self, game: str) -> StateBody:
        """The game as anybody may see it."""
        return self._state(game, {}).state

    def look(self, game: str, player: str) -> Sighting:
        """The game as it is now."""
        return self._state(game, {"player_uuid": player})

    def wait(self, game: str, player: str, since: int | None) -> Sighting:
        """The game once it is no longer as it was at `since`, or after some time as it is.

        At once where nothing is known of its version: such a service lets nobody wait.
        """
        if since is None:
            return self.look(game, player)
        asked = {"player_uuid": player, "wait": "true", "since": str(since)}
        return self._state(game, asked, waits=True)

    def past(self, game: str, number: int) -> StateBody:
        """A round that is over, with everybody's hand."""
        return self._state(game, {"round": str(number)}).state

    def join(self, game: str, nickname: str, player: str) -> str:
        """Join with a uuid of our own making; the one by which the service knows us."""
        answer = self._change(game, "join", {"nickname": nickname, "player_uuid": player})
        try:
            return JoinedBody.model_validate_json(answer.body, extra="ignore").player_uuid
        except ValueError:
            # Without its cause, which would show the uuid.
            raise Garbled("The answer to a join names no player.", doubtful=True) from None

    def start(self, game: str, admin: str) -> None:
        """Start a game as the player who joined first."""
        self._change(game, "start", {"admin_uuid": admin})

    def act(self, game: str, player: str, action: int) -> None:
        """Bet or check; sent exactly once."""
        self._change(game, "play", {"player_uuid": player, "action_id": action}, kind="act")

    def _change(
        self, game: str, what: str, body: Mapping[str, object], kind: str | None = None
    ) -> Answer:
        """The answer to a change, sent once; after a 405, so not carried out, anew by GET."""
        call = Call(
            kind=kind or what,
            method="POST",
            path=f"{_path(game)}/{what}",
            body=body,
            limit=self._limits.act,
            accept=_DONE,
        )
        if self._takes_post:
            try:
                return self._exchange.send(call)
            except (Rejected, Foreign) as refused:
                if refused.status != HTTPStatus.METHOD_NOT_ALLOWED:
                    raise
            self._takes_post = False
        told = {name: str(value) for name, value in body.items()}
        return self._exchange.send(
            replace(call, method="GET", body=None, params=told, changes=True)
        )

    def _state(self, game: str, params: dict[str, str], *, waits: bool = False) -> Sighting:
        limit = self._limits.long_poll if waits else self._limits.read
        kind = "wait" if waits else "look"
        call = Call(kind=kind, path=_path(game), params=params, limit=limit, waits=waits)
        answer = self._exchange.send(call)
        version = answer.headers.get(VERSION_HEADER, "")
        return Sighting(parse_state(answer.body), int(version) if version.isdecimal() else None)


def service_address(url: str) -> str:
    """The service's address without its base path; raises `ConfigError` if it is none."""
    return checked_address(checked_address(url).removesuffix(BASE))


def _path(game: str) -> str:
    """The path of a game; an id that could lead elsewhere is refused without asking."""
    try:
        return f"{BASE}/games/{UUID(game)}"
    except ValueError:
        raise NotFound(404, "a game has a uuid; check it") from None
