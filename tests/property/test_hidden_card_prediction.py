"""A player's code cannot predict hidden cards from times, ids, addresses, files or its seed.

`test_player_secrecy.py` shows that what crosses to a process tells neither hidden cards nor seeds.
Here an attacker looks at everything else that it can measure.
"""

import gc
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest
from support import side_channel_attacks as attacks
from support.case_counts import case_count
from support.cli import isolate_environment
from support.games import GAMES, game_id, game_simulation, match_states, mount_samples
from support.processes import run_command
from support.submissions import skip_without_sandbox

from cardsharp.play.catalog import get_game
from cardsharp.play.game import Game
from cardsharp_tools.contest.match_worker import MatchTask, play_and_store_hosted_match
from cardsharp_tools.executors.external_program import ProgramStrategy, register_program
from cardsharp_tools.executors.line_process import LineProcess
from cardsharp_tools.executors.private_random import private_rng
from cardsharp_tools.executors.strategy_process import StrategyProcess, worker_command
from cardsharp_tools.executors.strategy_reference import Submission, parse_strategy
from cardsharp_tools.executors.submission import TeamSubmissions
from cardsharp_tools.executors.subprocess_strategy import stop_idle_processes
from cardsharp_tools.lab.game_adapter import lab_adapter
from cardsharp_tools.lab.match_runner import StrategyPlayer
from cardsharp_tools.lab.options import MAX_SEED, RunOptions

SEED = 271_828_182_845_904  # of a match; a number that occurs nowhere by chance
DECISIONS = case_count(300, full=600)
# The share of a guesser deviates by more than this once in three million runs: 5 standard
# deviations of half the decisions. The worlds are drawn, so no noise of the machine can help.
CHANCE = 0.5 + 5 * 0.5 / (DECISIONS / 2) ** 0.5

# In Nim nothing is hidden.
GAMES_WITH_SECRETS = [game for game in GAMES if game.program_protocol and game.name != "nim"]
LEAKED_BYTES = 64 * 1024 * 1024  # thousands of page faults, far more than a question needs
TRIALS_A_SECOND = 10_000_000  # of compiled code that tries seeds, generously
KINDS = ("file", "python", "javascript")
FAST = {("deadmansdraw", "python"), ("euchre", "javascript")}


