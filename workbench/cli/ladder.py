"""`cardsharp ladder`: how far up a game's own players a strategy comes."""

import shlex
from dataclasses import dataclass, replace
from random import SystemRandom
from time import monotonic
from typing import Annotated

from cyclopts import Parameter

from cardsharp.errors import ConfigError
from cardsharp.games import game as game_named
from cardsharp.ratings import MEAN
from workbench.lab.duel import Duel
from workbench.lab.ladder import MOST, STRONGER, Climb, ladder_of
from workbench.lab.ledger import warn_unsteady, watched
from workbench.lab.options import MOST_SEEDS, LessLuckToo, Player, Positive, Workers
from workbench.lab.plan import DEFAULT_GAME, Plan
from workbench.lab.players import fingerprint
from workbench.lab.runs import all_cores, pool_of
from workbench.lab.sprt import Sequential
from workbench.show.exits import Exit
from workbench.show.lookup import data_folder
from workbench.show.options import CommandOptions, Json
from workbench.show.output import messages, print_json, program, results
from workbench.strategy_file import is_file


@dataclass(frozen=True, kw_only=True)
class LadderOptions(CommandOptions):
    """Which ladder is climbed, how far and how."""

    game: str | None = None
    """Whose ladder; Dead Man's Draw's if you do not say."""
    lowest: Annotated[str | None, Parameter(name="--from")] = None
    """Start at this rung instead of the weakest."""
    highest: Annotated[str | None, Parameter(name="--to")] = None
    """Stop at this rung; exits with 1 if it is not beaten."""
    pairs: Annotated[int, Parameter(alias="-n", validator=Positive)] = MOST
    """Most deals before a rung counts as undecided."""
    anew: bool = False
    """Ignore stored results; play all rungs on new deals."""
    less_luck: LessLuckToo = False
    workers: Workers = None
    as_json: Json = False

    @property
    def rungs(self) -> tuple[str, ...]:
        """Who is to be met; raises `ConfigError` for a rung that is none."""
        names = tuple(ladder_of(self.game).players)
        first, last = self.lowest or names[0], self.highest or names[-1]
        for option, name in (("--from", first), ("--to", last)):
            if name not in names:
                raise ConfigError(f"{option} {name} is no rung of this ladder: {', '.join(names)}.")
        if names.index(first) > names.index(last):
            raise ConfigError(f"--from {first} is above --to {last}: {', '.join(names)}.")
        return names[names.index(first) : names.index(last) + 1]

    def plan(self, player: str) -> Plan:
        """The plan of the lowest rung, dealt as no other version of the player was."""
        of = ladder_of(self.game).game
        pairs, less = self.pairs, self.less_luck
        plan = Plan(game=of, first=player, second=self.rungs[0], pairs=pairs, less_luck=less)
        seed = SystemRandom().randrange(MOST_SEEDS) if self.anew else int(fingerprint(plan), 16)
        return replace(plan, seed=1 + seed % MOST_SEEDS)


def ladder(player: Player, *, options: LadderOptions = LadderOptions()) -> int:
    """Let PLAYER meet a game's own players, the weakest first, until one is not beaten."""
    began, processes = monotonic(), options.workers or all_cores()
    plan = options.plan(player)
    messages().print(
        f"{player} climbs the ladder of {game_named(plan.game).title} (seed {plan.seed}): each "
        f"rung {Sequential(elo1=STRONGER).rule()}, at most {plan.pairs:,} pairs of matches.",
        soft_wrap=True,
    )
    with pool_of(processes, apart=is_file(player)) as pool:

        def play(plan: Plan, tested: Sequential) -> Duel:
            return watched(plan, pool, tested=tested)

        climb = Climb(plan, data_folder() / "ladder.jsonl", play, anew=options.anew)
        for step in climb.up(options.rungs):
            if step.duel is not None and sum(one.duel is not None for one in climb.steps) == 1:
                warn_unsteady(step.duel)
            if not options.as_json:
                rung = step.rung
                took = "known" if step.duel is None else f"{step.seconds:.1f} s"
                results().print(
                    f"  {rung.name:<14}{step.rating!s:>13}   {rung.verdict:<12}"
                    f"{rung.percent:5.1f} % of {2 * rung.pairs:>5,} matches {took:>9}"
                )
    seconds = monotonic() - began
    if options.as_json:
        print_json(_document(climb, seconds))
    else:
        _print(climb, seconds, processes)
    return Exit.FAILED if options.highest is not None and climb.barrier is not None else Exit.OK


def _print(climb: Climb, seconds: float, processes: int) -> None:
    console, plan, highest, barrier = results(), climb.plan, climb.highest, climb.barrier
    beaten = "no rung yet" if highest is None else str(highest)
    then = "that was the last one." if barrier is None else f"{barrier} is next."
    number = sum(2 * step.rung.pairs for step in climb.steps)
    console.print()
    console.print(f"You beat {beaten}; {then}", soft_wrap=True)
    console.print(
        f"{plan.first} has the rating {climb.rating} (95 %), where the ladder's mean is "
        f"{MEAN:,.0f}: {number:,} matches, {seconds:.0f} s on {processes} processes now.",
        soft_wrap=True,
    )
    if barrier is not None:
        game = "" if plan.game == DEFAULT_GAME else f" --game {plan.game}"
        command = f"lab duel {shlex.quote(plan.first)} {barrier.rung.name}{game} -n 20 --keep 5"
        console.print(f"Matches to learn from: {program()} {command}", style="dim", soft_wrap=True)


def _document(climb: Climb, seconds: float) -> dict[str, object]:
    plan, highest, barrier = climb.plan, climb.highest, climb.barrier
    return {
        "game": plan.game,
        "player": plan.first,
        "seed": plan.seed,
        "beaten": None if highest is None else highest.rung.name,
        "next": None if barrier is None else barrier.rung.name,
        "rating": round(climb.rating.value),
        "margin": round(climb.rating.margin),
        "seconds": round(seconds, 1),
        "rungs": [
            {
                "name": step.rung.name,
                "rating": step.rating.value,
                "margin": step.rating.margin,
                "verdict": step.rung.verdict,
                "points": round(step.rung.percent, 1),
                "matches": 2 * step.rung.pairs,
                "known": step.duel is None,
            }
            for step in climb.steps
        ],
    }
