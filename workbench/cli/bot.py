"""`cardsharp GAME bot`: our bot takes a seat at a service of any game and plays it to the end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from cardsharp.cloud.redaction import redact
from cardsharp.game import Game
from cardsharp.registry import strategies_of
from cardsharp.replay import document
from workbench.cli.each import for_each_game
from workbench.show.drawing import print_step
from workbench.show.exits import Exit
from workbench.show.lookup import data_folder
from workbench.show.options import StoreFile
from workbench.show.output import messages, print_json, results
from workbench.stage.ordered import GLANCE, AtHome, attending
from workbench.stage.surroundings import telemetry_in


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SeatOptions:
    """Which game to join, and how to play it."""

    url: Annotated[str, Parameter(help="The service's address, e.g. http://127.0.0.1:8000.")]
    game: Annotated[str, Parameter(help="The game's id there.")]
    nickname: Annotated[str, Parameter(help="What the bot is called there.")] = "Cardsharp"
    strategy: Annotated[str | None, Parameter(help="A strategy's name.")] = None
    store: StoreFile = None
    as_json: Annotated[
        bool, Parameter(name="--json", negative=(), help="Print one JSON document a line.")
    ] = False

    def order(self, game: Game) -> Mapping[str, object]:
        """What is ordered of that game; raises `ConfigError` for a strategy it has not."""
        strategy = self.strategy or game.default_strategy
        strategies_of(game.strategies).maker(strategy)
        wanted = {"url": self.url, "game": self.game, "nickname": self.nickname}
        return {**wanted, "strategy": strategy}


def bot_of(game: Game) -> Callable[..., int]:
    """The command for a game."""

    def bot(*, options: SeatOptions) -> int:
        """Join a game and play it, each step explained; the same again takes it up."""
        return play_seat(game, options)

    return bot


def play_seat(game: Game, options: SeatOptions) -> int:
    """Join and play, each step told as it comes; the same again takes it up."""

    def say(sentence: str) -> None:
        messages().print(redact(sentence), style="dim", soft_wrap=True)

    store = options.store or data_folder() / "matches.db"
    order = options.order(game)
    with telemetry_in(data_folder() / "bot.log"), attending(game, order, store, say) as seat:
        say(f"{options.nickname} plays in game {options.game} at {options.url}; Ctrl-C stops it.")
        told = 0
        while not _ended(seat):
            seat.places.offering.clock.sleep(GLANCE)
            told = _tell(game, seat, told, as_json=options.as_json)
        return Exit.OK if seat.is_played else Exit.FAILED


def _ended(seat: AtHome) -> bool:
    record = seat.places.offering.log.match(seat.match_id)
    return record is not None and record.outcome is not None


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


__getattr__ = for_each_game(bot_of)
