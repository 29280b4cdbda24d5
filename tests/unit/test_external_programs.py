"""External programs as strategies: protocol, faults, restarts and captured output."""

import shutil
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.games import GAMES, game_simulation, match_states
from support.positions import position

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.fallback import decide_in_time
from cardsharp.games.deadmansdraw.strategies import build
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.game import Game
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors import line_process
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import parse_strategy
from cardsharp_tools.lab.players import ErrorReportingStrategy

ROOT = Path(__file__).parents[2]
STARTERS = ROOT / "starters/programs/deadmansdraw"

PROGRAM_TEMPLATE = """
import json, os, sys
for number, line in enumerate(sys.stdin):
    question = json.loads(line)
    first = {{"action": question["actions"][0], "reason": "the first"}}
    {body}
    print(json.dumps(first), flush=True)
"""

ORPHAN_CODE = "import subprocess; subprocess.Popen(['sleep', '20'], start_new_session=True)"
"""Leaves a process behind that has its output open, and that ends with nobody."""

ProgramFactory = Callable[[str], str]


@pytest.fixture
def make_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramFactory:
    """Return a function that writes a program and returns its command.

    The program runs the given body before each answer.
    """
    monkeypatch.setattr(line_process, "ANSWER_TIMEOUT", timedelta(seconds=0.3))

    def write_program(body: str) -> str:
        path = tmp_path / f"bot{len(list(tmp_path.iterdir()))}.py"
        path.write_text(PROGRAM_TEMPLATE.format(body=body))
        return f"{sys.executable} {path}"

    return write_program


def decide_by_program(command: str) -> DecisionResult[Any]:
    return decide_with(build(register_strategy(parse_strategy(command)), Random(1)))


def decide_with(strategy: Any) -> DecisionResult[Any]:  # noqa: ANN401 - a program
    return decide_in_time(strategy, position(), timedelta(seconds=20), lambda: 0.0)


GAMES_WITH_PROTOCOL = [game for game in GAMES if game.program_protocol is not None]


@pytest.mark.parametrize("game", GAMES_WITH_PROTOCOL, ids=lambda game: str(game.name))
def test_programs_receive_positions_and_can_choose_every_action_of_every_game(
    game: Game, make_program: ProgramFactory
) -> None:
    """A program that answers at random plays a complete match, as strictly as in the lab."""
    actions_code = "question['actions']"
    command = make_program(
        f"first['action'] = {actions_code}[question['seed'] % len({actions_code})]"
    )
    strategy_name = register_strategy(parse_strategy(command), game)
    player = ErrorReportingStrategy(
        command, registry_for(game.strategy_package).build(strategy_name, Random(5))
    )
    simulation = game_simulation(game)
    *states, _ = match_states(simulation, 5)
    for state in states:
        decision = player.decide(simulation.current_position(state))
        assert decision.reason == "the first"
        assert decision.action in simulation.legal_actions(state)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("sys.stdin.read()", "no decision within 0.3 s"),
        ("os.kill(os.getpid(), 19)", "no decision within 0.3 s"),
        ("sys.exit('I give up')", "the program ended with exit code 1"),
        ("os.close(1); sys.stdin.read()", "the program closed its output"),
        (f"{ORPHAN_CODE}; sys.exit(3)", "the program ended with exit code 3"),
        ("print('hello', flush=True)", "'hello', which is not a valid answer: Invalid JSON"),
        ("print('[]', flush=True)", "'[]', which is not a valid answer: Input should be an"),
        ("print('{}', flush=True)", "'{}', which is not a valid answer: action: Field"),
        ("print('x' * 1_000_001, end='', flush=True)", "wrote a line without a line break"),
        ("first['action'] = 'Draw'", 'chose "Draw", which is not one of the offered actions'),
        ("first['options'] = [{'action': 1}]", "chose 1, which is not one of the offered actions"),
    ],
)
def test_a_fault_is_reported_and_a_safe_action_replaces_it(
    make_program: ProgramFactory, body: str, fault: str
) -> None:
    result = decide_by_program(make_program(f"if number: {body}"))
    assert fault in str(result.error)
    assert result.decision.reason == f"Safe action: {result.error}."


