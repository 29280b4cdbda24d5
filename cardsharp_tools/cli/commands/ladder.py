"""`cardsharp ladder`: how far up a game's own players a strategy comes."""

import shlex
from dataclasses import dataclass, field, replace
from random import SystemRandom
from time import monotonic
from typing import Annotated

from cyclopts import Parameter

from cardsharp.analysis.ratings import MEAN_RATING
from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game as game_named
from cardsharp_tools.cli.console import message_console, print_json, program_command, result_console
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.cli.options import CommandOptions, Json, Positive, Workers
from cardsharp_tools.cli.strategy_option import UserCodeOptions
from cardsharp_tools.executors.strategy_reference import BuiltIn, FileReference, StrategyReference
from cardsharp_tools.lab.duel_result import DuelResult
from cardsharp_tools.lab.ladder import MAX_RUNG_PAIRS, MIN_ELO_GAIN, LadderClimb, load_ladder
from cardsharp_tools.lab.options import LuckAdjusted, Player
from cardsharp_tools.lab.plan import DEFAULT_GAME, DuelPlan
from cardsharp_tools.lab.players import fingerprint
from cardsharp_tools.lab.run_file import run_duel_with_progress, warn_nondeterministic
from cardsharp_tools.lab.runner import core_count, make_executor
from cardsharp_tools.lab.sprt import SequentialTest
from cardsharp_tools.match_sources.match_logs import data_folder

_SEED_COUNT = 1_000_000  # of which the version of a player selects one


@dataclass(frozen=True, kw_only=True)
class LadderOptions(CommandOptions):
    """Options of a climb: the ladder, how far to climb it, and how."""

    game: str | None = None
    """The game whose ladder to climb. Default: Dead Man's Draw."""
    lowest: Annotated[str | None, Parameter(name="--from")] = None
    """Start at this rung instead of the weakest."""
    highest: Annotated[str | None, Parameter(name="--to")] = None
    """Stop at this rung. The exit code is 1 if the strategy does not beat it."""
    pairs: Annotated[int, Parameter(alias="-n", validator=Positive)] = MAX_RUNG_PAIRS
    """Maximum number of deals before a rung counts as undecided."""
    rerun: bool = False
    """Ignore stored results; play all rungs on new deals."""
    luck_adjusted: LuckAdjusted = False
    workers: Workers = None
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)
    as_json: Json = False

    @property
    def selected_rungs(self) -> tuple[str, ...]:
        """Names of the rungs to climb, the weakest first.

        Raises `ConfigError` for a name that is not a rung, or if the first is above the last.
        """
        rung_names = tuple(load_ladder(self.game).players)
        lowest_rung, highest_rung = self.lowest or rung_names[0], self.highest or rung_names[-1]
        for option, name in (("--from", lowest_rung), ("--to", highest_rung)):
            if name not in rung_names:
                raise ConfigError(
                    f"{option} {name} is not a rung of this ladder: {', '.join(rung_names)}."
                )
        if rung_names.index(lowest_rung) > rung_names.index(highest_rung):
            raise ConfigError(
                f"--from {lowest_rung} is above --to {highest_rung}: {', '.join(rung_names)}."
            )
        return rung_names[rung_names.index(lowest_rung) : rung_names.index(highest_rung) + 1]

    def lowest_rung_plan(self, player: StrategyReference) -> DuelPlan:
        """Return the duel plan of the lowest rung, with a seed of this version of the player."""
        of = load_ladder(self.game).game
        pairs, less = self.pairs, self.luck_adjusted
        plan = DuelPlan(
            game=of,
            first=player,
            second=BuiltIn(self.selected_rungs[0]),
            pairs=pairs,
            luck_adjusted=less,
        )
        seed = SystemRandom().randrange(_SEED_COUNT) if self.rerun else int(fingerprint(plan), 16)
        return replace(plan, seed=1 + seed % _SEED_COUNT)


