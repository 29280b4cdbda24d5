"""A player's requests to a Blef service, ours or another one that speaks the same API."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from uuid import UUID

from pydantic import TypeAdapter

from cardsharp.client.config import Proxy, RequestLimits, ServiceAddress, normalize_base_url
from cardsharp.client.transport import ArenaRequest, ArenaResponse, ArenaTransport, ServiceClient
from cardsharp.errors import GatewayRejection, MalformedResponse, NotFound, RequestRejected
from cardsharp.games.blef.service.wire import (
    BASE_PATH,
    VERSION_HEADER,
    JoinedBody,
    ListedGame,
    StateBody,
    parse_state,
)

_GAME_LIST_ADAPTER = TypeAdapter(list[ListedGame])
_SUCCESS_STATUSES = frozenset({HTTPStatus.OK, HTTPStatus.ACCEPTED})


@dataclass(frozen=True, slots=True)
class GameSnapshot:
    """An observed game, and its version if the service gives one."""

    state: StateBody
    version: int | None


class BlefClient(ServiceClient):
    """Client of a Blef service; for one thread at a time, closed by `with`.

    Every method raises `ArenaError`. Reads are retried. `join` and `play_action` are sent
    exactly once: a `join` may be repeated with the same uuid, a `play_action` only after
    reading the game again.
    """

    def __init__(self, url: str, limits: RequestLimits, proxy: Proxy | None = None) -> None:
        address = ServiceAddress(normalize_service_address(url), proxy=proxy)
        super().__init__(ArenaTransport(address, None, limits), limits)
        self._accepts_post = True

    def public_games(self) -> list[ListedGame]:
        """Return the public games that have not started.

        Reads the list of the current API, which includes rooms, or else that of version 2.3.
        """
        try:
            response = self._transport.send(self._build_list_request("/games"))
        except (NotFound, RequestRejected, GatewayRejection):
            response = self._transport.send(self._build_list_request(f"{BASE_PATH}/games"))
        try:
            games = _GAME_LIST_ADAPTER.validate_json(response.body)
        except ValueError:
            raise MalformedResponse("The answer is no list of games.") from None
        return [game for game in games if not game.started]

    def _build_list_request(self, path: str) -> ArenaRequest:
        return ArenaRequest(metric_name="list", path=path, timeout=self._limits.read_timeout)

    def get_public_state(self, game: str) -> StateBody:
        """Return the public state of a game, as anybody may see it."""
        return self._read_state(game, {}).state

    def get_state(self, game: str, player_uuid: str) -> GameSnapshot:
        """Return the game as the player sees it now, with its version."""
        return self._read_state(game, {"player_uuid": player_uuid})

    def wait_for_state(self, game: str, player: str, version: int | None) -> GameSnapshot:
        """Return the game once its version differs from `version`, or after a timeout as it is.

        Returns at once if `version` is None: a service without versions does not support
        waiting.
        """
        if version is None:
            return self.get_state(game, player)
        params = {"player_uuid": player, "wait": "true", "since": str(version)}
        return self._read_state(game, params, waits=True)

    def get_round(self, game: str, round_number: int) -> StateBody:
        """Return a round that is over, with the hands of all players."""
        return self._read_state(game, {"round": str(round_number)}).state

    def join(self, game: str, nickname: str, player: str) -> str:
        """Join with a uuid that we chose; return the uuid that the service assigned."""
        response = self._send_change(game, "join", {"nickname": nickname, "player_uuid": player})
        try:
            return JoinedBody.model_validate_json(response.body, extra="ignore").player_uuid
        except ValueError:
            # Without its cause, which would show the uuid.
            raise MalformedResponse(
                "The answer to a join names no player.", outcome_unknown=True
            ) from None

    def start(self, game: str, admin_uuid: str) -> None:
        """Start a game as the player who joined first."""
        self._send_change(game, "start", {"admin_uuid": admin_uuid})

    def play_action(self, game: str, player_uuid: str, action: int) -> None:
        """Bet or check; sent exactly once."""
        self._send_change(
            game, "play", {"player_uuid": player_uuid, "action_id": action}, kind="act"
        )

    def _send_change(
        self, game: str, operation: str, body: Mapping[str, object], kind: str | None = None
    ) -> ArenaResponse:
        """Send a change once and return the response; after a 405 send it again as GET.

        A 405 means that the change was not carried out.
        """
        call = ArenaRequest(
            metric_name=kind or operation,
            method="POST",
            path=f"{_game_path(game)}/{operation}",
            body=body,
            timeout=self._limits.action_timeout,
            accepted_statuses=_SUCCESS_STATUSES,
        )
        if self._accepts_post:
            try:
                return self._transport.send(call)
            except (RequestRejected, GatewayRejection) as error:
                if error.status != HTTPStatus.METHOD_NOT_ALLOWED:
                    raise
            self._accepts_post = False
        params = {name: str(value) for name, value in body.items()}
        return self._transport.send(
            replace(call, method="GET", body=None, params=params, has_side_effects=True)
        )

    def _read_state(
        self, game: str, params: dict[str, str], *, waits: bool = False
    ) -> GameSnapshot:
        limit = self._limits.long_poll_timeout if waits else self._limits.read_timeout
        kind = "wait" if waits else "look"
        call = ArenaRequest(
            metric_name=kind,
            path=_game_path(game),
            params=params,
            timeout=limit,
            is_long_poll=waits,
        )
        response = self._transport.send(call)
        version = response.headers.get(VERSION_HEADER, "")
        return GameSnapshot(
            parse_state(response.body), int(version) if version.isdecimal() else None
        )


def normalize_service_address(url: str) -> str:
    """The service's address without its base path; raises `ConfigError` if it is none."""
    return normalize_base_url(normalize_base_url(url).removesuffix(BASE_PATH))


def _game_path(game: str) -> str:
    """Return the path of a game; raise `NotFound` unless its id is a UUID.

    Any other id could lead to another path, so no request is sent.
    """
    try:
        return f"{BASE_PATH}/games/{UUID(game)}"
    except ValueError:
        raise NotFound(404, "a game has a uuid; check it") from None