@pytest.fixture(autouse=True)
def sample_games(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mount_samples(monkeypatch, tmp_path)


def start_attacker(game: Game, kind: str, folder: Path) -> StrategyProcess | ProgramStrategy:
    """Return an attacker's strategy, which measures in a process of its own."""
    shutil.copy(attacks.__file__, folder / "side_channel_attacks.py")
    if kind == "javascript" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    file = folder / ("sly.js" if kind == "javascript" else "sly.py")
    if kind == "file":
        file.write_text(attacks.STRATEGY_FILE.format(game=game.name))
        return StrategyProcess(shlex.join(worker_command(file, game)), game, Random(1))
    text, interpreter = attacks.PYTHON_PROGRAM, sys.executable
    if kind == "javascript":
        text, interpreter = attacks.JAVASCRIPT_PROGRAM, "node"
    file.write_text(text)
    codec = game.program_protocol.load()  # type: ignore[union-attr]
    return ProgramStrategy(f"{interpreter} {file}", game.name, codec, Random(1))


def pairs_of_worlds(game: Game) -> Iterator[tuple[object, object]]:
    """Yield pairs of states that look the same to the player, with other hidden cards."""
    simulation = game_simulation(game)
    for seed in count():
        for state in [*match_states(simulation, seed)][:-1]:
            other_state = simulation.resample_hidden(state, Random(f"other {seed}"))
            if other_state != state:
                yield state, other_state


def accuracy_of_attacker(
    game: Game, kind: str, folder: Path, *, decisions: int = DECISIONS, leak: bool = False
) -> float:
    """Return the share of decisions in which the attacker knows which world it is in.

    With a `leak`, this process uses new memory before a question in one of the worlds.
    """
    attacker = start_attacker(game, kind, folder)
    player = StrategyPlayer(game_simulation(game), attacker)
    measurements, worlds, rng = [], [], Random(game.name)
    for _, states in zip(range(decisions), pairs_of_worlds(game), strict=False):
        worlds.append(rng.random() < 0.5)
        if leak and worlds[-1]:
            assert LEAKED_BYTES * b"x"
        player.decide(states[worlds[-1]])
        assert player.last_decision is not None
        measurements.append(attacks.read_measurements(player.last_decision.decision.reason))
    stop_idle_processes(attacker._command)
    return attacks.prediction_accuracy(measurements, worlds)


@pytest.mark.parametrize(
    ("game", "kind"),
    [
        pytest.param(
            game,
            kind,
            id=f"{game.name} {kind}",
            marks=[] if (game.name, kind) in FAST else [pytest.mark.slow],
        )
        for game in GAMES_WITH_SECRETS
        for kind in KINDS
        if kind != "file" or game.strategy_package.startswith("cardsharp.")
    ],
)
def test_no_measurement_tells_the_hidden_cards(game: Game, kind: str, tmp_path: Path) -> None:
    """Times, ids, addresses and file times tell two worlds apart no better than a coin."""
    assert accuracy_of_attacker(game, kind, tmp_path) < CHANCE


def test_the_attack_finds_a_difference_that_is_there(tmp_path: Path) -> None:
    """Memory that a process uses in one of the worlds is seen, however busy the machine is."""
    accuracy = accuracy_of_attacker(get_game("blef"), "python", tmp_path, decisions=80, leak=True)
    assert accuracy > CHANCE


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Have no collection of garbage: at any line it would end objects of other tests."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("game", GAMES_WITH_SECRETS, ids=game_id)
def test_the_same_lines_are_run_whatever_is_hidden(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the state to the question, the work does not depend on hidden cards, so no time does."""
    monkeypatch.setattr(ProgramStrategy, "_acquire_process", lambda _: None)
    codec, simulation = game.program_protocol.load(), game_simulation(game)  # type: ignore[union-attr]
    strategy = ProgramStrategy("sly", game.name, codec, Random(1))
    questions: list[bytes] = []

    def answer(question: bytes) -> bytes:
        questions.append(question)
        return json.dumps({"action": json.loads(question)["actions"][0]}).encode()

    monkeypatch.setattr(strategy, "request", answer)

    def lines_of_question(state: object) -> list[tuple[str, int]]:
        lines = list[tuple[str, int]]()

        def trace(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401 - a tracer
            if event == "line":
                lines.append((frame.f_code.co_filename, frame.f_lineno))
            return trace

        previous = sys.gettrace()
        sys.settrace(trace)
        try:
            strategy.decide(simulation.current_position(state))
        finally:
            sys.settrace(previous)
        return lines

    with without_garbage_collection():
        for _, states in zip(range(40), pairs_of_worlds(game), strict=False):
            lines_of_question(states[0])  # fills caches
            assert lines_of_question(states[0]) == lines_of_question(states[1])
    assert len(questions) == 120


# --- what a process can see ----------------------------------------------------------------------


class RecordingLineProcess(LineProcess):
    """Process of a program; what it has answered is kept."""

    answers: list[dict[str, Any]]

    def request(self, request: bytes) -> bytes:
        line = super().request(request)
        type(self).answers.append(json.loads(line))
        return line


def surroundings_in_match(seed: int, strategy: str | Submission, log: Path) -> list[dict[str, Any]]:
    """Return what a program sees during a match of a contest with this seed."""
    register_program.cache_clear()
    RecordingLineProcess.answers = []
    reference = parse_strategy(strategy) if isinstance(strategy, str) else strategy
    task = MatchTask(
        match="m",
        game="blef",
        seed=seed,
        names=("A", "B"),
        strategies=(reference, parse_strategy("random")),
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        tag="cup",
        log=log,
    )
    assert play_and_store_hosted_match(task, lambda _turn: None).failure == ""
    return [answer["seen"] for answer in RecordingLineProcess.answers]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A team's version that tells what it sees."""
    isolate_environment(monkeypatch, tmp_path / "data")
    monkeypatch.setattr(ProgramStrategy, "process_class", RecordingLineProcess)
    folder = tmp_path / "submissions/team/1"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "spy.py").write_text(attacks.SPYING_PROGRAM)
    (folder / "run").write_text("python3 spy.py everything")
    return folder / "spy.py"


def test_a_process_is_started_in_the_same_way_whatever_the_seed(
    program: Path, tmp_path: Path
) -> None:
    """Arguments, environment, limits and open files of a program are the same in two matches."""
    command = f"{sys.executable} {program}"
    first, second = (
        surroundings_in_match(seed, command, tmp_path / f"{seed}.db") for seed in (SEED, SEED + 1)
    )
    assert len({json.dumps(seen, sort_keys=True) for seen in (*first, *second)}) == 1
    assert first[0]["files"][:2] == ["pipe", "pipe"]
    assert first[0]["further files"] == []


@pytest.mark.slow
def test_the_lab_starts_a_program_in_the_same_way_whatever_the_seed(tmp_path: Path) -> None:
    """The process of the lab that has drawn the cards hands nothing of them on."""
    (tmp_path / "spy.py").write_text(attacks.SPYING_PROGRAM)
    player = f"{sys.executable} {tmp_path / 'spy.py'}"
    for seed in (SEED, SEED + 1):
        arguments = ["--game", "blef", "--seed", str(seed), "-n", "2", "--workers", "2"]
        with run_command(tmp_path, "lab", "duel", player, "random", *arguments) as run:
            assert run.wait_for_exit_code() == 0, run.read_output()
    text = (tmp_path / "seen.txt").read_text()
    lines = re.sub(r"PYTHON_TEST_MARK.*?,", "", text).splitlines()
    assert len(lines) > 20
    assert len(set(lines)) == 1
    assert str(SEED) not in lines[0]


def test_nothing_that_a_sandbox_shows_is_or_yields_the_seed(program: Path, tmp_path: Path) -> None:
    """No number in /proc, in the state of files or among ids is a seed that deals these cards."""
    skip_without_sandbox()
    log = tmp_path / "matches.db"
    submission = TeamSubmissions(program.parents[1]).reference
    seen = surroundings_in_match(SEED, submission, log)
    text = json.dumps(seen)
    assert not [name for name in (str(SEED), f"{SEED:x}", str(log)) if name in text]
    simulation, adapter = game_simulation(get_game("blef")), lab_adapter("blef")

    def deals(seed: int) -> list[object]:
        """Several deals: there are only 552 of two cards, so one of many numbers has the same."""
        return [simulation.initial_state(adapter.rngs_of_pair(seed, n).deal) for n in range(4)]

    numbers = {int(number) for number in re.findall(r"\d{1,20}", json.dumps(seen[-1]))}
    assert len(numbers) > 100, "much is visible, such as counters of the kernel"
    assert deals(SEED) not in [deals(number) for number in numbers]


def test_nobody_can_try_all_seeds_that_the_lab_draws() -> None:
    """A trial finds a small seed from one question; a drawn seed is one of far too many."""
    adapter = lab_adapter("blef")

    def first_number(seed: int) -> int:
        return private_rng(adapter.rngs_of_pair(seed, 0).first).getrandbits(32)

    number = first_number(314)
    assert [seed for seed in range(1000) if first_number(seed) == number] == [314]
    assert TRIALS_A_SECOND * timedelta(days=365).total_seconds() < MAX_SEED
    reference = parse_strategy("node sly.js")
    plans = [RunOptions(game="blef").plan(reference, reference) for _ in range(20)]
    assert max(plan.seed for plan in plans) > MAX_SEED // 100