def ladder(player: Player, *, options: LadderOptions = LadderOptions()) -> int:
    """Let PLAYER play against a game's own players, from the weakest up."""
    began, processes = monotonic(), options.workers or core_count()
    plan = options.lowest_rung_plan(player)
    message_console().print(
        f"{player} climbs the ladder of {game_named(plan.game).title} (seed {plan.seed}): each "
        f"rung {SequentialTest(elo1=MIN_ELO_GAIN).stop_rule_text()}, at most "
        f"{plan.pairs:,} pairs of matches.",
        soft_wrap=True,
    )
    with make_executor(processes, isolate_strategies=isinstance(player, FileReference)) as pool:

        def play(plan: DuelPlan, tested: SequentialTest) -> DuelResult:
            return run_duel_with_progress(plan, pool, sprt=tested)

        climb = LadderClimb(plan, data_folder() / "ladder.jsonl", play, rerun=options.rerun)
        for step in climb.climb(options.selected_rungs):
            if (
                step.duel is not None
                and sum(climb_step.duel is not None for climb_step in climb.steps) == 1
            ):
                warn_nondeterministic(step.duel)
            if not options.as_json:
                rung = step.rung
                took = "known" if step.duel is None else f"{step.seconds:.1f} s"
                result_console().print(
                    f"  {rung.name:<14}{step.rating!s:>13}   {rung.verdict:<12}"
                    f"{rung.points_percent:5.1f} % of {2 * rung.pairs:>5,} matches {took:>9}"
                )
    elapsed_seconds = monotonic() - began
    if options.as_json:
        print_json(_build_document(climb, elapsed_seconds))
    else:
        _print_climb(climb, elapsed_seconds, processes)
    return (
        ExitCode.FAILED
        if options.highest is not None and climb.first_unbeaten_rung is not None
        else ExitCode.OK
    )


def _print_climb(climb: LadderClimb, elapsed_seconds: float, processes: int) -> None:
    console, plan, highest, barrier = (
        result_console(),
        climb.plan,
        climb.highest_beaten_rung,
        climb.first_unbeaten_rung,
    )
    beaten = "no rung yet" if highest is None else str(highest)
    then = "that was the last one." if barrier is None else f"{barrier} is next."
    match_count = sum(2 * step.rung.pairs for step in climb.steps)
    console.print()
    console.print(f"You beat {beaten}; {then}", soft_wrap=True)
    console.print(
        f"{plan.first} has the rating {climb.rating} (95 % interval; the ladder's mean is "
        f"{MEAN_RATING:,.0f}) after {match_count:,} matches. This run took "
        f"{elapsed_seconds:.0f} s on "
        f"{processes} processes.",
        soft_wrap=True,
    )
    if barrier is not None:
        game = "" if plan.game == DEFAULT_GAME else f" --game {plan.game}"
        player = shlex.quote(str(plan.first))
        command = f"lab duel {player} {barrier.rung.name}{game} -n 20 --save-matches 5"
        console.print(
            f"To store matches to learn from: {program_command()} {command}",
            style="dim",
            soft_wrap=True,
        )


def _build_document(climb: LadderClimb, elapsed_seconds: float) -> dict[str, object]:
    plan, highest, barrier = climb.plan, climb.highest_beaten_rung, climb.first_unbeaten_rung
    return {
        "game": plan.game,
        "player": str(plan.first),
        "seed": plan.seed,
        "beaten": None if highest is None else highest.rung.name,
        "next": None if barrier is None else barrier.rung.name,
        "rating": round(climb.rating.value),
        "margin": round(climb.rating.margin),
        "seconds": round(elapsed_seconds, 1),
        "rungs": [
            {
                "name": step.rung.name,
                "rating": step.rating.value,
                "margin": step.rating.margin,
                "verdict": step.rung.verdict,
                "points": round(step.rung.points_percent, 1),
                "matches": 2 * step.rung.pairs,
                "known": step.duel is None,
            }
            for step in climb.steps
        ],
    }
