"""An opponent: a plain client of the arena, in a process of its own, and how its parent sees it.

`python -m workbench.stage.opponent` reads its order, one line of JSON, from stdin, says READY on
stdout and plays every match that waits for it until stdin ends. So it ends with its parent,
however that dies.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Self

from cardsharp.access import Address, Credentials
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.strategies import Strategy, build
from cardsharp.deadmansdraw.turn import play_turn
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.errors import CardsharpError, ConfigError
from workbench.child import Child, read_orders, say_ready
from workbench.strategy_file import called, strategy_named
from workbench.warden import plain

US = ("111111111111111111111111", "teamonepass")
OPPONENT = ("222222222222222222222222", "teamtwopass")  # whose passwords are public


@dataclass(frozen=True, slots=True)
class Order:
    """Whom to play where; without a `seed` by real chance; `ca` is whose certificates count."""

    url: str
    user: str
    password: str = field(repr=False)
    strategy: str
    seed: str | None = None
    ca: str | None = None

    @property
    def player(self) -> str:
        """The player's id; who plays for a team has a name of its own, `ID-here`."""
        return self.user.partition("-")[0]

    @property
    def address(self) -> Address:
        """Where the arena is, and whom to believe there."""
        return Address(self.url, None if self.ca is None else Path(self.ca))


class Opponent:
    """Plays whatever waits for it, one turn after the other, over a single connection."""

    def __init__(self, client: ArenaClient, order: Order) -> None:
        self._client, self._order = client, order
        self._name, self._match = strategy_named(order.strategy), ""

    def play_on(self) -> None:
        """Play every turn that the arena names, without end; raises `ArenaError` if it fails."""
        while True:
            for match in self._client.matches(active=True, wait=True):
                self._play_turn(match.id)

    def _play_turn(self, match_id: str) -> None:
        if match_id != self._match:  # a team may have submitted another version since the last
            self._name, self._match = strategy_named(self._order.strategy), match_id

        def built(view: MatchView) -> Strategy:
            """A seed makes every turn repeatable, whichever matches are played at the same time."""
            seed, tags = self._order.seed, ",".join(view.creation_params.tags)
            dice = Random() if seed is None else Random(f"{seed}/{tags}/{view.move_count}")
            return build(self._name, dice)

        # What is not ours plays in a process of its own, which has a limit of processor time.
        play_turn(self._client, self._order.player, match_id, built, limit=None)


class OpponentProcess(Child):
    """An opponent as its parent sees it: started at once, ended with the block."""

    def __init__(self, order: Order, log: Path) -> None:
        self._name = called(order.strategy)
        self._log = log
        with log.open("wb") as errors:
            super().__init__("workbench.stage.opponent", json.dumps(asdict(order)), errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def await_ready(self) -> None:
        """Wait until it is about to ask the arena; raises `ConfigError` if it cannot play."""
        if not self.gets_ready():
            self.process.wait()
            raise ConfigError(self._last_words())

    def check(self) -> None:
        """Raise `CardsharpError` with its last words if it has ended although nobody asked it."""
        if self.process.poll() is not None:
            raise CardsharpError(self._last_words())

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        words = lines[-1] if lines else f"it ended with {self.process.returncode}"
        return f"The opponent '{self._name}' cannot play: {words.removeprefix('cardsharp: ')}"


@contextmanager
def steady_at(url: str, folder: Path) -> Iterator[None]:
    """Have the local arena's second team play `steady` there, ready; its log is in `folder`."""
    with OpponentProcess(Order(url, *OPPONENT, "steady"), folder / "opponent.log") as opponent:
        opponent.await_ready()
        yield


def main() -> None:
    """Play as the order on stdin says."""
    order = Order(**json.loads(read_orders()))
    try:
        with ArenaClient(order.address, Credentials(order.user, order.password)) as client:
            with redirect_stdout(sys.stderr):  # our parent reads stdout
                opponent = Opponent(client, order)
            say_ready()
            opponent.play_on()
    except CardsharpError as error:
        sys.exit(plain(str(error)))


if __name__ == "__main__":
    main()
