"""A player's requests to the service of a hosted game."""

from typing import Any

from pydantic import ValidationError

from cardsharp.access import Limits
from cardsharp.errors import Garbled
from cardsharp.exchange import Call, Client, Exchange
from cardsharp.host.wire import GameBody


class HostClient(Client):
    """A session at a service, closed by `with`; every method raises `ArenaError`."""

    def __init__(self, url: str, limits: Limits) -> None:
        super().__init__(Exchange(url, None, limits), limits)

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
