"""Runs and probes of the lab: repeatable, taken up where they ended, and right."""

from pathlib import Path

import pytest

from cardsharp.errors import ConfigError
from workbench.lab.dice import PairDice
from workbench.lab.ledger import RunLedger, difference
from workbench.lab.plan import Plan
from workbench.lab.runs import Numbered, run


def plan(pairs: int = 8, *, seed: int = 5, second: str = "draw-2") -> Plan:
    return Plan(first="third", second=second, pairs=pairs, seed=seed, plain=True)


def test_a_stopped_run_is_taken_up_and_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    """Even where it was stopped in the middle of a series, and of a line."""
    file = tmp_path / "run.jsonl"
    whole = run(plan(10))
    run(plan(4), tell=RunLedger(file, plan(4)).add)
    with file.open("a", encoding="utf-8") as out:
        out.write('{"kind":"pair","number":4,"the')
    again = RunLedger(file, plan(10))
    assert set(again.kept) == {0, 1, 2, 3}
    told: list[Numbered] = []

    def tell(played: list[Numbered]) -> None:
        told.extend(played)
        again.add(played)

    assert run(plan(10), None, again.kept, tell) == whole
    assert sorted(number for number, _ in told) == [4, 5, 6, 7, 8, 9]
    assert RunLedger(file, plan(10)).kept == dict(enumerate(whole.pairs))


@pytest.mark.parametrize("other", [plan(seed=6), plan(second="draw-3")])
def test_the_file_of_another_run_is_refused(tmp_path: Path, other: Plan) -> None:
    file = tmp_path / "run.jsonl"
    RunLedger(file, plan())
    with pytest.raises(ConfigError, match=r"another run.*Give another file"):
        RunLedger(file, other)
    file.write_text("Dear diary,\n")
    with pytest.raises(ConfigError, match="no file of a duel"):
        RunLedger(file, other)
    assert file.read_text() == "Dear diary,\n", "and kept"


def test_a_difference_is_taken_deck_by_deck(tmp_path: Path) -> None:
    """Against the same player on the same decks; the interval is that of the gaps."""
    files = tmp_path / "third.jsonl", tmp_path / "draw-4.jsonl"
    other = Plan(first="draw-4", second="draw-2", pairs=30, seed=5, plain=True)
    mine, theirs = (
        run(one, tell=RunLedger(file, one).add)
        for one, file in zip((plan(30), other), files, strict=True)
    )
    gap, bounds, matches = difference(*files)
    assert gap == pytest.approx(mine.points - theirs.points)
    assert matches == 60
    assert bounds.low < gap < bounds.high
    assert bounds.margin < mine.interval.margin + theirs.interval.margin
    another = tmp_path / "another.jsonl"
    RunLedger(another, plan(second="draw-3"))
    with pytest.raises(ConfigError, match="nothing to compare"):
        difference(files[0], another)


def test_the_dice_are_splitmix64() -> None:
    """The generator's published test values for the seed 1234567."""
    rolled = PairDice(1234567)
    assert [rolled.getrandbits(64) for _ in range(2)] == [6457827717110365317, 3203168211198807973]
