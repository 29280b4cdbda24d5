"""A program in any language plays as a strategy does, and its faults are told in a sentence."""

import shutil
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.games import GAMES, simulated, states
from support.positions import position

from cardsharp.deadmansdraw.fallback import decide
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deciding import Decided
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.registry import strategies_of
from workbench import process
from workbench.lab.players import Guarded
from workbench.strategy_file import strategy_named

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
    monkeypatch.setattr(process, "LIMIT", timedelta(seconds=0.3))

    def written(body: str) -> str:
        path = tmp_path / f"bot{len(list(tmp_path.iterdir()))}.py"
        path.write_text(LOOP.format(body=body))
        return f"{sys.executable} {path}"

    return written


def decided(command: str) -> Decided[Any]:
    return asked(build(strategy_named(command), Random(1)))


def asked(strategy: Any) -> Decided[Any]:  # noqa: ANN401 - a program
    return decide(strategy, position(), timedelta(seconds=20), lambda: 0.0)


PLAYED = [game for game in GAMES if game.program is not None]


@pytest.mark.parametrize("game", PLAYED, ids=lambda game: str(game.name))
def test_every_game_tells_its_positions_and_takes_every_action_back(game: Game, made: Made) -> None:
    """A whole match by a program that answers at random, as strict as the lab."""
    all_of = "question['actions']"
    command = made(f"first['action'] = {all_of}[question['seed'] % len({all_of})]")
    named = strategy_named(command, game)
    player = Guarded(command, strategies_of(game.strategies).build(named, Random(5)))
    simulation = simulated(game)
    *played, _ = states(simulation, 5)
    for state in played:
        decision = player.decide(simulation.position(state))
        assert decision.reason == "the first"
        assert decision.action in simulation.actions(state)


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
    assert fault in str(found.fault)
    assert found.decision.reason == f"Safe action: {found.fault}."


def test_after_a_fault_or_a_line_too_many_it_is_started_anew(made: Made) -> None:
    strategy = build(strategy_named(made("if number == 1: sys.exit()")), Random(1))
    assert [asked(strategy).fault is None for _ in range(3)] == [False, True, False]
    command = made("first['reason'] = str(number)\n    if number == 1: print('debugging')")
    strategy = build(strategy_named(command), Random(1))
    assert asked(strategy).fault is not None
    after = asked(strategy)
    assert (after.fault, after.decision.reason) == (None, "0")


def test_who_was_late_is_told_of_though_its_successor_is_there_already(made: Made) -> None:
    """Its own alarm may ring just before that of the decision, which then waits for its end."""
    fresh = process.Process(made(""))
    assert fresh.interrupt(timedelta(seconds=2))
    assert fresh.lives
    assert fresh.late is None
    fresh.end()


def test_what_it_writes_is_kept_no_password_told(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "first['options'] = [{'action': first['action'], 'value': 0.5, 'note': 'why not'}]; "
    found = decided(made(f"{body}print('I see', len(question['actions']), file=sys.stderr)"))
    assert found.fault is None
    assert found.printed == "I see 1\n"
    assert [(one.value, one.note) for one in found.decision.options] == [(0.5, "why not")]
    monkeypatch.setenv("CARDSHARP_PASSWORD", "secret")
    found = decided(made("first['reason'] = repr('CARDSHARP_PASSWORD' in os.environ)"))
    assert found.decision.reason == "False"


def test_one_that_cannot_play_here_is_refused_before_a_match(made: Made) -> None:
    """What is deployed builds by name alone: an order with a program's command ends there."""
    said = r"cannot play: the program ended with exit code 1\.\n(.*\n)*ZeroDivisionError: division"
    with pytest.raises(ConfigError, match=said):
        strategy_named(made("1 / 0"))
    with pytest.raises(ConfigError, match="there is no program no-such-thing here"):
        strategy_named("no-such-thing bot.js")
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
    simulation = simulated(game)
    module = ROOT / (game.starter.replace(".", "/") + ".py")
    model_file = tmp_path / f"model-of-{starter}.py"
    model_file.write_text(module.read_text().replace('"mine"', f'"model of {starter}"'))
    model = build(strategy_named(str(model_file)), Random(0))
    other = build(strategy_named(f"{runs} {STARTERS / starter}"), Random(0))
    *played, _ = states(simulation, 1)
    assert len(played) > 40
    for seen in map(simulation.position, played):
        assert other.decide(seen).action == model.decide(seen).action, seen
