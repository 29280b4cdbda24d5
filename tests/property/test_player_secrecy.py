"""What other people's code gets tells nothing about hidden cards and seeds, in every game."""

import gc
import io
import json
import pickle
import shutil
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support import rng_attacks
from support.case_counts import case_count
from support.cli import isolate_environment
from support.games import GAMES, game_id, game_simulation, match_states, mount_samples
from support.processes import run_command

from cardsharp.play.game import Game
from cardsharp.play.guarded_call import InvalidDecision
from cardsharp_tools.contest.match_worker import MatchTask, play_and_store_hosted_match
from cardsharp_tools.executors import strategy_process
from cardsharp_tools.executors.external_program import ProgramStrategy
from cardsharp_tools.executors.private_random import private_rng
from cardsharp_tools.executors.strategy_process import StrategyFileReport, StrategyProcess
from cardsharp_tools.executors.strategy_reference import parse_strategy
from cardsharp_tools.lab.game_adapter import lab_adapter
from cardsharp_tools.lab.rng import RngPurpose, pair_rng

SEED = 271_828_182  # of a run or a match; a number that occurs nowhere by chance
GAMES_WITH_PROGRAMS = [game for game in GAMES if game.program_protocol is not None]
every_game = pytest.mark.parametrize("game", GAMES_WITH_PROGRAMS, ids=game_id)


@dataclass
class RecordingProcess:
    """Process of a strategy that only records the messages to it."""

    command: str
    messages: list[bytes] = field(default_factory=list)
    is_alive: bool = True

    def request(self, message: bytes) -> bytes:
        """Record a message; answer a program's by its first action, a file's by a failure."""
        self.messages.append(message)
        if not message.startswith(b"{"):
            return b'{"fault": "recorded"}\n'
        return json.dumps({"action": json.loads(message)["actions"][0]}).encode() + b"\n"

    def read_stderr(self) -> str:
        return ""

    def read_import_report(self) -> StrategyFileReport:
        return StrategyFileReport()


