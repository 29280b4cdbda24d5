"""A ladder: a game's own players from the weakest up, each with a measured rating, to be climbed.

Who climbs meets one rung after the other and stays at the first that it is not shown to be
stronger than. What was played is kept, and counts as long as no line of the player changes.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Annotated, Literal

from cyclopts import Parameter
from pydantic import BaseModel, field_validator

from cardsharp.cloud.private import make_private
from cardsharp.errors import ConfigError, StrategyFault
from cardsharp.game import Game
from cardsharp.games import game as game_named
from cardsharp.games import games
from cardsharp.ratings import PairScore, Rating, rating_of, ratings_of
from workbench.lab.duel import Duel
from workbench.lab.options import Cluster, GameName, Positive, Seed, Workers
from workbench.lab.plan import DEFAULT_GAME, Plan
from workbench.lab.players import fingerprint
from workbench.lab.runs import pool_of, run
from workbench.lab.sprt import Sequential
from workbench.show.options import CommandOptions, Json
from workbench.show.output import messages, plain_table, print_json, results
from workbench.strategy_file import lasting

STRONGER = 40
"""Elo by which a rung is beaten: some 40 to 400 pairs tell, a duel for tuning takes thousands."""

MOST = 1000  # pairs after which a rung counts as not beaten
REACH = 4  # how many rungs above its own a player is measured against: those farther up always win

Verdict = Literal["beaten", "not beaten", "not decided"]


class Ladder(BaseModel, frozen=True, extra="forbid"):
    """The measured players of a game, the lowest rating first; `pairs` were played by each two."""

    game: str
    pairs: int
    seed: int
    players: dict[str, Rating]

    @field_validator("players")
    @classmethod
    def _weakest_first(cls, players: dict[str, Rating]) -> dict[str, Rating]:
        return dict(sorted(players.items(), key=lambda item: item[1].value))


def file_of(name: str) -> Path:
    """Where the measured ratings of a game's players lie."""
    return Path(__file__).with_name("ladders") / f"{name}.json"


@cache
def ladder_of(name: str | None) -> Ladder:
    """A game's ladder with the measured ratings; raises `ConfigError` where nobody measured one."""
    of = rungs_of(name)
    file = file_of(of.name)
    if not file.is_file():
        raise ConfigError(
            f"Nobody has measured the ladder of {of.title} yet; run "
            f"`cardsharp lab ratings --game {of.name} --write`."
        )
    return Ladder.model_validate_json(file.read_text("utf-8"))


def rungs_of(name: str | None) -> Game:
    """The game of that name; raises `ConfigError` where it names no ladder."""
    of = game_named(name)
    if not of.ladder:
        there = ", ".join(one.name for one in games() if one.ladder)
        raise ConfigError(f"{of.title} has no ladder; there is one for: {there}.")
    return of


def measured(plan: Plan, pool: Executor | None) -> Ladder:
    """The ladder of the plan's game, measured: everybody against the next few."""
    names = game_named(plan.game).ladder
    scores = {}
    for place, first in enumerate(names):
        for second in names[place + 1 : place + 1 + REACH]:
            duel = run(replace(plan, first=first, second=second), pool)
            scores[first, second] = PairScore.of(duel.shares)
            messages().print(str(duel).partition("\n")[0], soft_wrap=True)
    found = ratings_of(scores)
    players = {name: found[name].rounded for name in names}
    return Ladder(game=plan.game, pairs=plan.pairs, seed=plan.seed, players=players)


class Rung(BaseModel, frozen=True, extra="forbid"):
    """What came of the meeting with one rung; `fingerprint` is of all code that took part."""

    game: str
    player: str
    name: str
    fingerprint: str
    seed: int
    pairs: int
    points: float
    squares: float
    verdict: Verdict

    @property
    def score(self) -> PairScore:
        """The points."""
        return PairScore(self.pairs, self.points, self.squares)

    @property
    def percent(self) -> float:
        """The share of the points, in 100."""
        return 100 * self.points / self.pairs


def known(file: Path, plan: Plan) -> Rung | None:
    """What the file of climbs has of a plan that the same code played as long or to a decision.

    It has a JSON document a line; a line that was cut or cannot be read is passed over.
    """
    wanted = (plan.game, lasting(plan.first), plan.second, fingerprint(plan))
    lines = file.read_bytes().splitlines() if file.is_file() else []
    for line in reversed(lines):
        with suppress(ValueError):
            one = Rung.model_validate_json(line)
            decided = one.verdict != "not decided" or one.pairs >= plan.pairs
            if decided and (one.game, one.player, one.name, one.fingerprint) == wanted:
                return one
    return None


