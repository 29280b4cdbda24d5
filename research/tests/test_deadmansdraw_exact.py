"""The exact solver says what trying everything by the rules says."""

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from support.perfect import values

from cardsharp.deadmansdraw.actions import EffectType, respond
from cardsharp.deadmansdraw.bank import bank_of
from cardsharp.deadmansdraw.cards import SERVER_DECK, Suit
from cardsharp.deadmansdraw.rules import legal_actions, start
from cardsharp.deadmansdraw.simulation import Match, fair_chance, match_from
from cardsharp.errors import ConfigError
from research.deadmansdraw.engine import load
from research.deadmansdraw.exact import Effort, Solver
from research.deadmansdraw.losses import LossesOptions, losses
from research.tests.decisions import needs_compiler
from research.tests.tiny import tiny

BATCHES, EACH = 20, 50
FEW = (Suit.KEY, Suit.CANNON, Suit.MERMAID, Suit.SWORD)


def on(match: Match, dice: Random) -> Match:
    """The match some random actions later, not ended, so that effects are pending too."""
    for _ in range(dice.randint(0, 3)):
        later = match.after(dice.choice(legal_actions(match.state)), fair_chance(dice))
        if later.state.active is None:
            return match
        match = later
    return match


@needs_compiler
@pytest.mark.parametrize("batch", range(BATCHES))
def test_tiny_decks_as_by_trying_everything(batch: int) -> None:
    engine, dice, kinds = load(), Random(f"tiny/{batch}"), Counter[object]()
    assert engine is not None
    solver = Solver(engine, Effort(bits=12))
    while kinds.total() < EACH:
        match = on(tiny(dice), dice)
        position = match.position
        if position.known_top is not None and position.pending is None:
            continue  # nobody tells the small solver that a card was refused
        found, right = solver.weigh(position), values(match.state)
        right.pop(respond(EffectType.ORACLE), None)
        assert found == pytest.approx(right, abs=1e-12)
        kinds[position.pending and position.pending.effect_type] += 1
    assert len(kinds) >= 4


@needs_compiler
@pytest.mark.parametrize("seed", range(20))
def test_what_is_remembered_of_one_position_holds_for_another(seed: int) -> None:
    """The same four cards are left, and the others lie elsewhere each time."""
    engine, dice = load(), Random(f"remembered/{seed}")
    assert engine is not None
    deck = dice.sample([card for card in SERVER_DECK if card.suit in FEW], 14)
    solver = Solver(engine, Effort(bits=14))
    for _ in range(30):
        pile, rest = deck[:4], dice.sample(deck[4:], 10)
        one, two = sorted(dice.choices(range(8), k=2))
        banks = bank_of(rest[:one]), bank_of(rest[one:two])
        position = match_from(start(tuple(pile), tuple(rest[two:]), 0, banks)).position
        afresh = Solver(engine, Effort(bits=14)).weigh(position)
        assert solver.weigh(position) == pytest.approx(afresh, abs=1e-12)


@needs_compiler
def test_losses_are_taken_up_from_their_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same command goes on; of what captain loses nearly all is known exactly."""

    def told(**given: object) -> dict[str, dict[str, float]]:
        losses(options=LossesOptions(cards=2, as_json=True, **given))  # type: ignore[arg-type]
        document: dict[str, dict[str, dict[str, float]]] = json.loads(capsys.readouterr().out)
        return document["byLeft"]

    at_once, kept = told(matches=6), tmp_path / "kept.jsonl"
    told(matches=2, out=kept)
    assert told(matches=6, out=kept) == at_once
    every = at_once["all"]
    assert every["positions"] == every["solved"] >= every["exact"] > every["positions"] / 2
    assert 0 <= every["loss"] < 10
    with pytest.raises(ConfigError, match="of another run"):
        told(matches=6, seed=2, out=kept)
