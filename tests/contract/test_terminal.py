"""What every game promises that a person can play in a terminal: all is seen on 80 x 24."""

import io
from random import Random
from typing import Any

import pytest
from rich.console import Console
from support.games import GAMES, id_of, simulated, states
from support.size import cases

from cardsharp.game import Game
from workbench.show.screen import SCREEN, Screen, matching

WIDTH = 80
SEEDS = range(cases(2, every=20))

PLAYED = [game for game in GAMES if game.terminal is not None]
every_game = pytest.mark.parametrize("game", PLAYED, ids=id_of)


def screen_of(game: Game, you: int = 0) -> Screen[Any, Any, Any]:
    assert game.terminal is not None
    found: Screen[Any, Any, Any] = game.terminal.load()(names_of(game), you)
    return found


def names_of(game: Game) -> list[str]:
    return [f"player {seat}" for seat in range(simulated(game).seats)]


def drawn(lines: Any) -> list[str]:  # noqa: ANN401 - strings and what rich renders
    """The lines as they come to stand on a terminal."""
    page = io.StringIO()
    console = Console(file=page, width=WIDTH, highlight=False, markup=False, emoji=False)
    for line in lines:
        console.print(line)
    return page.getvalue().splitlines()


@every_game
def test_the_rules_are_one_screen(game: Game) -> None:
    rules = screen_of(game).rules.splitlines()
    assert 5 < len(rules) < SCREEN
    assert max(map(len, rules)) < WIDTH


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_decided_is_seen_at_once(game: Game, seed: int) -> None:
    """The table, every choice and the prompt; also when all choices are listed."""
    simulation, screen = simulated(game), screen_of(game)
    *match, _ended = states(simulation, seed)
    for state in match[::3]:
        position = simulation.position(state)
        listed = screen.listed(position, WIDTH, every=True)
        assert len(drawn(["", *screen.table(position), *listed])) < SCREEN - 1


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_the_choices_are_the_legal_actions_each_known_by_key_and_name(
    game: Game, seed: int
) -> None:
    simulation, screen = simulated(game), screen_of(game)
    *match, _ended = states(simulation, seed)
    for state in match[::5]:
        position = simulation.position(state)
        choices = screen.choices(position)
        assert [one.action for one in choices] == [*simulation.actions(state)]
        listed = " ".join(screen.listed(position, WIDTH, every=True))
        for choice in choices[::3]:
            assert matching(choice.key, choices) == [choice]
            assert matching(choice.name, choices) == [choice]
            assert choice.key in listed


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_a_match_is_told_to_its_end(game: Game, seed: int) -> None:
    """In chapters, of which several end; nothing told needs more than the screen."""
    simulation, screen, dice = simulated(game), screen_of(game), Random(seed)
    state = simulation.deal(dice)
    told = []
    while simulation.to_act(state) is not None:
        action = dice.choice(simulation.actions(state))
        after = simulation.act(state, action, dice)
        told.append(screen.told(state, action, after))
        state = after
    assert all(len(drawn(one.lines)) < SCREEN for one in told)
    assert sum(one.closes for one in told) > 1
    assert any(one.lines for one in told[-3:])
