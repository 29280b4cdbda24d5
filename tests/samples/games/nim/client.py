"""A player's requests to a service of Nim."""

from pydantic import ValidationError

from cardsharp.access import Limits
from cardsharp.errors import Garbled
from cardsharp.exchange import Call, Client, Exchange
from nim.rules import Action
from nim.wire import GameBody


class NimClient(Client):
    """A session at a service, closed by `with`; every method raises `ArenaError`."""

    def __init__(self, url: str, limits: Limits) -> None:
        super().__init__(Exchange(url, None, limits), limits)

    def look(self, game: str) -> GameBody:
        """The game as it is now."""
        limit = self._limits.read
        call = Call(kind="look", path="/game", params={"game": game}, limit=limit)
        answer = self._exchange.send(call)
        try:
            return GameBody.model_validate_json(answer.body)
        except ValidationError:
            raise Garbled("The service's answer is no game of Nim.") from None

    def join(self, game: str, name: str, secret: str) -> None:
        """Take a seat; may be asked again."""
        self._post("join", {"game": game, "name": name, "secret": secret})

    def act(self, game: str, secret: str, number: int, action: Action) -> None:
        """Take stones as the game's move of that number; sent exactly once."""
        taken = {"heap": action.heap, "stones": action.stones}
        self._post("act", {"game": game, "secret": secret, "number": number, **taken})

    def _post(self, kind: str, body: dict[str, object]) -> None:
        limit = self._limits.act
        self._exchange.send(Call(kind=kind, method="POST", path=f"/{kind}", body=body, limit=limit))
