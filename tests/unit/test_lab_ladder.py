"""A ladder: its rungs are measured players, and a climb ends at the first that is not beaten."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path

import pytest
from support.games import GAMES

from cardsharp.game import Game
from cardsharp.ratings import MEAN
from cardsharp.registry import strategies_of
from workbench.lab.duel import Duel
from workbench.lab.ladder import Climb, Memory, ladder_of
from workbench.lab.plan import Plan
from workbench.lab.results import Result
from workbench.lab.sprt import Sequential

WINS, LOSES = (1.0,), (0.0,)
RUNGS = ("random", "draw-3", "third")
WITH_LADDER = [pytest.param(one, id=one.name) for one in GAMES if one.ladder]


@dataclass
class Played:
    """Plays nothing: what a player makes of each opponent is given, pair by pair and over again."""

    makes: dict[str, Iterable[float]]
    met: list[str] = field(default_factory=list)

    def __call__(self, plan: Plan, tested: Sequential) -> Duel:
        self.met.append(plan.second)
        shares = list(islice(cycle(self.makes[plan.second]), plan.pairs))
        tested.take(shares)
        pairs = tuple((Result(share, {}), Result(share, {})) for share in shares[: tested.number])
        return Duel(replace(plan, pairs=len(pairs)), pairs)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "ladder.jsonl")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "climber.py"
    file.write_text(
        "from cardsharp.deadmansdraw.strategies import strategy\n"
        "@strategy('climber')\nclass Climber:\n    def decide(self, position): ...\n"
        "    def __init__(self, rng): ...\n"
    )
    return file


def climbed(climb: Climb) -> list[tuple[str, str, bool]]:
    return [
        (step.rung.name, step.rung.verdict, step.duel is not None) for step in climb.steps(RUNGS)
    ]


@pytest.mark.parametrize("game", WITH_LADDER)
def test_the_rungs_are_players_that_were_measured(game: Game) -> None:
    players = ladder_of(game.name).players
    assert tuple(players) == game.ladder
    assert set(game.ladder) <= set(strategies_of(game.strategies).names())
    assert sum(rating.value for rating in players.values()) / len(players) == pytest.approx(
        MEAN, abs=1
    )


def test_what_is_known_is_not_played_again_until_the_file_changes_or_anew(
    memory: Memory, mine: Path
) -> None:
    play = Played({"random": WINS, "draw-3": LOSES})
    climb = Climb(Plan(first=str(mine), second="", pairs=100), memory, play)
    assert climbed(climb) == [("random", "beaten", True), ("draw-3", "not beaten", True)]
    assert climbed(climb) == [("random", "beaten", False), ("draw-3", "not beaten", False)]
    assert climbed(replace(climb, anew=True))[0] == ("random", "beaten", True)
    mine.write_text(mine.read_text() + "# better\n")
    assert climbed(climb)[0] == ("random", "beaten", True)
