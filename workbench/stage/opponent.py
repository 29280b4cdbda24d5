"""An opponent: a plain client of the arena, in a process of its own.

`python -m workbench.stage.opponent` reads its order, one line of JSON, from stdin, says READY on
stdout and plays every match that waits for it until stdin ends. So it ends with its parent,
however that dies.
"""

import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random

from cardsharp.access import Address, Credentials
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.logbook import ends_turn
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import follow, rebuild
from cardsharp.deadmansdraw.strategies import Strategy, build
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.errors import CardsharpError, MatchOver, NotYourTurn, StrategyFault
from cardsharp.trying import tried
from workbench.child import read_orders, say_ready
from workbench.strategy_file import strategy_named
from workbench.warden import plain

LIMIT = timedelta(seconds=10)
"""A later decision is the opponent's end: the arena, too, has ended its turn by then."""


@dataclass(frozen=True, slots=True)
class Order:
    """Whom to play where; `strategy` is a name or a file, `seed` None means real chance.

    `ca` is the file of certificates to believe there, None for the usual ones.
    """

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

    def line(self) -> str:
        """The order as the process reads it."""
        return json.dumps(asdict(self))


class Opponent:
    """Plays whatever waits for it, one turn after the other, over a single connection."""

    def __init__(self, client: ArenaClient, order: Order) -> None:
        self._client = client
        self._order = order
        self._name, self._match = strategy_named(order.strategy), ""

    def play_on(self) -> None:
        """Play every turn that the arena names, without end.

        Raises:
            ArenaError: the arena failed for longer than reads are repeated.
        """
        while True:
            for match in self._client.waiting_matches():
                self.play_turn(match.id)

    def play_turn(self, match_id: str) -> None:
        """Play until the turn has passed on."""
        view = self._client.view(match_id)
        if match_id != self._match:  # a team may have submitted another version since the last
            self._name, self._match = strategy_named(self._order.strategy), match_id
        strategy = build(self._name, self._chance(view))
        try:
            while self._is_our_turn(view) and not self._act_until_unclear(view, strategy):
                view = self._client.view(match_id)
        except (MatchOver, NotYourTurn):
            return

    def _act_until_unclear(self, view: MatchView, strategy: Strategy) -> bool:
        """Whether the turn ended; False where only a new view tells what is so."""
        position = rebuild(view, view.active_player_index or 0)
        while True:
            action = self._action(strategy, position)
            answer = self._client.act(view.id, action)
            if ends_turn(answer):
                return True
            following = follow(position, action, answer)
            if following is None:
                return False
            position = following

    def _action(self, strategy: Strategy, position: Position) -> Action:
        """What it decides; what it prints is not for our parent, who reads our stdout."""
        found = tried(lambda: strategy.decide(position), strategy, LIMIT)
        if found.result is None:
            raise StrategyFault(found.fault)
        return found.result.action

    def _is_our_turn(self, view: MatchView) -> bool:
        index = view.active_player_index
        return index is not None and view.player_ids[index] == self._order.player

    def _chance(self, view: MatchView) -> Random:
        """A seed makes every turn repeatable, whichever matches are played at the same time."""
        if self._order.seed is None:
            return Random()
        tags = ",".join(view.creation_params.tags)
        return Random(f"{self._order.seed}/{tags}/{view.move_count}")


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
