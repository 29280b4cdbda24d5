"""`cardsharp GAME bot`: our bot takes a seat at a service of any game and plays it to the end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from cardsharp.cloud.ports import Body
from cardsharp.cloud.redaction import redact
from cardsharp.game import Game
from cardsharp.replay import UNKNOWN, document
from workbench.cli.each import FIRST, OneGame
from workbench.show.drawing import print_step
from workbench.show.exits import Exit
from workbench.show.lookup import data_folder
from workbench.show.options import StoreFile
from workbench.show.output import messages, print_json, results
from workbench.stage.ordered import GLANCE, AtHome, attending
from workbench.stage.surroundings import telemetry_in
from workbench.strategy_file import strategy_named


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SeatOptions:
    """Which game to join, and how to play it."""

    url: str
    """The service's address, e.g. http://127.0.0.1:8000."""
    game: str
    """The game's id there."""
    nickname: str = "Cardsharp"
    """What the bot is called there."""
    strategy: str | None = None
    """A strategy, FILE.py, or 'command'; else the game's best."""
    store: StoreFile = None
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """Print one JSON document a line."""

    def order(self, game: Game) -> Mapping[str, object]:
        """What is ordered of that game; raises `ConfigError` for a strategy it has not."""
        strategy = strategy_named(self.strategy or game.default_strategy, game)
        wanted = {"url": self.url, "game": self.game, "nickname": self.nickname}
        return {**wanted, "strategy": strategy}


def bot(*, options: SeatOptions, game: OneGame = FIRST) -> int:
    """Join a game and play it, each step explained; the same again takes it up."""

    def say(sentence: str) -> None:
        messages().print(redact(sentence), style="dim", soft_wrap=True)

    own = "matches" if game.archive is None else game.name
    store = options.store or data_folder() / f"{own}.db"
    order = options.order(game)
    if game.check is not None:
        game.check.load()(order)
    with telemetry_in(data_folder() / "bot.log"), attending(game, order, store, say) as seat:
        say(f"{options.nickname} plays in game {options.game} at {options.url}; Ctrl-C stops it.")
        told = 0
        while (outcome := seat.outcome) is None:
            seat.places.offering.clock.sleep(GLANCE)
            told = _tell(game, seat, told, as_json=options.as_json)
        _tell(game, seat, told, as_json=options.as_json)
        if options.as_json:
            print_json(outcome)
        else:
            results().print(_ending(outcome), style="bold", soft_wrap=True)
        return Exit.FAILED if outcome["result"] == UNKNOWN else Exit.OK


def _ending(outcome: Body) -> str:
    """How it ended for us, in words."""
    if outcome["result"] == UNKNOWN:
        return f"No seat for us: {outcome.get('reason')}."
    return f"We have {outcome['result']}."


def _tell(game: Game, seat: AtHome, told: int, *, as_json: bool) -> int:
    """Tell the steps beyond the first `told`; how many are told then."""
    log = seat.places.offering.log
    record = log.match(seat.match_id)
    if record is None or game.replay is None:
        return told
    moves = [move for move in log.moves(seat.match_id) if move.facts is not None]
    steps = list(game.replay.load()(record, moves))
    for step in steps[told:]:
        if as_json:
            print_json(document(step))
        else:
            print_step(results(), step, record)
    return len(steps)