def keep(file: Path, rung: Rung) -> None:
    """Add a line to the file of climbs; it begins one, also where the last was cut."""
    make_private(file)
    with file.open("a", encoding="utf-8") as out:
        out.write(f"\n{rung.model_dump_json()}")


@dataclass(frozen=True, slots=True)
class LadderStep:
    """One rung of a climb; `duel` and `seconds` are of a rung that was played now."""

    rung: Rung
    rating: Rating
    seconds: float = 0.0
    duel: Duel | None = None

    @property
    def is_beaten(self) -> bool:
        """Whether the climb goes on."""
        return self.rung.verdict == "beaten"

    def __str__(self) -> str:
        return f"{self.rung.name} (rating {self.rating})"


@dataclass(slots=True)
class Climb:
    """Who climbs (`plan.first`), kept in a file; `anew` also where it is known what came of it."""

    plan: Plan
    file: Path
    play: Callable[[Plan, Sequential], Duel]
    anew: bool = False
    steps: list[LadderStep] = field(default_factory=list, init=False)

    def up(self, names: Iterable[str]) -> Iterator[LadderStep]:
        """The rungs of those names, up to the first that is not beaten; or a `StrategyFault`."""
        players = ladder_of(self.plan.game).players
        for name in names:
            step = self._step(replace(self.plan, second=name), players[name])
            self.steps.append(step)
            yield step
            if not step.is_beaten:
                return

    @property
    def highest(self) -> LadderStep | None:
        """The last rung that was beaten, None where none was."""
        return next((step for step in reversed(self.steps) if step.is_beaten), None)

    @property
    def barrier(self) -> LadderStep | None:
        """The rung that was not beaten, None where all were."""
        last = self.steps[-1]
        return None if last.is_beaten else last

    @property
    def rating(self) -> Rating:
        """The climber's rating by all that it met."""
        return rating_of((step.rating.value, step.rung.score) for step in self.steps)

    def _step(self, plan: Plan, rating: Rating) -> LadderStep:
        found = None if self.anew else known(self.file, plan)
        if found is not None:
            return LadderStep(found, rating)
        began, tested = monotonic(), Sequential(elo1=STRONGER)
        try:
            duel = self.play(plan, tested)
        except StrategyFault as fault:
            raise StrategyFault(f"Against {plan.second}: {fault}") from None
        score = PairScore.of(duel.shares)
        decided: Verdict = "beaten" if tested.ratio > 0 else "not beaten"
        rung = Rung(
            game=plan.game,
            player=lasting(plan.first),
            name=plan.second,
            fingerprint=fingerprint(plan),
            seed=plan.seed,
            pairs=len(duel.pairs),
            points=score.points,
            squares=score.squares,
            verdict=decided if tested.ended else "not decided",
        )
        keep(self.file, rung)
        return LadderStep(rung, rating, monotonic() - began, duel)


@dataclass(frozen=True, kw_only=True)
class RatingOptions(CommandOptions):
    """Whose players are measured, how long, and by what."""

    game: GameName = DEFAULT_GAME
    pairs: Annotated[int, Parameter(alias="-n", validator=Positive)] = 500
    """Deals for each pair of players."""
    seed: Seed = 1
    workers: Workers = None
    cluster: Cluster = None
    write: bool = False
    """Make these the ratings of `cardsharp ladder`."""
    as_json: Json = False


def ratings(*, options: RatingOptions = RatingOptions()) -> None:
    """Measure the players of a game's ladder, each against the next few: ratings in Elo points.

    Their mean is 1,000. Who has 400 more makes ten times the points of the other.
    """
    game = rungs_of(options.game)
    plan = Plan(game=game.name, first="", second="", pairs=options.pairs, seed=options.seed)
    with pool_of(options.workers, options.cluster) as pool:
        found = measured(plan, pool)
    if options.write:
        file_of(game.name).write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if options.as_json:
        print_json(found.model_dump())
        return
    table = plain_table("player", "rating", right=("rating",))
    for name, rating in found.players.items():
        table.add_row(name, str(rating))
    results().print(table)