def test_a_fault_or_an_extra_line_restarts_the_program(make_program: ProgramFactory) -> None:
    strategy = build(
        register_strategy(parse_strategy(make_program("if number == 1: sys.exit()"))), Random(1)
    )
    assert [decide_with(strategy).error is None for _ in range(3)] == [False, True, False]
    command = make_program("first['reason'] = str(number)\n    if number == 1: print('debugging')")
    strategy = build(register_strategy(parse_strategy(command)), Random(1))
    assert decide_with(strategy).error is not None
    next_result = decide_with(strategy)
    assert (next_result.error, next_result.decision.reason) == (None, "0")


def test_a_late_program_is_interrupted_although_its_successor_runs(
    make_program: ProgramFactory,
) -> None:
    """The alarm of a program may fire just before that of the decision, which then waits."""
    successor = line_process.LineProcess(make_program(""))
    assert successor.kill_if_answer_due(timedelta(seconds=2))
    assert successor.is_alive
    assert successor.exceeded_timeout is None
    successor.kill()


def test_output_is_captured_and_passwords_are_withheld(
    make_program: ProgramFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "first['options'] = [{'action': first['action'], 'value': 0.5, 'note': 'why not'}]; "
    result = decide_by_program(
        make_program(f"{body}print('I see', len(question['actions']), file=sys.stderr)")
    )
    assert result.error is None
    assert result.stdout == "I see 1\n"
    assert [(option.value, option.note) for option in result.decision.options] == [(0.5, "why not")]
    monkeypatch.setenv("CARDSHARP_PASSWORD", "secret")
    result = decide_by_program(
        make_program("first['reason'] = repr('CARDSHARP_PASSWORD' in os.environ)")
    )
    assert result.decision.reason == "False"


def test_an_unplayable_program_is_refused_at_load(make_program: ProgramFactory) -> None:
    """Deployed code builds only registered strategies, so it refuses a program's command."""
    expected = (
        r"cannot play: the program ended with exit code 1\.\n(.*\n)*ZeroDivisionError: division"
    )
    with pytest.raises(ConfigError, match=expected):
        register_strategy(parse_strategy(make_program("1 / 0")))
    with pytest.raises(ConfigError, match="there is no program no-such-thing on this machine"):
        register_strategy(parse_strategy("no-such-thing bot.js"))
    for command in ("node never-here.js", "mine.py"):
        with pytest.raises(ConfigError, match="plays only on your own computer"):
            build(command, Random(0))


@pytest.mark.parametrize(
    ("starter", "interpreter"),
    [("mine.js", "node"), pytest.param("Mine.java", "java", marks=pytest.mark.slow)],
)
def test_a_starter_decides_as_that_in_python(
    starter: str, interpreter: str, tmp_path: Path
) -> None:
    if shutil.which(interpreter) is None:
        pytest.skip(f"{interpreter} is not installed")
    game = GAMES[0]
    simulation = game_simulation(game)
    module = ROOT / (game.starter_module.replace(".", "/") + ".py")
    python_file = tmp_path / f"model-of-{starter}.py"
    python_file.write_text(module.read_text().replace('"mine"', f'"model of {starter}"'))
    python_strategy = build(register_strategy(parse_strategy(str(python_file))), Random(0))
    program_strategy = build(
        register_strategy(parse_strategy(f"{interpreter} {STARTERS / starter}")), Random(0)
    )
    *states, _ = match_states(simulation, 1)
    assert len(states) > 40
    for position_at_turn in map(simulation.current_position, states):
        assert (
            program_strategy.decide(position_at_turn).action
            == python_strategy.decide(position_at_turn).action
        ), position_at_turn
