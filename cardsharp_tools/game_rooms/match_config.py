"""Configuration of a match between people and bots, and storage of such matches."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random, SystemRandom
from typing import Any

from cardsharp.core.sentences import capitalise, list_text
from cardsharp.errors import ConfigError, StoreError
from cardsharp.play.game import Game
from cardsharp.play.strategy import Decision
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.cli.console import print_error
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import BuiltIn, StrategyReference
from cardsharp_tools.game_rooms.local_match import HUMAN_NAME, LocalMatch, SeatedBot
from cardsharp_tools.game_rooms.match_branch import BranchPoint, StoredMatch
from cardsharp_tools.lab.plan import AnySimulation, game_simulation
from cardsharp_tools.match_sources.match_logs import (
    import_match,
    open_log,
    resolve_match_log_location,
)
from cardsharp_tools.terminal.human_player import Advisor
from cardsharp_tools.terminal.screen import YOU_AS_NAME

AnySitting = LocalMatch[Any, Any, Any]

_SIDE_COUNT = 2  # number of sides in a game with partners
_RULE_STRATEGY = "rule"  # strategy of some games that a person can follow without a computer


@dataclass(frozen=True)
class MatchConfig:
    """Configuration of matches between `human_count` people and strategies.

    `opponent` and `partner` are strategies, by default the game's best. `bot_count` is
    the number of bots in a game that allows several numbers. The same `seed` deals the same cards.
    """

    game: Game
    opponent: StrategyReference | None = None
    partner: StrategyReference | None = None
    bot_count: int | None = None
    human_count: int = 1
    seed: str | None = None
    branch_point: BranchPoint | None = None
    """Decision of a stored match from which one person continues it.

    Without the name of a strategy the other seats are played by those who played them there.
    """

    @cached_property
    def simulation(self) -> AnySimulation:
        """The game for this number of players; raises `ConfigError` if its rules exclude it."""
        if self.branch_point is not None:
            return self.branch_point.simulation
        usual = game_simulation(self.game)
        partners = max(map(len, usual.sides)) > 1
        if self.partner is not None and not partners:
            raise ConfigError(f"{self.game.title} has no partners. Remove --partner.")
        if self.bot_count is None and self.human_count <= usual.seats:
            return usual
        if partners and self.human_count == 1 and self.bot_count == usual.seats // _SIDE_COUNT:
            return usual
        return game_simulation(self.game, self.human_count + (self.bot_count or 0))

    def make_match(self, match_number: int = 1, human_names: Sequence[str] = ()) -> AnySitting:
        """Return the match of that number between people with these names and bots.

        The first person gets a random seat. In a game with partners the second person is the
        partner of the first; the others follow to the left. Raises `ConfigError` if there is no
        such strategy or game.
        """
        simulation, point = self.simulation, self.branch_point
        seats = range(simulation.seats)
        if point is None:
            you, opening = self._create_rng(match_number, "seats").randrange(simulation.seats), None
        else:
            you, opening = (
                point.seat,
                point.restore_actions_and_state(self._create_rng(match_number, "deck")),
            )
        your_side = next(side for side in simulation.sides if you in side)
        around = [(you + offset) % simulation.seats for offset in seats]
        seat_order = sorted(
            around, key=lambda seat: seat not in your_side
        )  # stable: partners first
        people = dict(zip(seat_order, human_names or [HUMAN_NAME] * self.human_count, strict=False))
        best = BuiltIn(self.game.default_strategy)
        strategies = {
            seat: (self.partner if seat in your_side else self.opponent)
            or (point.original_builtin_strategy(seat) if point else None)
            or best
            for seat in seats
            if seat not in people
        }
        bots = {
            seat: self.make_bot(strategy, match_number, f"bot {seat}")
            for seat, strategy in strategies.items()
        }
        return LocalMatch(
            self.game, simulation, people, bots, self._create_rng(match_number), point, opening
        )

    def make_bot(self, reference: StrategyReference, match_number: int, purpose: str) -> SeatedBot:
        """Return a bot for a seat, with a random generator of its own."""
        name = register_strategy(reference, self.game)
        strategy = self.simulation.build_strategy(name, self._create_rng(match_number, purpose))
        decider = self.game.decision_runner if reference.is_user_code else None
        return SeatedBot(reference.display_name, strategy, decider and decider.load())

    def build_advisor(self) -> Advisor[Any]:
        """The game's best player; its hints do not depend on the match's dice."""
        name = self.game.default_strategy
        ruled = _RULE_STRATEGY in registry_for(self.game.strategy_package).names()
        rule = self.simulation.build_strategy(_RULE_STRATEGY, Random(0)) if ruled else None
        return Advisor(name, self.simulation.build_strategy(name, Random(0)), rule)

    @property
    def decision_class(self) -> Any:  # noqa: ANN401 - the class of the game's decisions
        """Class of the decisions of this game's strategies: action, reason and options."""
        return (
            Decision
            if self.game.decision_runner is None
            else self.game.decision_runner.load().decision_type
        )

    def _create_rng(self, match_number: int, purpose: str = "") -> Random:
        """Return the random generator of a purpose, such as dealing or a bot.

        The generators of different purposes are independent.
        """
        if self.seed is None:
            return SystemRandom()
        suffix = "" if match_number == 1 else f"/{match_number}"
        return Random(f"{self.seed}{suffix}/{purpose}")


def store_match_parts(parts: list[StoredMatch]) -> str | None:
    """Store the parts of a match in the log; return the last part's id.

    Returns None, and prints the error, if they cannot be stored.
    """
    stored_id = None
    try:
        with open_log(resolve_match_log_location()) as log:
            for record, moves in parts:
                import_match(record, moves, log)
                stored_id = record.match_id
    except StoreError as error:
        print_error(f"The match could not be stored. {error}")
    return stored_id


def result_text(winners: Sequence[str], *, player_quit: bool) -> str:
    """Return a match's result in words; `winners` are the names that the person sees."""
    if player_quit:
        return "You have left the match."
    if YOU_AS_NAME in winners:
        return "You have won!"
    has = "has" if len(winners) == 1 else "have"
    return f"{capitalise(list_text(winners))} {has} won." if winners else "The match is a tie."
