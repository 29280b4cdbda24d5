"""The compiled engine gives the answers of the one in Python, to the last bit."""

import ctypes
from collections.abc import Sequence
from random import Random

import pytest
from support.euchre_random import views

from cardsharp.errors import ConfigError
from cardsharp.euchre.actions import Action, Question
from cardsharp.euchre.cards import DECK
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies.layout import Mask, layout
from cardsharp.euchre.strategies.pimc import Effort, Pimc
from cardsharp.euchre.strategies.playout import PlayStage, Seating
from cardsharp.euchre.strategies.solver import Search
from cardsharp.euchre.strategies.sound import Rules
from cardsharp.euchre.strategies.thumb import CALLER
from cardsharp.euchre.table import SEATS, Call
from research.euchre.compiled import Compiled, action_of, opened, told_of
from research.tests.decisions import needs_compiler
from workbench.lab.duel import Duel
from workbench.lab.plan import Plan
from workbench.lab.runs import pool_of, run


def ruled(view: Position) -> Action:
    """What the compiled `rules` decides."""
    return action_of(view.question, opened().euchre_rules(*told_of(view)))


def makes(table: Seating, hands: Sequence[Mask], stage: PlayStage, need: int) -> tuple[bool, int]:
    """What the compiled exact search finds before a trick, and the positions it looked at."""
    nodes = ctypes.c_int64()
    back = layout(table.trump).back
    sets = (ctypes.c_int * 4)(*(back(hand & ~stage.gone) for hand in hands))
    out = sum(1 << seat for seat in table.out)
    caller = table.place.index(CALLER)
    found = opened().euchre_makes(
        sets, table.trump, caller, out, stage.seat, need, ctypes.byref(nodes)
    )
    return bool(found), nodes.value


SMALL = Effort(worlds=48, batch=16)


def duel(names: tuple[str, str], games: int, seed: int = 1, *, plain: bool = False) -> Duel:
    first, second = names
    pairs = games // 2
    return run(Plan(game="euchre", first=first, second=second, pairs=pairs, seed=seed, plain=plain))


@needs_compiler
def test_it_decides_as_python_does_with_the_same_figures() -> None:
    compiled, plain, asked = Compiled(SMALL), Pimc(effort=SMALL), set()
    for view in views(16):
        fast, slow = compiled.decide(view), plain.decide(view)
        assert (fast.action, fast.worlds) == (slow.action, slow.worlds)
        if slow.worlds:
            figures = [(option.action, option.value) for option in slow.options]
            assert [(option.action, option.value) for option in fast.options] == figures
            asked.add(view.question)
    assert asked == set(Question)


@needs_compiler
def test_it_plays_by_the_rules_as_the_player_rules_does() -> None:
    for view in views(120):
        assert ruled(view) == Rules().decide(view).action


@needs_compiler
@pytest.mark.parametrize("alone", [False, True])
def test_it_searches_the_same_positions_and_finds_the_same(alone: bool) -> None:
    rng = Random(9)
    for _ in range(40):
        call = Call(rng.randrange(8), rng.randrange(4), alone)
        lone_defender = (call.seat + 1) % 4 if alone and rng.random() < 0.5 else None
        table, cards = Seating(call, lone_defender), layout(call.suit)
        size = rng.randint(1, 5)
        dealt = rng.sample(DECK, 4 * size)
        hands = [cards.mask(dealt[size * seat : size * (seat + 1)]) for seat in SEATS]
        stage, need = PlayStage(rng.randrange(4)), rng.randint(1, size)
        search = Search(table, hands)
        found = search.makes(stage, need)
        assert makes(table, hands, stage, need) == (found, search.nodes)


@needs_compiler
@pytest.mark.parametrize("names", [("rules", "pimc@8"), ("pimc@4", "random")])
def test_a_duel_has_the_same_games_compiled_and_plain(names: tuple[str, str]) -> None:
    assert duel(names, 4, seed=3).pairs == duel(names, 4, seed=3, plain=True).pairs


def test_a_duel_has_the_same_games_in_any_number_of_processes() -> None:
    plan = Plan(game="euchre", first="pimc@4", second="rules", pairs=3, seed=3)
    with pool_of(2) as pool:
        assert run(plan, pool) == run(plan)


def test_a_number_of_worlds_has_to_be_one() -> None:
    with pytest.raises(ConfigError, match=r"'many' is no number of worlds; write e.g. pimc@40"):
        duel(("pimc@many", "rules"), 2)


def test_without_a_compiler_python_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = duel(("pimc@4", "rules"), 2, seed=5).pairs
    monkeypatch.setattr("research.euchre.compiled.library", lambda: None)
    with pytest.raises(RuntimeError, match="Use the player `pimc` itself"):
        Compiled()
    assert duel(("pimc@4", "rules"), 2, seed=5).pairs == with_it
