"""A program in any language plays as a strategy does, and its faults are told in a sentence."""

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
from cardsharp.games.deadmansdraw.fallback import decide
from cardsharp.games.deadmansdraw.strategies import build
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.game import Game
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors import line_process
from cardsharp_tools.executors.strategy_file import load_strategy
from cardsharp_tools.lab.players import GuardedStrategy

ROOT = Path(__file__).parents[2]
STARTERS = ROOT / "starters/programs/deadmansdraw"

LOOP = """
import json, os, sys
for number, line in enumerate(sys.stdin):
    question = json.loads(line)
    first = {{"action": question["actions"][0], "reason": "the first"}}
    {body}
    print(json.dumps(first), flush=True)
"""

LEAVES = "import subprocess; subprocess.Popen(['sleep', '20'], start_new_session=True)"
"""Leaves a process behind that has its output open, and that ends with nobody."""

Made = Callable[[str], str]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Makes a program of a body that is run before each answer; gives its command."""
    monkeypatch.setattr(line_process, "ANSWER_TIMEOUT", timedelta(seconds=0.3))

    def written(body: str) -> str:
        path = tmp_path / f"bot{len(list(tmp_path.iterdir()))}.py"
        path.write_text(LOOP.format(body=body))
        return f"{sys.executable} {path}"

    return written


def decided(command: str) -> DecisionResult[Any]:
    return asked(build(load_strategy(command), Random(1)))


def asked(strategy: Any) -> DecisionResult[Any]:  # noqa: ANN401 - a program
    return decide(strategy, position(), timedelta(seconds=20), lambda: 0.0)


PLAYED = [game for game in GAMES if game.program_protocol is not None]


@pytest.mark.parametrize("game", PLAYED, ids=lambda game: str(game.name))
def test_every_game_tells_its_positions_and_takes_every_action_back(game: Game, made: Made) -> None:
    """A whole match by a program that answers at random, as strict as the lab."""
    all_of = "question['actions']"
    command = made(f"first['action'] = {all_of}[question['seed'] % len({all_of})]")
    named = load_strategy(command, game)
    player = GuardedStrategy(command, registry_for(game.strategy_package).build(named, Random(5)))
    simulation = game_simulation(game)
    *played, _ = match_states(simulation, 5)
    for state in played:
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
        (f"{LEAVES}; sys.exit(3)", "the program ended with exit code 3"),
        ("print('hello', flush=True)", "'hello', which is no answer: Invalid JSON"),
        ("print('[]', flush=True)", "'[]', which is no answer: Input should be an"),
        ("print('{}', flush=True)", "'{}', which is no answer: action: Field"),
        ("print('x' * 1_000_001, end='', flush=True)", "wrote a line without an end"),
        ("first['action'] = 'Draw'", 'chose "Draw", which is none of the actions it was given'),
        ("first['options'] = [{'action': 1}]", "chose 1, which is none of the actions"),
    ],
)
def test_a_fault_is_told_and_a_safe_action_replaces_it(made: Made, body: str, fault: str) -> None:
    found = decided(made(f"if number: {body}"))
    assert fault in str(found.error)
    assert found.decision.reason == f"Safe action: {found.error}."


def test_after_a_fault_or_a_line_too_many_it_is_started_anew(made: Made) -> None:
    strategy = build(load_strategy(made("if number == 1: sys.exit()")), Random(1))
    assert [asked(strategy).error is None for _ in range(3)] == [False, True, False]
    command = made("first['reason'] = str(number)\n    if number == 1: print('debugging')")
    strategy = build(load_strategy(command), Random(1))
    assert asked(strategy).error is not None
    after = asked(strategy)
    assert (after.error, after.decision.reason) == (None, "0")


def test_who_was_late_is_told_of_though_its_successor_is_there_already(made: Made) -> None:
    """Its own alarm may ring just before that of the decision, which then waits for its end."""
    fresh = line_process.LineProcess(made(""))
    assert fresh.interrupt(timedelta(seconds=2))
    assert fresh.is_alive
    assert fresh.exceeded_timeout is None
    fresh.kill()


def test_what_it_writes_is_kept_no_password_told(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "first['options'] = [{'action': first['action'], 'value': 0.5, 'note': 'why not'}]; "
    found = decided(made(f"{body}print('I see', len(question['actions']), file=sys.stderr)"))
    assert found.error is None
    assert found.stdout == "I see 1\n"
    assert [(one.value, one.note) for one in found.decision.options] == [(0.5, "why not")]
    monkeypatch.setenv("CARDSHARP_PASSWORD", "secret")
    found = decided(made("first['reason'] = repr('CARDSHARP_PASSWORD' in os.environ)"))
    assert found.decision.reason == "False"


def test_one_that_cannot_play_here_is_refused_before_a_match(made: Made) -> None:
    """What is deployed builds by name alone: an order with a program's command ends there."""
    said = r"cannot play: the program ended with exit code 1\.\n(.*\n)*ZeroDivisionError: division"
    with pytest.raises(ConfigError, match=said):
        load_strategy(made("1 / 0"))
    with pytest.raises(ConfigError, match="there is no program no-such-thing here"):
        load_strategy("no-such-thing bot.js")
    for own in ("node never-here.js", "mine.py"):
        with pytest.raises(ConfigError, match="plays at home, not in what is deployed"):
            build(own, Random(0))


@pytest.mark.parametrize(
    ("starter", "runs"),
    [("mine.js", "node"), pytest.param("Mine.java", "java", marks=pytest.mark.slow)],
)
def test_a_starter_decides_as_that_in_python(starter: str, runs: str, tmp_path: Path) -> None:
    if shutil.which(runs) is None:
        pytest.skip(f"{runs} is not installed")
    game = GAMES[0]
    simulation = game_simulation(game)
    module = ROOT / (game.starter_module.replace(".", "/") + ".py")
    model_file = tmp_path / f"model-of-{starter}.py"
    model_file.write_text(module.read_text().replace('"mine"', f'"model of {starter}"'))
    model = build(load_strategy(str(model_file)), Random(0))
    other = build(load_strategy(f"{runs} {STARTERS / starter}"), Random(0))
    *played, _ = match_states(simulation, 1)
    assert len(played) > 40
    for seen in map(simulation.current_position, played):
        assert other.decide(seen).action == model.decide(seen).action, seen
