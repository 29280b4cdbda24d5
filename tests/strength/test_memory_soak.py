"""Soak: each game's default strategy plays hundreds of games in a process of bounded memory.

A worker plays many matches in one process. If its memory grew with every game, the process would be
killed one day, and with it the other matches that it plays (docs/blef-strength.md).
"""

import subprocess
import sys

import pytest
from support.waiting import HANG_SECONDS

# 300 games of Euchre take 13 minutes of processor time, or 87 minutes on a machine that is busy.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(14_400)]

_GAME_COUNT = 300
_SOAK_SCRIPT = """
import sys
from pathlib import Path
from random import Random
from cardsharp.play.catalog import get_game

def resident_megabytes():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024

name, opponent, game_count = sys.argv[1], sys.argv[2], int(sys.argv[3])
game = get_game(name)
simulation = game.simulation.load()(None)
for number in range(1, game_count + 1):
    rng = Random(number)
    names = [game.default_strategy if seat in simulation.sides[0] else opponent
             for seat in range(simulation.seats)]
    players = [simulation.build_strategy(player, Random(rng.random())) for player in names]
    state = simulation.initial_state(rng)
    while (seat := simulation.current_seat(state)) is not None:
        action = players[seat].decide(simulation.position_for(state, seat)).action
        state = simulation.apply_action(state, action, rng)
    if number in (game_count // 3, game_count):
        print(resident_megabytes(), flush=True)
"""


_WORKER_MEGABYTES = 384  # memory of the function that plays matches (template.yaml)


@pytest.mark.parametrize(
    ("name", "opponent", "max_megabytes"),
    [
        ("blef", "threshold", 80),
        ("euchre", "rules", 80),
        ("deadmansdraw", "third", _WORKER_MEGABYTES),
    ],
)
def test_a_process_that_plays_many_games_does_not_grow(
    name: str, opponent: str, max_megabytes: float
) -> None:
    """The process stays below its bound, and grows little in the last two thirds of the games."""
    command = [sys.executable, "-c", _SOAK_SCRIPT, name, opponent, str(_GAME_COUNT)]
    soak = subprocess.run(  # noqa: S603 - our own script
        command, capture_output=True, text=True, check=True, timeout=24 * HANG_SECONDS
    )
    early, late = map(float, soak.stdout.split())
    assert late <= max_megabytes
    assert late <= early + 0.2 * max_megabytes