@pytest.fixture(autouse=True)
def recording(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mount_samples(monkeypatch, tmp_path)


Remote = StrategyProcess | ProgramStrategy
BuildRemote = Callable[[Game, object], Remote]


def build_file_strategy(game: Game, rng: object) -> Remote:
    return StrategyProcess(f"file {game.name}", game, rng)


def build_program_strategy(game: Game, rng: object) -> Remote:
    codec = game.program_protocol.load()  # type: ignore[union-attr]
    return ProgramStrategy(f"program {game.name}", game.name, codec, rng)


def message_of_decision(
    monkeypatch: pytest.MonkeyPatch, build: BuildRemote, game: Game, rng: object, position: object
) -> bytes:
    """Return the message by which a strategy outside this process is asked for a decision."""
    monkeypatch.setattr(StrategyProcess, "process_class", RecordingProcess)
    monkeypatch.setattr(ProgramStrategy, "process_class", RecordingProcess)
    monkeypatch.setattr(strategy_process, "_player_numbers", count(1))
    strategy = build(game, rng)
    strategy.process = process = RecordingProcess("")  # type: ignore[assignment]
    with suppress(InvalidDecision):  # what the process of a file answers
        strategy.decide(position)
    return process.messages[-1]


@every_game
@pytest.mark.parametrize("build", [build_file_strategy, build_program_strategy])
def test_a_message_does_not_depend_on_hidden_cards(
    game: Game, build: BuildRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two worlds that look the same to the player give the same bytes, whatever is hidden.

    So neither the order of a set nor the identity of two objects in the message tells anything. The
    number of the player, which counts the players of this process, is the same as well.
    """
    simulation, different_count = game_simulation(game), 0
    for seed in range(case_count(8, full=60)):
        for state in [*match_states(simulation, seed)][:-1][:: case_count(7, full=1)]:
            other_world = simulation.resample_hidden(state, Random(f"other {seed}"))
            different_count += other_world != state
            messages = [
                message_of_decision(
                    monkeypatch, build, game, Random(1), simulation.current_position(world)
                )
                for world in (state, other_world)
            ]
            assert messages[0] == messages[1]
    assert different_count or game.name == "nim", "cards are hidden, except in Nim"


def rngs_of_players(game: Game) -> Iterator[Random]:
    """Yield the generators that commands have for a player, of every kind."""
    for pair_number in range(2):
        rngs = lab_adapter(game.name).rngs_of_pair(SEED, pair_number)
        yield from (rngs.first, rngs.second)
    yield pair_rng(SEED, 3, RngPurpose.FIRST + 1)  # of an environment's opponent
    yield Random(f"{SEED}/2")  # of the third team of a contest
    yield Random(f"{SEED}/2/bot 1")  # of a bot in a game room
    yield Random(f"{SEED}/play-1/7")  # of the opponent in `play`


@every_game
@pytest.mark.parametrize("build", [build_file_strategy, build_program_strategy])
def test_a_message_does_not_tell_the_seed(
    game: Game, build: BuildRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation = game_simulation(game)
    for rng in rngs_of_players(game):
        original = pickle.loads(pickle.dumps(rng))  # noqa: S301 - our own
        assert SEED in {_leading_number(seed) for seed in rng_attacks.find_seeds(original)}
        state = simulation.initial_state(Random(f"{SEED}/0"))
        position = simulation.current_position(state)
        message = message_of_decision(monkeypatch, build, game, rng, position)
        forms = (str(SEED).encode(), SEED.to_bytes(4, "big"), SEED.to_bytes(4, "little"))
        assert not [form for form in forms if form in message]
        if message.startswith(b"{"):
            assert not [*rng_attacks.seeds_of_splitmix_state(json.loads(message)["seed"])]
            continue
        _, sent_rng, sent_position = pickle.loads(message)  # noqa: S301 - our own
        if isinstance(sent_rng, Random):
            assert rng_attacks.find_seeds(sent_rng) == []
        assert not _find_numbers((sent_rng, sent_position), SEED)
        assert not _find_numbers(position, SEED)


def _leading_number(seed: object) -> int:
    return int(str(seed).partition("/")[0])


def _find_numbers(root: object, number: int) -> list[object]:
    """Return what contains a number among all objects that can be reached from one."""
    found, seen, pending = [], set[int](), [root]
    passed_over = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)
    while pending:
        candidate = pending.pop()
        if id(candidate) in seen or isinstance(candidate, passed_over):
            continue
        seen.add(id(candidate))
        if candidate == number or (isinstance(candidate, str) and str(number) in candidate):
            found.append(candidate)
        pending += gc.get_referents(candidate)
        pending += [
            getattr(candidate, name, None)
            for kind in type(candidate).__mro__
            for name in getattr(kind, "__slots__", ())
        ]
    return found


def test_the_attack_finds_what_is_there() -> None:
    """Without a private generator the seed is found, and with one the same match is repeated."""
    text_rng, stream = Random(f"{SEED}/0/first"), pair_rng(SEED, 7, RngPurpose.SECOND)
    assert rng_attacks.find_seeds(text_rng) == [f"{SEED}/0/first"]
    assert rng_attacks.find_seeds(stream) == [SEED]
    first, again, other = (
        private_rng(Random(text)) for text in ("1/0/first", "1/0/first", "1/0/second")
    )
    assert first.getstate() == again.getstate() != other.getstate()
    assert private_rng(first) is first
    copied: Any = pickle.load(io.BytesIO(pickle.dumps(first)))  # noqa: S301 - our own
    assert (type(copied), copied.random()) == (type(first), again.random())


ATTACKER = """
import sys
from pathlib import Path
from cardsharp.games.{game} import Decision, strategy
from rng_attacks import find_seeds

def note(found):
    with Path(__file__).with_name("found.txt").open("a") as file:
        file.write(repr(found) + "\\n")

@strategy("sly")
class Sly:
    def __init__(self, random):
        note(find_seeds(random))

    def decide(self, position):
        note([])
        return Decision(position.legal_actions()[0], "the first")
"""

PROGRAM = """
import json, sys
from pathlib import Path
from rng_attacks import seeds_of_splitmix_state
for line in sys.stdin:
    question = json.loads(line)
    with Path(__file__).with_name("found.txt").open("a") as file:
        file.write(repr([*seeds_of_splitmix_state(question["seed"])]) + "\\n")
    print(json.dumps({"action": question["actions"][0]}), flush=True)
"""


def write_attacker(folder: Path, code: str) -> Path:
    shutil.copy(rng_attacks.__file__, folder / "rng_attacks.py")
    file = folder / "sly.py"
    file.write_text(code)
    return file


def found_seeds(folder: Path) -> set[str]:
    return set((folder / "found.txt").read_text().split("\n")) - {""}


@pytest.mark.parametrize(
    ("game", "kind"),
    [
        ("blef", "file"),
        ("deadmansdraw", "program"),
        pytest.param("blef", "program", marks=pytest.mark.slow),
        pytest.param("deadmansdraw", "file", marks=pytest.mark.slow),
    ],
)
def test_no_seed_is_found_in_the_processes_of_the_lab(game: str, kind: str, tmp_path: Path) -> None:
    file = write_attacker(tmp_path, PROGRAM if kind == "program" else ATTACKER.format(game=game))
    player = f"python3 {file}" if kind == "program" else str(file)
    arguments = ["--game", game, "--seed", "271828", "-n", "2", "--workers", "2"]
    with run_command(tmp_path, "lab", "duel", player, "random", *arguments) as run:
        assert run.wait_for_exit_code() == 0, run.read_output()
    assert found_seeds(tmp_path) == {"[]"}


def test_no_seed_is_found_in_a_match_of_a_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With three teams: the third one has a generator of another kind."""
    isolate_environment(monkeypatch, tmp_path)
    file = write_attacker(tmp_path, ATTACKER.format(game="blef"))
    task = MatchTask(
        match="m",
        game="blef",
        seed=SEED,
        names=("A", "B", "C"),
        strategies=(parse_strategy(str(file)), parse_strategy("random"), parse_strategy(str(file))),
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        tag="cup",
        log=tmp_path / "matches.db",
    )
    result = play_and_store_hosted_match(task, lambda _turn: None)
    assert result.failure == ""
    assert found_seeds(tmp_path) == {"[]"}
